import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite struct PoolMigrationTests {
    private let scratch = Scratch()

    private func migrator() -> Migrator {
        var migrator = Migrator()
        for number in 1...3 {
            migrator.registerMigration("v\(number)") { try $0.run("CREATE TABLE t\(sql: String(number)) (a)") }
        }
        return migrator
    }

    @Test func `a pool and a queue are migrated, with a thread waiting or without`() async throws {
        let path = scratch.path("a.db")
        let pool = try DatabasePool(path)
        try await migrator().migrate(pool, upTo: "v1")
        #expect(try await pool.read { try migrator().completedMigrations($0) } == ["v1"])
        try await migrator().migrate(pool)
        #expect(try await pool.read { try migrator().appliedIdentifiers($0) } == ["v1", "v2", "v3"])
        #expect(try await pool.read { try !migrator().hasSchemaChanges($0) })
        try await pool.close()
        try synchronously()
    }

    private func synchronously() throws {
        let queue = try DatabaseQueue()
        try migrator().migrate(queue, upTo: "v2")
        #expect(try queue.read { try migrator().completedMigrations($0) } == ["v1", "v2"])
        try migrator().migrate(queue)
        #expect(try queue.read { try migrator().hasCompletedMigrations($0) })
        let error = #expect(throws: VaultError.self) { try migrator().migrate(queue, upTo: "v1") }
        #expect(error?.code == .laterMigrationApplied)
    }
}
