internal import DurableFile
public import Foundation
public import LiteVaultCapture

extension Repository {
    /// Writes a snapshot into a new file, every block checked against its hash; the file appears whole or not at all.
    ///
    /// - Parameters:
    ///   - snapshot: of this repository.
    ///   - destination: must not exist, and have nothing of another database beside it.
    ///   - progress: called now and then; throws to cancel.
    /// - Throws: ``BackupError`` `cannotCreate`, `damaged`, `io`, `noSpace`; nothing is left then.
    public func restore(
        _ snapshot: Snapshot, to destination: String, progress: @escaping BackupProgress.Report = { _ in }
    ) async throws {
        let none = SegmentRow(snapshot: snapshot.time, wanted: nil)
        try await restore(snapshot, none, asFarAsWhole: false, to: destination, progress)
    }

    /// Writes the state that `selection` means into a new file: with ``SnapshotSelection/latest`` and
    /// ``SnapshotSelection/at(_:)`` also what the segments of a followed log add to a snapshot.
    ///
    /// Where segments are missing or damaged that belong to the state, nothing is restored, unless
    /// ``SnapshotSelection/latestReachable`` asks for the newest state that can be had. A time later than the last commit that
    /// was seen is no error: then the state is that of the last commit.
    ///
    /// - Parameters:
    ///   - database: needed where the repository has several.
    ///   - warning: told what is wrong in the repository beside what is restored.
    /// - Returns: the snapshot, and the time that the segments reach beyond it; nil where none was needed.
    /// - Throws: as ``restore(_:to:progress:)``, and `noInput` when there is no such state; `damaged` with a ``BrokenLog`` as
    ///   its cause where segments are missing or damaged, which tells the newest time that can be reached.
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
        _ snapshot: Snapshot, _ row: SegmentRow, asFarAsWhole: Bool, to destination: String,
        _ progress: @escaping BackupProgress.Report
    ) async throws -> Int {
        if try BackupError.about(destination, { try FileMetadata.ifExists(path: destination) }) != nil {
            throw BackupError(
                .cannotCreate, "the destination exists", path: destination,
                remedy: "Name a new file, or remove this one.")
        }
        let file = try BackupError.about(destination) {
            try Leftovers.refuse(beside: destination)
            try VolumeSpace.require(UInt64(max(0, snapshot.size)), beside: destination)
            return try ReplacementFile(destination: destination)
        }
        try await write(snapshot, into: try LocalFile(updating: file.path), progress: progress)
        let count = row.segments.isEmpty ? 0 : try await apply(row, to: file.path, asFarAsWhole: asFarAsWhole)
        try BackupError.about(destination) { try file.publish() }
        return count
    }

    /// Writes the image into a file, from its start.
    func write(
        _ snapshot: Snapshot, into file: LocalFile, progress: @escaping BackupProgress.Report
    ) async throws {
        let manifest = snapshot.manifest
        let root = try manifest.rootEntry(snapshot.object)
        let source = nodes(manifest.database)
        do {
            try await source.prepare(root: root, blocks: manifest.blocks)
        } catch let error as BackupError where error.code == .missing {
            throw BackupError(.damaged, "is missing", path: error.path, cause: error)
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
            // A manifest that tells another size or salt is of another image, whatever its hash says.
            guard bytes[Int(count)...].allSatisfy({ $0 == 0 }),
                index > 0 || bytes.prefix(Int(min(16, count))).hex == manifest.salt
            else { throw BackupError(.damaged, "does not fit the image that it names", path: snapshot.object) }
            try bytes.withUnsafeBytes {
                try file.write(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)]), at: offset)
            }
            index = end
            try progress(
                BackupProgress(.restoring, min(Int64(index) * Int64(blockSize), manifest.size), of: manifest.size))
        }
    }
}
