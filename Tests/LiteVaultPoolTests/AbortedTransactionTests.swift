import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

/// A closure that continues after its transaction was rolled back would commit each statement by itself.
@Suite struct AbortedTransactionTests {
    let scratch = Scratch()

    private static let setup = """
        CREATE TABLE u (k INTEGER UNIQUE ON CONFLICT ROLLBACK, a); INSERT INTO u VALUES (1, 'there')
        """

    /// Every way to write, each of which has to refuse.
    private static let ways: [@Sendable (Connection) throws -> Void] = [
        { try $0.execute("INSERT INTO t (a) VALUES ('x')") },
        { try $0.execute("SELECT 1; INSERT INTO t (a) VALUES ('x')") },
        { try $0.run("INSERT INTO t (a) VALUES ('x')") },
        { try $0.run("INSERT INTO t (a) VALUES (?)", with: "x") },
        { try $0.run("INSERT INTO t (a) VALUES (?)", with: "x") },
        { _ = try $0.prepare("INSERT INTO t (a) VALUES ('x')").advance() },
        { try $0.prepare("INSERT INTO t (a) VALUES (?)").run(with: "x") },
        { try $0.prepare("INSERT INTO t (a) VALUES (?)").run("x") },
        { try $0.run(Table("t").insert(SQLExpression<String>("a") <- "x")) },
        { try $0.transaction { } },
        { try $0.withSavepoint { } },
        { try $0.execute("BEGIN") },
        { try $0.execute("PRAGMA user_version = 7") },
        { _ = try $0.withHandle { _ in } },
        { _ = try $0.count() },
    ]

    @Test(arguments: 0..<ways.count)
    func `after an error that rolled back, a closure that caught it can do nothing more`(way: Int) throws {
        for access in [try scratch.pool() as DatabaseAccess, try DatabaseQueue()] {
            try access.write { try $0.execute("DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u;" + Scratch.content + ";" + Self.setup) }
            let refused = Flag(false)
            let prepared = Flag(0)
            #expect {
                try access.write { db in
                    // One that is prepared, and in the cache, already.
                    try db.run("INSERT INTO t (a) VALUES (?)", with: "undone")
                    try db.run(Table("t").insert(SQLExpression<String>("a") <- "undone"))
                    prepared.update { $0 += 1 }
                    try? db.execute("INSERT INTO u VALUES (1, 'conflict')")
                    #expect(!db.isInTransaction)
                    do { try Self.ways[way](db) } catch let error as DatabaseError {
                        refused.set(error.resultCode == .abortRollback)
                    }
                }
            } throws: {
                ($0 as? VaultError)?.code == .transactionEnded
            }
            #expect(refused.value && prepared.value == 1)
            #expect(try access.read { try $0.count() } == 3)
            #expect(try access.read { try $0.pragma(.userVersion) } == 0)
            try access.write { try $0.insert("kept") }
            #expect(try access.read { try $0.count() } == 4)
        }
    }

    @Test func `an error that the closure does not catch is rethrown`() throws {
        let pool = try scratch.pool()
        try pool.write { try $0.execute(Self.setup) }
        #expect { try pool.write { try $0.execute("INSERT INTO u VALUES (1, 'conflict')") } } throws: {
            ($0 as? DatabaseError)?.resultCode.primary == .constraint
        }
    }

    @Test func `one text of several statements does not get past the end of its transaction`() throws {
        let pool = try scratch.pool()
        #expect {
            try pool.write { try $0.execute("INSERT INTO t (a) VALUES ('x'); ROLLBACK; INSERT INTO t (a) VALUES ('y')") }
        } throws: {
            ($0 as? VaultError)?.code == .transactionEnded
        }
        #expect(try pool.read { try $0.count() } == 3)
        // A COMMIT is the closure's own, and the last thing that it does.
        #expect { try pool.write { try $0.execute("INSERT INTO t (a) VALUES ('x'); COMMIT; DELETE FROM t") } } throws: {
            ($0 as? VaultError)?.code == .transactionEnded
        }
        #expect(try pool.read { try $0.count() } == 4)
        #expect { try pool.write { try $0.execute("COMMIT; BEGIN; DELETE FROM t") } } throws: {
            ($0 as? VaultError)?.code == .transactionEnded
        }
        #expect(try pool.read { try $0.count() } == 4)
    }

    @Test func `the same holds in savepoints and in hand-written transactions`() throws {
        let pool = try scratch.pool()
        try pool.write { try $0.execute(Self.setup) }
        #expect {
            try pool.write { db in
                try? db.withSavepoint {
                    try db.insert("undone")
                    try? db.execute("INSERT INTO u VALUES (1, 'conflict')")
                    try? db.insert("refused")
                }
                try? db.insert("refused")
            }
        } throws: {
            ($0 as? VaultError)?.code == .transactionEnded
        }
        #expect(try pool.read { try $0.count() } == 3)
        #expect {
            try pool.writeWithoutTransaction { db in
                try db.transaction {
                    try? db.execute("INSERT INTO u VALUES (1, 'conflict')")
                    try? db.insert("refused")
                }
            }
        } throws: {
            ($0 as? DatabaseError)?.resultCode == .abortRollback
        }
        #expect(try pool.read { try $0.count() } == 3)
        // Outside of it the closure is as free as before.
        try pool.writeWithoutTransaction { db in
            try? db.transaction { try? db.execute("INSERT INTO u VALUES (1, 'conflict')") }
            try db.insert("kept")
        }
        #expect(try pool.read { try $0.count() } == 4)
    }

    @Test func `a full database ends the transaction`() throws {
        let pool = try scratch.pool()
        try pool.writeWithoutTransaction { db in
            let pages = try db.value("PRAGMA page_count", as: Int64?.self) ?? 0
            try db.execute("PRAGMA max_page_count = \(pages + 2)")
        }
        #expect {
            try pool.write { db in
                try db.insert("undone")
                var failed = false
                do {
                    for _ in 0..<100 { try db.run("INSERT INTO t (a) VALUES (zeroblob(4000))") }
                } catch let error as DatabaseError { failed = error.resultCode.primary == .full }
                #expect(failed)
                // Whether the engine has rolled back or not: nothing that follows may be kept alone.
                try? db.insert("alone")
                throw Refused()
            }
        } throws: {
            $0 is Refused
        }
        #expect(try pool.read { try $0.count() } == 3)
    }

    @Test func `a cancelled write whose closure swallows the error writes nothing`() async throws {
        let pool = try scratch.pool()
        let running = Flag(false)
        let task = Task {
            try await pool.write { db in
                let end = ContinuousClock.now + .seconds(1200)
                while db.isInTransaction, ContinuousClock.now < end {
                    // Interrupted in the middle, which rolls the whole transaction back.
                    try? db.execute(
                        """
                        INSERT INTO t (a) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)
                        SELECT 'alone' FROM n
                        """)
                    running.set(true)
                    try? db.insert("alone")
                }
                for _ in 0..<100 { try? db.insert("alone") }
            }
        }
        // On a thread of its own: this test may get one of the tasks' threads only minutes later, and the table would grow meanwhile.
        background {
            let end = ContinuousClock.now + .seconds(1200)
            while !running.value, ContinuousClock.now < end { usleep(1000) }
            task.cancel()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(running.value)
        #expect(try await pool.read { try $0.count() } == 3)
        try await pool.write { try $0.insert("kept") }
        #expect(try await pool.read { try $0.count() } == 4)
    }

    @Test func `statements that were begun before the end can be left and reset`() throws {
        let pool = try scratch.pool()
        try pool.write { try $0.execute(Self.setup) }
        #expect {
            try pool.write { db in
                let statement = try db.prepare("SELECT a FROM t")
                _ = try statement.advance()
                try? db.execute("INSERT INTO u VALUES (1, 'conflict')")
                #expect(throws: DatabaseError.self) { _ = try statement.advance() }
                statement.clear()
                #expect(statement.columnNames == ["a"])
            }
        } throws: {
            ($0 as? VaultError)?.code == .transactionEnded
        }
        #expect(pool.coordinator.accessCount == 0)
    }
}
