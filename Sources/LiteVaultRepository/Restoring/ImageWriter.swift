internal import LiteVaultCapture
internal import LiteVaultFoundation

/// Writes the image of a snapshot to a file, from its start, and compares each block with its hash.
struct ImageWriter {
    let snapshot: Snapshot
    let progress: BackupProgress.Report
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
        let root = try manifest.rootEntry(snapshot.object)
        let source = repository.nodes(manifest.database)
        do {
            try await source.prepare(root: root, blocks: manifest.blocks)
        } catch let error as VaultError where error.code == .missing {
            throw VaultError(.damaged, "is missing", path: error.path, cause: error)
        }
        var map = BlockMap(root: root, blocks: manifest.blocks, source: source)
        let reader = BlockReader(store: repository.store)
        var index = 0
        // A file's bytes, and those that it lacks, are in memory as well.
        let window = bases.isEmpty ? RepositoryFormat.packBlocks : RepositoryFormat.packBlocks / 4
        try progress(BackupProgress(.restoring, 0, of: manifest.size))
        while index < manifest.blocks {
            let end = min(index + window, manifest.blocks)
            var entries: [TreeEntry] = []
            entries.reserveCapacity(end - index)
            for block in index..<end {
                guard let entry = try map.entry(block) else { break }
                entries.append(entry)
            }
            try await write(entries, from: index, into: file, reader)
            index = end
            try progress(
                BackupProgress(.restoring, min(Int64(index) * Int64(blockSize), manifest.size), of: manifest.size))
        }
    }

    /// Writes the blocks of entries, the first of which is block `first` of the image.
    private mutating func write(
        _ entries: [TreeEntry], from first: Int, into file: LocalFile, _ reader: BlockReader
    ) async throws {
        var missing = Array(entries.indices)
        for base in bases where !missing.isEmpty {
            // Fewer bytes at the end of the file.
            let found = try [UInt8](unsafeUninitializedCapacity: entries.count * blockSize) { buffer, count in
                count = try base.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(first) * Int64(blockSize))
            }
            try missing.removeAll { place in
                let start = place * blockSize
                guard start < found.count else { return false }
                // The last block of an image is padded with zeros.
                var block = Array(found[start..<min(found.count, start + blockSize)])
                block += [UInt8](repeating: 0, count: blockSize - block.count)
                guard Hash256(of: block) == entries[place].hash else { return false }
                try block.withUnsafeBytes { try write($0, at: first + place, into: file) }
                return true
            }
        }
        try await reader.read(missing.map { entries[$0] }) { number, bytes in
            let places = missing[number..<(number + bytes.count / blockSize)]
            if let start = places.first, let last = places.last, last - start + 1 == places.count {
                return try write(bytes, at: first + start, into: file)
            }
            // They follow each other in the pack, but not in the image: the file had some between them.
            for (offset, place) in places.enumerated() {
                let block = bytes[(offset * blockSize)..<((offset + 1) * blockSize)]
                try write(UnsafeRawBufferPointer(rebasing: block), at: first + place, into: file)
            }
        }
        fetched += Int64(missing.count * blockSize)
        reused += Int64((entries.count - missing.count) * blockSize)
    }

    /// Writes blocks from block number `block` of the image, without what pads the last one.
    private func write(_ bytes: UnsafeRawBufferPointer, at block: Int, into file: LocalFile) throws {
        let offset = Int64(block) * Int64(blockSize)
        let count = Int(min(Int64(bytes.count), snapshot.manifest.size - offset))
        // A manifest with another size or salt belongs to another image, whatever its hash says.
        guard count > 0, bytes[count...].allSatisfy({ $0 == 0 }),
            block > 0 || Array(bytes.prefix(min(16, count))).hexadecimal == snapshot.manifest.salt
        else { throw VaultError(.damaged, "does not match its image", path: snapshot.object) }
        try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
    }
}
