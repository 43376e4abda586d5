import Foundation
import LiteVaultCore
import LiteVaultSchema
import LiteVaultTestSupport
import Testing

@Suite struct SimultaneousMigrationTests {
    private let scratch = Scratch()

    @Test(arguments: [Connection.JournalMode.delete, .wal])
    func `connections that migrate at once make each migration once`(mode: Connection.JournalMode) throws {
        let path = scratch.path("a.db")
        _ = try Connection(path, journalMode: mode)
        var registering = Migrator()
        for number in 1...8 {
            registering.registerMigration("v\(number)") { db in
                try db.create(table: "t\(number)") { t in t.autoIncrementedPrimaryKey("id") }
                try db.run("INSERT INTO t\(sql: String(number)) DEFAULT VALUES")
                if number > 1 { try db.run("INSERT INTO t\(sql: String(number - 1)) DEFAULT VALUES") }
            }
        }
        let migrator = registering
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            do { try migrator.migrate(Connection(path)) } catch { failures.add(error) }
        }
        #expect(failures.all.isEmpty, "\(failures.all)")
        let db = try Connection(path)
        #expect(try migrator.completedMigrations(db).count == 8)
        for number in 1...7 { #expect(try db.value("SELECT count(*) FROM t\(sql: String(number))", as: Int.self) == 2) }
    }

    @Test func `a database that stays locked is reported as busy`() throws {
        let path = scratch.path("a.db")
        let other = try Connection(path)
        try other.run("CREATE TABLE a (b)")
        try other.run("BEGIN EXCLUSIVE")
        var migrator = Migrator()
        migrator.lockTimeout = .milliseconds(50)
        migrator.registerMigration("v1") { _ in Issue.record("it must not be made") }
        let db = try Connection(path)
        let error = #expect(throws: DatabaseError.self) { try migrator.migrate(db) }
        #expect(error?.resultCode.primary == .busy)
    }
}

/// Errors of several threads.
private final class Failures: @unchecked Sendable {  // `errors` only under `lock`
    private let lock = NSLock()
    private var errors: [any Error] = []

    func add(_ error: any Error) { lock.withLock { errors.append(error) } }
    var all: [any Error] { lock.withLock { errors } }
}
