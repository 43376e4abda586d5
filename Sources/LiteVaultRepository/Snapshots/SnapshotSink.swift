internal import Dispatch
package import LiteVaultCapture
package import LiteVaultCipher

/// The sink of a capture: hashes each block, compares it with the previous snapshot's, and spools changed blocks.
///
/// Every spooled block of an encrypted database is examined: plaintext does not get into the repository. Blocks that
/// the previous snapshot has as well were examined when they were stored.
final class SnapshotSink: BlockSink {
    private let repository: [UInt8]
    private let directory: String
    private let comparison: Comparison
    private let allowsPlaintext: Bool
    private let progress: BackupProgress.Report

    /// The packs that changed blocks, and nodes of their map, were written to.
    private(set) var spool: PackSpool
    private var data: DataPackWriter
    private var tree: TreePackWriter
    private var builder: BlockMapBuilder
    private var compared: BlockMap?
    private var index = 0
    /// The blocks that must be the same, although they are read.
    private var assumed = 0..<0

    private(set) var byteCount: Int64 = 0
    /// The number of blocks, after the last one.
    var blockCount: Int { index }
    /// The number of blocks that differ from the previous snapshot's.
    private(set) var changed = 0
    /// The number of blocks that were not read, because they must be the same.
    private(set) var kept = 0
    /// The number of blocks that had to be the same, and are not.
    private(set) var contradictions = 0
    /// The number of unchanged blocks that are stored again, because those in the repository are damaged.
    private(set) var storedAgain = 0
    /// The first 16 bytes: the salt of an encrypted database.
    private(set) var salt: [UInt8] = []
    /// The damage in the block map of the previous snapshot; nil if it could be read.
    private(set) var damage: VaultError?
    /// The image of the previous snapshot; nil if it cannot be compared with.
    var basis: CaptureBasis? { comparison.basis }
    /// Whether any part of it is readable without a key.
    private(set) var isPlaintext = false
    /// The number of unencrypted bytes at the start of an encrypted image; nil for a plaintext one.
    private var clear: Int?
    private var pages: PlainPages
    private let readKeyring: () throws -> StoredKeyring
    /// The keyring as it was while the image was copied.
    private(set) var keyring: StoredKeyring?

    /// What blocks are compared with, and which of those they may share.
    struct Comparison {
        /// The blocks of the previous snapshot; nil without one.
        let previous: BlockMap?
        /// Whether the previous snapshot is of an encrypted database, and so has no plaintext page.
        let trustsPrevious: Bool
        /// The image of the previous snapshot; nil if it cannot be compared with.
        let basis: CaptureBasis?
        /// Whether blocks that must be the same are read, too, and compared.
        let readsAll: Bool
        /// The packs whose blocks are not shared.
        let avoided: AvoidedPacks
        /// Those of them in which blocks are known to be damaged.
        let damaged: Set<PackID>
    }

    /// - Parameters:
    ///   - directory: for the spool.
    ///   - keyring: reads the keyring, at the beginning of each copy.
    init(
        repository: [UInt8], directory: String, comparison: Comparison, allowsPlaintext: Bool,
        keyring: @escaping () throws -> StoredKeyring, progress: @escaping BackupProgress.Report
    ) {
        readKeyring = keyring
        self.repository = repository
        self.directory = directory
        self.comparison = comparison
        self.allowsPlaintext = allowsPlaintext
        self.progress = progress
        pages = PlainPages(pageSize: blockSize)
        spool = PackSpool(directory: directory)
        data = DataPackWriter(spool: spool, repository: repository)
        tree = TreePackWriter(spool: spool, repository: repository)
        builder = BlockMapBuilder(previous: comparison.previous, avoiding: comparison.avoided, into: tree)
        compared = comparison.previous
    }

    func begin(byteCount: Int64) throws {
        if index > 0 {
            spool = PackSpool(directory: directory)
            data = DataPackWriter(spool: spool, repository: repository)
            tree = TreePackWriter(spool: spool, repository: repository)
            builder = BlockMapBuilder(previous: comparison.previous, avoiding: comparison.avoided, into: tree)
            compared = comparison.previous
        }
        index = 0
        changed = 0
        (kept, contradictions, storedAgain, assumed) = (0, 0, 0, 0..<0)
        salt = []
        clear = nil
        isPlaintext = false
        self.byteCount = byteCount
        keyring = try readKeyring()
        try progress(BackupProgress(.capturing, 0, of: byteCount))
    }

    func keep(_ blocks: Range<Int>, ofSame isSame: Bool) throws -> Int {
        assumed = 0..<0
        // Where the first blocks differ, the file is not the same, whatever its times say. And what was plaintext in one of the
        // two is examined again.
        guard blocks.lowerBound == index, !(isSame && changed > 0), isPlaintext != comparison.trustsPrevious else {
            return 0
        }
        guard !comparison.readsAll else {
            assumed = blocks
            return 0
        }
        let count = try builder.keep(blocks)
        index += count
        kept += count
        try progress(BackupProgress(.capturing, min(Int64(index) * Int64(blockSize), byteCount), of: byteCount))
        return count
    }

    func append(_ blocks: UnsafeRawBufferPointer) throws {
        if index == 0 { try examine(blocks) }
        let start = Int64(index) * Int64(blockSize)
        let rest = clear.map { $0 - Int(clamping: start) }
        let old = (0..<(blocks.count + blockSize - 1) / blockSize).map { known(index + $0) }
        let digests = BlockHashes.of(blocks, known: old.map { comparison.trustsPrevious ? $0?.hash : nil }, clear: rest)
        for (number, digest) in digests.enumerated() {
            let offset = number * blockSize
            let block = UnsafeRawBufferPointer(rebasing: blocks[offset..<(offset + blockSize)])
            try add(block, digest, old[number])
        }
        let tail = blocks[(digests.count * blockSize)...]
        if !tail.isEmpty {
            // The image's last block: stored as a whole block; the image's length determines where it ends.
            let padded = Array(tail) + [UInt8](repeating: 0, count: blockSize - tail.count)
            let plaintext = clear.flatMap {
                CiphertextTest.plaintext(
                    in: UnsafeRawBufferPointer(rebasing: tail),
                    after: max(0, $0 - Int(clamping: start) - tail.startIndex))
            }
            try padded.withUnsafeBytes {
                try add($0, BlockDigest(hash: Hash256(of: $0), plaintext: plaintext), old[digests.count])
            }
        }
        try progress(BackupProgress(.capturing, min(Int64(index) * Int64(blockSize), byteCount), of: byteCount))
    }

    /// The location of a block in the previous snapshot, only for comparison: one that cannot be read counts as
    /// changed.
    private func known(_ index: Int) -> TreeEntry? {
        do {
            return try compared?.entry(index)
        } catch {
            damage = damage ?? error as? VaultError
            return nil
        }
    }

    private func add(_ block: UnsafeRawBufferPointer, _ digest: BlockDigest, _ old: TreeEntry?) throws {
        if let place = digest.plaintext {
            isPlaintext = true
            pages.note(Int64(index) * Int64(blockSize) + Int64(place))
            if !allowsPlaintext, pages.isFull { throw pages.error() }
        }
        if old?.hash != digest.hash, assumed.contains(index) { contradictions += 1 }
        index += 1
        if let old, old.hash == digest.hash {
            if !comparison.avoided.contains(old.pack) { return try builder.append(old) }
            if comparison.damaged.contains(old.pack) { storedAgain += 1 }
        } else {
            changed += 1
        }
        try builder.append(data.append(block, hash: digest.hash))
    }

    private func examine(_ blocks: UnsafeRawBufferPointer) throws {
        salt = Array(blocks.prefix(16))
        let start = UnsafeRawBufferPointer(rebasing: blocks.prefix(65536))
        let kind = FileKind.classify(size: byteCount, start: start)
        isPlaintext = kind == .plain
        try kind.requireStorable(allowsPlaintext: allowsPlaintext)
        clear = isPlaintext ? nil : CiphertextTest.clearBytes(ofFirstPage: start)
        let pageSize = kind == .plaintextHeader ? CiphertextTest.pageSize(inHeader: start) : nil
        pages = PlainPages(pageSize: pageSize ?? blockSize)
    }

    /// Completes the block map, after the last block, and returns its root.
    func finish() throws -> TreeEntry {
        guard Int64(index) == (byteCount + Int64(blockSize) - 1) / Int64(blockSize), index > 0 else {
            throw VaultError(
                .internalFailure, "the image has \(index) blocks, but a length of \(byteCount) bytes")
        }
        if !allowsPlaintext, !pages.isEmpty { throw pages.error() }
        let root = try builder.finish()
        try data.finish()
        try tree.finish()
        return root
    }
}

/// Unencrypted pages of an encrypted database.
package struct PlainPages {
    private static let limit = 20
    /// The page size for page numbers. Without its key, a database's own page size is not always known.
    let pageSize: Int
    private var numbers: [Int64] = []

    package init(pageSize: Int) { self.pageSize = pageSize }

    package var isEmpty: Bool { numbers.isEmpty }
    /// Whether the list is full.
    var isFull: Bool { numbers.count >= Self.limit }

    /// Records the page at an offset of the image.
    mutating func note(_ offset: Int64) { note(page: offset / Int64(pageSize) + 1) }

    package mutating func note(page: Int64) {
        if !isFull, numbers.last != page { numbers.append(page) }
    }

    package func error() -> VaultError {
        let list = numbers.map(String.init).joined(separator: ", ") + (isFull ? " …" : "")
        let (noun, verb) = numbers.count == 1 ? ("page", "is") : ("pages", "are")
        return VaultError(
            .wrongKind,
            "\(noun) \(list) of this encrypted database \(verb) not encrypted (pages of \(pageSize) bytes), "
                + "and would be readable in the repository",
            advice: .verifyOrAllowPlaintext)
    }
}

extension FileKind {
    /// Rejects files that are not databases, and databases that would be readable in the repository.
    package func requireStorable(allowsPlaintext: Bool) throws {
        switch self {
        case .encryptedOrUnknown, .plaintextHeader: return
        case .plain:
            guard allowsPlaintext else {
                throw VaultError(
                    .wrongKind, "this database is not encrypted and would be readable in the repository",
                    advice: .encryptOrAllowPlaintext)
            }
        case .empty:
            throw VaultError(
                .wrongKind, "the file is empty: it does not contain a database", remedy: "Check the path.")
        case .notADatabase: throw VaultError(.wrongKind, "this is not a database", remedy: "Check the path.")
        }
    }
}

/// The results computed for each block before it is stored.
struct BlockDigest {
    let hash: Hash256
    /// The offset in the block of bytes that cannot be ciphertext, if it is to be stored.
    let plaintext: Int?
}

/// Computes the digests of many blocks on several threads: hashing is most of the cost of a snapshot.
enum BlockHashes {
    /// The number of blocks that justifies another thread.
    private static let share = 32

    /// The digest of each whole block.
    ///
    /// - Parameters:
    ///   - known: for each block the hash under which it is already stored, and so was examined.
    ///   - clear: the number of unencrypted bytes at the start; nil if no block is to be examined.
    static func of(_ blocks: UnsafeRawBufferPointer, known: [Hash256?], clear: Int?) -> [BlockDigest] {
        let count = blocks.count / blockSize
        func digest(_ index: Int) -> BlockDigest {
            let block = UnsafeRawBufferPointer(rebasing: blocks[(index * blockSize)..<((index + 1) * blockSize)])
            let hash = Hash256(of: block)
            guard let clear, hash != known[index] else { return BlockDigest(hash: hash, plaintext: nil) }
            let first = max(0, clear - index * blockSize)
            return BlockDigest(hash: hash, plaintext: CiphertextTest.plaintext(in: block, after: first))
        }
        let strips = min(4, count / share)
        guard strips > 1 else { return (0..<count).map(digest) }
        return [BlockDigest](unsafeUninitializedCapacity: count) { buffer, initialized in
            // Each strip writes to its own elements, and all strips are done when concurrentPerform returns.
            nonisolated(unsafe) let results = buffer
            nonisolated(unsafe) let work = digest
            DispatchQueue.concurrentPerform(iterations: strips) { strip in
                for index in (strip * count / strips)..<((strip + 1) * count / strips) {
                    results.initializeElement(at: index, to: work(index))
                }
            }
            initialized = count
        }
    }
}
