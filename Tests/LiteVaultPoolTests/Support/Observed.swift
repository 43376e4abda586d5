import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

/// A database with observers of regions and of values, each by a name.
final class Observed: Sendable {
    let access: DatabaseAccess
    private let scratch: Scratch?
    private let told: Flag<[String: Int]>
    private let observations: [DatabaseObservation]

    /// - Parameters:
    ///   - setup: makes the tables.
    ///   - regions: what is observed.
    ///   - reads: queries whose values are observed: one that is read again was notified.
    init(
        _ setup: String, regions: [String: DatabaseRegion] = [:], reads: [String] = [], onQueue: Bool = false
    ) async throws {
        let scratch = Scratch()
        let access: DatabaseAccess = onQueue ? try DatabaseQueue() : try DatabasePool(scratch.path("db"))
        self.scratch = scratch
        self.access = access
        try await access.writeWithoutTransaction { db in
            try db.defineFunction("reenter", argumentCount: 1) { [unowned db] arguments in
                _ = try? db.value("SELECT count(*) FROM sqlite_master", as: StoredValue.self)
                return arguments[0]
            }
            try db.execute(setup)
        }
        let counts = Flag([String: Int]())
        told = counts
        var all: [DatabaseObservation] = []
        for (name, region) in regions {
            all.append(
                access.observe(
                    region, onError: { Issue.record("\(name): \($0)") },
                    onChange: { counts.update { $0[name, default: 0] += 1 } }))
        }
        for sql in reads {
            all.append(
                access.observe(
                    { db in
                        counts.update { $0[sql, default: 0] += 1 }
                        return try db.all(SQL(sql: sql)) { try $0.get(0, as: Int64?.self) }
                    }, onError: { Issue.record("\(sql): \($0)") }, onChange: { _ in }))
        }
        observations = all
        let count = all.count
        #expect(await eventually { counts.value.count == count })
        try await settle()
        counts.set([:])
    }

    /// The reads that a change notifies. Notifications come at once, or not at all.
    func told(of change: @escaping @Sendable (Connection) throws -> Void) async throws -> Set<String> {
        told.set([:])
        try await access.writeWithoutTransaction(change)
        try await settle()
        return Set(told.value.keys)
    }

    /// Waits until nothing has been told for a while.
    private func settle() async throws {
        var (last, quiet) = (-1, 0)
        // On a busy machine one pause may be between two notifications.
        while quiet < 2 {
            let now = told.value.values.reduce(0, +)
            quiet = now == last ? quiet + 1 : 0
            last = now
            try await Task.sleep(for: .milliseconds(80))
            _ = try await access.read { try $0.value("SELECT 1", as: Int64?.self) }
        }
    }
}

extension EngineInfo {
    /// Whether the engine reports a table of which no column is read.
    static let tellsOfCountedTables = linked.isAtLeast(3, 20)
}
