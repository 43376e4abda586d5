internal import Crypto
package import LiteVaultCapture
internal import LiteVaultCipher
package import LiteVaultSystem

/// Writes packs of one kind, one after the other, each to a file of the spool.
class PackWriter {
    fileprivate static let bufferSize = 256 << 10

    private let magic: [UInt8]
    private let spool: PackSpool
    private let repository: [UInt8]
    /// The file of the pack that was begun.
    private var current: (file: ReplacementFile, writer: LocalFile)?
    fileprivate private(set) var pack = PackID()
    fileprivate var buffer: [UInt8] = []
    /// Bytes of the pack before those in the buffer.
    fileprivate private(set) var offset: Int64 = 0

    fileprivate init(_ magic: [UInt8], to spool: PackSpool, of repository: [UInt8]) {
        (self.magic, self.spool, self.repository) = (magic, spool, repository)
        buffer.reserveCapacity(Self.bufferSize)
    }

    static func header(_ magic: [UInt8], repository: [UInt8], pack: PackID) -> [UInt8] {
        let used = magic + repository + pack.bytes
        return used + [UInt8](repeating: 0, count: RepositoryFormat.packHeader - used.count)
    }

    fileprivate var header: [UInt8] { Self.header(magic, repository: repository, pack: pack) }
    fileprivate var isBegun: Bool { current != nil }

    /// Begins a pack, if none is.
    fileprivate func begin() throws {
        guard !isBegun else { return }
        pack = PackID()
        current = try spool.create()
        offset = 0
        buffer += header
    }

    fileprivate func drain() throws {
        try current?.writer.write(buffer, at: offset)
        offset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Completes the pack.
    fileprivate func end(as name: String) throws {
        guard let file = current?.file else { return }
        try drain()
        spool.add(.init(name: name, pack: pack, file: file, size: offset))
        current = nil
    }
}

/// Writes blocks to data packs: header, blocks, the blocks' hashes, and a hash over header and hashes.
final class DataPackWriter: PackWriter {
    private var hashes: [UInt8] = []
    private var count = 0

    init(spool: PackSpool, repository: [UInt8]) {
        super.init(RepositoryFormat.dataMagic, to: spool, of: repository)
    }

    /// Appends a block of 4096 bytes.
    func append(_ block: UnsafeRawBufferPointer, hash: Hash256) throws -> TreeEntry {
        try begin()
        let entry = TreeEntry(pack: pack, position: UInt32(count), hash: hash)
        buffer.append(contentsOf: block)
        hashes.append(hash)
        count += 1
        if buffer.count >= Self.bufferSize { try drain() }
        if count == RepositoryFormat.packBlocks { try finish() }
        return entry
    }

    /// Completes the last pack.
    func finish() throws {
        guard count > 0 else { return }
        buffer += hashes
        buffer.append(Hash256(of: header + hashes))
        try end(as: RepositoryFormat.data(pack))
        hashes.removeAll(keepingCapacity: true)
        count = 0
    }
}

/// Writes nodes to tree packs: header, nodes, and a hash over all of it.
final class TreePackWriter: PackWriter {
    private var digest = SHA256()

    init(spool: PackSpool, repository: [UInt8]) {
        super.init(RepositoryFormat.treeMagic, to: spool, of: repository)
    }

    func append(_ node: TreeNode) throws -> TreeEntry {
        try begin()
        let bytes = node.bytes
        let entry = TreeEntry(
            pack: pack, position: UInt32(offset + Int64(buffer.count)), hash: Hash256(of: bytes))
        buffer += bytes
        if buffer.count >= Self.bufferSize { try drain() }
        if offset >= RepositoryFormat.treePackBytes { try finish() }
        return entry
    }

    fileprivate override func drain() throws {
        digest.update(data: buffer)
        try super.drain()
    }

    /// Completes the last pack.
    func finish() throws {
        guard isBegun else { return }
        try drain()
        buffer += Array(digest.finalize())
        try end(as: RepositoryFormat.tree(pack))
        digest = SHA256()
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
    /// The first file. The others share the descriptor of its directory, so that each of them takes one, and not two.
    private var first: ReplacementFile?

    package init(directory: String) { self.directory = directory }

    /// Removes temporary files left by killed runs, which creating a temporary file does.
    package static func sweep(_ directory: String) throws {
        try ReplacementFile.temporary("pack", in: directory).discard()
    }

    package func create() throws -> (file: ReplacementFile, writer: LocalFile) {
        try withErrorContext(path: directory) {
            let file =
                if let first {
                    try ReplacementFile(besides: first)
                } else {
                    try ReplacementFile(destination: directory + "/pack")
                }
            first = first ?? file
            return (file, try LocalFile(updating: file.path))
        }
    }

    func add(_ pack: Pack) { packs.append(pack) }

    var byteCount: Int64 { packs.reduce(0) { $0 + $1.size } }
    var treeBytes: Int64 { packs.filter { $0.name.hasPrefix("tree/") }.reduce(0) { $0 + $1.size } }

    deinit { for pack in packs { pack.file.discard() } }
}
