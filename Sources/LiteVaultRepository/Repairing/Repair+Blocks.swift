internal import LiteVaultCapture
internal import LiteVaultSystem

extension Repair {
    /// Finds the blocks that snapshots have lost, and records which.
    ///
    /// - Parameter isListDamaged: whether the list of damaged packs cannot be read.
    func findLosses(_ databases: [String], isListDamaged: Bool) async throws {
        let tables = try PackTables(directory: repository.workDirectory())
        let packs = try await store.list("data/").filter { RepositoryFormat.isPack($0.name) }
        let total = packs.lazy.map(\.size).sum
        let list = try await repository.pendingDeletions()
        let before = try await recorded(databases)
        let suspects = Set(before.values.flatMap { $0.damaged ?? [] }).union(list.damaged ?? [])
        var done: Int64 = 0
        // What is damaged in packs, whether or not a snapshot has lost something by it.
        var flaws: [String: VaultError] = [:]
        for object in packs {
            try options.progress(BackupProgress(.checking, done, of: total))
            // The tables tell which of its blocks are intact.
            flaws[object.name] = try await repository.flaw(orMissing: true) {
                // What a check or a repair has found damaged is read as a whole: only some of its blocks are lost, or none any more.
                try await tables.add(
                    object, repository: repository.id, store: store,
                    readsData: options.readsData || suspects.contains(object.name))
            }
            done = [done, object.size].sum
        }
        // From the store, not from cached copies.
        let maps = try UncachedNodes(store, directory: repository.cacheDirectory("check"))
        let walk = BlockMapWalk(visit: { try tables.has($0) }, problem: { _ in })
        // All maps first: the path to one pack leads through others, which may be damaged.
        for object in try await store.list("tree/") {
            guard let pack = RepositoryFormat.pack(object.name) else { continue }
            // Snapshots that need it report that.
            flaws[object.name] = try await repository.flaw(orMissing: true) {
                try await maps.source.prepare(pack)
                // A file that cannot be read is not known to be damaged: that ends the repair.
                guard try PackFile.isIntact(maps.source.path(pack), pack, of: repository.id) else {
                    throw VaultError(.damaged, "does not match its hash", path: object.name)
                }
            }
        }
        var needed: Set<String> = []
        // Those in packs without a table: each is read once.
        var readable: Set<TreeEntry> = []
        let finder = LostBlockFinder(source: maps.source) { entry in
            if try readable.contains(entry) || tables.has(entry) { return true }
            // The damage may be in the pack's own table.
            guard try await self.isReadable(entry) else { return false }
            readable.insert(entry)
            needed.insert(RepositoryFormat.data(entry.pack))
            return true
        }
        for database in databases {
            try await findLosses(
                of: database, walk, finder, maps.source, isListWhole: list.damaged?.isEmpty == false,
                since: before[database])
        }
        needed.formUnion(walk.packs.map { RepositoryFormat.tree($0) })
        for (name, flaw) in flaws.sorted(by: { $0.key < $1.key })
        where needed.contains(name) && finder.damaged[name] == nil {
            leave(
                name, "\(flaw.message); what snapshots need of it is intact",
                .text(
                    "They can be restored. Take new snapshots, which store it again; forget the older ones when nobody needs them."
                ), flaw.code)
        }
        let damaged = finder.damaged.merging(flaws.mapValues(\.message)) { lost, _ in lost }
        let known = Set(list.damaged ?? [])
        for (name, reason) in damaged.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
            report.actions.append(.init(.avoided, name, reason, nil))
        }
        guard !options.dryRun else { return }
        let all = known.union(damaged.keys).sorted()
        guard isListDamaged || all != list.damaged ?? [] else { return }
        try await change(RepositoryFormat.pendingDeletions) { version in
            var new = try await repository.pendingDeletions()
            let all = Set(new.damaged ?? []).union(damaged.keys).sorted()
            new.damaged = all.isEmpty ? nil : all
            try await write(new, replacing: version)
        }
    }

    /// Finds the lost blocks of a database's snapshots, and records which snapshots have lost some.
    ///
    /// - Parameter before: what was recorded before the packs were read.
    private func findLosses(
        of database: String, _ walk: BlockMapWalk, _ finder: LostBlockFinder, _ source: NodeSource, isListWhole: Bool,
        since before: Verifications?
    ) async throws {
        let survey = try await repository.survey(database)
        let verifications = try await repository.advisories(survey).verifications
        let level: SnapshotVerification.Level = options.readsData ? .data : .structure
        var found = VerificationResults()
        found.known = before
        for snapshot in survey.snapshots(with: verifications) {
            let (manifest, known, hash) = (snapshot.manifest, snapshot.verification, snapshot.hash.hexadecimal)
            let root = try manifest.rootEntry(snapshot.object)
            let isWhole = try walk.walk(BlockMap(root: root, blocks: manifest.blocks, source: source))
            let (ranges, count) = isWhole ? ([], 0) : try await finder.find(in: snapshot)
            guard count == 0 else {
                report.lostBlocks.append(
                    .init(snapshot: snapshot, blocks: ranges, count: count, isKnown: known?.lostBlocks == count))
                found.results[hash] = SnapshotVerification(
                    level: level, passed: false, time: repository.clock.time(), lostBlocks: count)
                continue
            }
            guard let known, !known.passed else { continue }
            // What was lost is back: the packs that lacked it were read as a whole.
            let isBack = known.lostBlocks != nil && isListWhole
            guard known.level <= .data else {
                // Whether it is an intact database, only as thorough a verification tells.
                if isBack {
                    found.results[hash] = SnapshotVerification(
                        level: .data, passed: true, time: repository.clock.time())
                }
                continue
            }
            // It failed because of a pack that it shares, and every block that it needs of that was read now.
            if options.readsData || known.level == .structure || !isWhole || isBack
                || !verifications.damagedPacks.isEmpty
            {
                found.cleared.insert(hash)
            }
        }
        guard let lease, !options.dryRun, !found.results.isEmpty || !found.cleared.isEmpty else { return }
        try await writable.record(found, database, holding: lease)
    }

    /// What checks have recorded, by the identifier of the database.
    private func recorded(_ databases: [String]) async throws -> [String: Verifications] {
        var found: [String: Verifications] = [:]
        for database in databases {
            do { found[database] = try await repository.verifications(database) } catch let error as VaultError
                where error.isDamage
            {
                // It was set aside, or is in a dry run.
            }
        }
        return found
    }

    private func isReadable(_ entry: TreeEntry) async throws -> Bool {
        do {
            try await BlockReader(store: store).read([entry]) { _, _ in }
            return true
        } catch let error as VaultError where error.isDamage {
            return false
        }
    }
}

/// Finds the blocks of snapshots that can no longer be restored.
///
/// An untrusted block map may refer to one node a billion times. Lost blocks are counted once per node, and ranges are
/// assembled from the counts, so the work is bounded by the number of stored nodes and by ``rangeLimit``.
final class LostBlockFinder {
    /// The maximum number of ranges listed per snapshot.
    static let rangeLimit = 10_000

    /// Packs that lack blocks that snapshots need, and why.
    private(set) var damaged: [String: String] = [:]

    private let source: NodeSource
    private let isStored: (TreeEntry) async throws -> Bool
    /// The number of lost blocks below each node.
    private var counts: [Place: Int] = [:]
    /// The lost blocks. Of the others, which may be all blocks of a large database, nothing is kept.
    private var lost: Set<TreeEntry> = []

    /// - Parameters:
    ///   - source: has every pack of the maps.
    ///   - isStored: whether a block exists and is intact; called once for each block that is lost, and for each node that has it.
    init(source: NodeSource, isStored: @escaping (TreeEntry) async throws -> Bool) {
        self.source = source
        self.isStored = isStored
    }

    /// The ranges of a snapshot's lost blocks in order, up to ``rangeLimit``, and the total number of lost blocks.
    func find(in snapshot: Snapshot) async throws -> (ranges: [Range<Int>], count: Int) {
        let manifest = snapshot.manifest
        let root = Node(
            entry: try manifest.rootEntry(snapshot.object), level: TreeShape.height(blocks: manifest.blocks) - 1,
            index: 0, blocks: manifest.blocks)
        let count = try await count(root)
        var ranges: [Range<Int>] = []
        if count > 0 { try list(root, into: &ranges) }
        return (ranges, count)
    }

    /// A node at its position in a map.
    private struct Node {
        let entry: TreeEntry
        let level: Int
        let index: Int
        let blocks: Int

        /// The blocks below it.
        var range: Range<Int> {
            let capacity = TreeShape.capacity(level: level)
            return index * capacity..<min((index + 1) * capacity, blocks)
        }

        var place: Place { Place(entry: entry, level: level, span: range.count) }

        func child(_ number: Int, _ entry: TreeEntry) -> Node {
            Node(entry: entry, level: level - 1, index: index * RepositoryFormat.fanOut + number, blocks: blocks)
        }
    }

    /// Everything that a node's state depends on.
    private struct Place: Hashable {
        let entry: TreeEntry
        let level: Int
        let span: Int
    }

    /// The number of lost blocks below a node; all of them if the node itself is damaged.
    private func count(_ node: Node) async throws -> Int {
        let place = node.place
        if let known = counts[place] { return known }
        var count = 0
        do {
            for (number, entry) in try entries(node).enumerated() {
                if node.level > 0 {
                    count += try await self.count(node.child(number, entry))
                } else if try await !isThere(entry) {
                    count += 1
                }
            }
        } catch let error as VaultError where error.isDamage {
            damaged[error.path ?? RepositoryFormat.tree(node.entry.pack)] = error.message
            count = place.span
        }
        counts[place] = count
        return count
    }

    private func isThere(_ entry: TreeEntry) async throws -> Bool {
        if lost.contains(entry) { return false }
        if try await isStored(entry) { return true }
        damaged[RepositoryFormat.data(entry.pack)] = "lacks blocks that snapshots need"
        lost.insert(entry)
        return false
    }

    /// Appends the lost blocks below a node that was counted. Only nodes with lost blocks are visited.
    private func list(_ node: Node, into ranges: inout [Range<Int>]) throws {
        let place = node.place
        guard let count = counts[place], count > 0 else { return }
        if count == place.span { return Self.append(node.range, to: &ranges) }
        for (number, entry) in try entries(node).enumerated() where ranges.count < Self.rangeLimit {
            if node.level > 0 {
                try list(node.child(number, entry), into: &ranges)
            } else if lost.contains(entry) {
                let block = node.range.lowerBound + number
                Self.append(block..<block + 1, to: &ranges)
            }
        }
    }

    private static func append(_ range: Range<Int>, to ranges: inout [Range<Int>]) {
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }

    private func entries(_ node: Node) throws -> [TreeEntry] {
        try source.node(node.entry, level: node.level, index: node.index, blocks: node.blocks).entries
    }
}
