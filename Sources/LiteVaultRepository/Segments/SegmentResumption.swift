package import LiteVaultCapture
internal import LiteVaultFoundation

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
        let seen = Date(timeIntervalSince1970: Double(newest.seen) / 1000)
        if snapshot.manifest.gap != nil, seen < snapshot.time, let start = start(from: snapshot) {
            return .from(start, base: snapshot)
        }
        guard let began = Timestamp.date(newest.began), began <= snapshot.time else {
            return .none("it had stored no snapshot of its run")
        }
        guard let end = newest.end, let salts = UInt64(newest.salts, radix: 16), !newest.runBytes.isEmpty else {
            return .none("an older version did not record where it was in the log")
        }
        // What it continues from may have been stored by a process that was killed before it synced.
        try repository.store.settle([RepositoryFormat.segments(database), RepositoryFormat.snapshots(database)])
        let start = FollowerStart(
            run: newest.runBytes, sequence: newest.place + 1, began: began, seen: UInt64(clamping: newest.seen),
            mark: LogMark(position: .init(salts: salts, frame: newest.firstFrame + (newest.frames - 1)), end: end))
        return .from(start, base: snapshot)
    }

    /// A new run that begins with a snapshot that exists.
    private func start(from snapshot: Snapshot) -> FollowerStart? {
        guard let mark = snapshot.manifest.log?.mark else { return nil }
        return FollowerStart(
            run: PackID().bytes, sequence: 0, began: snapshot.time,
            seen: UInt64(clamping: snapshot.time.milliseconds), mark: mark)
    }
}
