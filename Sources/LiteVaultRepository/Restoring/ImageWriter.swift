internal import LiteVaultCapture
internal import LiteVaultFoundation

/// Writes the image of a snapshot to a file, from its start, and compares each block with its hash.
struct ImageWriter {
    let snapshot: Snapshot
    let progress: BackupProgress.Report
    /// Bytes of a write that the disk begins with at once: a restore of a large file otherwise ends with waiting for the disk.
    private static let largeWrite = 1 << 20
    /// Files that may have some of the blocks at the same places.
    var bases: [LocalFile] = []
    /// Bytes of blocks from the store, and from those files.
    private(set) var fetched: Int64 = 0
    private(set) var reused: Int64 = 0

    init(snapshot: Snapshot, progress: @escaping BackupProgress.Report) {
        self.snapshot = snapshot
        self.progress = progress
    }

    /// - Throws: `VaultError` `damaged` if the repository does not have the image any more, or has another one.
    mutating func write(into file: LocalFile, from repository: Repository) async throws {
        let manifest = snapshot.manifest
        var map: BlockMap
        do {
            map = try await repository.nodes(manifest.database).map(of: manifest, snapshot.object)
        } catch let error as VaultError where error.code == .missing {
            throw VaultError(.damaged, "is missing", path: error.path, advice: .lostObject, cause: error)
        }
        // A file's bytes, and those that it lacks, are in memory as well.
        let window = bases.isEmpty ? RepositoryFormat.packBlocks : RepositoryFormat.packBlocks / 4
        let (snapshot, bases, progress) = (snapshot, bases, progress)
        var (index, reused, written) = (0, 0, 0)
        try progress(BackupProgress(.restoring, 0, of: manifest.size))
        try await BlockReader(store: repository.store).read(
            of: {
                guard index < manifest.blocks else { return nil }
                let end = min(index + window, manifest.blocks)
                var wanted: [BlockReader.Wanted] = []
                wanted.reserveCapacity(end - index)
                for block in index..<end {
                    guard let entry = try map.entry(block) else { break }
                    wanted.append((block, entry))
                }
                let count = wanted.count
                for base in bases where !wanted.isEmpty { try Self.reuse(base, for: &wanted, snapshot, file) }
                reused += count - wanted.count
                index = end
                // Blocks that are being read are not counted.
                let done = Int64(reused + written) * Int64(blockSize)
                try progress(BackupProgress(.restoring, min(done, manifest.size), of: manifest.size))
                return wanted
            },
            { place, bytes in
                try Self.write(bytes, at: place, snapshot, file)
                written += bytes.count / blockSize
            })
        try progress(BackupProgress(.restoring, manifest.size, of: manifest.size))
        fetched += Int64(written * blockSize)
        self.reused += Int64(reused * blockSize)
    }

    /// Writes the blocks that another file has at the same places, and removes them from those that are wanted.
    private static func reuse(
        _ base: LocalFile, for wanted: inout [BlockReader.Wanted], _ snapshot: Snapshot, _ file: LocalFile
    ) throws {
        guard let first = wanted.first?.place, let last = wanted.last?.place else { return }
        // Fewer bytes at the end of the file.
        let found = try [UInt8](unsafeUninitializedCapacity: (last - first + 1) * blockSize) { buffer, count in
            count = try base.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(first) * Int64(blockSize))
        }
        try wanted.removeAll { place, entry in
            let start = (place - first) * blockSize
            guard start < found.count else { return false }
            // The last block of an image is padded with zeros.
            var block = Array(found[start..<min(found.count, start + blockSize)])
            block += [UInt8](repeating: 0, count: blockSize - block.count)
            guard Hash256(of: block) == entry.hash else { return false }
            try block.withUnsafeBytes { try write($0, at: place, snapshot, file) }
            return true
        }
    }

    /// Writes blocks from block number `block` of the image, without what pads the last one.
    private static func write(
        _ bytes: UnsafeRawBufferPointer, at block: Int, _ snapshot: Snapshot, _ file: LocalFile
    ) throws {
        let content = try snapshot.content(of: bytes, from: block)
        let offset = Int64(block) * Int64(blockSize)
        try file.write(content, at: offset)
        if content.count >= Self.largeWrite { file.startWriting(offset..<offset + Int64(content.count)) }
    }
}

extension Snapshot {
    /// The part of some blocks that belongs to the image, compared with the manifest: its salt begins block 0, and zeros pad its last block.
    ///
    /// - Parameter block: the number of the first block.
    /// - Throws: `VaultError` `damaged` for a manifest with another salt or size: it belongs to another image, whatever its hash says.
    func content(of bytes: UnsafeRawBufferPointer, from block: Int) throws -> UnsafeRawBufferPointer {
        let count = Int(min(Int64(bytes.count), manifest.size - Int64(block) * Int64(blockSize)))
        guard count > 0, bytes[count...].allSatisfy({ $0 == 0 }),
            block > 0 || Array(bytes.prefix(min(16, count))).hexadecimal == manifest.salt
        else { throw VaultError(.damaged, "does not match its image", path: object) }
        return UnsafeRawBufferPointer(rebasing: bytes[..<count])
    }
}
