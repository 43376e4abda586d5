internal import LiteVaultCapture

// Packs of the copy that pruning has scheduled for deletion, and that snapshots need which it does not have yet.
extension CopyRun {
    /// Makes sure that nobody deletes packs that the copy will need.
    ///
    /// Those of a snapshot's writer have random names, so that a writer stores other ones instead. A copied pack has the name that the copy of
    /// it has: storing it again does not help while a process that is suspended may delete that name later.
    ///
    /// Pruning records which packs it has chosen before it deletes any, on condition that nobody has replaced the list since it was read. So
    /// a pack that is only scheduled is taken off the list, and what was chosen by a run that did not end is not relied on. If there are
    /// snapshots to copy, the list is stored in any case: a pruning that has read it before could schedule packs otherwise, with a time
    /// before this copy, and the next one choose them. Tests/Protocol has a model of it.
    ///
    /// - Parameter lease: that for removing from the copy.
    /// - Throws: `VaultError` `busy` if a snapshot needs a pack that was chosen, or if another process has taken the lease.
    func claim(_ needed: Set<String>, of plans: [Plan], _ lease: Lease) async throws {
        // Missing packs of snapshots that the copy already has are stored again, whatever is listed.
        guard let writable, plans.contains(where: { !$0.snapshots.isEmpty }) else { return }
        let name = RepositoryFormat.pendingDeletions
        var isFree = true
        do {
            try await writable.store.changing(name, holding: lease) { version in
                var list = try await writable.repository.pendingDeletions()
                let chosen = Set(list.packs.filter { $0.chosen != nil && needed.contains($0.name) }.map(\.name))
                if !chosen.isEmpty { try await requireNone(of: chosen, plans) }
                try await lease.confirm()
                let count = list.packs.count
                list.packs.removeAll { needed.contains($0.name) && $0.chosen == nil }
                isFree = list.packs.count == count
                // A store may compare the content: it has to differ.
                list.run = list.nextRun
                try await writable.put(list, replacing: version)
            }
        } catch let error as VaultError where error.isDamage && writable.store.object(of: error) == name {
            // Pruning starts it over, and deletes nothing that it listed.
            result.warnings.append(RepositoryWarning(error, name, advice: .rebuild))
        } catch let error as VaultError where error.code == .unsupported && isFree {
            // The store only adds: no pruning replaces the list there, either.
        }
    }

    /// Requires that no snapshot to be copied needs one of these packs.
    private func requireNone(of chosen: Set<String>, _ plans: [Plan]) async throws {
        for plan in plans {
            for snapshot in plan.snapshots {
                // A walk of its own: one that has seen other snapshots does not tell whose packs it visits.
                var packs: Set<String> = []
                _ = try await intact([snapshot], plan.database, &packs)
                guard let name = packs.filter(chosen.contains).min() else { continue }
                throw VaultError(
                    .busy,
                    "may still be deleted by a pruning of the copy that did not end, and snapshot \(snapshot.id) of '\(snapshot.database)' needs it",
                    path: "\(writable?.store.location ?? "")/\(name)",
                    remedy:
                        "If that pruning is gone, prune the copy when the grace period (one day by default) is over, which clears it, and copy again."
                )
            }
        }
    }
}
