import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct AttachTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        scratch = Scratch()
        db = try Connection(try scratch.database())
        try scratch.database("other #1?.db")
    }

    @Test func `an attached database is used by its name`() throws {
        try db.attach(.uri(scratch.path("other #1?.db")), as: "other")
        #expect(try db.number("SELECT count(*) FROM other.t") == 3)
        try db.detach("other")
        #expect(throws: DatabaseError.self) { try db.number("SELECT count(*) FROM other.t") }
    }

    @Test func `parameters of the location count`() throws {
        try db.attach(.uri(scratch.path("other #1?.db"), parameters: [.mode(.readOnly)]), as: "external")
        #expect(try db.number("SELECT count(*) FROM external.t") == 3)
        let error = #expect(throws: DatabaseError.self) { try db.run("DELETE FROM external.t") }
        #expect(error?.resultCode.primary == .readOnly)
        #expect(throws: DatabaseError.self) {
            try db.attach(.uri(scratch.path("none.db"), parameters: [.mode(.readWrite)]), as: "none")
        }
        #expect(try scratch.names() == ["other #1?.db", "test.db"])
    }

    @Test func `an error of attaching names the attached file`() throws {
        try Data("not a database, though it is long enough to be one".utf8).write(to: URL(fileURLWithPath: scratch.path("text")))
        for (location, code) in [(scratch.path("none/none.db"), 14), (scratch.path("text"), 26)] as [(String, Int32)] {
            let error = #expect(throws: DatabaseError.self) { try db.attach(.uri(location), as: "s") }
            #expect(error?.code == code)
            #expect(error?.path == location)
        }
        let error = #expect(throws: DatabaseError.self) {
            try db.attach(.uri("file:\(scratch.path("none.db"))?mode=ro"), as: "s")
        }
        #expect(error?.path == "file:\(scratch.path("none.db"))")
        #expect(try db.column("PRAGMA database_list").count == 1)
    }

    @Test(arguments: [
        "plain", "with space", "a\"b", "a'b", "a;b", "ünï", "a.b", "select", "\"\u{301}; DROP TABLE t; --", "[x]", "1",
        "",
    ])
    func `a schema can have any name`(name: String) throws {
        try db.attach(.inMemory, as: name)
        #expect(try db.column("PRAGMA database_list").count == 2)
        let names = try db.all("PRAGMA database_list") { try $0.get(1, as: String.self) }
        #expect(names.map { Array($0.utf8) }.contains(Array(name.utf8)))
        try db.detach(name)
        #expect(try db.column("PRAGMA database_list").count == 1)
        #expect(try db.number("SELECT count(*) FROM t") == 3)
    }

    @Test func `databases in memory and temporary ones can be attached, and are empty`() throws {
        try db.attach(.inMemory, as: "m")
        try db.attach(.temporary, as: "n")
        try db.execute("CREATE TABLE m.u(x); CREATE TABLE n.u(x); INSERT INTO n.u SELECT x FROM t")
        #expect(try db.number("SELECT count(*) FROM n.u") == 3)
    }

    @Test func `a name that is taken is refused, and the database of that name stays`() throws {
        try db.attach(.inMemory, as: "a")
        #expect(throws: DatabaseError.self) { try db.attach(.inMemory, as: "a") }
        #expect(throws: DatabaseError.self) { try db.attach(.inMemory, as: "main") }
        #expect(try db.column("PRAGMA database_list").count == 2)
    }

    @Test func `detaching works while statements on the database are cached, not while one runs`() throws {
        try db.attach(.uri(scratch.path("other #1?.db")), as: "other")
        _ = try db.value("SELECT x FROM other.t", as: StoredValue.self)
        let reading = try db.prepare("SELECT x FROM other.t")
        #expect(try reading.advance())
        #expect(throws: DatabaseError.self) { try db.detach("other") }
        reading.clear()
        try db.detach("other")
        #expect(throws: DatabaseError.self) { try reading.valueOfBound() }
        #expect(throws: DatabaseError.self) { try db.detach("other") }
    }

    @Test func `an error in attaching does not show bound values`() throws {
        let error = #expect(throws: DatabaseError.self) { try db.attach(.uri("/nonesuch/dir/a.db"), as: "a") }
        #expect(error?.resultCode.primary == .cantOpen)
        #expect(error?.sql == "ATTACH DATABASE ? AS 'a'")
    }
}
