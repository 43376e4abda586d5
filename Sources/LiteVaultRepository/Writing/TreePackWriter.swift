internal import Crypto
internal import DurableFile
internal import LiteVaultCapture

/// Writes nodes into tree packs: header, nodes, and a hash over all of it.
final class TreePackWriter {
    private let spool: PackSpool
    private let repository: [UInt8]
    private var pack = PackID()
    private var file: ReplacementFile?
    private var writer: LocalFile?
    private var buffer: [UInt8] = []
    private var offset: Int64 = 0
    private var digest = SHA256()
    /// Bytes of nodes in all packs.
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

    /// Ends the last pack.
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
