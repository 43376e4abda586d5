internal import Foundation
internal import LiteVaultBackup

/// Takes the snapshots of a database one after the other: its job and its follower may want one at the same time, and only
/// one at a time can be stored.
actor SnapshotDesk {
    private var last: [String: Task<Snapshot?, Never>] = [:]
    private var newest: [String: Snapshot] = [:]

    /// Takes a snapshot, or returns the newest if it was taken after `time`.
    ///
    /// - Parameter key: the database, see ``key(_:_:)``.
    func take(
        _ key: String, after time: Date?, _ body: @escaping @Sendable () async throws -> Snapshot
    ) async throws -> Snapshot {
        let before = last[key]
        let task = Lane.task { [self] () async throws -> Snapshot in
            _ = await before?.value
            try Task.checkCancellation()
            // Times are in milliseconds.
            if let time, let found = await newest[key], found.time.timeIntervalSince(time) > 0.002 { return found }
            let snapshot = try await body()
            await note(snapshot, key)
            return snapshot
        }
        last[key] = Task { try? await task.value }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func note(_ snapshot: Snapshot, _ key: String) { newest[key] = snapshot }

    /// The sequence of the newest snapshot that was taken here, 0 before the first.
    func sequence(_ key: String) -> Int { newest[key]?.sequence ?? 0 }

    /// What tells databases of all repositories apart.
    static func key(_ repository: RepositoryReference, _ database: String) -> String {
        "\(repository.location)\n\(repository.endpoint ?? "")\n\(database)"
    }
}
