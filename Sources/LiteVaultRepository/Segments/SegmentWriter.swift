package import LiteVaultCapture
package import LiteVaultSystem

/// Stores the segments of one database, one after the other. Holds a lease: two followers of a database would use the
/// same numbers.
package actor SegmentWriter {
    private let writable: WritableRepository
    let repository: Repository
    let database: String
    private let lease: Lease
    /// The newest known segment, whether or not it still exists; the next one has the number after it.
    private var last: SegmentMark?
    /// What it continues.
    private let origin: SegmentOrigin
    /// The newest snapshot when it was opened; nil without one, or if that could not be read.
    let newestSnapshot: Snapshot?
    /// The line of history that it continues.
    let line: String?
    /// What was stored since it was last joined; nil if nothing is.
    private var recent: [SegmentName]?
    /// What later segments may still be joined with.
    private var joinable: [SegmentName] = []
    /// What was tried to be joined since all segments were last looked at.
    private var attempted: Set<String> = []
    /// When all segments were last looked at, and the newest one then.
    private var compacted: (time: Date, sequence: Int)?
    /// Where the current run began, if that is known.
    private var start: (run: [UInt8], value: RunStart)?
    /// A segment that may or may not have been stored, and the snapshot in its name.
    private var tried: (run: [UInt8], place: UInt64, snapshot: Int, clock: Int64)?

    private init(
        _ writable: WritableRepository, _ database: String, _ lease: Lease, _ origin: SegmentOrigin,
        newestSnapshot: Snapshot?, line: String?
    ) {
        (self.writable, repository) = (writable, writable.repository)
        (self.database, self.lease, self.origin) = (database, lease, origin)
        (self.newestSnapshot, self.line, last) = (newestSnapshot, line, origin.last)
        start = origin.newest.flatMap { record in record.start.map { (record.runBytes, $0) } }
    }

    /// The part of the log that was missing when it was opened.
    package nonisolated var loss: SnapshotGap? { origin.loss }

    /// Acquires the lease.
    ///
    /// - Parameters:
    ///   - name: the database's name in the repository.
    ///   - source: the path of the database, with links resolved.
    /// - Throws: `VaultError` `busy` if another process follows the database, `promoted` if its name belongs to another file.
    package static func open(
        _ writable: WritableRepository, database name: String, at source: String? = nil
    ) async throws -> SegmentWriter {
        let repository = writable.repository
        let database = repository.databaseID(name)
        let lease = try await Lease.take(
            Lease.follower + database, of: writable, for: "following the database '\(name)'")
        do {
            try await repository.requireCurrentKey()
            let objects = try await repository.newestObjects(database)
            let line = try repository.requireLine(objects.line, of: name, at: source)
            return SegmentWriter(
                writable, database, lease, try await repository.segmentOrigin(database),
                newestSnapshot: objects.snapshot, line: line)
        } catch {
            await lease.release()
            throw error
        }
    }

    /// Stores a segment durably, and makes sure that it belongs to the history: that no standby had been promoted before it was stored.
    ///
    /// - Parameters:
    ///   - path: the file with the segment, header and frames, as passed to a ``WALSegmentSink``.
    ///   - began: when its run began.
    ///   - snapshot: the sequence of the newest stored snapshot.
    ///   - end: what lets another follower continue after it.
    ///   - start: where its run began; nil if it continues one.
    /// - Throws: `VaultError` `busy` if another process has taken the lease: the segment may be stored all the same, and is not part of the
    ///   history if that was a promotion. As ``requireIdentity()``, and what the store throws.
    package func append(
        _ path: String, began: Date, snapshot: Int, end: LogEnd? = nil, start: RunStart? = nil
    ) async throws {
        try await requireIdentity()
        let source = try LocalFile(reading: path)
        let size = try source.size()
        let segment = try SegmentFile(path).segment
        let seen = Int64(truncatingIfNeeded: segment.seen)
        if let start { self.start = (segment.run, start) }
        let reading = repository.clock.time().milliseconds
        let number = (last?.sequence ?? 0) + 1
        // A retry has the same name and the same bytes, whatever was stored meanwhile.
        let again = tried.flatMap { $0.run == segment.run && $0.place == segment.sequence ? $0.snapshot : nil }
        let snapshot = again ?? snapshot
        tried = (segment.run, segment.sequence, snapshot, again == nil ? reading : tried?.clock ?? reading)
        let name = SegmentName(database: database, sequence: number, snapshot: snapshot, time: seen)
        let record = SegmentRecord(
            repository: repository.config.id, database: database, sequence: number, predecessor: last?.hash,
            notedFrom: origin.notedFrom, snapshot: snapshot, run: segment.run.hexadecimal, place: segment.sequence,
            began: Timestamp.text(began), start: self.start?.run == segment.run ? self.start?.value : nil,
            salts: segment.salts.hexadecimal, firstFrame: segment.firstFrame,
            frames: segment.frameCount, pageSize: segment.pageSize, seen: seen,
            time: Timestamp.text(Date(milliseconds: seen)), clock: tried.flatMap { $0.clock < seen ? $0.clock : nil },
            payloadSize: size, payloadHash: try source.hash(), end: end)
        let (head, hash) = try SealedDocument.seal(record, key: repository.key)
        let spool = PackSpool(directory: try repository.spoolDirectory())
        let (file, writer) = try spool.create()
        defer { file.discard() }
        try writer.write(head, at: 0)
        try source.forEachPiece { offset, bytes in try writer.write(bytes, at: Int64(head.count) + offset) }
        // Renewed when it is due, not for each segment: two followers that use one number at the same time do no harm.
        try await lease.confirmIfDue()
        do {
            try await writable.store.put(name.object, file: file.path, condition: .absent)
        } catch let error as VaultError where error.code == .conflict {
            // The response to the first attempt was lost.
            guard try await repository.segment(name, database).record == record else { throw error }
        }
        // A promotion that has not taken it by now lists the segments afterwards.
        try await lease.requireHeld()
        tried = nil
        var stored = name
        stored.size = Int64(head.count) + size
        recent?.append(stored)
        let mark = SegmentMark(record, hash)
        last = mark
        // It is stored with the next renewal of the lease, which costs no request. The segment is stored: a failure
        // from here on must not cause it to be stored again.
        if let note = try? repository.note(mark, database) { lease.note = note }
        // If it cannot be recorded here, it is recorded in the lease.
        try? repository.remember(mark, database)
    }

    /// Compares the repository's identity with the one in the store. Where its objects are not files, that is a small request for each
    /// segment: its name is new, so that no condition of its own request could tell whose repository it is.
    ///
    /// - Throws: as ``Repository/requireIdentity()``.
    package func requireIdentity() async throws {
        if try !repository.requireLocalIdentity() { try await repository.requireIdentity() }
    }

    /// When the newest segment's commits had been read; nil if there is none.
    package var seen: Date? { last.flatMap { $0.seen > 0 ? $0.date : nil } }

    /// The newest label in the repository when this was opened, of a segment or a snapshot; nil without one. Later labels follow it.
    package var newestLabel: Date? { [seen, newestSnapshot?.time].compactMap(\.self).max() }

    /// Joins the segments of windows that are over, as ``WritableRepository/compact(_:database:dryRun:progress:)`` does. It reads only what
    /// was stored since it was last called, and requests nothing if that is nothing. Once an hour, and once a day without
    /// new segments, it lists all of them, and removes those whose time is over.
    ///
    /// - Throws: `VaultError`. Nothing is lost then; the next call lists all segments.
    package func compact(_ policy: CompactionPolicy, at time: Date? = nil) async throws -> CompactionResult {
        _ = try repository.requireLocalIdentity()
        let time = time ?? repository.clock.time()
        let compaction = SegmentCompaction(writable, database, policy)
        let before = compacted
        let added = recent ?? []
        recent = []
        let age = before.map { time.timeIntervalSince($0.time) } ?? .infinity
        let isIdle = before?.sequence == last?.sequence
        compacted = nil
        if let before, age >= 0, age < (isIdle ? 86_400 : 3600) {
            if !added.isEmpty {
                let known = joinable.last?.sequence ?? 0
                compaction.attempted = attempted
                joinable = try await compaction.join(joinable + added.filter { $0.sequence > known })
                attempted = compaction.attempted
            }
            compacted = before
        } else {
            let sequence = last?.sequence ?? 0
            joinable = try await compaction.run()
            (compacted, attempted) = ((time, sequence), compaction.attempted)
        }
        return compaction.result
    }

    /// Whether another process was found to have taken the lease.
    package nonisolated var isLost: Bool { lease.isLost }

    package func close() async { await lease.release() }
}

/// Where the segments of a database end.
private struct SegmentOrigin: Sendable {
    /// The newest known segment, whether or not it still exists.
    let last: SegmentMark?
    /// The first segment since which there are marks.
    let notedFrom: Int
    /// The part of the log that is missing.
    let loss: SnapshotGap?
    /// The newest segment; nil if it does not exist, or is not the newest one that should.
    let newest: SegmentRecord?
}

extension Repository {
    /// Finds where the segments of a database end, whose follower's lease is held.
    fileprivate func segmentOrigin(_ database: String) async throws -> SegmentOrigin {
        var log = try await segmentLog(database, [], in: .everything)
        if log.names.last?.sequence ?? 0 < log.joined.map(\.sequence).max() ?? 0 {
            // The newest segment is never joined: it is missing.
            log = try await segmentLog(database, [])
        }
        let previous = (log.names.dropLast() + log.joined).map(\.date).max()
        var (last, loss, newest): (SegmentMark?, SnapshotGap?, SegmentRecord?) = (log.newest?.mark, nil, nil)
        if let name = log.names.last, name.sequence >= last?.sequence ?? 1 {
            let found: SegmentMark?
            do {
                let segment = try await segment(name, database)
                found = segment.mark
                newest = segment.record
            } catch let error as VaultError where error.isDamage {
                try log.requirePlausible(name, besides: log.names.dropLast(), error.message)
                // Later segments cannot be restored through it, only from a snapshot of their own.
                found = nil
                loss = SnapshotGap(since: previous, reason: "the newest segment \(error.message)")
            }
            if let found, found.sequence == last?.sequence, found.hash != last?.hash {
                loss = SnapshotGap(since: previous, reason: "the newest segment was replaced by another one")
            }
            last = found ?? SegmentMark(lost: name)
            // The process that stored it may have been killed before it learned of that.
            if let found { rememberFound(found, database) }
        } else if let newest = last {
            // Retention may have removed it with its snapshot.
            if let hole = log.holes.last, hole.range.upperBound == newest.sequence {
                loss = SnapshotGap(
                    since: log.names.last?.date, reason: "the newest segments were removed from the repository")
            }
        }
        if let joined = log.joined.max(by: { $0.sequence < $1.sequence }), joined.sequence > last?.sequence ?? 0 {
            try log.requirePlausible(joined, besides: log.names[...], "cannot be the newest segment")
            // Nobody remembers the newest segment, which is never joined.
            loss = SnapshotGap(since: joined.date, reason: "the newest segments were removed from the repository")
            (last, newest) = (SegmentMark(lost: joined), nil)
        }
        // Numbers are never reused: a number that retention recorded as removed would excuse the loss of another
        // segment.
        let isNew = log.names.isEmpty && log.memories.isEmpty
        let forgotten = isNew ? try await forgetRecord(database) : log.forgotten
        if let row = forgotten.segments?.last, row[1] > last?.sequence ?? 0 {
            last = SegmentMark(lost: SegmentName(database: database, sequence: row[1], snapshot: 0, time: 0))
        }
        // Neither is one that a repair recorded as lost.
        if let row = forgotten.lost?.last, row[1] > last?.sequence ?? 0 {
            let previous = log.names.last?.date
            loss = loss ?? SnapshotGap(since: previous, reason: "the newest segments were lost")
            last = SegmentMark(lost: SegmentName(database: database, sequence: row[1], snapshot: 0, time: 0))
        }
        let number = (last?.sequence ?? 0) + 1
        return SegmentOrigin(
            last: last, notedFrom: log.notedFrom ?? last?.notedFrom ?? number, loss: loss,
            newest: loss == nil && newest?.sequence == last?.sequence ? newest : nil)
    }
}

/// Whether a new follower may continue from what an earlier one stored.
package enum SegmentResumption: Sendable {
    /// From there, if the log still continues from it. Restores start from this snapshot or an earlier one.
    case from(FollowerStart, base: Snapshot)
    /// It needs a snapshot of its own, for this reason; nil if the database was not followed before.
    case none(String?)
}

extension SegmentWriter {
    /// Where the log had been read, by the repository alone: the end of the newest segment, or the newest snapshot if
    /// there is no segment of its run yet.
    ///
    /// - Throws: `VaultError` if the store does not respond. Damage is a reason not to continue.
    package func resumption() async throws -> SegmentResumption {
        if let loss { return .none(loss.reason) }
        if let snapshot = newestSnapshot, snapshot.manifest.line != line {
            return .none("the database was promoted from a standby")
        }
        guard let snapshot = newestSnapshot else {
            return .none(origin.newest == nil ? nil : "the newest snapshot cannot be read")
        }
        guard let newest = origin.newest else {
            // Those that retention removed had ended before this snapshot, as far as restores are concerned.
            return start(from: snapshot).map { .from($0, base: snapshot) } ?? .none(nil)
        }
        switch Self.place(of: snapshot, beside: newest) {
        case .beforeRun: return .none("it had stored no snapshot of its run")
        case .laterRun:
            return start(from: snapshot).map { .from($0, base: snapshot) }
                ?? .none("the newest snapshot is of a later run, and does not tell where to continue")
        case .inRun: break
        }
        guard let began = Timestamp.date(newest.began), let end = newest.end,
            let salts = UInt64(newest.salts, radix: 16), !newest.runBytes.isEmpty
        else { return .none("an older version did not record where it was in the log") }
        // What it continues from may have been stored by a process that was killed before it synced.
        try repository.store.settle([RepositoryFormat.segments(database), RepositoryFormat.snapshots(database)])
        let start = FollowerStart(
            run: newest.runBytes, sequence: newest.place + 1, began: began, seen: UInt64(clamping: newest.seen),
            mark: LogMark(position: .init(salts: salts, frame: newest.firstFrame + (newest.frames - 1)), end: end))
        return .from(start, base: snapshot)
    }

    /// Where the newest snapshot is, seen from the run of the newest segment.
    private enum SnapshotPlace { case beforeRun, inRun, laterRun }

    private static func place(of snapshot: Snapshot, beside newest: SegmentRecord) -> SnapshotPlace {
        let image = ImagePosition(snapshot)
        if image.ended == newest.run { return .laterRun }
        if image.run == newest.run { return .inRun }
        guard let start = newest.start else {
            // An older version recorded no more than dates.
            if snapshot.manifest.gap != nil, newest.seen < snapshot.time.milliseconds { return .laterRun }
            return Timestamp.date(newest.began).map { $0 <= snapshot.time } ?? false ? .inRun : .beforeRun
        }
        if image.hasState(of: start.snapshot) { return .inRun }
        if start.newest >= snapshot.sequence { return .beforeRun }
        // It was stored after the run began: in it, or by the follower in a later one.
        if image.run != nil || snapshot.gap != nil { return .laterRun }
        guard let position = image.position else { return .beforeRun }
        if position.salts == newest.last.salts { return .inRun }
        if position.salts == start.position.salts { return position.frame >= start.frame ? .inRun : .beforeRun }
        return start.position.salts.resets(to: position.salts) == nil ? .beforeRun : .inRun
    }

    /// A new run that begins with a snapshot that exists.
    private func start(from snapshot: Snapshot) -> FollowerStart? {
        guard let mark = snapshot.manifest.log?.mark else { return nil }
        let run = PackID().bytes
        self.start = (run, RunStart(mark.position, after: snapshot.sequence - 1, from: snapshot.sequence))
        return FollowerStart(
            run: run, sequence: 0, began: snapshot.time,
            seen: UInt64(clamping: snapshot.time.milliseconds), mark: mark)
    }
}
