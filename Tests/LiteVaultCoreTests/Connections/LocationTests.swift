import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct LocationTests {
    @Test(arguments: [
        "plain.db", "with space.db", "hash#mark.db", "question?mark.db", "percent%41.db", "plus+&=.db", "ünï-日本.db",
        "quote'\"s.db", "file:looks-like-a-uri.db",
    ])
    func `a path opens the file of exactly that name`(name: String) throws {
        let scratch = Scratch()
        let db = try Connection(scratch.path(name))
        try db.execute("CREATE TABLE t(x)")
        try db.close()
        #expect(try scratch.names() == [name])
    }

    @Test(arguments: [
        "plain.db", "with space.db", "hash#mark.db", "question?mark.db", "percent%41.db", "plus+&=.db", "ünï-日本.db",
        "quote'\"s.db",
    ])
    func `a path with parameters opens the file of exactly that name`(name: String) throws {
        let scratch = Scratch()
        let db = try Connection(.uri(scratch.path(name), parameters: [.mode(.readWriteCreate)]))
        try db.execute("CREATE TABLE t(x)")
        try db.close()
        #expect(try scratch.names() == [name])
    }

    @Test func `the description of a path with parameters is an escaped URI`() {
        let location = Connection.Location.uri("/data/a b#1?.db", parameters: [.mode(.readOnly), .immutable(true)])
        #expect(location.description == "file:/data/a%20b%231%3F.db?mode=ro&immutable=1")
    }

    @Test func `a URI keeps its own parameters and its fragment when more are added`() {
        let location = Connection.Location.uri("file:/a.db?psow=0#top", parameters: [.nolock(true)])
        #expect(location.description == "file:/a.db?psow=0&nolock=1#top")
        #expect(Connection.Location.uri("file:/a.db", parameters: [.nolock(true)]).description == "file:/a.db?nolock=1")
        #expect(Connection.Location.uri("//a.db", parameters: [.nolock(true)]).description == "file:////a.db?nolock=1")
    }

    @Test func `every parameter is described by its name, and written in the URI under SQLite's name`() {
        let parameters: [Connection.Location.QueryParameter] = [
            .cache(.shared), .cache(.private), .immutable(true), .modeOf("/b c"), .mode(.readWriteCreate),
            .mode(.memory),
            .nolock(false), .noLock(true), .powersafeOverwrite(true), .vfs("unix-none&"),
        ]
        #expect(
            parameters.map(\.description) == [
                "cache=shared", "cache=private", "immutable=1", "modeOf=/b%20c", "mode=rwc", "mode=memory", "nolock=0",
                "nolock=1", "psow=1", "vfs=unix-none%26",
            ])
        // SQLite ignores unknown parameters, and `modeOf` is one.
        let location = Connection.Location.uri("a", parameters: [.modeOf("/b c"), .nolock(true)])
        #expect(location.description == "file:a?modeof=/b%20c&nolock=1")
    }

    @Test func `every parameter is accepted by the engine`() throws {
        let scratch = Scratch()
        let file = try scratch.database()
        for parameter: Connection.Location.QueryParameter in [
            .cache(.private), .cache(.shared), .immutable(true), .modeOf(file), .mode(.readOnly), .mode(.readWrite),
            .mode(.readWriteCreate), .nolock(true), .powersafeOverwrite(false), .vfs("unix"),
        ] {
            let db = try Connection(.uri(file, parameters: [parameter]))
            #expect(try db.number("SELECT sum(x) FROM t") == 6, "\(parameter)")
            try db.close()
        }
    }

    @Test func `a file: URI is opened as such`() throws {
        let scratch = Scratch()
        let file = try scratch.database("a b.db")
        let db = try Connection("file:" + file.replacingOccurrences(of: " ", with: "%20") + "?mode=ro")
        #expect(try db.number("SELECT count(*) FROM t") == 3)
        #expect(db.isReadOnly)
    }

    @Test func `mode read-only refuses to write and to create`() throws {
        let scratch = Scratch()
        let file = try scratch.database()
        let db = try Connection(.uri(file, parameters: [.mode(.readOnly)]))
        let error = #expect(throws: DatabaseError.self) { try db.run("DELETE FROM t") }
        #expect(error?.resultCode.primary == .readOnly)
        let missing = scratch.path("missing.db")
        for mode in [Connection.Location.QueryParameter.FileMode.readOnly, .readWrite] {
            let error = #expect(throws: DatabaseError.self) { try Connection(.uri(missing, parameters: [.mode(mode)])) }
            #expect(error?.resultCode.primary == .cantOpen)
            #expect(error?.description.contains(missing) == true)
        }
        #expect(try scratch.names() == ["test.db"])
    }

    @Test func `an unknown VFS is an error that names it`() {
        let error = #expect(throws: DatabaseError.self) {
            try Connection(.uri("/x.db", parameters: [.vfs("nonesuch")]))
        }
        #expect(error?.message.contains("nonesuch") == true)
    }

    @Test func `databases in memory with one name and a shared cache are one`() throws {
        let location = Connection.Location.uri("shared-\(UUID())", parameters: [.mode(.memory), .cache(.shared)])
        let one = try Connection(location)
        let other = try Connection(location)
        try one.execute("CREATE TABLE t(x); INSERT INTO t VALUES (7)")
        #expect(try other.number("SELECT x FROM t") == 7)
    }

    @Test(arguments: ["bad\0name.db", "file:bad\0name.db", "\0", "file:bad%00name.db", "file:name.db?mode=rwc%00x"])
    func `a name with a NUL is refused, instead of opening the file of the part before it`(name: String) throws {
        let scratch = Scratch()
        let path = name.hasPrefix("file:") ? "file:" + scratch.path(String(name.dropFirst(5))) : scratch.path(name)
        #expect(throws: DatabaseError.self) { try Connection(path) }
        #expect(throws: DatabaseError.self) { try Connection(.uri(path, parameters: [.mode(.readWriteCreate)])) }
        let db = try Connection()
        #expect(throws: DatabaseError.self) { try db.attach(.uri(path), as: "x") }
        #expect(try scratch.names() == [])
    }
}
