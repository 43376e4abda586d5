internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// A node of a block map. A leaf (level 0) has an entry for each of up to 32 blocks; a node above has one for each of
/// up to 32 nodes of the level below. A node's position in the map determines which blocks it covers.
package struct TreeNode: Equatable, Sendable {
    package let level: Int
    package let entries: [TreeEntry]

    package init(level: Int, entries: [TreeEntry]) {
        self.level = level
        self.entries = entries
    }

    /// The maximum size of a node in bytes.
    package static let limit = 8 + RepositoryFormat.fanOut * (16 + 38)

    /// level, 0, count of entries (2), count of packs (2), 0 (2); the packs' names; then for each entry: number of its
    /// pack in that list (2), position (4), hash (32).
    package var bytes: [UInt8] {
        var packs: [PackID] = []
        var slots: [PackID: UInt16] = [:]
        for entry in entries where slots[entry.pack] == nil {
            slots[entry.pack] = UInt16(packs.count)
            packs.append(entry.pack)
        }
        var bytes: [UInt8] = [UInt8(level), 0]
        bytes.reserveCapacity(Self.limit)
        bytes.append(bigEndian: UInt16(entries.count))
        bytes.append(bigEndian: UInt16(packs.count))
        bytes.append(bigEndian: UInt16(0))
        for pack in packs { bytes += pack.bytes }
        for entry in entries {
            bytes.append(bigEndian: slots[entry.pack] ?? 0)
            bytes.append(bigEndian: entry.position)
            bytes.append(entry.hash)
        }
        return bytes
    }

    /// The length in bytes of the node at the start of `bytes`; nil if there is none.
    package static func length(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 8, bytes[1] == 0, bytes[0] < 8, bytes.bigEndian16(6) == 0 else { return nil }
        let (count, packs) = (Int(bytes.bigEndian16(2)), Int(bytes.bigEndian16(4)))
        guard (1...RepositoryFormat.fanOut).contains(count), (1...count).contains(packs) else { return nil }
        let length = 8 + packs * 16 + count * 38
        return length <= bytes.count ? length : nil
    }

    /// Reads a node whose hash was checked; nil if the bytes are not a valid node.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard Self.length(bytes) == bytes.count else { return nil }
        let (count, packCount) = (Int(bytes.bigEndian16(2)), Int(bytes.bigEndian16(4)))
        let packs = (0..<packCount).map { index in
            PackID(UnsafeRawBufferPointer(rebasing: bytes[(8 + index * 16)..<(24 + index * 16)]))
        }
        var entries: [TreeEntry] = []
        entries.reserveCapacity(count)
        var offset = 8 + packCount * 16
        for _ in 0..<count {
            let slot = Int(bytes.bigEndian16(offset))
            guard slot < packs.count,
                bytes[0] > 0 || bytes.bigEndian32(offset + 2) < UInt32(RepositoryFormat.packBlocks)
            else { return nil }
            entries.append(
                TreeEntry(
                    pack: packs[slot], position: bytes.bigEndian32(offset + 2),
                    hash: Hash256(UnsafeRawBufferPointer(rebasing: bytes[(offset + 6)..<(offset + 38)]))))
            offset += 38
        }
        level = Int(bytes[0])
        self.entries = entries
    }
}

/// The shape of a block map, which depends only on the number of blocks.
package enum TreeShape {
    /// The number of levels, including the leaves.
    package static func height(blocks: Int) -> Int {
        var height = 1
        var nodes = nodes(blocks: blocks, level: 0)
        while nodes > 1 {
            nodes = (nodes + RepositoryFormat.fanOut - 1) / RepositoryFormat.fanOut
            height += 1
        }
        return height
    }

    /// The number of nodes of a level.
    package static func nodes(blocks: Int, level: Int) -> Int {
        var count = blocks
        for _ in 0...level { count = (count + RepositoryFormat.fanOut - 1) / RepositoryFormat.fanOut }
        return count
    }

    /// The number of entries of node `index` of a level.
    package static func entries(blocks: Int, level: Int, index: Int) -> Int {
        let below = level == 0 ? blocks : nodes(blocks: blocks, level: level - 1)
        return min(RepositoryFormat.fanOut, below - index * RepositoryFormat.fanOut)
    }

    /// The most blocks that a node of a level covers.
    static func capacity(level: Int) -> Int { (0...level).reduce(1) { blocks, _ in blocks * RepositoryFormat.fanOut } }
}

/// The block map of a snapshot: where each block of the image is stored. Nodes are read on demand; one per level is
/// cached.
package struct BlockMap {
    package let root: TreeEntry
    package let blocks: Int
    package let height: Int
    let source: NodeSource
    private var path: [(index: Int, entry: TreeEntry, node: TreeNode)?]

    /// - Parameter source: has every pack of the map.
    package init(root: TreeEntry, blocks: Int, source: NodeSource) {
        self.root = root
        self.blocks = blocks
        self.source = source
        height = TreeShape.height(blocks: blocks)
        path = Array(repeating: nil, count: height)
    }

    /// The location of block `index`; nil beyond the end.
    package mutating func entry(_ index: Int) throws -> TreeEntry? {
        guard index < blocks else { return nil }
        return try node(level: 0, index: index / RepositoryFormat.fanOut)?
            .node.entries[index % RepositoryFormat.fanOut]
    }

    /// Node `index` of a level with the entry that refers to it; nil if there is none.
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
        let node = try source.node(entry, level: level, index: index, blocks: blocks)
        path[level] = (index, entry, node)
        return (entry, node)
    }
}

/// Builds a block map, entry by entry, and reuses the nodes of the previous snapshot's map that are identical.
struct BlockMapBuilder {
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

    /// Takes entries of the previous map, whole nodes where that is possible.
    ///
    /// - Parameter blocks: numbers of blocks, from the one to be appended next.
    /// - Returns: how many were taken: fewer if a pack is to be avoided, or a node cannot be read.
    mutating func keep(_ blocks: Range<Int>) throws -> Int {
        guard case .these(let packs) = avoided else { return 0 }
        var next = blocks.lowerBound
        while next < blocks.upperBound {
            var (level, span) = (0, RepositoryFormat.fanOut)
            while packs.isEmpty, next % (span * RepositoryFormat.fanOut) == 0,
                next + span * RepositoryFormat.fanOut <= blocks.upperBound
            {
                (level, span) = (level + 1, span * RepositoryFormat.fanOut)
            }
            if packs.isEmpty, next % span == 0, next + span <= blocks.upperBound,
                let old = try? previous?.node(level: level, index: next / span), !packs.contains(old.entry.pack)
            {
                for lower in 0...level {
                    open(lower)
                    counts[lower] += (lower..<level).reduce(1) { nodes, _ in nodes * RepositoryFormat.fanOut }
                }
                try append(old.entry, level: level + 1)
                next += span
                continue
            }
            guard let old = try? previous?.entry(next), !packs.contains(old.pack) else { break }
            try append(old)
            next += 1
        }
        return next - blocks.lowerBound
    }

    private mutating func open(_ level: Int) {
        guard level == pending.count else { return }
        pending.append([])
        counts.append(0)
    }

    private mutating func append(_ entry: TreeEntry, level: Int) throws {
        open(level)
        pending[level].append(entry)
        if pending[level].count == RepositoryFormat.fanOut { try flush(level) }
    }

    private mutating func flush(_ level: Int) throws {
        let node = TreeNode(level: level, entries: pending[level])
        let index = counts[level]
        pending[level].removeAll(keepingCapacity: true)
        counts[level] += 1
        // Do not reuse a node that cannot be read.
        if let old = try? previous?.node(level: level, index: index), old.node == node,
            !avoided.contains(old.entry.pack)
        {
            return try append(old.entry, level: level + 1)
        }
        try append(packs.append(node), level: level + 1)
    }

    /// Completes the map; returns its root.
    mutating func finish() throws -> TreeEntry {
        var level = 0
        while level < pending.count {
            if level > 0, counts[level] == 0, pending[level].count == 1 { return pending[level][0] }
            if !pending[level].isEmpty { try flush(level) }
            level += 1
        }
        throw VaultError(.wrongKind, "it is empty")
    }
}

/// Packs whose blocks a new snapshot must not reuse.
enum AvoidedPacks {
    /// All packs: no pack is certain to stay, so every block is stored.
    case all
    case these(Set<PackID>)

    func contains(_ pack: PackID) -> Bool {
        switch self {
        case .all: true
        case .these(let packs): packs.contains(pack)
        }
    }
}

/// Reads nodes from tree packs that are local files: objects of a directory store in place, those of other stores from
/// cached copies. Every node is checked against its hash in its parent.
package final class NodeSource: Sendable {
    private let store: any ObjectStore
    private let directory: String
    private let files = Locked(Files())

    private struct Files {
        var open = RecentValues<PackID, LocalFile>(limit: 64)
        /// Copies that were compared with their hashes.
        var whole: Set<PackID> = []
    }

    /// - Parameter directory: where copies are cached; they stay until they are removed.
    package init(store: any ObjectStore, directory: String) {
        self.store = store
        self.directory = directory
    }

    /// The node that `entry` refers to.
    ///
    /// - Throws: `VaultError` `damaged` if it does not have that hash or level, `missing` if its pack was not made
    ///   available by ``prepare(_:)``.
    package func node(_ entry: TreeEntry, level: Int) throws -> TreeNode {
        let file = try file(entry.pack)
        let bytes = try [UInt8](unsafeUninitializedCapacity: TreeNode.limit) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(entry.position))
        }
        return try bytes.withUnsafeBytes { try entry.node(in: $0, level: level) }
    }

    /// The node that `entry` refers to, at a place in the map of an image of `blocks` blocks.
    ///
    /// - Throws: as ``node(_:level:)``; `damaged` if it has more or fewer entries than that place needs.
    func node(_ entry: TreeEntry, level: Int, index: Int, blocks: Int) throws -> TreeNode {
        let node = try node(entry, level: level)
        guard node.entries.count == TreeShape.entries(blocks: blocks, level: level, index: index) else {
            throw entry.misplaced
        }
        return node
    }

    /// Makes the pack available to ``node(_:level:)``.
    ///
    /// A copy is compared with its hash before its first use, and fetched again if it differs: copies are not synced,
    /// and nothing else protects them.
    package func prepare(_ pack: PackID) async throws {
        let name = RepositoryFormat.tree(pack)
        let path = path(pack)
        guard store.localPath(name) == nil else {
            guard access(path, R_OK) == 0 else { throw VaultError(.missing, "is missing", path: name) }
            return
        }
        if files.withLock({ $0.whole.contains(pack) }) { return }
        if PackFile.isWhole(path, pack) { return compared(pack) }
        try LocalDirectory.create(directory)
        let temporary = path + "." + PackID().hexadecimal
        do {
            // Twice, if it was damaged on the way.
            for _ in 0..<2 where !PackFile.isWhole(temporary, pack) {
                try await readingAgain {
                    unlink(temporary)
                    try await store.fetch(name, into: temporary, upTo: Int64(RepositoryFormat.wholeTreePack))
                }
            }
            // Anything may be at that path.
            if rename(temporary, path) != 0 {
                OwnedTree.remove(path)
                guard rename(temporary, path) == 0 else { throw VaultError(errno: errno, "rename", path: path) }
            }
        } catch let error as VaultError where error.isDamage {
            unlink(temporary)
            // By its name, under which the damage is recorded; a store may name its place.
            throw VaultError(error.code, error.message, path: name, cause: error)
        } catch {
            unlink(temporary)
            throw error
        }
        // If it is damaged now, it is damaged in the store. Its nodes are checked one by one.
        compared(pack)
    }

    private func compared(_ pack: PackID) {
        files.withLock { files in
            files.whole.insert(pack)
            files.open.remove(pack)
        }
    }

    /// The block map of a snapshot, every pack of which it makes available.
    ///
    /// - Parameter name: the manifest's.
    func map(of manifest: Manifest, _ name: String) async throws -> BlockMap {
        let root = try manifest.rootEntry(name)
        try await prepare(root: root, blocks: manifest.blocks)
        return BlockMap(root: root, blocks: manifest.blocks, source: self)
    }

    /// Makes every pack of a block map available.
    package func prepare(root: TreeEntry, blocks: Int) async throws {
        // Level by level, each node once: the number of distinct nodes is bounded by the size of the packs, however
        // many paths lead to them.
        var level = TreeShape.height(blocks: blocks) - 1
        var nodes: Set<TreeEntry> = [root]
        while true {
            for pack in Set(nodes.map(\.pack)).sorted() { try await prepare(pack) }
            if level == 0 { return }
            if level == 1 {
                // Many leaves are in few packs.
                var packs: Set<PackID> = []
                for entry in nodes { packs.formUnion(try node(entry, level: level).entries.map(\.pack)) }
                for pack in packs.sorted() { try await prepare(pack) }
                return
            }
            var below: Set<TreeEntry> = []
            for entry in nodes { below.formUnion(try node(entry, level: level).entries) }
            (nodes, level) = (below, level - 1)
        }
    }

    /// The path of the pack's file, whether or not it exists.
    package func path(_ pack: PackID) -> String {
        store.localPath(RepositoryFormat.tree(pack)) ?? directory + "/" + pack.hexadecimal
    }

    private func file(_ pack: PackID) throws -> LocalFile {
        try files.withLock { files in
            if let file = files.open[pack] { return file }
            let file: LocalFile
            do {
                file = try LocalFile(reading: path(pack))
            } catch let error as VaultError where error.code == .missing {
                throw VaultError(.damaged, "is missing", path: RepositoryFormat.tree(pack))
            }
            files.open.insert(file, for: pack)
            return file
        }
    }
}

/// Reads block maps from the store during a check. Copies cached on this machine prove nothing about what another
/// machine would restore from, so a check reads into a temporary directory of its own, removed with this object.
final class UncachedNodes {
    let source: NodeSource
    /// Nil if the store's own files are read.
    private let directory: WorkDirectory?

    /// - Parameter directory: the parent of the temporary directory, for remote stores.
    init(_ store: any ObjectStore, directory parent: String) throws {
        guard store.localPath("tree/any") == nil else {
            source = NodeSource(store: store, directory: parent)
            directory = nil
            return
        }
        try LocalDirectory.create(parent)
        let work = try withErrorContext(path: parent) { try WorkDirectory(for: "nodes", in: parent) }
        source = NodeSource(store: store, directory: work.path)
        directory = work
    }

    /// Whether a tree pack in the store is intact. ``source`` reads what was compared here.
    ///
    /// - Parameter repository: the repository's identifier.
    /// - Throws: `VaultError` `missing` if there is no such object, `damaged` if it is larger than any tree pack.
    func isIntact(_ pack: PackID, of repository: [UInt8]) async throws -> Bool {
        try await source.prepare(pack)
        return try PackFile.isIntact(source.path(pack), pack, of: repository)
    }
}

extension TreeEntry {
    /// The error for a node that belongs to another place in a map.
    var misplaced: VaultError {
        VaultError(.damaged, "a node has the wrong number of entries for its place", path: RepositoryFormat.tree(pack))
    }

    /// The node that this entry refers to.
    ///
    /// - Parameter buffer: starts with the node.
    /// - Throws: `VaultError` `damaged` if it does not have that hash or level.
    func node(in buffer: UnsafeRawBufferPointer, level: Int) throws -> TreeNode {
        let name = RepositoryFormat.tree(pack)
        guard let length = TreeNode.length(buffer) else {
            throw VaultError(.damaged, "has no node at \(position)", path: name)
        }
        let own = UnsafeRawBufferPointer(rebasing: buffer[..<length])
        guard Hash256(of: own) == hash, let node = TreeNode(own), node.level == level else {
            throw VaultError(.damaged, "the node at \(position) does not match its hash", path: name)
        }
        return node
    }
}
