internal import Crypto
package import LiteVaultSystem
package import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultFoundation

/// Writes blocks to data packs: header, blocks, the blocks' hashes, and a hash over header and hashes.
final class DataPackWriter {
    private let spool: PackSpool
    private let repository: [UInt8]
    private var pack = PackID()
    private var file: ReplacementFile?
    private var writer: LocalFile?
    private var hashes: [UInt8] = []
    private var count = 0
    private var buffer: [UInt8] = []
    private var offset: Int64 = 0
    /// The number of blocks in all packs.
    private(set) var total = 0

    init(spool: PackSpool, repository: [UInt8]) {
        self.spool = spool
        self.repository = repository
        buffer.reserveCapacity(Self.bufferSize)
    }

    private static let bufferSize = 256 << 10

    /// Appends a block of 4096 bytes.
    func append(_ block: UnsafeRawBufferPointer, hash: Hash256) throws -> TreeEntry {
        if writer == nil { try begin() }
        let entry = TreeEntry(pack: pack, position: UInt32(count), hash: hash)
        buffer.append(contentsOf: block)
        hashes.append(hash)
        count += 1
        total += 1
        if buffer.count >= Self.bufferSize { try drain() }
        if count == RepositoryFormat.packBlocks { try end() }
        return entry
    }

    /// Completes the last pack.
    func finish() throws { if count > 0 { try end() } }

    static func header(_ magic: [UInt8], repository: [UInt8], pack: PackID) -> [UInt8] {
        let used = magic + repository + pack.bytes
        return used + [UInt8](repeating: 0, count: RepositoryFormat.packHeader - used.count)
    }

    private func begin() throws {
        pack = PackID()
        (file, writer) = try spool.create()
        hashes.removeAll(keepingCapacity: true)
        count = 0
        offset = 0
        buffer += Self.header(RepositoryFormat.dataMagic, repository: repository, pack: pack)
    }

    private func drain() throws {
        try writer?.write(buffer, at: offset)
        offset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    private func end() throws {
        guard let file else { return }
        let header = Self.header(RepositoryFormat.dataMagic, repository: repository, pack: pack)
        buffer += hashes
        buffer.append(Hash256(of: header + hashes))
        try drain()
        spool.add(.init(name: RepositoryFormat.data(pack), pack: pack, file: file, size: offset))
        self.file = nil
        writer = nil
        count = 0
    }
}

/// Writes nodes to tree packs: header, nodes, and a hash over all of it.
final class TreePackWriter {
    private let spool: PackSpool
    private let repository: [UInt8]
    private var pack = PackID()
    private var file: ReplacementFile?
    private var writer: LocalFile?
    private var buffer: [UInt8] = []
    private var offset: Int64 = 0
    private var digest = SHA256()
    /// The number of bytes of nodes in all packs.
    private(set) var total: Int64 = 0

    init(spool: PackSpool, repository: [UInt8]) {
        self.spool = spool
        self.repository = repository
    }

    func append(_ node: TreeNode) throws -> TreeEntry {
        if writer == nil { try begin() }
        let bytes = node.bytes
        let entry = TreeEntry(
            pack: pack, position: UInt32(offset + Int64(buffer.count)), hash: Hash256(of: bytes))
        buffer += bytes
        total += Int64(bytes.count)
        if buffer.count >= 256 << 10 { try drain() }
        if offset >= RepositoryFormat.treePackBytes { try end() }
        return entry
    }

    /// Completes the last pack.
    func finish() throws { if writer != nil { try end() } }

    private func begin() throws {
        pack = PackID()
        (file, writer) = try spool.create()
        offset = 0
        digest = SHA256()
        buffer += DataPackWriter.header(RepositoryFormat.treeMagic, repository: repository, pack: pack)
    }

    private func drain() throws {
        digest.update(data: buffer)
        try writer?.write(buffer, at: offset)
        offset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    private func end() throws {
        guard let file, let writer else { return }
        try drain()
        try writer.write(Array(digest.finalize()), at: offset)
        let size = offset + Int64(RepositoryFormat.hashBytes)
        spool.add(.init(name: RepositoryFormat.tree(pack), pack: pack, file: file, size: size))
        self.file = nil
        self.writer = nil
    }
}

/// Unfinished packs, as temporary files. They are removed with this object, by a signal, or by the next run after a
/// kill.
package final class PackSpool {
    /// A file that becomes an object.
    struct Pack {
        let name: String
        let pack: PackID
        let file: ReplacementFile
        let size: Int64
    }

    package let directory: String
    private(set) var packs: [Pack] = []

    package init(directory: String) { self.directory = directory }

    /// Removes temporary files left by killed runs, which creating a temporary file does.
    package static func sweep(_ directory: String) throws {
        try withErrorContext(path: directory) { try ReplacementFile(destination: directory + "/pack").discard() }
    }

    package func create() throws -> (file: ReplacementFile, writer: LocalFile) {
        try withErrorContext(path: directory) {
            let file = try ReplacementFile(destination: directory + "/pack")
            return (file, try LocalFile(updating: file.path))
        }
    }

    func add(_ pack: Pack) { packs.append(pack) }

    var byteCount: Int64 { packs.reduce(0) { $0 + $1.size } }

    deinit { for pack in packs { pack.file.discard() } }
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
