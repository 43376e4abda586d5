internal import DurableFile
internal import LiteVaultCapture

/// Writes blocks into data packs: header, blocks, the blocks' hashes, and a hash over header and hashes.
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
    /// Blocks in all packs.
    private(set) var total = 0

    init(spool: PackSpool, repository: [UInt8]) {
        self.spool = spool
        self.repository = repository
        buffer.reserveCapacity(Self.bufferSize)
    }

    private static let bufferSize = 256 << 10

    /// Adds a block of 4096 bytes.
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

    /// Ends the last pack.
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
