internal import Foundation
internal import LiteVaultCapture

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
            let bytes = try await read(entries, from: index, reader)
            let offset = Int64(index) * Int64(blockSize)
            let count = min(Int64(bytes.count), manifest.size - offset)
            // A manifest with another size or salt belongs to another image, whatever its hash says.
            guard bytes[Int(count)...].allSatisfy({ $0 == 0 }),
                index > 0 || bytes.prefix(Int(min(16, count))).hexadecimal == manifest.salt
            else { throw VaultError(.damaged, "does not match its image", path: snapshot.object) }
            try bytes.withUnsafeBytes {
                try file.write(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)]), at: offset)
            }
            index = end
            try progress(
                BackupProgress(.restoring, min(Int64(index) * Int64(blockSize), manifest.size), of: manifest.size))
        }
    }

    /// The blocks of entries, the first of which is block `first` of the image.
    private mutating func read(_ entries: [TreeEntry], from first: Int, _ reader: BlockReader) async throws -> [UInt8] {
        guard !bases.isEmpty else {
            fetched += Int64(entries.count * blockSize)
            return try await reader.read(entries)
        }
        // The last block of an image is padded with zeros.
        var window = [UInt8](repeating: 0, count: entries.count * blockSize)
        var missing = Array(entries.indices)
        for base in bases where !missing.isEmpty {
            // Fewer bytes at the end of the file.
            let found = try [UInt8](unsafeUninitializedCapacity: window.count) { buffer, count in
                count = try base.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(first) * Int64(blockSize))
            }
            missing.removeAll { place in
                let start = place * blockSize
                guard start < found.count else { return false }
                var block = Array(found[start..<min(found.count, start + blockSize)])
                block += [UInt8](repeating: 0, count: blockSize - block.count)
                guard Hash256(of: block) == entries[place].hash else { return false }
                window.replaceSubrange(start..<(start + blockSize), with: block)
                return true
            }
        }
        let others = try await reader.read(missing.map { entries[$0] })
        for (number, place) in missing.enumerated() {
            window.replaceSubrange(
                (place * blockSize)..<((place + 1) * blockSize),
                with: others[(number * blockSize)..<((number + 1) * blockSize)])
        }
        fetched += Int64(missing.count * blockSize)
        reused += Int64((entries.count - missing.count) * blockSize)
        return window
    }
}
