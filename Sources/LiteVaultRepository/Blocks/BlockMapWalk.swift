internal import LiteVaultCapture

/// Visits every node of the block maps of many snapshots once, and every block once for each map that contains it.
final class BlockMapWalk {
    /// The nodes that were visited, and whether everything below them is intact.
    private var visited: [PackID: [UInt32: Known]] = [:]
    /// The numbers of blocks of nodes that are not full: one per level of each map.
    private var spans: [TreeEntry: Int] = [:]
    private let visit: (TreeEntry) throws -> Bool
    private let problem: (VaultError) throws -> Void

    /// - Parameters:
    ///   - visit: called with the location of each block; returns false if the block is missing.
    ///   - problem: called for a node that is damaged or missing; throws to stop the walk, as any other error does.
    init(visit: @escaping (TreeEntry) throws -> Bool, problem: @escaping (VaultError) throws -> Void) {
        self.visit = visit
        self.problem = problem
    }

    /// The tree packs that the walk has used.
    var packs: Set<PackID> { Set(visited.keys) }

    /// Walks the map of one snapshot; false if anything in it is damaged.
    func walk(_ map: BlockMap) throws -> Bool {
        try walk(map.root, level: map.height - 1, index: 0, blocks: map.blocks, map.source)
    }

    private func walk(
        _ entry: TreeEntry, level: Int, index: Int, blocks: Int, _ source: NodeSource
    ) throws -> Bool {
        // How many blocks it covers in this position.
        let capacity = TreeShape.capacity(level: level)
        let span = min(capacity, blocks - index * capacity)
        let isFull = span == capacity
        let node: TreeNode
        do {
            if let known = visited[entry.pack]?[entry.position] {
                // The same location with another hash: its parent was not read before.
                _ = try source.node(entry, level: level)
                // A node that is intact in one position is not in another that needs more or fewer blocks.
                let isSame = known.isFull == isFull && (isFull || spans[entry] == span)
                guard isSame else { throw entry.misplaced }
                return known.isWell
            }
            visited[entry.pack, default: [:]][entry.position] = Known(isWell: false, isFull: isFull)
            if !isFull { spans[entry] = span }
            node = try source.node(entry, level: level, index: index, blocks: blocks)
        } catch let error as VaultError where error.isDamage {
            try problem(error)
            return false
        }
        var isWell = true
        for (number, child) in node.entries.enumerated() {
            let well =
                level == 0
                ? try visit(child)
                : try walk(
                    child, level: level - 1, index: index * RepositoryFormat.fanOut + number, blocks: blocks, source)
            isWell = isWell && well
        }
        visited[entry.pack]?[entry.position] = Known(isWell: isWell, isFull: isFull)
        return isWell
    }

    /// The result of visiting a node.
    private struct Known {
        var isWell: Bool
        /// Whether it covers as many blocks as a node of its level can cover.
        var isFull: Bool
    }
}
