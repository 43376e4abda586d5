internal import LiteVaultCapture

/// Packs that no snapshot needs. One pruning run schedules them and a later one deletes them; writers do not use them meanwhile.
struct PendingDeletions: CheckedDocument {
    /// One pack.
    struct Pack: Codable {
        /// The object's name.
        var name: String
        /// When it was listed, by the store's clock, in seconds since 1970.
        var since: Double
        /// The run of pruning that listed it; absent in lists of older versions.
        var run: Int?
    }

    /// One writer that was at work.
    struct Writer: Codable {
        /// What its lease says.
        var holder: String
        /// The run of pruning that saw it first.
        var run: Int
    }

    var type = "doomed"
    var repository: String
    var packs: [Pack]
    /// Data packs of which snapshots need little. Writers store those blocks again, so that the packs can be deleted in time.
    var sparse: [String]
    /// Packs with damage in blocks that snapshots need. Writers store those blocks again. Absent if there are none.
    var damaged: [String]?
    /// The number of pruning runs so far. It orders events, because clocks may move backwards.
    var run: Int?
    /// The writers that were at work in the last run.
    var writers: [Writer]?

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        try require(
            "packs", packs.count + sparse.count + (damaged?.count ?? 0), in: 0...RepositoryFormat.listedPacks)
        try require("writers", writers?.count, in: 0...RepositoryFormat.listedPacks)
        try require("run", run, in: 0...Self.runs)
        for writer in writers ?? [] { try require("run", writer.run, in: 0...Self.runs) }
        for pack in packs {
            try require("since", seconds: pack.since)
            try require("run", pack.run, in: 0...Self.runs)
        }
    }

    /// More runs than can ever happen.
    private static let runs = 1 << 52

    /// The number of a run that begins now. A list that was lost, or that an older one replaced, does no harm: each list is true
    /// by itself.
    var nextRun: Int { min(run ?? 0, Self.runs - 1) + 1 }

    /// When each pack that is listed was, and in which run. One that an older version listed is listed now.
    func listed(run: Int, now: Double) -> [String: Pack] {
        // A time of the future was read from a clock that was put back since: the time of grace starts over.
        let rows = packs.map {
            ($0.name, Pack(name: $0.name, since: min($0.since, now), run: min($0.run ?? run, run)))
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// The writers that are at work, each with the run that saw it first.
    ///
    /// A pack that was there when it was listed is of a writer that was seen in that run or before, or that had ended.
    func seen(_ holders: [String], run: Int) -> [Writer] {
        let known = Dictionary((writers ?? []).map { ($0.holder, $0.run) }) { min($0, $1) }
        return holders.map { Writer(holder: $0, run: known[$0] ?? run) }
    }
}

extension Repository {
    func pendingDeletions() async throws -> PendingDeletions {
        do {
            let (found, _) = try await document(RepositoryFormat.pendingDeletions, PendingDeletions.self)
            guard found.type == "doomed", found.repository == config.id else {
                throw VaultError(
                    .damaged, "is stored under the wrong name: objects were swapped",
                    path: RepositoryFormat.pendingDeletions)
            }
            return found
        } catch let error as VaultError where error.code == .missing {
            return PendingDeletions(repository: config.id, packs: [], sparse: [])
        }
    }
}

extension Repository {
    /// As ``pendingDeletions()``; nil for one that is damaged.
    func readablePendingDeletions() async throws -> PendingDeletions? {
        do {
            return try await pendingDeletions()
        } catch let error as VaultError where error.code == .damaged {
            return nil
        }
    }
}

extension PendingDeletions {
    /// The packs whose blocks writers must not reuse.
    var avoided: AvoidedPacks {
        let names = packs.map(\.name) + sparse + (damaged ?? [])
        return .these(Set(names.compactMap { $0.split(separator: "/").last.flatMap { PackID(hexadecimal: $0) } }))
    }
}

extension Repository {
    /// Schedules packs for deletion, as pruning does.
    package func scheduleDeletion(of names: [String]) async throws {
        let now = try await store.now().timeIntervalSince1970
        let list = PendingDeletions(
            repository: config.id, packs: names.map { .init(name: $0, since: now, run: 1) }, sparse: [], run: 1)
        try await put(list, as: RepositoryFormat.pendingDeletions, condition: .none)
    }
}
