internal import Foundation
internal import LiteVaultBackup

/// Takes the snapshots of a database one after the other: its job and its follower may want one at the same time, and only
/// one at a time can be stored.
actor SnapshotDesk {
    private var last: [String: Task<SnapshotResult?, Never>] = [:]
    private var newest: [String: SnapshotResult] = [:]
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// Takes a snapshot, or returns the newest if it was taken after `time`.
    ///
    /// - Parameter key: the database, see ``key(_:_:)``.
    func take(
        _ key: String, after time: Date?, _ body: @escaping @Sendable () async throws -> SnapshotResult
    ) async throws -> SnapshotResult {
        let before = last[key]
        let task = BlockingWork.task { [self] () async throws -> SnapshotResult in
            _ = await before?.value
            try Task.checkCancellation()
            // Times are in milliseconds.
            // One of the future was taken before the clock was put back.
            if let time, let found = await newest[key], found.snapshot.time.timeIntervalSince(time) > 0.002,
                found.snapshot.time.timeIntervalSince(now()) < 300
            {
                return found
            }
            let result = try await body()
            await note(result, key)
            return result
        }
        last[key] = Task { try? await task.value }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func note(_ result: SnapshotResult, _ key: String) { newest[key] = result }

    /// The sequence of the newest snapshot that was taken here, 0 before the first.
    func sequence(_ key: String) -> Int { newest[key]?.snapshot.sequence ?? 0 }

    /// What tells databases of all repositories apart.
    static func key(_ repository: RepositoryReference, _ database: String) -> String {
        "\(repository.location)\n\(repository.endpoint ?? "")\n\(database)"
    }
}
