/// Visits every node of the block maps of many snapshots once, and tells every block once a map that has it.
final class TreeWalk {
    /// The nodes that were visited, and whether all was well below them.
    private var visited: [PackID: [UInt32: Bool]] = [:]
    private let visit: (TreeEntry) throws -> Bool
    private let problem: (any Error) throws -> Void

    /// - Parameters:
    ///   - visit: told where each block is; false for one that is not there.
    ///   - problem: told of a node that can not be read; throws to end the walk.
    init(visit: @escaping (TreeEntry) throws -> Bool, problem: @escaping (any Error) throws -> Void) {
        self.visit = visit
        self.problem = problem
    }

    /// The tree packs that were needed.
    var packs: Set<PackID> { Set(visited.keys) }

    /// Walks the map of one snapshot; false if something is wrong in it.
    func walk(root: TreeEntry, blocks: Int, source: NodeSource) throws -> Bool {
        try walk(root, level: TreeShape.height(blocks: blocks) - 1, index: 0, blocks: blocks, source)
    }

    private func walk(
        _ entry: TreeEntry, level: Int, index: Int, blocks: Int, _ source: NodeSource
    ) throws -> Bool {
        if let known = visited[entry.pack]?[entry.position] {
            // The same place under another hash: its parent was not read before.
            do {
                _ = try source.node(entry, level: level)
            } catch let error as BackupError {
                try problem(error)
                return false
            }
            return known
        }
        visited[entry.pack, default: [:]][entry.position] = false
        let node: TreeNode
        do {
            node = try source.node(entry, level: level)
        } catch let error as BackupError {
            try problem(error)
            return false
        }
        guard node.entries.count == TreeShape.entries(blocks: blocks, level: level, index: index) else {
            try problem(
                BackupError(
                    .damaged, "a node has not as many entries as its place says",
                    path: RepositoryFormat.tree(entry.pack)))
            return false
        }
        var isWell = true
        for (place, child) in node.entries.enumerated() {
            let well =
                level == 0
                ? try visit(child)
                : try walk(
                    child, level: level - 1, index: index * RepositoryFormat.fanOut + place, blocks: blocks, source)
            isWell = isWell && well
        }
        visited[entry.pack]?[entry.position] = isWell
        return isWell
    }
}
