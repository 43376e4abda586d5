import LiteVaultTestSupport
import SQLite
import Testing

extension Connection {
    /// The first column of every row, as text; "NULL" for NULL.
    func column(_ sql: String, _ bindings: (any Binding)?...) throws -> [String] {
        try Array(try prepare(sql, bindings)).map { row in row.first.flatMap { $0 }.map { "\($0)" } ?? "NULL" }
    }

    /// The one number that a query gives.
    func number(_ sql: String, _ bindings: (any Binding)?...) throws -> Int64? {
        try scalar(sql, bindings) as? Int64
    }
}

/// An error that nothing in the library throws.
struct Mishap: Error, Equatable, CustomStringConvertible {
    var text = "mishap"
    var description: String { text }
}

/// What setters that cannot throw do with an error: nothing.
@Suite struct SilentSettersTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        scratch = Scratch()
        db = try Connection(scratch.path("test.db"))
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1)")
    }

    @Test func `user_version stays where it cannot be written, and is 0 for nil`() throws {
        db.userVersion = 2
        db.userVersion = nil
        #expect(db.userVersion == 0)
        db.userVersion = 3
        let reader = try Connection(scratch.path("test.db"), readonly: true)
        reader.userVersion = 7
        #expect(reader.userVersion == 3)
    }

    @Test(arguments: Connection.Synchronous.allCases) func `synchronous is read and set`(mode: Connection.Synchronous)
        throws
    {
        db.synchronous = mode
        #expect(db.synchronous == mode)
        try db.setSynchronous(.normal)
        #expect(db.synchronous == .normal)
    }

    @Test func `the journal mode of a file that is in use stays`() throws {
        let other = try Connection(scratch.path("test.db"))
        let reading = try other.prepare("SELECT x FROM t")
        #expect(try reading.step())
        db.journalMode = .wal
        #expect(db.journalMode == .delete)
        withExtendedLifetime(reading) {}
    }

    @Test func `foreign keys and checkpoints are read as they were set`() throws {
        db.foreignKeys = true
        try db.transaction {
            db.foreignKeys = false
            #expect(db.foreignKeys, "the engine ignores it inside a transaction")
            #expect(!db.deferForeignKeys)
            db.deferForeignKeys = true
            #expect(db.deferForeignKeys)
        }
        #expect(db.walAutoCheckpoint == 1000)
        db.walAutoCheckpoint = 50
        #expect(db.walAutoCheckpoint == 50)
    }

    @Test func `a closed connection answers without an error`() throws {
        try db.close()
        #expect(db.userVersion == nil && db.journalMode == .delete && !db.foreignKeys && db.walAutoCheckpoint == 0)
        #expect(db.changes == 0 && db.totalChanges == 0 && db.lastInsertRowid == 0 && !db.readonly)
    }
}
