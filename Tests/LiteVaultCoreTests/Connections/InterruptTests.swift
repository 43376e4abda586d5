import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct InterruptTests {
    static let endless: SQL = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

    @Test func `a statement that another thread interrupts ends with its own code`() throws {
        let db = try Connection()
        let isDone = Shared(false)
        let thread = BackgroundThread {
            while !isDone.value {
                Thread.sleep(forTimeInterval: 0.01)
                db.interrupt()
            }
        }
        let error = #expect(throws: DatabaseError.self) { try db.value(Self.endless, as: StoredValue.self) }
        isDone.update { $0 = true }
        #expect(thread.join())
        #expect(error?.resultCode == .interrupt)
        #expect(try db.number("SELECT 1") == 1)
    }

    @Test func `an interrupted transaction is rolled back and its error is the interrupt`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t(x)")
        try db.defineFunction("stop") { [unowned db] _ in
            db.interrupt()
            return 1
        }
        let error = #expect(throws: DatabaseError.self) {
            try db.transaction {
                try db.execute(
                    "INSERT INTO t WITH RECURSIVE n(x) AS (SELECT stop() UNION ALL SELECT x + 1 FROM n LIMIT 100000) SELECT x FROM n"
                )
            }
        }
        #expect(error?.resultCode == .interrupt)
        #expect(!db.isInTransaction)
        #expect(try db.number("SELECT count(*) FROM t") == 0)
    }

    /// Interrupts its connection from within, after a few rows.
    private static let interrupted: SQL = """
        WITH RECURSIVE n(x) AS (SELECT stop() UNION ALL SELECT x + 1 FROM n LIMIT 100000) SELECT count(*) FROM n
        """

    private func database(_ path: String) throws -> Connection {
        let db = try Connection(path)
        try db.execute("CREATE TABLE t(x)")
        try db.defineFunction("stop") { [unowned db] _ in
            db.interrupt()
            return 1
        }
        return db
    }

    @Test func `H-WAL-11: a transaction that is interrupted inside a loop is rolled back when the loop ends`() throws {
        let scratch = Scratch()
        let path = scratch.path("a.db")
        let db = try database(path)
        let error = #expect(throws: DatabaseError.self) {
            try db.forEach("SELECT 1 UNION ALL SELECT 2") { _ in
                try db.transaction {
                    try db.run("INSERT INTO t VALUES (1)")
                    _ = try db.value(Self.interrupted, as: Int64.self)
                }
            }
        }
        #expect(error?.resultCode == .interrupt)
        #expect(!db.isInTransaction)
        try db.transaction { try db.run("INSERT INTO t VALUES (2)") }
        #expect(try Connection(path).column("SELECT x FROM t") == ["2"])
    }

    @Test func `H-WAL-11: after such an interrupt no statement of the loop is committed, even if it catches the error`()
        throws
    {
        let scratch = Scratch()
        let db = try database(scratch.path("a.db"))
        var refusal: DatabaseError?
        #expect(throws: DatabaseError.self) {
            try db.forEach("SELECT 1 UNION ALL SELECT 2") { _ in
                _ = try? db.transaction {
                    try db.run("INSERT INTO t VALUES (1)")
                    _ = try db.value(Self.interrupted, as: Int64.self)
                }
                do { try db.run("INSERT INTO t VALUES (2)") } catch let error as DatabaseError { refusal = error }
            }
        }
        // SQLITE_ABORT_ROLLBACK
        #expect(refusal?.extendedCode == 516)
        #expect(!db.isInTransaction)
        #expect(try db.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `H-WAL-11: a savepoint that is interrupted inside a loop is not part of what the transaction commits`()
        throws
    {
        let scratch = Scratch()
        let db = try database(scratch.path("a.db"))
        try db.transaction {
            try db.run("INSERT INTO t VALUES (1)")
            #expect(throws: DatabaseError.self) {
                try db.forEach("SELECT 1 UNION ALL SELECT 2") { _ in
                    try db.transaction {
                        try db.run("INSERT INTO t VALUES (2)")
                        _ = try db.value(Self.interrupted, as: Int64.self)
                    }
                }
            }
            try db.run("INSERT INTO t VALUES (3)")
        }
        #expect(!db.isInTransaction)
        #expect(try db.column("SELECT x FROM t") == ["1", "3"])
    }

    @Test func `H-WAL-11: an interrupted transaction in a loop over a prepared statement is rolled back`() throws {
        let scratch = Scratch()
        let db = try database(scratch.path("a.db"))
        let outer = try db.prepare("SELECT 1 UNION ALL SELECT 2")
        #expect(throws: DatabaseError.self) {
            try outer.forEach { _ in
                try db.transaction {
                    try db.run("INSERT INTO t VALUES (1)")
                    _ = try db.value(Self.interrupted, as: Int64.self)
                }
            }
        }
        #expect(!db.isInTransaction)
        try db.run("INSERT INTO t VALUES (2)")
        #expect(try db.column("SELECT x FROM t") == ["2"])
    }

    @Test func `interrupting an idle or a closed connection does nothing`() throws {
        let db = try Connection()
        db.interrupt()
        #expect(try db.number("SELECT 1") == 1)
        try db.close()
        db.interrupt()
    }

    @Test(arguments: [true, false])
    func `H-WAL-04: an interrupt that found nothing running does not keep closing from emptying the log`(
        isExplicit: Bool
    ) throws {
        let scratch = Scratch()
        let path = scratch.path("a.db")
        do {
            let db = try Connection(path, journalMode: .wal)
            try db.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
            try #require(FileManager.default.fileExists(atPath: path + "-wal"))
            db.interrupt()
            if isExplicit { try db.close() }
        }
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        #expect(try Connection(path).number("SELECT x FROM t") == 1)
    }

    @Test func `interrupting while the connection closes is safe`() throws {
        for _ in 1...50 {
            let db = try Connection()
            let thread = BackgroundThread { for _ in 1...200 { db.interrupt() } }
            try db.close()
            #expect(thread.join())
        }
    }
}
