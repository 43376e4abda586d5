import Foundation
import LiteVaultTestSupport
import SQLite
import Testing

@Suite struct PragmaSignatures {
    let db: Connection
    let scratch: Scratch

    init() throws {
        scratch = Scratch()
        db = try Connection(scratch.path("a.db"))
    }

    @Test func `the version of the schema is read and written`() throws {
        #expect(db.userVersion == 0)
        db.userVersion = 4
        let version: UserVersion? = db.userVersion
        #expect(version == 4)
        #expect(try db.pragma(.userVersion) == 4)
    }

    @Test func `the version of SQLite is known and compared`() {
        #expect(db.sqliteVersion >= .init(major: 3, minor: 0))
        let version = SQLiteVersion(major: 3, minor: 40, point: 1)
        #expect(version.description == "SQLite 3.40.1")
        #expect(version == SQLiteVersion(major: 3, minor: 40, point: 1) && version < .init(major: 3, minor: 41))
        #expect(version.major == 3 && version.minor == 40 && version.point == 1)
        #expect(SQLiteVersion(major: 3, minor: 40).point == 0)
    }

    @Test func `foreign keys are switched, and deferred in a transaction`() throws {
        #expect(!db.foreignKeys && !db.deferForeignKeys)
        db.foreignKeys = true
        #expect(db.foreignKeys)
        try db.transaction {
            db.deferForeignKeys = true
            #expect(db.deferForeignKeys)
        }
    }

    @Test func `the journal mode is read and set, and the resulting mode returned`() throws {
        #expect(db.journalMode == .delete)
        db.journalMode = .truncate
        #expect(db.journalMode == .truncate)
        #expect(try db.setJournalMode(.persist) == .persist)
        #expect(try db.enableWAL() == .wal)
        #expect(Connection.JournalMode.allCases.map(\.rawValue) == ["delete", "truncate", "persist", "memory", "wal", "off"])
        let memory = try Connection()
        #expect(try memory.setJournalMode(.wal) == .memory)
    }

    @Test func `synchronous and the checkpoints are settings`() throws {
        try db.setSynchronous(.normal)
        #expect(db.synchronous == .normal)
        db.synchronous = .full
        #expect(db.synchronous == .full)
        #expect(Connection.Synchronous.allCases.map(\.rawValue) == [0, 1, 2, 3])
        try db.enableWAL()
        db.walAutoCheckpoint = 10
        #expect(db.walAutoCheckpoint == 10)
        try db.run("CREATE TABLE t (a)")
        let result: (busy: Bool, log: Int, checkpointed: Int) = try db.walCheckpoint(mode: .truncate, schema: "main")
        #expect(!result.busy && result.log == 0)
        try db.walCheckpoint()
        let modes: [Connection.WALCheckpointMode] = [.passive, .full, .restart, .truncate]
        #expect(modes.map(\.rawValue) == ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
    }

    @Test func `a database is attached by a name and detached`() throws {
        let other = try Connection(scratch.path("b.db"))
        try other.run("CREATE TABLE items (name TEXT)")
        try db.attach(.uri(scratch.path("b.db")), as: "other")
        let items = Table("items", database: "other")
        try db.run(items.insert(Expression<String>("name") <- "x"))
        #expect(try db.scalar(items.count) == 1)
        try db.detach("other")
        #expect(throws: (any Error).self) { try db.scalar(items.count) }
    }

    @Test func `an attached database is in memory or read-only, and a missing one is reported`() throws {
        try db.attach(.inMemory, as: "test")
        let users = Table("attached_users", database: "test")
        try db.run(users.create { $0.column(string) })
        try db.run(users.insert(string <- "test"))
        #expect(try db.prepare(users.select(string)).map { $0[string] } == ["test"])
        try db.detach("test")
        try Connection(scratch.path("c.db")).run("CREATE TABLE tests (email TEXT)")
        try db.attach(.uri(scratch.path("c.db"), parameters: [.mode(.readOnly)]), as: "test")
        #expect(try db.scalar(Table("tests", database: "test").count) == 0)
        #expect(throws: Result.self) { try db.run("INSERT INTO test.tests VALUES ('a')") }
        try db.detach("test")
        do {
            try db.detach("no-exist")
            Issue.record("detached")
        } catch let Result.error(message, code, _) {
            #expect(code == SQLITE_ERROR)
            #expect(message == "no such database: no-exist")
        }
    }
}
