public import LiteVaultCapture
internal import LiteVaultFoundation

extension Repository {
    /// Decides which snapshots to keep, and removes the manifests of the others. Pruning deletes their packs later.
    ///
    /// - Parameters:
    ///   - policy: the rules, applied to each database separately.
    ///   - database: a database's name; nil for all databases.
    ///   - dryRun: whether to decide only, without removing anything.
    ///   - warning: called with each problem found in the repository. Snapshots that cannot be read are kept.
    /// - Returns: the decision about every snapshot.
    /// - Throws: `VaultError` `config` for a policy without rules, `busy` if another process removes snapshots or packs,
    ///   `damaged` if the repository was rolled back or a forget record cannot be read. Nothing is removed then.
    public func forget(
        _ policy: RetentionPolicy, database: String? = nil, dryRun: Bool = false,
        warning: (RepositoryWarning) -> Void = { _ in }, progress: BackupProgress.Report = { _ in }
    ) async throws -> [RetentionDecision] {
        guard !policy.isEmpty else {
            throw VaultError(
                .config, "no rule says which snapshots to keep", advice: .addRetentionRule)
        }
        if dryRun { return try await decide(policy, database, warning) }
        try requireWritable()
        return try await withLease("prune", for: "removing from the repository") { lease in
            let decisions = try await decide(policy, database, warning)
            let going = decisions.filter { !$0.keeps }
            // After listing: leases ended meanwhile are marked before a newer snapshot can exist.
            var marked: Set<String> = []
            for database in Set(going.map(\.snapshot.manifest.database)) { try await marked.formUnion(marks(database)) }
            let noted = try await recordForgotten(going.map(\.snapshot))
            for (index, decision) in going.enumerated() {
                try progress(BackupProgress(.removing, Int64(index), of: Int64(going.count)))
                try await lease.confirm()
                do {
                    try await remove(decision.snapshot, marked: marked)
                } catch let error as VaultError where error.code == .unsupported && index == 0 {
                    // If the store removes nothing, nothing is lost: what is missing there later was not removed by us.
                    for (database, before) in noted {
                        try await put(before, as: RepositoryFormat.forgetRecord(database), condition: .none)
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
            // In a rolled-back repository, the newest snapshots are not the newest.
            if let rollback = survey.rollback { throw rollback }
        }
        // The newest verified one is kept.
        let all = try await snapshots(database, requiringVerifications: true)
        all.warnings.forEach(warning)
        // The earlier of two clocks: it may keep too much, where the later one would remove too much.
        let now = min(clock.time(), try await store.now())
        return Dictionary(grouping: all, by: \.database).sorted { $0.key < $1.key }
            .flatMap { policy.decide($0.value, now: now) }
    }
}

extension Repository {
    /// Removes the segments that continue removed snapshots.
    func removeSegments(_ databases: Set<String>) async throws {
        for database in databases {
            // In this order: the snapshot that a segment continues existed before it.
            let log = try await segmentLog(database, [])
            let survey = try await survey(database)
            let present = survey.snapshots
            let images = present.enumerated().map { index, snapshot in
                ImagePosition(snapshot, previous: index > 0 ? present[index - 1] : nil)
            }
            let marks = present.map(\.manifest.newestSegment)
            let going = log.present.filter { name in
                // Stored after a removed snapshot, and not needed by a later one that was taken meanwhile.
                !zip(images, marks).contains { image, mark in
                    (name.firstSnapshot...name.snapshot).contains(image.snapshot)
                        || (image.snapshot > name.firstSnapshot && !image.contains(name, newest: mark))
                    // Nor by one that cannot be read now; only its sequence number is known.
                } && !survey.unreadable.contains { $0.sequence >= name.firstSnapshot }
            }
            // Recorded first. Lost segments are irrelevant once every snapshot that they could continue is removed.
            var all = try await forgetRecord(database)
            let before = all
            var gone = going.map { $0.first...$0.sequence }
            for hole in log.holes
            where survey.unreadable.isEmpty
                && zip(images, marks).allSatisfy({ image, mark in
                    let last = SegmentName(
                        database: database, sequence: hole.range.upperBound, snapshot: hole.next.snapshot,
                        time: hole.next.time)
                    return image.snapshot > hole.next.snapshot && image.contains(last, newest: mark)
                })
            {
                gone.append(hole.range)
            }
            if all.segments == nil, !all.ranges.isEmpty { gone += log.gaps }
            if !gone.isEmpty { all.insert(segments: gone) }
            if all != before { try await put(all, as: RepositoryFormat.forgetRecord(database), condition: .none) }
            for (index, name) in going.enumerated() {
                do {
                    try await store.remove(name.object)
                } catch let error as VaultError where error.code == .unsupported && index == 0 {
                    // If the store removes nothing, nothing is lost.
                    if all != before {
                        try await put(before, as: RepositoryFormat.forgetRecord(database), condition: .none)
                    }
                    throw error
                }
            }
        }
    }
}
