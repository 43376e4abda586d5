internal import LiteVaultCipher

/// What a capture writes into: hashes each block, compares it with the previous snapshot's, and spools what changed.
final class SnapshotSink: BlockSink {
    private let repository: [UInt8]
    private let folder: String
    private let previous: BlockMap?
    private let avoided: Set<PackID>
    private let allowsPlaintext: Bool
    private let progress: BackupProgress.Report

    private var spool: PackSpool
    private var data: DataPackWriter
    private var tree: TreePackWriter
    private var builder: TreeBuilder
    private var compared: BlockMap?
    private var index = 0

    private(set) var byteCount: Int64 = 0
    /// Blocks that differ from the previous snapshot's.
    private(set) var changed = 0
    /// The first 16 bytes: the salt of an encrypted database.
    private(set) var salt: [UInt8] = []
    /// Whether everybody can read it.
    private(set) var isPlaintext = false

    init(
        repository: [UInt8], folder: String, previous: BlockMap?, avoiding avoided: Set<PackID>, allowsPlaintext: Bool,
        progress: @escaping BackupProgress.Report
    ) {
        self.repository = repository
        self.folder = folder
        self.previous = previous
        self.avoided = avoided
        self.allowsPlaintext = allowsPlaintext
        self.progress = progress
        spool = PackSpool(folder: folder)
        data = DataPackWriter(spool: spool, repository: repository)
        tree = TreePackWriter(spool: spool, repository: repository)
        builder = TreeBuilder(previous: previous, avoiding: avoided, into: tree)
        compared = previous
    }

    func begin(byteCount: Int64) throws {
        if index > 0 {
            spool = PackSpool(folder: folder)
            data = DataPackWriter(spool: spool, repository: repository)
            tree = TreePackWriter(spool: spool, repository: repository)
            builder = TreeBuilder(previous: previous, avoiding: avoided, into: tree)
            compared = previous
        }
        index = 0
        changed = 0
        salt = []
        self.byteCount = byteCount
        try progress(BackupProgress(.capturing, 0, of: byteCount))
    }

    func append(_ blocks: UnsafeRawBufferPointer) throws {
        var offset = 0
        if index == 0 { try examine(blocks) }
        let hashes = BlockHashes.of(blocks)
        while offset < blocks.count {
            let length = min(blockSize, blocks.count - offset)
            let block = UnsafeRawBufferPointer(rebasing: blocks[offset..<(offset + length)])
            if length == blockSize {
                try add(block, hashes[offset / blockSize])
            } else {
                // The image's last: stored as a whole block; the image's length says where it ends.
                let padded = Array(block) + [UInt8](repeating: 0, count: blockSize - length)
                try padded.withUnsafeBytes { try add($0, Hash256(of: $0)) }
            }
            offset += length
        }
        try progress(BackupProgress(.capturing, min(Int64(index) * Int64(blockSize), byteCount), of: byteCount))
    }

    private func add(_ block: UnsafeRawBufferPointer, _ hash: Hash256) throws {
        let old = try compared?.entry(index)
        index += 1
        if let old, old.hash == hash {
            if !avoided.contains(old.pack) { return try builder.append(old) }
        } else {
            changed += 1
        }
        try builder.append(data.append(block, hash: hash))
    }

    private func examine(_ blocks: UnsafeRawBufferPointer) throws {
        salt = Array(blocks.prefix(16))
        let kind = FileKind.classify(size: byteCount) { offset, count in
            let end = min(Int64(blocks.count), offset + Int64(count))
            return offset < end ? Array(blocks[Int(offset)..<Int(end)]) : []
        }
        isPlaintext = kind == .plain
        try Self.require(kind, allowsPlaintext: allowsPlaintext)
    }

    /// Refuses what is no database, and what anybody could read in the repository.
    static func require(_ kind: FileKind, allowsPlaintext: Bool) throws {
        switch kind {
        case .encryptedOrUnknown, .plaintextHeader: return
        case .plain:
            guard allowsPlaintext else {
                throw BackupError(
                    .wrongKind, "this database is not encrypted, and would be readable in the repository",
                    remedy: "Encrypt it ('litevault encrypt'), or allow it with --allow-plaintext.")
            }
        case .empty: throw BackupError(.wrongKind, "the file is empty: there is no database in it")
        case .notADatabase: throw BackupError(.wrongKind, "this is not a database")
        }
    }

    /// What was captured, once the last block came.
    struct Result {
        let root: TreeEntry
        let blocks: Int
        let changed: Int
        let dataBytes: Int64
        let treeBytes: Int64
        let spool: PackSpool
    }

    func finish() throws -> Result {
        guard Int64(index) == (byteCount + Int64(blockSize) - 1) / Int64(blockSize), index > 0 else {
            throw BackupError(.internal, "the image has \(index) blocks, which is not its length of \(byteCount) bytes")
        }
        let root = try builder.finish()
        try data.finish()
        try tree.finish()
        let treeBytes = spool.packs.filter { $0.name.hasPrefix("tree/") }.reduce(0) { $0 + $1.size }
        return Result(
            root: root, blocks: index, changed: changed, dataBytes: spool.byteCount - treeBytes, treeBytes: treeBytes,
            spool: spool)
    }
}
