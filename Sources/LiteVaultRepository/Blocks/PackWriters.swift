internal import Crypto
package import LiteVaultCapture
internal import LiteVaultCipher
package import LiteVaultSystem

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
    var treeBytes: Int64 { packs.filter { $0.name.hasPrefix("tree/") }.reduce(0) { $0 + $1.size } }

    deinit { for pack in packs { pack.file.discard() } }
}
