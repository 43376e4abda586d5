internal import LiteVaultCapture

/// Builds a block map, entry by entry, and takes over the nodes of the previous snapshot's map that are the same.
struct TreeBuilder {
    private var previous: BlockMap?
    private let avoided: AvoidedPacks
    private var pending: [[TreeEntry]] = []
    private var counts: [Int] = []
    private let packs: TreePackWriter

    init(previous: BlockMap?, avoiding avoided: AvoidedPacks, into packs: TreePackWriter) {
        self.previous = previous
        self.avoided = avoided
        self.packs = packs
    }

    mutating func append(_ entry: TreeEntry) throws { try append(entry, level: 0) }

    private mutating func append(_ entry: TreeEntry, level: Int) throws {
        if level == pending.count {
            pending.append([])
            counts.append(0)
        }
        pending[level].append(entry)
        if pending[level].count == RepositoryFormat.fanOut { try flush(level) }
    }

    private mutating func flush(_ level: Int) throws {
        let node = TreeNode(level: level, entries: pending[level])
        let index = counts[level]
        pending[level].removeAll(keepingCapacity: true)
        counts[level] += 1
        // One that can not be read is no node to take over.
        if let old = try? previous?.node(level: level, index: index), old.node == node,
            !avoided.contains(old.entry.pack)
        {
            return try append(old.entry, level: level + 1)
        }
        try append(packs.append(node), level: level + 1)
    }

    /// Ends the map; returns its root.
    mutating func finish() throws -> TreeEntry {
        var level = 0
        while level < pending.count {
            if level > 0, counts[level] == 0, pending[level].count == 1 { return pending[level][0] }
            if !pending[level].isEmpty { try flush(level) }
            level += 1
        }
        throw BackupError(.wrongKind, "there is nothing in it")
    }
}

/// Packs of which nothing is taken over into a new snapshot.
enum AvoidedPacks {
    /// Of none of them it is known that it stays: everything is stored.
    case all
    case these(Set<PackID>)

    func contains(_ pack: PackID) -> Bool {
        switch self {
        case .all: true
        case .these(let packs): packs.contains(pack)
        }
    }
}
