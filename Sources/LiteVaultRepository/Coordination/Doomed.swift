internal import LiteVaultCapture

/// Packs that no snapshot needs. They are listed in one run and removed in a later one; meanwhile no writer uses them.
struct Doomed: CheckedDocument {
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
    /// Data packs of which snapshots need little: writers store those blocks anew, so that the packs can go in time.
    var sparse: [String]
    /// Packs in which something is damaged that snapshots need: writers store it again. Absent where there are none.
    var damaged: [String]?
    /// How many runs of pruning there were. They are what tells before from after: clocks are put back.
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

    /// Nobody prunes that often.
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
    func doomed() async throws -> Doomed {
        do {
            let (found, _) = try await document(RepositoryFormat.doomed, Doomed.self)
            guard found.type == "doomed", found.repository == config.id else {
                throw BackupError(
                    .damaged, "belongs to another place: objects were swapped", path: RepositoryFormat.doomed)
            }
            return found
        } catch let error as BackupError where error.code == .missing {
            return Doomed(repository: config.id, packs: [], sparse: [])
        }
    }
}

extension Repository {
    /// As ``doomed()``; nil for one that is damaged.
    func doomedIfReadable() async throws -> Doomed? {
        do {
            return try await doomed()
        } catch let error as BackupError where error.code == .damaged {
            return nil
        }
    }
}

extension Doomed {
    /// What writers must not take over.
    var avoided: AvoidedPacks {
        let names = packs.map(\.name) + sparse + (damaged ?? [])
        return .these(Set(names.compactMap { $0.split(separator: "/").last.flatMap { PackID(hex: $0) } }))
    }
}

extension Repository {
    /// Lists packs as about to be removed, as pruning does.
    package func doom(_ names: [String]) async throws {
        let now = try await store.now()
        let list = Doomed(
            repository: config.id, packs: names.map { .init(name: $0, since: now, run: 1) }, sparse: [], run: 1)
        try await put(list, as: RepositoryFormat.doomed, condition: .none)
    }
}
