public import LiteVaultCapture
internal import LiteVaultSystem

extension WritableRepository {
    /// Decides which snapshots to keep, and removes the manifests of the others. Pruning deletes their packs later.
    ///
    /// - Parameters:
    ///   - policy: the rules, applied to each database separately.
    ///   - database: a database's name; nil for all databases.
    ///   - warning: called with each problem found in the repository. Snapshots that cannot be read are kept, and so are those of
    ///     a database that was rolled back, or whose forget record or list of verified snapshots cannot be read, if there are others.
    /// - Returns: the decision about every other snapshot.
    /// - Throws: `VaultError` `config` for a policy without rules, `busy` if another process removes snapshots or packs,
    ///   `damaged` if the repository was rolled back, or a forget record or a list of verified snapshots cannot be read. Nothing is removed then.
    public func forget(
        _ policy: RetentionPolicy, database: String? = nil, warning: (RepositoryWarning) -> Void = { _ in },
        progress: BackupProgress.Report = { _ in }
    ) async throws -> [RetentionDecision] {
        try policy.requireRules()
        return try await remove(
            { try await repository.decide(policy, database: database, warning: warning) }, warning, progress)
    }

    /// Removes snapshots by their identifiers. Pruning deletes their packs later.
    ///
    /// The last snapshot of a database that is known to be good is not removed, nor the last one that may be: without a verified one, that
    /// did not fail a verification.
    ///
    /// - Parameters:
    ///   - ids: identifiers, or unique prefixes of them.
    ///   - database: the database that they belong to; nil for any.
    ///   - warning: called with each problem found in the repository.
    /// - Returns: the decision about every snapshot of the databases concerned.
    /// - Throws: `VaultError` `noInput` if an identifier is unknown or ambiguous, `usage` if the last good snapshot of a database would be
    ///   removed, `busy` if another process removes snapshots or packs, `damaged` if the repository was rolled back, or a forget record or
    ///   the list of verified snapshots cannot be read. Nothing is removed then.
    public func forget(
        snapshots ids: [String], database: String? = nil, warning: (RepositoryWarning) -> Void = { _ in },
        progress: BackupProgress.Report = { _ in }
    ) async throws -> [RetentionDecision] {
        try await remove(
            { try await repository.decide(removing: ids, database: database, warning: warning) }, warning, progress)
    }

    /// Decides, and removes what is not kept.
    private func remove(
        _ decide: () async throws -> [RetentionDecision], _ warning: (RepositoryWarning) -> Void,
        _ progress: BackupProgress.Report
    ) async throws -> [RetentionDecision] {
        // Those of the first attempt: one that found the disk full in the middle has removed some of them.
        var first: [RetentionDecision]?
        return try await withRoom {
            try await withLease("prune", for: "removing from the repository") { lease in
                let decisions = try await decide()
                let all = first ?? decisions
                first = all
                let going = decisions.filter { !$0.keeps }.map(\.snapshot)
                return try await remove(going, from: all, lease, warning, progress)
            }
        }
    }

    /// Removes snapshots, one database after the other: what keeps those of one from being removed is a warning, unless it is the only one.
    ///
    /// - Returns: the decisions that stand.
    private func remove(
        _ going: [Snapshot], from decisions: [RetentionDecision], _ lease: Lease,
        _ warning: (RepositoryWarning) -> Void, _ progress: BackupProgress.Report
    ) async throws -> [RetentionDecision] {
        var decisions = decisions
        var done = 0
        let databases = Set(decisions.map(\.snapshot.manifest.database)).sorted()
        for database in databases {
            let own = going.filter { $0.manifest.database == database }
            do {
                // After listing: leases ended meanwhile are marked before a newer snapshot can exist.
                let marked = own.isEmpty ? [] : try await repository.marks(database)
                let noted = try await recordForgotten(own, holding: lease)
                for (index, snapshot) in own.enumerated() {
                    try progress(BackupProgress(.removing, Int64(done), of: Int64(going.count)))
                    try await lease.confirm()
                    do {
                        try await remove(snapshot, marked: marked)
                    } catch let error as VaultError where error.code == .unsupported && index == 0 {
                        // If the store removes nothing, nothing is lost: what is missing there later was not removed by us.
                        for change in noted { try await takeBack(change, holding: lease) }
                        throw error
                    }
                    done += 1
                }
                try await removeSegments([database], holding: lease)
            } catch let error as VaultError where error.isDamage && databases.count > 1 {
                warning(RepositoryWarning(error, RepositoryFormat.forgetRecord(database)))
                decisions.removeAll { $0.snapshot.manifest.database == database && !$0.keeps }
            }
        }
        return decisions
    }
}

extension Repository {
    /// Decides as ``WritableRepository/forget(_:database:warning:progress:)``, whose parameters and errors it has, and removes nothing.
    public func decide(
        _ policy: RetentionPolicy, database: String? = nil, warning: (RepositoryWarning) -> Void = { _ in }
    ) async throws -> [RetentionDecision] {
        try policy.requireRules()
        // In a rolled-back repository, the newest snapshots are not the newest. One database's state does not keep others from being
        // looked after.
        let surveys = try await surveys(database)
        let rolledBack = surveys.filter { $0.rollback != nil }
        if rolledBack.count == surveys.count, let rollback = rolledBack.first?.rollback { throw rollback }
        let left = Set(rolledBack.map(\.database))
        // The newest verified one is kept.
        let (list, leftOut) = try await snapshots(database, requiringVerifications: true)
        list.warnings.forEach(warning)
        let all = list.filter { !left.contains($0.manifest.database) }
        let problems = leftOut.values.map(\.nothingRemoved)
        if all.isEmpty, let first = problems.first { throw first }
        for problem in problems { warning(RepositoryWarning(problem, store.location)) }
        // For the remark on dates alone: either clock may be wrong.
        let now = min(clock.time(), try await store.now())
        return all.byDatabase.flatMap { policy.decide($0, now: now) }
    }

    /// Decides as ``WritableRepository/forget(snapshots:database:warning:progress:)``, whose parameters and errors it has, and removes nothing.
    public func decide(
        removing ids: [String], database: String? = nil, warning: (RepositoryWarning) -> Void = { _ in }
    ) async throws -> [RetentionDecision] {
        let (all, leftOut) = try await snapshots(database, requiringVerifications: true)
        all.warnings.forEach(warning)
        let surveys = try await surveys(database)
        var going: Set<String> = []
        for id in ids { going.insert(try choose(id, surveys).id) }
        for survey in surveys where survey.snapshots.contains(where: { going.contains($0.id) }) {
            if let problem = survey.rollback ?? leftOut[survey.database]?.nothingRemoved { throw problem }
        }
        let groups = all.byDatabase
            .filter { $0.contains { going.contains($0.id) } }
        for group in groups { try requireGood(in: group, without: going) }
        let now = clock.time()
        return groups.flatMap(\.self).map { snapshot in
            let keeps = !going.contains(snapshot.id)
            return RetentionDecision(
                snapshot: snapshot, keeps: keeps, reasons: keeps ? ["not named"] : [],
                isDatedAhead: snapshot.isDatedAhead(of: now))
        }
    }

    /// Checks that snapshots to be removed by name leave a good one.
    private func requireGood(in snapshots: [Snapshot], without going: Set<String>) throws {
        let known = RetentionPolicy.known(snapshots).compactMap { index, reason in
            snapshots[index].verification.map { (snapshot: snapshots[index], verification: $0, reason: reason) }
        }.filter(\.verification.passed)
        let rest = snapshots.filter { !going.contains($0.id) }
        var last: (snapshot: Snapshot, what: String)?
        let good = known.filter { going.contains($0.snapshot.id) }
        for (snapshot, verification, reason) in good {
            let others = rest.compactMap(\.verification).filter { $0.passed && $0.level >= verification.level }
            guard reason == "last asserted" ? !others.contains(where: { $0.covers(verification) }) : others.isEmpty
            else { continue }
            last = (snapshot, "passed a verification as thorough (\(verification.level.rawValue))")
        }
        if good.isEmpty {
            // Without a verified one, any that did not fail may be good.
            let maybe = snapshots.last { going.contains($0.id) && $0.verification?.passed != false }
            last = maybe.flatMap { one in
                rest.contains { $0.verification?.passed != false } ? nil : (one, "may be intact")
            }
        }
        guard let last else { return }
        throw VaultError(
            .usage, "snapshot \(last.snapshot.id) is the last one of '\(last.snapshot.database)' that \(last.what)",
            path: last.snapshot.object, advice: .verifyNewerFirst)
    }
}

extension RetentionPolicy {
    fileprivate func requireRules() throws {
        guard isEmpty else { return }
        throw VaultError(.config, "no rule says which snapshots to keep", advice: .addRetentionRule)
    }
}

extension VaultError {
    /// The error for a list of verified snapshots that cannot be read: one of them is always kept.
    fileprivate var nothingRemoved: VaultError {
        VaultError(
            code, "\(message), and it lists the verified snapshots, of which retention keeps the newest", path: path,
            advice: .all([
                .text("Nothing was removed."), .rebuild,
                .text("Then verify the snapshots again, before any is removed."),
            ]), cause: self)
    }
}

extension WritableRepository {
    /// Removes the segments that continue removed snapshots.
    func removeSegments(_ databases: Set<String>, holding lease: Lease) async throws {
        for database in databases {
            // In this order: the snapshot that a segment continues existed before it.
            let log = try await repository.segmentLog(database, [])
            let survey = try await repository.survey(database)
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
            let noted = try await changeForgetRecord(database, holding: lease) { all in
                let others = all.segments == nil && !all.ranges.isEmpty ? log.gaps : []
                if !(gone + others).isEmpty { all.insert(gone + others, into: \.segments) }
            }
            for (index, name) in going.enumerated() {
                if index % 100 == 0 { try await lease.confirm() }
                do {
                    try await store.remove(name.object)
                } catch let error as VaultError where error.code == .unsupported && index == 0 {
                    // If the store removes nothing, nothing is lost.
                    try await takeBack(noted, holding: lease)
                    throw error
                }
            }
        }
    }
}
