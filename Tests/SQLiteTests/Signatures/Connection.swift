import Foundation
import LiteVaultTestSupport
import SQLite
import Testing

@Suite struct ConnectionSignatures {
    let users: UsersDatabase
    let db: Connection

    init() throws {
        users = try UsersDatabase()
        db = users.db
    }

    @Test func `a connection opens in memory, temporarily, by path or by URI, and reports where`() throws {
        #expect(try Connection().description == "")
        #expect(try Connection(.inMemory).description == "")
        #expect(try Connection(.temporary).description == "")
        let scratch = Scratch()
        let path = scratch.path("Some Tests.sqlite3")
        #expect(URL(fileURLWithPath: try Connection(.uri(path)).description).lastPathComponent == "Some Tests.sqlite3")
        #expect(URL(fileURLWithPath: try Connection(path).description).lastPathComponent == "Some Tests.sqlite3")
        _ = try Connection(.uri(path, parameters: [.cache(.shared)]))
        let readonly = try Connection(path, readonly: true)
        #expect(readonly.readonly)
        #expect(!db.readonly)
        let wal = try Connection(scratch.path("wal.sqlite3"), journalMode: .wal)
        #expect(wal.journalMode == .wal)
        #expect(try Connection(.uri(path), readonly: true, journalMode: .wal).readonly)
    }

    @Test func `a location and its parameters are described as a URI`() {
        #expect(Connection.Location.inMemory.description == ":memory:")
        #expect(Connection.Location.temporary.description == "")
        #expect(Connection.Location.uri("foo").description == "foo")
        let parameters: [URIQueryParameter] = [.mode(.readOnly), .cache(.private)]
        #expect(Connection.Location.uri("foo", parameters: parameters).description == "file:foo?mode=ro&cache=private")
        #expect(URIQueryParameter.cache(.shared).description == "cache=shared")
        #expect(URIQueryParameter.immutable(true).description == "immutable=1")
        #expect(URIQueryParameter.modeOf("/x").description == "modeOf=/x")
        #expect(URIQueryParameter.mode(.readWrite).description == "mode=rw")
        #expect(URIQueryParameter.mode(.readWriteCreate).description == "mode=rwc")
        #expect(URIQueryParameter.mode(.memory).description == "mode=memory")
        #expect(URIQueryParameter.nolock(true).description == "nolock=1")
        #expect(URIQueryParameter.powersafeOverwrite(false).description == "psow=0")
        #expect(URIQueryParameter.vfs("unix").description == "vfs=unix")
    }

    @Test func `the counters start at zero and count`() throws {
        let db = try Connection()
        #expect(db.changes == 0 && db.totalChanges == 0 && db.lastInsertRowid == 0)
        try users.insert("alice")
        #expect(self.db.changes == 1 && self.db.totalChanges == 1 && self.db.lastInsertRowid == 1)
        try users.insert("betsy")
        #expect(self.db.changes == 1 && self.db.totalChanges == 2 && self.db.lastInsertRowid == 2)
    }

    @Test func `prepare takes no values, values, an array or a dictionary`() throws {
        _ = try db.prepare("SELECT * FROM users WHERE admin = 0")
        _ = try db.prepare("SELECT * FROM users WHERE admin = ?", 0)
        _ = try db.prepare("SELECT * FROM users WHERE admin = ?", [0])
        _ = try db.prepare("SELECT * FROM users WHERE admin = $admin", ["$admin": 0])
    }

    @Test func `run takes no values, values, an array or a dictionary, and shows in the trace`() throws {
        try db.run("SELECT * FROM users WHERE admin = 0")
        try db.run("SELECT * FROM users WHERE admin = ?", 0)
        try db.run("SELECT * FROM users WHERE admin = ?", [0])
        try db.run("SELECT * FROM users WHERE admin = $admin", ["$admin": 0])
        #expect(users.count("SELECT * FROM users WHERE admin = 0") == 4)
        try db.vacuum()
        let statement: Statement = try db.vacuum()
        #expect(statement.description == "VACUUM")
    }

    @Test func `scalar takes no values, values, an array or a dictionary`() throws {
        #expect(try db.scalar("SELECT count(*) FROM users WHERE admin = 0") as? Int64 == 0)
        #expect(try db.scalar("SELECT count(*) FROM users WHERE admin = ?", 0) as? Int64 == 0)
        #expect(try db.scalar("SELECT count(*) FROM users WHERE admin = ?", [0]) as? Int64 == 0)
        #expect(try db.scalar("SELECT count(*) FROM users WHERE admin = $admin", ["$admin": 0]) as? Int64 == 0)
        let statement = try db.prepare("SELECT ?")
        #expect(try statement.scalar(1) as? Int64 == 1)
        #expect(try statement.scalar(["a"]) as? String == "a")
        #expect(try db.prepare("SELECT $a").scalar(["$a": 2.5]) as? Double == 2.5)
    }

    @Test func `execute runs several statements, and ignores comments`() throws {
        try db.execute("SELECT 1; SELECT 2")
        #expect(users.count("SELECT 1;") + users.count("SELECT 1") == 1)
        try db.run("-- this is a comment\nSELECT 3")
        #expect(users.count("-- this is a comment") == 0)
        #expect(users.count("SELECT 3") == 0)
    }

    @Test func `a transaction begins in its mode and commits`() throws {
        try db.transaction(.deferred) {}
        try db.transaction(.immediate) {}
        try db.transaction(.exclusive) {}
        #expect(
            users.ran == [
                "BEGIN DEFERRED TRANSACTION", "COMMIT TRANSACTION", "BEGIN IMMEDIATE TRANSACTION", "COMMIT TRANSACTION",
                "BEGIN EXCLUSIVE TRANSACTION", "COMMIT TRANSACTION",
            ])
        let names = [Connection.TransactionMode.deferred, .immediate, .exclusive].map(\.rawValue)
        #expect(names == ["DEFERRED", "IMMEDIATE", "EXCLUSIVE"])
    }

    @Test func `a transaction runs prepared statements of its connection`() throws {
        let statement = try db.prepare("INSERT INTO users (email) VALUES (?)", "alice@example.com")
        try db.transaction { try statement.run() }
        #expect(
            users.ran == [
                "BEGIN DEFERRED TRANSACTION", "INSERT INTO users (email) VALUES ('alice@example.com')",
                "COMMIT TRANSACTION",
            ])
    }

    @Test func `a transaction whose commit fails is rolled back`() throws {
        try db.execute("PRAGMA foreign_keys = ON;")
        try db.execute("PRAGMA defer_foreign_keys = ON;")
        let statement = try db.prepare(
            "INSERT INTO users (email, manager_id) VALUES (?, ?)", "alice@example.com", 100)
        do {
            try db.transaction { try statement.run() }
            Issue.record("committed")
        } catch let Result.error(_, code, _) {
            #expect(code == SQLITE_CONSTRAINT)
        }
        #expect(users.count("COMMIT TRANSACTION") == 1 && users.count("ROLLBACK TRANSACTION") == 1)
        #expect(try db.scalar("SELECT count(*) FROM users") as? Int64 == 0)
        try db.transaction {}
    }

    @Test func `a transaction whose block throws is rolled back`() throws {
        let statement = try db.prepare("INSERT INTO users (email) VALUES (?)", "alice@example.com")
        #expect(throws: (any Error).self) {
            try db.transaction {
                try statement.run()
                try statement.run()
            }
        }
        #expect(users.count("COMMIT TRANSACTION") == 0 && users.count("ROLLBACK TRANSACTION") == 1)
    }

    @Test func `savepoints nest, and one that fails is rolled back`() throws {
        try db.savepoint("1") { try db.savepoint("2") { try db.run("INSERT INTO users (email) VALUES ('a')") } }
        #expect(
            users.ran == [
                "SAVEPOINT '1'", "SAVEPOINT '2'", "INSERT INTO users (email) VALUES ('a')", "RELEASE SAVEPOINT '2'",
                "RELEASE SAVEPOINT '1'",
            ])
        #expect(throws: (any Error).self) {
            try db.savepoint("3") { try db.savepoint("4") { try db.run("INSERT INTO users (email) VALUES ('a')") } }
        }
        #expect(users.count("ROLLBACK TO SAVEPOINT '4'") == 1 && users.count("ROLLBACK TO SAVEPOINT '3'") == 1)
        // One that failed is released by another text: this one stands for success in a trace.
        #expect(users.count("RELEASE SAVEPOINT '4'") == 0 && users.count("RELEASE SAVEPOINT '3'") == 0)
        #expect(!db.isInTransaction)
        try db.savepoint { try db.run("SELECT 1") }
    }

    @Test func `hooks are called for updates, commits and rollbacks`() throws {
        final class Seen: @unchecked Sendable { var events: [String] = [] }
        let seen = Seen()
        db.updateHook { operation, database, table, rowid in
            seen.events.append("\(operation) \(database).\(table) \(rowid)")
        }
        try users.insert("alice")
        try db.run("UPDATE users SET email = 'alice@b.example'")
        try db.run("DELETE FROM users WHERE id = 1")
        #expect(seen.events == ["insert main.users 1", "update main.users 1", "delete main.users 1"])
        db.updateHook(nil)
        seen.events = []
        db.commitHook { seen.events.append("commit") }
        try db.transaction { try users.insert("alice") }
        db.commitHook { throw NSError(domain: "tests", code: 1, userInfo: nil) }
        db.rollbackHook { seen.events.append("rollback") }
        _ = try? db.transaction { try users.insert("betsy") }
        #expect(seen.events == ["commit", "rollback"])
        #expect(try db.scalar("SELECT count(*) FROM users") as? Int64 == 1)
        db.commitHook(nil)
        db.rollbackHook(nil)
        let insert: Connection.Operation = .insert
        #expect([insert, .update, .delete].count == 3)
    }

    @Test func `functions and collations are called by names that may need quotes`() throws {
        db.createFunction("hello") { $0[0].map { "Hello, \($0)!" } }
        #expect(try db.scalar("SELECT hello('world')") as? String == "Hello, world!")
        #expect(try db.scalar("SELECT hello(NULL)") == nil)
        db.createFunction("hello world", argumentCount: 1, deterministic: true) { $0[0].map { "Hello, \($0)!" } }
        #expect(try db.scalar("SELECT \"hello world\"('world')") as? String == "Hello, world!")
        try db.createCollation("NO DIACRITIC") { lhs, rhs in lhs.compare(rhs, options: .diacriticInsensitive) }
        #expect(try db.scalar("SELECT ? = ? COLLATE \"NO DIACRITIC\"", "cafe", "café") as? Int64 == 1)
    }

    @Test func `interrupt ends a query that runs`() throws {
        try users.insert("alice")
        db.createFunction("halt") { _ in
            db.interrupt()
            return nil
        }
        let statement = try db.prepare("SELECT *, halt(?) FROM users", 0.1)
        do {
            try statement.run()
            Issue.record("not interrupted")
        } catch let Result.error(_, code, _) {
            #expect(code == SQLITE_INTERRUPT)
        }
    }

    @Test func `the busy handler and the busy timeout are settings of the connection`() throws {
        db.busyTimeout = 2
        #expect(db.busyTimeout == 2)
        db.busyHandler { tries in tries < 3 }
        db.busyHandler(nil)
        db.usesExtendedErrorCodes = true
        #expect(db.usesExtendedErrorCodes)
        do {
            try db.run("INSERT INTO users (email, admin) VALUES ('a', 2)")
        } catch let Result.extendedError(message, extendedCode, statement) {
            #expect(message.contains("CHECK constraint failed"))
            #expect(extendedCode == 275)
            #expect(statement?.description == "INSERT INTO users (email, admin) VALUES ('a', 2)")
        }
    }

    @Test func `the handle is the engine's own, for its C functions`() throws {
        let handle: OpaquePointer = db.handle
        #expect(sqlite3_get_autocommit(handle) == 1)
        #expect(sqlite3_libversion_number() > 3_000_000)
        db.trace(nil)
        #expect(sqlite3_exec(db.handle, "SELECT 1", nil, nil, nil) == SQLITE_OK)
    }

    @Test func `a closed connection throws for everything`() throws {
        try db.close()
        #expect(throws: (any Error).self) { try db.run("SELECT 1") }
    }
}
