internal import LiteVaultCapture
internal import LiteVaultSystem

/// Walks the block maps of all snapshots during a check, and tells which damage concerns one.
///
/// What only snapshots lack of which a repair has recorded the lost blocks is not a problem again.
final class CheckWalk {
    /// The packs that some snapshot needs.
    private(set) var used: Set<String> = []
    /// The packs of which snapshots need something that is damaged or missing, by database.
    private(set) var failing: [String: Set<String>] = [:]

    private let tables: PackTables
    private let flawed: [String: VaultError]
    private let avoided: Set<String>
    private let list: ProblemList
    /// Reads the ends of images, to compare them with their manifests; nil if no data is read.
    private let reader: BlockReader?
    /// The flawed packs that are problems.
    private var relevant: Set<String> = []
    /// The packs that lack a block.
    private var lacking: Set<String> = []
    private var database = ""
    /// Whether the damage of the snapshot being walked is known.
    private var isKnown = false

    /// - Parameters:
    ///   - tables: the tables of all data packs.
    ///   - flawed: the packs in which something is damaged, needed or not.
    ///   - avoided: the packs that a repair has recorded as damaged.
    ///   - list: where problems are added.
    ///   - reader: reads the first and the last block of each image; nil if no data is to be read.
    init(
        _ tables: PackTables, _ flawed: [String: VaultError], avoided: Set<String>, _ list: ProblemList,
        _ reader: BlockReader?
    ) {
        (self.tables, self.flawed, self.avoided, self.list, self.reader) = (tables, flawed, avoided, list, reader)
    }

    /// Walks the maps of snapshots.
    ///
    /// - Returns: for each whether nothing in it is damaged.
    func check(_ snapshots: [Snapshot], _ source: NodeSource) async throws -> [Bool] {
        var passed = [Bool](repeating: false, count: snapshots.count)
        let walk = BlockMapWalk(visit: visit) { self.note($0, at: "tree/") }
        // A node is visited once: what snapshots share counts for the one whose damage is not known yet.
        let order =
            snapshots.indices.filter { !isLost(snapshots[$0]) } + snapshots.indices.filter { isLost(snapshots[$0]) }
        for index in order {
            let snapshot = snapshots[index]
            (database, isKnown) = (snapshot.manifest.database, isLost(snapshot))
            passed[index] = try await check(snapshot, walk, source)
            if !isKnown {
                // Each node that was walked matches its hash: of a pack that a repair has dealt with, the rest is not needed.
                for name in walk.packs.map({ RepositoryFormat.tree($0) })
                where !relevant.contains(name) && !avoided.contains(name) {
                    if let flaw = flawed[name] { add(flaw, name) }
                }
            }
        }
        used.formUnion(walk.packs.map { RepositoryFormat.tree($0) })
        return passed
    }

    /// Known damage of which no snapshot needs anything any more, or only such as a repair has recorded. Other damage that no snapshot needs is
    /// a problem, too, as nobody has dealt with it yet.
    func irrelevant(known: Set<String>) -> [RepositoryWarning] {
        let rest = flawed.filter { !relevant.contains($0.key) }.sorted { $0.key < $1.key }
        for (name, flaw) in rest where !known.contains(name) { list.add(flaw, name) }
        return rest.filter { known.contains($0.key) }.map { name, flaw in
            RepositoryWarning(
                .notice, flaw.code, path: name,
                message: flaw.message
                    + (used.contains(name)
                        ? "; no snapshot needs what is damaged, except for recorded losses" : "; no snapshot needs it"),
                advice: .text("Pruning deletes it once no snapshot shares it."))
        }
    }

    private func isLost(_ snapshot: Snapshot) -> Bool { snapshot.verification?.lostBlocks != nil }

    private func check(_ snapshot: Snapshot, _ walk: BlockMapWalk, _ source: NodeSource) async throws -> Bool {
        do {
            let map = try await source.map(of: snapshot.manifest, snapshot.object)
            guard try walk.walk(map) else { return false }
            if let reader { try await compareEnds(of: snapshot, map, reader) }
            return true
        } catch let error as VaultError where error.isDamage {
            note(error, at: snapshot.object)
            return false
        }
    }

    /// Compares the first and the last block of an image with its manifest, as a restore does.
    private func compareEnds(of snapshot: Snapshot, _ map: BlockMap, _ reader: BlockReader) async throws {
        var map = map
        for block in Set([0, map.blocks - 1]) {
            guard let entry = try map.entry(block) else { continue }
            do {
                try await reader.read([entry]) { _, bytes in _ = try snapshot.content(of: bytes, from: block) }
            } catch let error as VaultError where error.code == .missing || flawed[error.path ?? ""] != nil {
                // Removed since it was listed, or reported already.
            }
        }
    }

    private func visit(_ entry: TreeEntry) throws -> Bool {
        let name = RepositoryFormat.data(entry.pack)
        used.insert(name)
        if try tables.has(entry) { return true }
        failing[database, default: []].insert(name)
        guard !isKnown else { return false }
        if let flaw = flawed[name] {
            add(flaw, name)
        } else if lacking.insert(name).inserted {
            list.add(name, "lacks block \(entry.position), which a snapshot needs")
        }
        return false
    }

    private func note(_ error: VaultError, at path: String) {
        if let name = error.path, RepositoryFormat.isPack(name) { failing[database, default: []].insert(name) }
        if !isKnown { list.add(error, path) }
    }

    private func add(_ flaw: VaultError, _ name: String) {
        relevant.insert(name)
        list.add(flaw, name)
    }
}
