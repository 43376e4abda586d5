internal import LiteVaultCapture

/// The block map of a snapshot: which block of the image is where. Reads nodes as they are needed and keeps one a level.
package struct BlockMap {
    package let root: TreeEntry
    package let blocks: Int
    package let height: Int
    private let source: NodeSource
    private var path: [(index: Int, entry: TreeEntry, node: TreeNode)?]

    /// - Parameter source: has every pack of the map.
    package init(root: TreeEntry, blocks: Int, source: NodeSource) {
        self.root = root
        self.blocks = blocks
        self.source = source
        height = TreeShape.height(blocks: blocks)
        path = Array(repeating: nil, count: height)
    }

    /// Where block `index` is; nil behind the end.
    package mutating func entry(_ index: Int) throws -> TreeEntry? {
        guard index < blocks else { return nil }
        return try node(level: 0, index: index / RepositoryFormat.fanOut)?
            .node.entries[index % RepositoryFormat.fanOut]
    }

    /// The node `index` of a level with the entry that names it; nil where there is none.
    package mutating func node(level: Int, index: Int) throws -> (entry: TreeEntry, node: TreeNode)? {
        guard level < height, index < TreeShape.nodes(blocks: blocks, level: level) else { return nil }
        if let known = path[level], known.index == index { return (known.entry, known.node) }
        let entry: TreeEntry
        if level == height - 1 {
            entry = root
        } else {
            guard let parent = try node(level: level + 1, index: index / RepositoryFormat.fanOut) else { return nil }
            entry = parent.node.entries[index % RepositoryFormat.fanOut]
        }
        let node = try source.node(entry, level: level)
        guard node.entries.count == TreeShape.entries(blocks: blocks, level: level, index: index) else {
            throw BackupError(
                .damaged, "a node has not as many entries as its place says", path: RepositoryFormat.tree(entry.pack))
        }
        path[level] = (index, entry, node)
        return (entry, node)
    }
}
