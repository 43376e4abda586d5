public import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

extension Repository {
    /// Restores a snapshot to a new file. Every block is checked against its hash; the file appears complete or not at all.
    ///
    /// - Parameters:
    ///   - destination: the new file's path. There must be no such file, and no log or journal of another database beside it.
    ///   - progress: called regularly; an error that it throws cancels the operation.
    /// - Throws: `VaultError` `cannotCreate`, `damaged`, `io`, `noSpace`. No file is left then.
    public func restore(
        _ snapshot: Snapshot, to destination: String, progress: @escaping BackupProgress.Report = { _ in }
    ) async throws {
        var options = RestoreOptions()
        options.progress = progress
        let none = SegmentChain(snapshot: snapshot.time, wanted: nil)
        _ = try await restore(snapshot, none, asFarAsWhole: false, to: destination, options)
    }

    /// Restores a selected state. For ``SnapshotSelection/latest`` and ``SnapshotSelection/at(_:)`` it applies
    /// the segments of a followed log to the snapshot.
    ///
    /// If segments of the selected state are missing or damaged, nothing is restored, unless
    /// ``SnapshotSelection/latestReachable`` asks for the newest reachable state. A time after the last commit that was seen
    /// is not an error: it selects the state of that commit.
    ///
    /// - Parameters:
    ///   - selection: the state to restore.
    ///   - database: the database's name; required if the repository has several.
    ///   - destination: the path of a new file, or of the database to replace.
    ///   - options: what may be replaced, and progress.
    ///   - warning: called with each problem in the repository that does not affect the restored state.
    /// - Returns: what was restored.
    /// - Throws: `VaultError` `cannotCreate`, `damaged`, `io`, `noSpace`; `noInput` if there is no such state; `damaged` if
    ///   segments are missing or damaged, with a ``BrokenLogError`` as its cause that has the newest reachable time; `busy` if
    ///   the database to replace is in use, or retention keeps removing what was selected; `unsupported` if it cannot be found out whether the database
    ///   is in use. The destination is as it was then, except for `busy` with ``RestoreOptions/originalPath``, if a process opened the
    ///   database while it was replaced: the error says that it was.
    @discardableResult
    public func restore(
        _ selection: SnapshotSelection, database: String? = nil, to destination: String,
        options: RestoreOptions = .init(), warning: (RepositoryWarning) -> Void = { _ in }
    ) async throws -> RestoreResult {
        try await withPlan(selection, database, warning) { plan in
            if let failure = await recordedFailure(of: plan.snapshot) { warning(failure) }
            return try await restore(plan.snapshot, plan.row, asFarAsWhole: plan.takesLess, to: destination, options)
        }
    }

    /// Finds what ``restore(_:database:to:options:warning:)`` would restore, and that no segment for it is missing or
    /// damaged. Blocks are not read.
    ///
    /// - Throws: as that.
    public func planRestore(
        _ selection: SnapshotSelection, database: String? = nil, warning: (RepositoryWarning) -> Void = { _ in }
    ) async throws -> RestoreResult {
        let (chosen, row, _) = try await plan(selection, database, warning)
        if let failure = await recordedFailure(of: chosen) { warning(failure) }
        return row.result(chosen, count: row.segments.count, fetched: 0, reused: 0, replaced: false)
    }

    /// The notice that a snapshot failed its verification; nil if it did not, as far as is known. It restores what it can all the same.
    private func recordedFailure(of snapshot: Snapshot) async -> RepositoryWarning? {
        let name = RepositoryFormat.verified(snapshot.manifest.database)
        do {
            let known = try await verifications(snapshot.manifest.database).results[snapshot.hash.hexadecimal]
            guard let known, !known.passed else { return nil }
            let failure = UnrestorableSnapshot(
                snapshot: snapshot, verification: known, state: .damaged, isNewest: false)
            return RepositoryWarning(
                .notice, path: snapshot.object, message: failure.message,
                advice: .text(
                    "Verify what is restored from it before you use it, or restore a snapshot that passed: the list of snapshots shows "
                        + "them."))
        } catch let error as VaultError {
            // The document is advisory: it must not stop a restore.
            return RepositoryWarning(
                .notice, error.code, path: name, message: "what verifications found cannot be read: \(error.message)",
                advice: error.advice ?? .rebuild)
        } catch {
            return nil
        }
    }

    /// A snapshot, the segments that lead from it to the selected state, and whether fewer of them will do.
    typealias Plan = (snapshot: Snapshot, row: SegmentChain, takesLess: Bool)

    /// Does what is planned, and plans it again if a segment is gone that the plan has, unless that is still planned then.
    func withPlan<T>(
        _ selection: SnapshotSelection, _ database: String?, _ warning: (RepositoryWarning) -> Void,
        _ body: (Plan) async throws -> T
    ) async throws -> T {
        var gone: Set<String> = []
        while true {
            let isFirst = gone.isEmpty
            do {
                return try await body(plan(selection, database) { if isFirst { warning($0) } })
            } catch let error as VaultError {
                // A large segment that is read late may have been joined since it was listed, or removed by retention with its snapshot.
                guard let broken = error.cause as? BrokenLogError, gone.count < Self.listings,
                    gone.insert(broken.object).inserted, try await store.attributes(broken.object) == nil
                else { throw error }
            }
        }
    }

    /// Chooses the snapshot of a state, and the segments that lead from it to that state.
    ///
    /// Retention may remove the chosen snapshot meanwhile, and the segments that continue it, which it records: they are not missing then, and the
    /// segments that were found would lead to an older state. So the snapshot has to be there when they are known, or another one is chosen.
    func plan(
        _ selection: SnapshotSelection, _ database: String?, _ warning: (RepositoryWarning) -> Void
    ) async throws -> Plan {
        var told: [RepositoryWarning] = []
        for _ in 0..<Self.listings {
            let selected = try await select(selection, database)
            let chosen = selected.snapshot
            for one in selected.warnings where !told.contains(one) {
                told.append(one)
                warning(one)
            }
            var time: Date?
            if case .id = selection { return (chosen, SegmentChain(snapshot: chosen.time, wanted: nil), false) }
            if case .at(let limit) = selection { time = limit }
            let takesLess = selection == .latestReachable
            let row = try await segments(after: chosen, among: selected.others, until: time, cut: selected.cut)
            guard try await isStored(chosen) else { continue }
            if let obstacle = row.obstacle, !takesLess { throw obstacle.error }
            return (chosen, row, takesLess)
        }
        throw VaultError(
            .busy, "retention removes each snapshot that is selected before its followed log is read",
            path: store.location, remedy: "Try again.")
    }

    private func restore(
        _ snapshot: Snapshot, _ row: SegmentChain, asFarAsWhole: Bool, to destination: String,
        _ options: RestoreOptions
    ) async throws -> RestoreResult {
        let present = try withErrorContext(path: destination) { try FileMetadata.ifExists(path: destination) }
        if let present {
            guard options.replacesExisting, present.kind == .regular else {
                throw VaultError(
                    .cannotCreate,
                    present.kind == .regular
                        ? "the destination already exists" : "the destination is not a regular file",
                    path: destination, remedy: "Choose another name, or remove the file.")
            }
            // Before hours of work: it may be in use, or the system may not tell.
            try UnusedDatabase(destination, keptAs: options.originalPath).release(isRetired: false)
        }
        _ = try options.keyring.plan(snapshot.keyring, of: destination)
        let (file, partial) = try withErrorContext(path: destination) {
            if present == nil { try Leftovers.refuse(beside: destination) }
            try VolumeSpace.require(UInt64(max(0, snapshot.size)), beside: destination)
            // A new temporary file sweeps the others.
            let partial = try ReplacementFile.claimAbandoned(for: destination)
            return (try ReplacementFile(destination: destination), partial)
        }
        var image = ImageWriter(snapshot: snapshot, progress: options.progress)
        if options.reusesExisting, present != nil { image.bases.append(try LocalFile(reading: destination)) }
        // What a restore that was killed had written: as it was not made durable, each block is compared with its hash.
        if let partial { image.bases.append(try LocalFile(reading: partial)) }
        try await image.write(into: try LocalFile(updating: file.path), from: self)
        // A descriptor of the file would stand in the way of its lease.
        image.bases = []
        let count = row.segments.isEmpty ? 0 : try await apply(row, to: file.path, asFarAsWhole: asFarAsWhole)
        try options.verify(file.path)
        let keyring = try options.keyring.prepare(
            snapshot.keyring, of: destination, present: present, owner: options.owner)
        do {
            if present == nil {
                try withErrorContext(path: destination) {
                    try file.publish(ownedBy: options.owner) { try keyring?.publish() }
                }
            } else {
                try replace(destination, with: file, keyring, options)
            }
        } catch {
            // Unless only a power failure could undo the rename.
            if file.isPending { throw keyring?.takingBack(error) ?? error }
            if let partial { unlink(partial) }
            throw error
        }
        if let partial { unlink(partial) }
        var result = row.result(
            snapshot, count: count, fetched: image.fetched, reused: image.reused, replaced: present != nil)
        result.keyring = keyring?.planned
        return result
    }

    /// Replaces a database that nobody uses with a complete file.
    private func replace(
        _ destination: String, with file: ReplacementFile, _ keyring: PendingKeyring?, _ options: RestoreOptions
    ) throws {
        let other = options.originalPath
        let old = try UnusedDatabase(destination, keptAs: other)
        do {
            try old.settle()
            try old.requireUnwanted()
            if let other { try old.keep(as: other) }
            do {
                try withErrorContext(path: destination) {
                    try file.publish(replacing: true, like: old.original, ownedBy: options.owner) {
                        try old.requireUnwanted()
                        try keyring?.publish()
                        try old.requireUnwanted()
                    }
                }
            } catch {
                // It still has its own name, unless only the power failing now could undo the rename.
                if let other, file.isPending { unlink(other) }
                throw error
            }
        } catch {
            old.release(isRetired: false)
            throw error
        }
        try old.retire(keptAs: other)
    }
}

extension SegmentChain {
    /// The outcome of a restore that applied the first `count` segments.
    fileprivate func result(
        _ snapshot: Snapshot, count: Int, fetched: Int64, reused: Int64, replaced: Bool
    ) -> RestoreResult {
        let reached = date(through: count)
        var result = RestoreResult(
            snapshot: snapshot, segmentsUntil: count > 0 || reached > snapshot.time ? reached : nil,
            segments: (count, segments.prefix(count).map { $0.record.payloadSize }.sum), fetched: fetched,
            reused: reused, replaced: replaced)
        result.granularity = granularity
        result.last = count > 0 ? segments[count - 1] : nil
        return result
    }
}

extension Repository {
    /// Applies the frames of segments to an image.
    ///
    /// - Parameter asFarAsWhole: whether to stop before a segment whose frames are damaged; otherwise that is an error.
    /// - Returns: the number of segments applied.
    func apply(_ row: SegmentChain, to path: String, asFarAsWhole: Bool) async throws -> Int {
        guard row.fetched != nil else { return 0 }
        var applier = try SegmentApplier(image: path)
        let count = try await forEachSegment(of: row, asFarAsWhole: asFarAsWhole) { try applier.apply($1) }
        try applier.finish()
        return count
    }

    /// Fetches the frames of segments, in order.
    ///
    /// - Parameters:
    ///   - asFarAsWhole: whether to stop before a segment whose frames are damaged; otherwise that is an error.
    ///   - body: receives the name of each segment, and its frames. An error without a path gets the segment's.
    /// - Returns: the number of segments that `body` received.
    func forEachSegment(
        of row: SegmentChain, asFarAsWhole: Bool, _ body: (SegmentName, any StoredSegment) throws -> Void
    ) async throws -> Int {
        guard let fetched = row.fetched else { return 0 }
        var count = 0
        for segment in row.segments {
            let frames: String
            do {
                frames = try await fetched.frames(of: segment)
            } catch let error as VaultError where error.isDamage {
                if asFarAsWhole {
                    // One that is gone since it was listed was joined, or removed with its snapshot: the caller plans again.
                    guard error.code == .missing, try await store.attributes(segment.name.object) == nil else { break }
                }
                throw row.broken(at: segment.name, error, reachable: row.date(through: count)).error
            }
            try withErrorContext(path: segment.name.object) { try body(segment.name, segment.opened(at: frames)) }
            unlink(frames)
            count += 1
        }
        return count
    }
}

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
