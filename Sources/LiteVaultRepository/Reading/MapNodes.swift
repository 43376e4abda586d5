internal import LiteVaultCapture

/// Finds blocks in the block map of a snapshot, of which it reads the nodes on the way to them only. Nothing is written to a cache
/// directory. Every node is checked against its hash in its parent.
actor MapNodes {
    private struct Place: Hashable {
        let level: Int
        let index: Int
    }

    private struct Part: Hashable {
        let pack: PackID
        let index: Int
    }

    private let store: any ObjectStore
    private let root: TreeEntry
    private let blocks: Int
    private let height: Int
    private let counter: ReadCounter
    /// 4 MiB of nodes, which cover 256 MiB of the database if they are leaves.
    private var nodes = RecentValues<Place, TreeNode>(limit: 2048)
    /// Parts of packs as the store has them, 2 MiB.
    private var parts = RecentValues<Part, Task<[UInt8], any Error>>(limit: 64)
    private var sizes: [PackID: Task<Int64, any Error>] = [:]

    /// How much of a pack one request reads. The nodes of consecutive blocks are side by side.
    private static let partBytes: Int64 = 32 << 10

    init(root: TreeEntry, blocks: Int, store: any ObjectStore, counter: ReadCounter) {
        self.root = root
        self.blocks = blocks
        self.store = store
        self.counter = counter
        height = TreeShape.height(blocks: blocks)
    }

    /// The locations of blocks.
    ///
    /// - Throws: `VaultError` `damaged` if a node is missing, or does not match its hash.
    func entries(_ range: Range<Int>) async throws -> [TreeEntry] {
        var entries: [TreeEntry] = []
        entries.reserveCapacity(range.count)
        var next = range.lowerBound
        while next < range.upperBound {
            let leaf = try await node(Place(level: 0, index: next / RepositoryFormat.fanOut))
            let first = next % RepositoryFormat.fanOut
            let count = min(range.upperBound - next, leaf.entries.count - first)
            guard count > 0 else {
                throw VaultError(.damaged, "a node has too few entries", path: RepositoryFormat.tree(root.pack))
            }
            entries += leaf.entries[first..<(first + count)]
            next += count
        }
        return entries
    }

    private func node(_ place: Place) async throws -> TreeNode {
        if let known = nodes[place] { return known }
        let entry: TreeEntry
        if place.level == height - 1 {
            entry = root
        } else {
            let parent = try await node(Place(level: place.level + 1, index: place.index / RepositoryFormat.fanOut))
            let slot = place.index % RepositoryFormat.fanOut
            guard parent.entries.indices.contains(slot) else { throw root.misplaced }
            entry = parent.entries[slot]
        }
        let node = try await read(entry, level: place.level)
        guard node.entries.count == TreeShape.entries(blocks: blocks, level: place.level, index: place.index) else {
            throw entry.misplaced
        }
        nodes.insert(node, for: place)
        return node
    }

    private func read(_ entry: TreeEntry, level: Int, isSecond: Bool = false) async throws -> TreeNode {
        let (start, part) = (Int64(entry.position), Int(Int64(entry.position) / Self.partBytes))
        var bytes = try await bytes(of: entry.pack, part)[...].dropFirst(Int(start % Self.partBytes))
        if bytes.count < TreeNode.limit, bytes.withUnsafeBytes({ TreeNode.length($0) }) == nil,
            try await size(of: entry.pack) > Int64(part + 1) * Self.partBytes
        {
            bytes += try await self.bytes(of: entry.pack, part + 1)
        }
        do { return try bytes.withUnsafeBytes { try entry.node(in: $0, level: level) } } catch let error as VaultError
            where error.code == .damaged && !isSecond
        {
            // It may have been damaged on the way.
            for index in part...(part + 1) { parts.remove(Part(pack: entry.pack, index: index)) }
            return try await read(entry, level: level, isSecond: true)
        }
    }

    /// A part of a pack; empty behind its end.
    private func bytes(of pack: PackID, _ index: Int) async throws -> [UInt8] {
        let size = try await size(of: pack)
        let start = Int64(index) * Self.partBytes
        guard start < size else { return [] }
        let key = Part(pack: pack, index: index)
        // Several windows of blocks need the same part at the same time.
        let reading =
            parts[key]
            ?? Task { [store, counter] in
                let range = start..<min(size, start + Self.partBytes)
                counter.add(Int64(range.count))
                return try await store.get(RepositoryFormat.tree(pack), range: range)
            }
        parts.insert(reading, for: key)
        do { return try await reading.value } catch {
            // The next read tries again.
            parts.remove(key)
            throw Self.missing(error, pack)
        }
    }

    private func size(of pack: PackID) async throws -> Int64 {
        let reading =
            sizes[pack]
            ?? Task { [store, counter] in
                let name = RepositoryFormat.tree(pack)
                counter.add(0)
                guard let stored = try await store.attributes(name) else {
                    throw VaultError(.missing, "is missing", path: name)
                }
                return try await store.contentSize(stored)
            }
        sizes[pack] = reading
        do { return try await reading.value } catch {
            sizes[pack] = nil
            throw Self.missing(error, pack)
        }
    }

    private static func missing(_ error: any Error, _ pack: PackID) -> any Error {
        guard let error = error as? VaultError, error.code == .missing else { return error }
        return VaultError(.damaged, "is missing", path: RepositoryFormat.tree(pack), cause: error)
    }
}
