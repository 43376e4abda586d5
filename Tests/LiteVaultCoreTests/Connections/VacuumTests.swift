import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct VacuumTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        scratch = Scratch()
        db = try Connection(try scratch.database())
        try db.execute("CREATE TABLE big(x); INSERT INTO big VALUES (zeroblob(500000)); DROP TABLE big")
    }

    private func size(_ name: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: scratch.path(name))[.size] as? Int ?? 0
    }

    @Test func `vacuum releases free pages`() throws {
        let before = try size("test.db")
        try db.vacuum()
        #expect(try size("test.db") < before / 10)
        #expect(try db.number("SELECT count(*) FROM t") == 3)
    }

    @Test func `vacuum in a transaction is refused, and changes nothing`() throws {
        #expect(throws: DatabaseError.self) { try db.transaction { try db.vacuum() } }
        #expect(try db.number("SELECT count(*) FROM t") == 3)
    }

    @Test(arguments: ["copy.db", "copy #1?.db", "copy's.db"])
    func `VACUUM INTO writes a small copy, or the engine is reported as too old`(name: String) throws {
        guard EngineInfo.linked.isAtLeast(3, 27) else {
            let error =
                #expect(throws: VaultError.self) {
                try db.run("VACUUM INTO ?", with: scratch.path(name))
            }?.cause
                as? EngineInfo.UnsupportedFeature
            #expect(error?.feature == "VACUUM INTO")
            #expect(try scratch.names() == ["test.db"])
            return
        }
        try db.run("VACUUM INTO ?", with: scratch.path(name))
        #expect(try size(name) < size("test.db") / 10)
        #expect(try Connection(scratch.path(name), readonly: true).number("SELECT count(*) FROM t") == 3)
    }

    @Test func `VACUUM INTO a file with content is refused`() throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: try scratch.database("taken.db")))
        #expect(throws: (any Error).self) { try db.run("VACUUM INTO ?", with: scratch.path("taken.db")) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("taken.db"))) == before)
        #expect(try scratch.names() == ["taken.db", "test.db"])
    }
}
