internal import Foundation
public import LiteVaultCapture

extension Repository {
    /// Decides which snapshots to keep, and removes the manifests of the others. Their packs stay until ``prune(grace:progress:)``.
    ///
    /// - Parameters:
    ///   - policy: the rules, applied to each database by itself.
    ///   - database: nil for all of them.
    ///   - dryRun: only decide.
    ///   - warning: told what is wrong in the repository; what can not be read stays.
    /// - Returns: what became of every snapshot, and why.
    /// - Throws: ``BackupError`` `config` for a policy without rules, `busy` when somebody else removes something,
    ///   `damaged` when the repository was rolled back, or what was forgotten before can not be read: nothing is removed
    ///   then.
    public func forget(
        _ policy: RetentionPolicy, database: String? = nil, dryRun: Bool = false,
        warning: (RepositoryWarning) -> Void = { _ in }, progress: BackupProgress.Report = { _ in }
    ) async throws -> [RetentionDecision] {
        guard !policy.isEmpty else {
            throw BackupError(
                .config, "no rule says which snapshots to keep", remedy: "Give at least one --keep-… option.")
        }
        if dryRun { return try await decide(policy, database, warning) }
        try requireWritable()
        return try await holding("prune", "removing from the repository") { lease in
            let decisions = try await decide(policy, database, warning)
            let going = decisions.filter { !$0.keeps }
            // After the list: what a lease was ended for is marked before a newer snapshot can be there.
            var marked: Set<String> = []
            for database in Set(going.map(\.snapshot.manifest.database)) { try await marked.formUnion(marks(database)) }
            let noted = try await note(forgotten: going.map(\.snapshot))
            for (index, decision) in going.enumerated() {
                try progress(BackupProgress(.removing, Int64(index), of: Int64(going.count)))
                try await lease.confirm()
                do {
                    try await remove(decision.snapshot, marked: marked)
                } catch let error as BackupError where error.code == .unsupported && index == 0 {
                    // A store that removes nothing has lost nothing: what is missing there later was not removed by us.
                    for (database, before) in noted {
                        try await put(before, as: RepositoryFormat.forgotten(database), condition: .none)
                    }
                    throw error
                }
            }
            try await removeSegments(Set(decisions.map(\.snapshot.manifest.database)))
            return decisions
        }
    }

    private func decide(
        _ policy: RetentionPolicy, _ database: String?, _ warning: (RepositoryWarning) -> Void
    ) async throws -> [RetentionDecision] {
        for survey in try await surveys(database) {
            // Of an older state put back, the newest snapshots are not the newest.
            if let rollback = survey.rollback { throw rollback }
        }
        let all = try await snapshots(database: database)
        all.warnings.forEach(warning)
        // Of two clocks the one that is behind: it may keep too much, where the other one would remove too much.
        let now = min(Date(), Date(timeIntervalSince1970: try await store.now()))
        return Dictionary(grouping: all, by: \.database).sorted { $0.key < $1.key }
            .flatMap { policy.decide($0.value, now: now) }
    }

    /// Does something while holding a lease.
    func holding<T>(_ name: String, _ what: String, _ body: (Lease) async throws -> T) async throws -> T {
        let lease = try await Lease.take(name, of: store, what: what)
        do {
            let result = try await body(lease)
            await lease.release()
            return result
        } catch {
            await lease.release()
            throw error
        }
    }
}
