package import LiteVaultSystem

/// Where a new follower starts that may continue from where an earlier one had read the log.
package struct FollowerStart: Sendable, Equatable {
    /// The run to continue, and the place in it of the next segment.
    package let run: [UInt8]
    package let sequence: UInt64
    /// When the run began.
    package let began: Date
    /// When everything up to the position had been read, in milliseconds since 1970.
    package let seen: UInt64
    /// Up to where everything is stored.
    package let mark: LogMark

    package init(
        run: [UInt8], sequence: UInt64, began: Date, seen: UInt64, mark: LogMark
    ) {
        self.run = run
        self.sequence = sequence
        self.began = began
        self.seen = seen
        self.mark = mark
    }
}

/// Finds out whether a log still continues from a position at which nobody held it meanwhile.
///
/// It continues if every commit since then is in the log. Nothing is guessed: what cannot be proven is a gap.
///
/// * The frames up to the position are still there if they lead to the recorded checksum: it covers every frame from the
///   first, and the log's salts.
/// * Nothing but the log has changed the database if its file has the same status as then. A checkpoint changes that; then
///   the index must have counted exactly the commits that are in the log behind the position. A rebuilt index starts from
///   zero, so a count that had begun can only match if a connection has kept the index, and with it the log, all the time.
/// * A log that was reset since then continues only if nothing was committed before: its first salt is the next one, the
///   frame at the position is still behind the new ones, no frame follows it, and the index has counted no commit that
///   the new log does not have.
struct LogContinuation {
    /// The position to read on from, or why the log does not continue.
    enum Outcome {
        case continues(LogPosition, WALReader?)
        case ends(String)
    }

    let log: LocalFile
    let header: WALIndexHeader
    /// The database file.
    let path: String

    /// - Parameter start: where the log had been read to. The caller holds a lock that keeps the log from being reset.
    func outcome(from start: LogMark) throws -> Outcome {
        guard let file = LogEnd.status(path), LogEnd.inode(file) == LogEnd.inode(start.end.file) else {
            return .ends("the database was replaced meanwhile")
        }
        let isUntouched = file == start.end.file
        if header.salts == start.position.salts { return try same(start, isUntouched) }
        // Nothing of the earlier log was stored, and nothing can have come into the database but from this one.
        if start.position.frame == 0, isUntouched {
            return .continues(.init(salts: header.salts, frame: 0), nil)
        }
        return try reset(start)
    }

    /// The log has the same salts as then.
    private func same(_ start: LogMark, _ isUntouched: Bool) throws -> Outcome {
        let position = start.position
        guard header.lastFrame >= position.frame else { return .ends("the log was truncated meanwhile") }
        var reader: WALReader?
        var commits = 0
        if header.lastFrame > 0 {
            guard var found = try WALReader(log), found.salts == header.salts else {
                return .ends("the log does not match its index")
            }
            guard try found.read(through: position.frame, { _, _ in }),
                position.frame == 0 || found.sums == start.end.sums
            else { return .ends("the log has other frames than those that were stored") }
            commits = try found.commits(behind: position.frame, through: header.lastFrame)
            reader = found
        }
        guard isUntouched || hasCounted(commits, start) else {
            return .ends("the database may have changed otherwise than through its log meanwhile")
        }
        return .continues(position, reader)
    }

    /// The log has other salts.
    private func reset(_ start: LogMark) throws -> Outcome {
        let (old, new) = (start.position.salts, header.salts)
        guard UInt32(truncatingIfNeeded: new >> 32) == UInt32(truncatingIfNeeded: old >> 32) &+ 1 else {
            return .ends("the log was removed, or reset more than once, meanwhile")
        }
        let ended = Outcome.ends("the log was reset meanwhile, and not all of it had been read")
        guard let found = try WALReader(log), let sums = start.end.sums, header.lastFrame < start.position.frame else {
            return ended
        }
        let last = try log.readPrefix(
            count: WALReader.frameHeaderLength, at: found.offset(ofFrame: start.position.frame))
        guard last.count == WALReader.frameHeaderLength, [last.word(16), last.word(20)] == sums,
            UInt64(last.word(8)) << 32 | UInt64(last.word(12)) == old
        else { return ended }
        let next = try log.readPrefix(count: 16, at: found.offset(ofFrame: start.position.frame + 1))
        let isOverwritten = next.count == 16 && UInt64(next.word(8)) << 32 | UInt64(next.word(12)) == new
        var tail = found.continued(at: start.position.frame, sums: sums, salts: old)
        guard !isOverwritten, try !tail.read(through: start.position.frame + 1, { _, _ in }) else { return ended }
        let commits =
            found.salts == new ? try found.commits(behind: 0, through: header.lastFrame) : 0
        guard found.salts == new || header.lastFrame == 0, hasCounted(commits, start) else { return ended }
        return .continues(.init(salts: new, frame: 0), nil)
    }

    /// Whether the index has counted just these commits since the position, without having been rebuilt.
    private func hasCounted(_ commits: Int, _ start: LogMark) -> Bool {
        start.end.commits > 0 && header.commits &- start.end.commits == UInt32(clamping: commits)
    }
}
