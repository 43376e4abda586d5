public import LiteVaultCapture
internal import LiteVaultSystem

/// The result of pruning.
public struct PruneResult: Sendable, Equatable {
    /// The number of packs that snapshots need.
    public var kept = 0
    /// The number of packs scheduled for deletion, which a later run deletes.
    public var pending = 0
    /// The number of deleted packs.
    public var removed = 0
    /// The size of the deleted packs in bytes.
    public var removedBytes: Int64 = 0
    /// The number of packs of which snapshots need less than half. The next snapshots store those blocks again.
    public var sparse = 0
}

extension WritableRepository {
    /// Deletes packs that no snapshot needs, in two steps: one run schedules them for deletion, and a later run deletes those
    /// that are still unneeded after a grace period, which running restores have to finish.
    ///
    /// - Parameters:
    ///   - grace: how long a pack stays scheduled before it is deleted; one day by default. By the store's clock: where that was set back,
    ///     or was behind and is set right, it starts over. One that is set forward ends it.
    ///   - dryRun: whether to report only, without changing anything. That needs no lease, and works in a store that cannot be written.
    /// - Throws: `VaultError` `damaged` if a manifest or a block map cannot be read or is missing, because it may need any pack, if all
    ///   manifests are in `damaged/`, or if a forget record cannot be read, which tells what is missing; nothing is deleted then. `busy` if another process removes snapshots or packs,
    ///   or took the lease meanwhile, as it was not renewed in time.
    @discardableResult
    public func prune(
        grace: Duration = .seconds(86_400), dryRun: Bool = false, progress: @escaping BackupProgress.Report = { _ in }
    ) async throws -> PruneResult {
        if dryRun { return try await prune(grace: grace, progress: progress, replacing: nil) }
        return try await withRoom {
            try await withLease("prune", for: "removing from the repository") { lease in
                try await store.changing(RepositoryFormat.pendingDeletions, holding: lease) {
                    try await prune(grace: grace, progress: progress, replacing: $0)
                }
            }
        }
    }

    /// - Parameter version: the list of pending deletions, to be replaced; nil if nothing is to be changed.
    private func prune(
        grace: Duration, progress: BackupProgress.Report, replacing version: ObjectVersion?
    ) async throws -> PruneResult {
        // In this order: a scheduled pack belongs to a writer that acquired its lease before. If that has ended, its
        // manifest is found below; if not, its lease is. Tests/Protocol proves it, without relying on clocks.
        let trees = try await store.list("tree/").filter { RepositoryFormat.isPack($0.name) }
        let packs = try await store.list("data/").filter { RepositoryFormat.isPack($0.name) } + trees
        let writers = try await writers(endingOthers: version != nil)
        let (now, grace) = (try await time(orOwn: version == nil).timeIntervalSince1970, grace.seconds)
        let used = try await repository.usedPacks()
        if used.isEmpty, !packs.isEmpty, try await !store.list("damaged/snapshots/").isEmpty {
            throw VaultError.setAside(store.location)
        }
        // A damaged list is started over: only packs scheduled by this run or a later one are deleted then.
        var before = PendingDeletions(repository: repository.config.id, packs: [], sparse: [])
        do { before = try await repository.pendingDeletions() } catch let error as VaultError
            where error.code == .damaged
        {}
        let run = before.nextRun
        let times = packs.map(\.modified.timeIntervalSince1970) + before.packs.map(\.since)
        let shown = max(times.max() ?? now, before.shown ?? now)
        // Not by the seconds that some stores round a time to.
        let isBehind = now < shown - 300
        let known = before.listed(run: run, now: now, grace: grace, isBehind: isBehind)
        let seen = before.seen(writers.map(\.holder), run: run)
        let firstSeen = seen.map(\.run).min() ?? .max
        let began = writers.map(\.acquired).min() ?? .infinity

        var result = PruneResult()
        // What a run has chosen that did not end stays on the list, even if it is gone: that run may only be suspended.
        var listed = known.filter { $1.chosen != nil }
        var going: [ObjectAttributes] = []
        var sparse: [String] = []
        for pack in packs {
            if let live = used[pack.name] {
                result.kept += 1
                if let live, try await repository.isSparse(pack, live) {
                    sparse.append(pack.name)
                }
                continue
            }
            // Probably an active writer's. Scheduling it would be harmless, but the next snapshot would store its
            // blocks again. One second of tolerance for stores that report whole seconds.
            if pack.modified.timeIntervalSince1970 >= began - 1 { continue }
            let first = known[pack.name]
            listed[pack.name] = first ?? .init(name: pack.name, since: now, run: run)
            let isOld = first.map { $0.since + grace <= now && ($0.run ?? run) < firstSeen && $0.run != run } ?? false
            if isOld { going.append(pack) } else { result.pending += 1 }
        }
        result.sparse = sparse.count
        result.removed = going.count
        result.removedBytes = going.lazy.map(\.size).sum
        guard let version else { return result }
        // Copies on this machine: problems with them do not stop pruning.
        try? repository.sweepCache(trees)
        // Now, as finding them may have taken long.
        if !going.isEmpty {
            let chosen = try await store.now().timeIntervalSince1970
            for pack in going { listed[pack.name]?.chosen = chosen }
        }
        // Packs deleted now stay on the list until they are gone. The rest is left to a later run.
        let order = listed.values.sorted { ($0.chosen ?? .infinity, $0.since) < ($1.chosen ?? .infinity, $1.since) }
        let fitting = Array(order.prefix(RepositoryFormat.listedPacks))
        let present = Set(packs.map(\.name))
        let damaged = before.damaged?.filter(present.contains).prefix(RepositoryFormat.listedPacks - fitting.count)
        let rest = RepositoryFormat.listedPacks - fitting.count - (damaged?.count ?? 0)
        let list = PendingDeletions(
            repository: repository.config.id, packs: fitting, sparse: Array(sparse.prefix(rest)),
            damaged: damaged?.isEmpty == false ? damaged.map(Array.init) : nil, run: run, writers: seen,
            shown: isBehind ? min(shown, Timestamp.limit) : nil)
        if list.damaged != before.damaged || !list.packs.isEmpty || !list.sparse.isEmpty || !before.packs.isEmpty
            || !before.sparse.isEmpty
        {
            // Nothing is deleted if a copy has stored the list meanwhile.
            try await put(list, replacing: version)
        }
        for (index, pack) in going.enumerated() {
            try progress(BackupProgress(.removing, Int64(index), of: Int64(going.count)))
            if index % 100 == 0 { try await version.lease?.confirm() } else { try await version.lease?.confirmIfDue() }
            do {
                try await store.remove(pack.name)
            } catch let error as VaultError where error.code == .unsupported {
                // Nothing deletes these any more: no copy has to wait for that.
                try await takeBackChosen(going[index...].map(\.name), known, holding: version.lease)
                throw error
            }
        }
        try await store.removeLeftovers()
        guard !going.isEmpty else { return result }
        let ended = Set(going.map(\.name).filter { known[$0]?.chosen == nil })
        try await store.changing(RepositoryFormat.pendingDeletions, holding: version.lease) { version in
            var list = try await repository.pendingDeletions()
            // A process that has taken the lease may have chosen the same packs.
            try await version.lease?.confirm()
            list.packs.removeAll { ended.contains($0.name) }
            try await put(list, replacing: version)
        }
        return result
    }

    /// Takes back that packs were chosen, as the store does not let them be deleted. Until then they may have been chosen by another run.
    private func takeBackChosen(
        _ names: [String], _ known: [String: PendingDeletions.Pack], holding lease: Lease?
    ) async throws {
        let refused = Set(names)
        try await store.changing(RepositoryFormat.pendingDeletions, holding: lease) { version in
            var list = try await repository.pendingDeletions()
            try await lease?.confirm()
            for place in list.packs.indices where refused.contains(list.packs[place].name) {
                list.packs[place].chosen = known[list.packs[place].name]?.chosen
            }
            try await put(list, replacing: version)
        }
    }

    /// The store's time.
    ///
    /// - Parameter orOwn: whether this machine's will do. Where objects are files, only a repository that can be written has one.
    private func time(orOwn: Bool) async throws -> Date {
        do { return try await store.now() } catch let error as VaultError {
            guard orOwn else { throw error }
            return clock.time()
        }
    }

    /// The leases of active writers.
    ///
    /// - Parameter endingOthers: whether leases that were not renewed in time are ended, so that a writer that was only
    ///   suspended publishes nothing that needs a pack deleted now. Without conditional writes nothing can stop it
    ///   then, and it is given much more time.
    private func writers(endingOthers: Bool) async throws -> [Lease.Record] {
        var found: [Lease.Record] = []
        let now = try await time(orOwn: !endingOthers)
        // A store may have to write to find that out.
        let supportsConditionalWrites = endingOthers ? try await store.supportsConditionalWrites() : true
        let staleAge = supportsConditionalWrites ? Lease.staleAge : Lease.staleAgeWithoutConditions
        let prefix = RepositoryFormat.lease("")
        let leases = try await store.list(prefix).filter {
            ObjectName.isValid($0.name)
                && ![RepositoryFormat.lease("prune"), RepositoryFormat.lease("conditions")].contains($0.name)
                && !$0.name.hasPrefix(RepositoryFormat.lease(Lease.follower))
        }
        let holders = try await concurrently(leases) { ($0, try await Lease.holder($0.name, store)) }
        for (object, holder) in holders {
            guard let holder else { continue }
            if holder.released {
                // Nobody uses the name of an announcement twice.
                if endingOthers, object.name.hasPrefix(prefix + Lease.announcement) {
                    try await store.remove(object.name)
                }
                continue
            }
            guard holder.isDead || Lease.isStale(object, now, staleAge) else {
                found.append(holder)
                continue
            }
            guard endingOthers else { continue }
            // Since the listing its holder may have released it, and another one may have taken it, who must not be fenced.
            guard let present = try await store.attributes(object.name),
                let held = try await Lease.holder(object.name, store), !held.released
            else { continue }
            if held == holder, held.isDead || Lease.isStale(present, now, staleAge) {
                if supportsConditionalWrites { try await fence(held, String(object.name.dropFirst(prefix.count))) }
                // A renewal in between shows that its holder is alive.
                if try await Lease.end(present, held, store) { continue }
            }
            found.append(held)
        }
        return found
    }
}

extension Repository {
    /// Whether snapshots need less than half of the blocks of a data pack. One request for each if the repository is sealed.
    fileprivate func isSparse(_ pack: ObjectAttributes, _ live: Int) async throws -> Bool {
        do {
            guard let blocks = RepositoryFormat.blocks(inDataPackOf: try await store.contentSize(pack)) else {
                return false
            }
            return live * 2 < blocks
        } catch let error as VaultError where error.isDamage {
            // A check reports it.
            return false
        }
    }

    /// The packs that snapshots need; for data packs, the number of needed blocks.
    fileprivate func usedPacks() async throws -> [String: Int?] {
        var live: [PackID: BlockSet] = [:]
        let walk = BlockMapWalk(
            visit: { entry in
                live[entry.pack, default: BlockSet()].insert(entry.position)
                return true
            }, problem: { throw $0 })
        for database in try await databaseIDs(nil) {
            let source = nodes(database)
            let survey = try await survey(database)
            // Strict: an unreadable manifest may need any pack.
            if let failure = survey.strictFailure { throw failure }
            // So may one that is missing, until a repair has recorded it as lost.
            if let gap = try await forgetRecord(database).missing(survey.present, exceptLeftOut: true).first {
                throw VaultError(
                    .damaged, "is missing, was not removed by retention, and may need any pack",
                    path: RepositoryFormat.snapshot(database, gap.lowerBound),
                    advice: .all([
                        .text("Nothing was removed. Restore it from a copy of the repository."), .repairToReport,
                    ]))
            }
            for snapshot in survey.snapshots {
                do {
                    _ = try walk.walk(await source.map(of: snapshot.manifest, snapshot.object))
                } catch let error as VaultError where error.isDamage {
                    throw VaultError(
                        .damaged,
                        "the block map of snapshot \(snapshot.id) cannot be read and may need any pack: "
                            + error.message, path: error.path ?? snapshot.object,
                        advice: .all([.text("Nothing was removed."), .repairThenForget]), cause: error)
                }
            }
        }
        var used: [String: Int?] = [:]
        for pack in walk.packs { used[RepositoryFormat.tree(pack)] = .some(nil) }
        for (pack, blocks) in live { used[RepositoryFormat.data(pack)] = blocks.count }
        return used
    }
}
