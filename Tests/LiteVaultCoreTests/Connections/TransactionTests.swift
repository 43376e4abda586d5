import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct TransactionTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        scratch = Scratch()
        db = try Connection(try scratch.database())
    }

    private func rows(_ db: Connection? = nil) throws -> [String] {
        try (db ?? self.db).column("SELECT x FROM t ORDER BY x")
    }

    private func other() throws -> Connection { try Connection(scratch.path("test.db")) }

    @Test(arguments: [Connection.TransactionMode.deferred, .immediate, .exclusive])
    func `a transaction commits and returns what its block returns`(mode: Connection.TransactionMode) throws {
        let sum = try db.transaction(mode) {
            #expect(db.isInTransaction)
            try db.run("INSERT INTO t VALUES (4)")
            return try db.number("SELECT sum(x) FROM t")
        }
        #expect(sum == 10)
        #expect(!db.isInTransaction)
        #expect(try rows(try other()) == ["1", "2", "3", "4"])
    }

    @Test(arguments: [Connection.TransactionMode.deferred, .immediate, .exclusive])
    func `a transaction whose block throws is rolled back, and throws the block's error`(
        mode: Connection.TransactionMode
    ) throws {
        #expect(throws: Mishap()) {
            try db.transaction(mode) {
                try db.run("DELETE FROM t")
                throw Mishap()
            }
        }
        #expect(!db.isInTransaction)
        #expect(try rows() == ["1", "2", "3"])
    }

    @Test func `a transaction that can no longer write is told to begin as immediate, not to wait`() throws {
        let scratch = Scratch()
        let path = try scratch.database()
        let (one, other) = (try Connection(path), try Connection(path))
        try one.execute("PRAGMA journal_mode = WAL")
        one.lockTimeout = .seconds(5)
        let error = #expect(throws: DatabaseError.self) {
            try one.transaction {
                _ = try one.number("SELECT count(*) FROM t")
                try other.execute("INSERT INTO t VALUES (4)")
                try one.execute("INSERT INTO t VALUES (5)")
            }
        }
        #expect(error?.resultCode == .busySnapshot)
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("begin transactions that read and then write with '.immediate'"), "\(text)")
        #expect(!text.contains("timeout"))
        try one.transaction(.immediate) { try one.execute("INSERT INTO t SELECT count(*) FROM t") }
        #expect(try one.number("SELECT count(*) FROM t") == 5)
    }

    @Test func `a transaction in which a statement fails is rolled back completely`() throws {
        try db.execute("CREATE UNIQUE INDEX i ON t(x)")
        let error = #expect(throws: DatabaseError.self) {
            try db.transaction {
                try db.run("INSERT INTO t VALUES (4)")
                try db.run("INSERT INTO t VALUES (4)")
            }
        }
        #expect(error?.resultCode == .constraintUnique)
        #expect(try rows() == ["1", "2", "3"])
    }

    @Test func `the modes take their locks at the documented times`() throws {
        let other = try other()
        try db.transaction(.deferred) { try other.run("INSERT INTO t VALUES (4)") }
        try db.transaction(.immediate) {
            #expect(throws: DatabaseError.self) { try other.run("INSERT INTO t VALUES (5)") }
            let seen = try rows(other)
            #expect(seen.count == 4)
        }
        try db.transaction(.exclusive) { #expect(throws: DatabaseError.self) { try rows(other) } }
    }

    @Test func `a transaction that cannot begin runs nothing and throws busy`() throws {
        let other = try other()
        try other.execute("BEGIN IMMEDIATE")
        var ran = false
        let error = #expect(throws: DatabaseError.self) { try db.transaction(.immediate) { ran = true } }
        #expect(error?.resultCode == .busy)
        #expect(!ran)
        #expect(!db.isInTransaction)
    }

    @Test func `a commit that fails as busy rolls back, so that the connection is not stuck in it`() throws {
        let other = try other()
        let reading = try other.prepare("SELECT x FROM t")
        #expect(try reading.advance())
        let error = #expect(throws: DatabaseError.self) {
            try db.transaction { try db.run("INSERT INTO t VALUES (4)") }
        }
        #expect(error?.resultCode == .busy)
        #expect(!db.isInTransaction)
        reading.clear()
        #expect(try rows() == ["1", "2", "3"])
        try db.transaction { try db.run("INSERT INTO t VALUES (5)") }
        #expect(try rows(other) == ["1", "2", "3", "5"])
    }

    @Test func `a commit that violates a deferred constraint throws it, and rolls back`() throws {
        try db.execute(
            "PRAGMA foreign_keys = ON; CREATE TABLE u(id PRIMARY KEY); CREATE TABLE v(u REFERENCES u DEFERRABLE INITIALLY DEFERRED)"
        )
        let error = #expect(throws: DatabaseError.self) {
            try db.transaction { try db.run("INSERT INTO v VALUES (1)") }
        }
        #expect(error?.resultCode == .constraintForeignKey)
        #expect(!db.isInTransaction)
        #expect(try db.number("SELECT count(*) FROM v") == 0)
    }

    @Test func `an error that ended the transaction itself is thrown, not that of the rollback`() throws {
        try db.execute("CREATE UNIQUE INDEX i ON t(x)")
        let error = #expect(throws: DatabaseError.self) {
            try db.transaction {
                try db.run("INSERT INTO t VALUES (4)")
                try db.run("INSERT OR ROLLBACK INTO t VALUES (4)")
            }
        }
        #expect(error?.resultCode == .constraintUnique)
        #expect(!db.isInTransaction)
        #expect(try rows() == ["1", "2", "3"])
    }

    @Test func `a block that ends the transaction itself makes its commit an error`() throws {
        #expect(throws: DatabaseError.self) { try db.transaction { try db.run("COMMIT") } }
        #expect(!db.isInTransaction)
    }

    @Test func `a transaction in a transaction is a savepoint`() throws {
        try db.transaction {
            try db.run("INSERT INTO t VALUES (4)")
            #expect(throws: Mishap()) {
                try db.transaction(.exclusive) {
                    try db.run("INSERT INTO t VALUES (5)")
                    throw Mishap()
                }
            }
            #expect(db.isInTransaction)
            try db.transaction { try db.transaction { try db.run("INSERT INTO t VALUES (6)") } }
        }
        #expect(try rows() == ["1", "2", "3", "4", "6"])
    }

    @Test func `a transaction inside one that SQL began leaves it open`() throws {
        try db.execute("BEGIN")
        try db.transaction { try db.run("INSERT INTO t VALUES (4)") }
        #expect(db.isInTransaction)
        try db.execute("ROLLBACK")
        #expect(try rows() == ["1", "2", "3"])
    }

    @Test func `a savepoint commits, and rolls back when its block throws`() throws {
        let result = try db.withSavepoint {
            try db.run("INSERT INTO t VALUES (4)")
            return 7
        }
        #expect(result == 7)
        #expect(!db.isInTransaction)
        #expect(throws: Mishap()) {
            try db.withSavepoint(named: "named") {
                try db.run("INSERT INTO t VALUES (5)")
                throw Mishap()
            }
        }
        #expect(!db.isInTransaction, "a savepoint that failed must not leave its transaction open")
        #expect(try rows(try other()) == ["1", "2", "3", "4"])
    }

    @Test func `savepoints nest, and undo only their own changes`() throws {
        try db.withSavepoint(named: "1") {
            try db.run("INSERT INTO t VALUES (4)")
            try db.withSavepoint(named: "2") {
                try db.run("INSERT INTO t VALUES (5)")
                #expect(throws: Mishap()) {
                    try db.withSavepoint(named: "3") {
                        try db.run("DELETE FROM t")
                        throw Mishap()
                    }
                }
            }
        }
        #expect(try rows() == ["1", "2", "3", "4", "5"])
    }

    @Test(arguments: ["it's", "a\"b", "", "; DROP TABLE t; --", "'\u{301}; DROP TABLE t; --", "日本", "''", "x y"])
    func `a savepoint can have any name`(name: String) throws {
        try db.withSavepoint(named: name) {
            #expect(throws: Mishap()) {
                try db.withSavepoint(named: name) {
                    try db.run("DELETE FROM t")
                    throw Mishap()
                }
            }
        }
        #expect(!db.isInTransaction)
        #expect(try rows() == ["1", "2", "3"])
    }

    @Test func `a transaction keeps other threads waiting until it is over`() throws {
        let inside = DispatchSemaphore(value: 0)
        let order = Shared<[String]>([])
        let thread = BackgroundThread { [db] in
            inside.wait()
            _ = try? db.value("SELECT 1", as: StoredValue.self)
            order.update { $0.append("other") }
        }
        try db.transaction {
            inside.signal()
            Thread.sleep(forTimeInterval: 0.1)
            order.update { $0.append("transaction") }
        }
        #expect(thread.join())
        #expect(order.value == ["transaction", "other"])
    }
}
