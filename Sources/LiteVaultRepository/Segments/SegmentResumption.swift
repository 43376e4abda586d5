package import LiteVaultCapture
internal import LiteVaultFoundation
internal import LiteVaultSystem

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
            return .none(newest == nil ? nil : "the newest snapshot cannot be read")
        }
        guard let newest else {
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
        begin(run, at: RunStart(mark.position, after: snapshot.sequence - 1, from: snapshot.sequence))
        return FollowerStart(
            run: run, sequence: 0, began: snapshot.time,
            seen: UInt64(clamping: snapshot.time.milliseconds), mark: mark)
    }
}
