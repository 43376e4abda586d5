internal import LiteVaultCapture

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
    private var blocks: [TreeEntry: Bool] = [:]

    /// - Parameters:
    ///   - source: has every pack of the maps.
    ///   - isStored: whether a block exists and is intact; called once for each.
    init(source: NodeSource, isStored: @escaping (TreeEntry) async throws -> Bool) {
        self.source = source
        self.isStored = isStored
    }

    /// The ranges of a snapshot's lost blocks in order, up to ``rangeLimit``, and the total number of lost blocks.
    func find(in snapshot: Snapshot) async throws -> (ranges: [Range<Int>], count: Int) {
        let manifest = snapshot.manifest
        let root = Node(
            entry: try manifest.rootEntry(snapshot.object), level: TreeShape.height(blocks: manifest.blocks) - 1,
            index: 0,
            blocks: manifest.blocks)
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

        func child(_ number: Int, _ entry: TreeEntry) -> Node {
            Node(entry: entry, level: level - 1, index: index * RepositoryFormat.fanOut + number, blocks: blocks)
        }
    }

    /// Everything that a node's state depends on.
    private struct Place: Hashable {
        let entry: TreeEntry
        let level: Int
        let span: Int

        init(_ node: Node) {
            entry = node.entry
            level = node.level
            span = node.range.count
        }
    }

    /// The number of lost blocks below a node; all of them if the node itself is damaged.
    private func count(_ node: Node) async throws -> Int {
        let place = Place(node)
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
        if let known = blocks[entry] { return known }
        let isThere = try await isStored(entry)
        if !isThere { damaged[RepositoryFormat.data(entry.pack)] = "lacks blocks that snapshots need" }
        blocks[entry] = isThere
        return isThere
    }

    /// Appends the lost blocks below a node that was counted. Only nodes with lost blocks are visited.
    private func list(_ node: Node, into ranges: inout [Range<Int>]) throws {
        let place = Place(node)
        guard let count = counts[place], count > 0 else { return }
        if count == place.span { return Self.append(node.range, to: &ranges) }
        for (number, entry) in try entries(node).enumerated() where ranges.count < Self.rangeLimit {
            if node.level > 0 {
                try list(node.child(number, entry), into: &ranges)
            } else if blocks[entry] == false {
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
