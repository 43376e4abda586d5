internal import DurableFile
public import Foundation
public import LiteVaultCapture
internal import LiteVaultCipher

extension Repository {
    /// Restores a snapshot to a new file. Every block is checked against its hash; the file appears complete or not at all.
    ///
    /// - Parameters:
    ///   - destination: the new file's path. The file must not exist, nor a log or journal of another database beside
    ///     it.
    ///   - destination: the new file's path. There must be no such file, and no log or journal of another database beside it.
    ///   - progress: called regularly; an error that it throws cancels the operation.
    /// - Throws: `VaultError` `cannotCreate`, `damaged`, `io`, `noSpace`. No file is left then.
    public func restore(
        _ snapshot: Snapshot, to destination: String, progress: @escaping BackupProgress.Report = { _ in }
    ) async throws {
        let none = SegmentChain(snapshot: snapshot.time, wanted: nil)
        try await restore(snapshot, none, asFarAsWhole: false, to: destination, progress)
    }

    /// Restores a selected state to a new file. For ``SnapshotSelection/latest`` and ``SnapshotSelection/at(_:)`` it applies
    /// the segments of a followed log to the snapshot.
    ///
    /// If segments of the selected state are missing or damaged, nothing is restored, unless
    /// ``SnapshotSelection/latestReachable`` asks for the newest reachable state. A time after the last commit that was seen
    /// is not an error: it selects the state of that commit.
    ///
    /// - Parameters:
    ///   - selection: the state to restore.
    ///   - database: the database's name; required if the repository has several.
    ///   - destination: the new file's path, as for ``restore(_:to:progress:)``.
    ///   - warning: called with each problem in the repository that does not affect the restored state.
    ///   - progress: called regularly; an error that it throws cancels the operation.
    /// - Returns: the snapshot, and the time that segments reach beyond it; nil if none was applied.
    /// - Throws: as ``restore(_:to:progress:)``, and `noInput` if there is no such state; `damaged` if segments are missing or
    ///   damaged, with a ``BrokenLogError`` as its cause that has the newest reachable time.
    @discardableResult
    public func restore(
        _ selection: SnapshotSelection, database: String? = nil, to destination: String,
        warning: (RepositoryWarning) -> Void = { _ in }, progress: @escaping BackupProgress.Report = { _ in }
    ) async throws -> (snapshot: Snapshot, segmentsUntil: Date?) {
        let (chosen, warnings, newest) = try await select(selection, database)
        warnings.forEach(warning)
        var time: Date?
        if case .id = selection {
            try await restore(chosen, to: destination, progress: progress)
            return (chosen, nil)
        }
        if case .at(let limit) = selection { time = limit }
        let takesLess = selection == .latestReachable
        let row = try await segments(after: chosen, newest: newest, until: time)
        if let obstacle = row.obstacle, !takesLess { throw obstacle.error }
        let count = try await restore(chosen, row, asFarAsWhole: takesLess, to: destination, progress)
        return (chosen, count > 0 ? row.date(through: count) : nil)
    }

    @discardableResult
    private func restore(
        _ snapshot: Snapshot, _ row: SegmentChain, asFarAsWhole: Bool, to destination: String,
        _ progress: @escaping BackupProgress.Report
    ) async throws -> Int {
        if try withErrorContext(path: destination, { try FileMetadata.ifExists(path: destination) }) != nil {
            throw VaultError(
                .cannotCreate, "the destination already exists", path: destination,
                remedy: "Choose another name, or remove the file.")
        }
        let file = try withErrorContext(path: destination) {
            try Leftovers.refuse(beside: destination)
            try VolumeSpace.require(UInt64(max(0, snapshot.size)), beside: destination)
            return try ReplacementFile(destination: destination)
        }
        try await write(snapshot, into: try LocalFile(updating: file.path), progress: progress)
        let count = row.segments.isEmpty ? 0 : try await apply(row, to: file.path, asFarAsWhole: asFarAsWhole)
        try withErrorContext(path: destination) { try file.publish() }
        return count
    }

    /// Writes the image to a file, from its start.
    func write(
        _ snapshot: Snapshot, into file: LocalFile, progress: @escaping BackupProgress.Report
    ) async throws {
        let manifest = snapshot.manifest
        let root = try manifest.rootEntry(snapshot.object)
        let source = nodes(manifest.database)
        do {
            try await source.prepare(root: root, blocks: manifest.blocks)
        } catch let error as VaultError where error.code == .missing {
            throw VaultError(.damaged, "is missing", path: error.path, cause: error)
        }
        var map = BlockMap(root: root, blocks: manifest.blocks, source: source)
        let reader = BlockReader(store: store)
        var index = 0
        try progress(BackupProgress(.restoring, 0, of: manifest.size))
        while index < manifest.blocks {
            let end = min(index + RepositoryFormat.packBlocks, manifest.blocks)
            var entries: [TreeEntry] = []
            entries.reserveCapacity(end - index)
            for block in index..<end {
                guard let entry = try map.entry(block) else { break }
                entries.append(entry)
            }
            let bytes = try await reader.read(entries)
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
}

extension Repository {
    /// Applies the frames of segments to an image.
    ///
    /// - Parameter asFarAsWhole: whether to stop before a segment whose frames are damaged; otherwise that is an error.
    /// - Returns: the number of segments applied.
    func apply(_ row: SegmentChain, to path: String, asFarAsWhole: Bool) async throws -> Int {
        var applier = try SegmentApplier(image: path)
        var count = 0
        guard let fetched = row.fetched else { return 0 }
        for segment in row.segments {
            let frames: String
            do {
                frames = try await fetched.frames(of: segment)
            } catch let error as VaultError where error.isDamage {
                if asFarAsWhole { break }
                throw row.broken(at: segment.name, error, reachable: row.date(through: count)).error
            }
            try withErrorContext(path: segment.name.object) {
                try applier.apply(SegmentFile(frames, from: segment.offset))
            }
            fetched.discard(frames)
            count += 1
        }
        try applier.finish()
        return count
    }
}
