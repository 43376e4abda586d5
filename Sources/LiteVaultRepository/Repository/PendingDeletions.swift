internal import LiteVaultCapture

/// Packs that no snapshot needs. One pruning run schedules them and a later one deletes them; writers do not use them
/// meanwhile.
struct PendingDeletions: CheckedDocument {
    struct Pack: Codable {
        /// The object's name.
        var name: String
        /// When it was scheduled, by the store's clock, in seconds since 1970.
        var since: Double
        /// The pruning run that scheduled it; absent in lists of older versions.
        var run: Int?
        /// When a pruning run last chose it to be deleted, by the store's clock; absent if none did, or if that run ended. Otherwise it may be
        /// suspended, and delete the pack at any time.
        var chosen: Double?
    }

    /// A writer that was active.
    struct Writer: Codable {
        /// The holder of its lease.
        var holder: String
        /// The pruning run that first saw it.
        var run: Int
    }

    var type = "doomed"
    var repository: String
    var packs: [Pack]
    /// Data packs that snapshots need few blocks of. Writers store those blocks again, so that the packs can be deleted
    /// later.
    var sparse: [String]
    /// Packs in which blocks that snapshots need are damaged. Writers store those blocks again. Absent if there are
    /// none.
    var damaged: [String]?
    /// The number of pruning runs so far, and of copies to this place. It orders events, because clocks may move backwards.
    var run: Int?
    /// The writers that were active in the last run.
    var writers: [Writer]?
    /// The time that the store's clock had shown before, if it showed less in the last run: it was set back, or is behind. Absent otherwise.
    var shown: Double?

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        try require(
            "packs", packs.count + sparse.count + (damaged?.count ?? 0), in: 0...RepositoryFormat.listedPacks)
        try require("writers", writers?.count, in: 0...RepositoryFormat.listedPacks)
        try require("run", run, in: 0...Self.runs)
        try require("shown", seconds: shown)
        for writer in writers ?? [] { try require("run", writer.run, in: 0...Self.runs) }
        for pack in packs {
            try require("since", seconds: pack.since)
            try require("chosen", seconds: pack.chosen)
            try require("run", pack.run, in: 0...Self.runs)
        }
    }

    /// More runs than can ever happen.
    private static let runs = 1 << 52

    /// The number of a run that starts now. A lost list, or one replaced by an older one, does no harm: each list is
    /// correct by itself.
    var nextRun: Int { min(run ?? 0, Self.runs - 1) + 1 }

    /// When, and in which run, each scheduled pack was scheduled. A pack without a run counts as scheduled now. A run that chose it longer
    /// than the grace period ago counts as ended.
    ///
    /// The grace period starts over when the store's clock was set back, and again when it shows what it had shown before: by then, times that
    /// were read while it was behind are too long ago.
    ///
    /// - Parameters:
    ///   - grace: the grace period in seconds.
    ///   - isBehind: whether the clock shows less than it had shown.
    func listed(run: Int, now: Double, grace: Double, isBehind: Bool) -> [String: Pack] {
        let startsOver = shown != nil && !isBehind
        let rows = packs.map { pack in
            var known = pack
            known.since = startsOver ? now : min(pack.since, now)
            known.run = min(pack.run ?? run, run)
            known.chosen = pack.chosen.map { startsOver ? now : min($0, now) }.flatMap { $0 + grace > now ? $0 : nil }
            return (pack.name, known)
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// The active writers, each with the run that first saw it.
    ///
    /// A pack that existed when it was scheduled belongs to a writer seen in that run or before, or one that had ended.
    func seen(_ holders: [String], run: Int) -> [Writer] {
        let known = Dictionary((writers ?? []).map { ($0.holder, $0.run) }) { min($0, $1) }
        return holders.map { Writer(holder: $0, run: known[$0] ?? run) }
    }
}

extension Repository {
    func pendingDeletions() async throws -> PendingDeletions {
        let found = try await document(RepositoryFormat.pendingDeletions, PendingDeletions.self) {
            $0.type == "doomed" && $0.repository == config.id
        }
        return found ?? PendingDeletions(repository: config.id, packs: [], sparse: [])
    }
}

extension PendingDeletions {
    /// The packs whose blocks writers must not reuse.
    var avoided: Set<PackID> { Set((packs.map(\.name) + sparse).compactMap(RepositoryFormat.pack)).union(damagedPacks) }

    /// Those of them in which blocks are damaged.
    var damagedPacks: Set<PackID> { Set((damaged ?? []).compactMap(RepositoryFormat.pack)) }
}

extension WritableRepository {
    /// Schedules packs for deletion, as pruning does.
    package func scheduleDeletion(of names: [String]) async throws {
        let now = try await store.now().timeIntervalSince1970
        let list = PendingDeletions(
            repository: repository.config.id, packs: names.map { .init(name: $0, since: now, run: 1) }, sparse: [],
            run: 1)
        try await store.changing(RepositoryFormat.pendingDeletions) { try await put(list, replacing: $0) }
    }
}
