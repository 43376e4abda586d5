package import LiteVaultSystem

/// Follows the write-ahead log of a live database, without its key, and passes every committed transaction to a sink.
///
/// It holds the SHARED lock, as every connection in WAL mode does, so that nobody removes the log, and one lock of the
/// index that keeps the log from being reset before it was read: the lock of an unused read mark, which blocks no
/// checkpoint. Once all frames are read and checkpointed, it changes to the lock of mark 0, under which the log may be
/// reset but not checkpointed, so the next write cannot be missed either. Its work depends on the volume of writes, not
/// on the size of the database.
///
/// Effects on other connections: the database cannot leave WAL mode, and is busy for a process that wants to replace
/// it; `-wal` and `-shm` stay when the last connection closes; RESTART and TRUNCATE checkpoints wait for the follower's
/// next poll, or return busy if they do not wait; and under continuous commits the log may grow, up to
/// ``FollowerLimits/logBytes``.
package final class Follower {
    package let path: String
    package let limits: FollowerLimits
    private let clock: HostClock
    private var hold: FollowerHold?
    private var run: [UInt8] = []
    private var sequence: UInt64 = 0
    /// The label of the last poll, and that of the last segment: no later label is earlier, whatever the clock says.
    private var lastPoll: UInt64
    private var lastLabel: UInt64
    private var lastGap: String?
    private var wasBusy = false
    /// Where to continue, until the log was found.
    private var start: FollowerStart?
    /// Why the log does not continue from where it was to be read on; nil if it does, or before it was found.
    package private(set) var discontinuity: String?
    /// Whether the last poll has found that something other than its log wrote to the database file. What a snapshot would not read, as the log
    /// does not name it, may be different then.
    package private(set) var isOverwritten = false
    /// The log that was held last, until another one is.
    package private(set) var former: FormerLog?

    /// The reason of a gap that ``isOverwritten`` goes with.
    package static let overwritten = "something other than its log wrote to the database file"

    package var isAttached: Bool { hold != nil }

    /// When the log was last polled; nil while none is held.
    package var polled: Date? { hold == nil ? nil : Date(milliseconds: Int64(clamping: lastPoll)) }

    /// Seconds by which the clock is behind the labels: it was set back, or had been wrong before.
    package var behind: Double { max(0, Double(lastPoll) - Double(clock.time().milliseconds)) / 1000 }

    /// Seconds until the next poll: fewer while the log is long, so that it can be reset soon.
    package var pause: Double {
        guard (hold?.logBytes ?? 0) > limits.logBytes / 4 else { return limits.interval }
        return min(limits.interval, wasBusy ? 0.005 : 0.1)
    }

    /// Whether a poll cannot be put off: the log is long, and it can be reset once it is read, or much of it is not yet read.
    package var isPressing: Bool { hold?.isPressing ?? false }

    /// Creates a follower. ``poll(into:)`` opens the files.
    ///
    /// - Parameters:
    ///   - start: where an earlier follower had read the log: the run continues from there if the log does.
    ///   - last: the newest label that was assigned to anything stored before; labels begin after it.
    ///   - former: the log that an earlier follower of this path held last.
    package init(
        _ path: String, limits: FollowerLimits = .init(), from start: FollowerStart? = nil, after last: Date? = nil,
        former: FormerLog? = nil, clock: HostClock = .system
    ) {
        self.path = path
        self.limits = limits
        self.start = start
        self.former = former
        self.clock = clock
        lastLabel = max(start?.seen ?? 0, UInt64(clamping: last?.milliseconds ?? 0))
        lastPoll = lastLabel
    }

    /// Makes later labels follow one that was assigned to a snapshot meanwhile.
    package func advance(to label: Date) { lastLabel = max(lastLabel, UInt64(clamping: label.milliseconds)) }

    /// Reads the log once, and passes the frames committed since the last poll to the sink.
    ///
    /// - Throws: what the sink throws, and `VaultError` for a lasting condition (`noInput`, `unsupported`, `io`; ``leftLog``). No
    ///   lock is held then, and the next call begins a new run.
    package func poll(into sink: inout some WALSegmentSink) throws -> FollowerOutcome {
        isOverwritten = false
        do {
            guard let hold else { return try attach(&sink) }
            // Before the log is read: what had been committed by then is in the segment.
            let now = reading
            let frames = try read(hold, now, &sink)
            lastPoll = max(lastPoll, now, lastLabel)
            wasBusy = frames > 0
            return .read(frames: frames)
        } catch let gap as LogLostError {
            end(gap.reason)
            isOverwritten = gap.isOverwritten
            return .gap(gap.reason)
        } catch {
            end("\(error)")
            throw error
        }
    }

    /// Releases the log and ends the run.
    package func stop() { end("the follower was stopped") }

    private func end(_ reason: String) {
        if let hold { former = hold.formerLog }
        hold = nil
        lastGap = reason
    }

    /// The error that the log of a database that was replaced is beside the new file: SQLite would copy it into that. Nil if it is not, or once the
    /// two are followed, as a connection uses them together.
    package var leftLog: VaultError? { hold == nil ? former.flatMap { $0.leftLog(at: path) } : nil }

    private func attach(_ sink: inout some WALSegmentSink) throws -> FollowerOutcome {
        // Connections that still have the former file open keep its log and index valid. They say nothing about the new one.
        if let leftLog, try !FollowerHold.isUsed(path) { throw leftLog }
        let attached: FollowerHold
        do {
            attached = try FollowerHold(path, limits: limits, from: start)
        } catch let lost as LogLostError {
            if let leftLog { throw leftLog }
            return .waiting(lost.reason)
        }
        former = nil
        if let start {
            self.start = nil
            discontinuity = attached.discontinuity
            if discontinuity == nil {
                (run, sequence) = (start.run, start.sequence)
                wasBusy = false
                try sink.resume(run: run, began: start.began)
                hold = attached
                return .resumed(run: run)
            }
            lastGap = discontinuity
        }
        run = (0..<16).map { _ in UInt8.random(in: 0...255) }
        sequence = 0
        lastPoll = max(lastPoll, reading, lastLabel)
        wasBusy = false
        try sink.begin(
            run: run, began: Date(milliseconds: Int64(clamping: lastPoll)), at: attached.position, gap: lastGap)
        hold = attached
        return .attached(run: run)
    }

    private func read(_ hold: FollowerHold, _ now: UInt64, _ sink: inout some WALSegmentSink) throws -> UInt32 {
        guard let pending = try hold.poll() else { return 0 }
        // Each label is later than the one before, so that it names one state; a clock that was set back takes part again as soon as it
        // is ahead of them.
        let label = max(now, lastPoll, lastLabel + 1)
        let segment = WALSegment(
            run: run, sequence: sequence, after: lastPoll, seen: label, reader: pending.reader, through: pending.last)
        try sink.begin(segment)
        do {
            let end = try hold.read(pending) { try sink.append($0) }
            try sink.finish(segment, at: end)
        } catch {
            sink.abandon()
            throw error
        }
        sequence += 1
        lastLabel = label
        try hold.settle()
        return segment.frameCount
    }

    private var reading: UInt64 { UInt64(clamping: clock.time().milliseconds) }
}

/// Limits on what a follower may cost the database's users.
package struct FollowerLimits: Sendable {
    /// Bytes of frames above which the follower releases the log, so that it can be reset. That causes a gap.
    package var logBytes: Int64
    /// Seconds between two polls of the log.
    package var interval: Double

    package init(logBytes: Int64 = 256 << 20, interval: Double = 1) {
        self.logBytes = logBytes
        self.interval = interval
    }
}

package enum FollowerOutcome: Sendable, Equatable {
    /// There is no log, or it cannot be followed now. No lock is held.
    case waiting(String)
    /// A new run begins: a snapshot must be taken now.
    case attached(run: [UInt8])
    /// An earlier run continues without a gap: no snapshot is needed.
    case resumed(run: [UInt8])
    /// This many frames were read; 0 if nothing was committed.
    case read(frames: UInt32)
    /// The run has ended; frames may have been missed.
    case gap(String)
}

/// Receives what a follower reads from a write-ahead log. It must be quick: the log may grow meanwhile.
package protocol WALSegmentSink {
    /// Begins a run without a gap: the segments that follow continue from `position`, and need a snapshot taken after
    /// this call. `began` is the label of its beginning. `gap` says why the previous run ended; nil for the first run of this
    /// follower.
    mutating func begin(run: [UInt8], began: Date, at position: LogPosition, gap: String?) throws

    /// Continues with a run that had begun then.
    mutating func resume(run: [UInt8], began: Date) throws

    /// Begins a segment; its ``WALSegment/header`` has to be stored first.
    mutating func begin(_ segment: WALSegment) throws

    /// Appends the segment's next bytes: whole frames.
    mutating func append(_ frames: UnsafeRawBufferPointer) throws

    /// Completes the segment, which is valid from now on. `end` lets another follower continue after it.
    mutating func finish(_ segment: WALSegment, at end: LogEnd?) throws

    /// Discards the segment that was begun.
    mutating func abandon()
}

/// The locks that a follower holds, and how far it has read the log.
final class FollowerHold {
    /// Frames committed since the last poll.
    struct Pending {
        let reader: WALReader
        let last: UInt32
        /// The commits that the index has counted.
        let commits: UInt32
    }

    private let file: SourceFile
    private let log: LocalFile
    private let index: WALIndex
    private let limits: FollowerLimits
    /// As the database's path led to them when they were opened.
    let files: FollowedFiles
    /// The path as it was given: a link may lead to another file later.
    private let path: String
    /// The read mark whose lock is held: 0 if all frames read are checkpointed, otherwise an unused one.
    private var mark: Int
    /// The position in the log up to which it has been read; its salts are valid even before the log has a header on
    /// disk.
    private(set) var position: LogPosition
    private var reader: WALReader?
    private var writes: OutsideWrites
    /// Why the log does not continue from where it was to be read on; nil if it does.
    private(set) var discontinuity: String?

    var logBytes: Int64 { Int64(position.frame) * Int64(reader?.frameLength ?? 0) }

    /// What shows later that this log was left: by the salts in its header. Nil without one, as it has no frames then.
    var formerLog: FormerLog? {
        (try? WALReader(log)).map { FormerLog(files, $0.salts, at: file.path + "-wal") }
    }

    /// Whether a connection, or something else that reads it for longer than a moment, has the file at a path open. Its index is not touched.
    static func isUsed(_ path: String) throws -> Bool {
        let file = try SourceFile(path: path)
        for attempt in 0..<3 {
            // Another follower that asks the same holds it for microseconds.
            if attempt > 0 { SystemThread.sleep(seconds: 0.01) }
            if try file.lockShared(), try file.lockExclusive() { return false }
            file.unlock()
        }
        return true
    }

    /// See ``Follower/isPressing``.
    var isPressing: Bool {
        // Without a header the next poll finds out why.
        guard let header = index.header() else { return true }
        let length = Int64(WALReader.frameHeaderLength + header.pageSize)
        guard Int64(header.lastFrame) * length > limits.logBytes / 4 else { return false }
        let read = header.salts == position.salts ? position.frame : 0
        let unread = Int64(header.lastFrame) - Int64(read)
        return index.backfilled == header.lastFrame || unread * length > limits.logBytes / 16
    }

    /// Takes the locks; the position is that of the last commit.
    ///
    /// - Parameter start: where to read on, if the log continues from there; otherwise ``discontinuity`` says why it does not.
    /// - Throws: ``LogLostError`` while there is no log to follow.
    init(_ path: String, limits: FollowerLimits, from start: FollowerStart? = nil) throws {
        // Before they are opened: a link may be switched at any moment.
        let found = FollowedFiles(at: path)
        let file = try SourceFile(path: path)
        try SourceVolume.requireLocal(file.path)
        // Without a log the database may be in rollback-journal mode, where the lock would keep others from writing.
        guard LocalFile.exists(file.path + "-wal") else {
            throw LogLostError(reason: "there is no write-ahead log")
        }
        guard try file.lockShared() else { throw LogLostError(reason: "the database is locked exclusively") }
        guard let log = try LocalFile(ifExists: file.path + "-wal"), try file.size() > 0 else {
            throw LogLostError(reason: "there is no write-ahead log")
        }
        guard let region = try Self.map(file) else { throw LogLostError(reason: "the log has no index yet") }
        let index = WALIndex(region: region, file: file)
        guard let mark = try Self.takeUnusedMark(index) else { throw LogLostError(reason: "all read marks are in use") }
        guard let header = Self.header(index) else { throw LogLostError(reason: "the log's index is not initialised") }
        guard let files = found, FollowedFiles(at: path) == files else {
            throw LogLostError(reason: "the database was replaced")
        }
        position = .init(salts: header.salts, frame: header.lastFrame)
        writes = OutsideWrites(path: file.path)
        (self.file, self.log, self.index, self.limits, self.mark) = (file, log, index, limits, mark)
        (self.files, self.path) = (files, path)
        if header.lastFrame > 0 {
            guard let reader = try WALReader(log), reader.salts == header.salts else {
                throw LogLostError(reason: "the log does not match its index")
            }
            self.reader = reader.continued(at: header.lastFrame, sums: header.frameChecksum)
        }
        if let start {
            switch try LogContinuation(log: log, header: header, path: file.path).outcome(from: start.mark) {
            case .continues(let position, let reader): (self.position, self.reader) = (position, reader)
            case .ends(let reason): discontinuity = reason
            }
        }
        try requireRoom()
    }

    /// The frames committed since the last poll; nil if there are none.
    func poll() throws -> Pending? {
        guard FollowedFiles(at: path) == files else {
            throw LogLostError(reason: "the database or its log was replaced")
        }
        // Before anything is read: what was committed since would have another base.
        try writes.requireNone()
        guard let header = Self.header(index) else { throw LogLostError(reason: "the log's index was lost") }
        if header.salts != position.salts {
            // Under mark 0 the log can be reset at most once before any of it is checkpointed; without a frame nothing
            // could be lost yet.
            guard mark == 0 || position.frame == 0 else { throw LogLostError(reason: "the log was reset") }
            position = .init(salts: header.salts, frame: 0)
            reader = nil
        }
        guard header.lastFrame >= position.frame else { throw LogLostError(reason: "the log was truncated") }
        guard header.lastFrame > position.frame else {
            try settle(header)
            return nil
        }
        if reader == nil { reader = try WALReader(log) }
        guard let reader, reader.salts == header.salts, reader.pageSize == header.pageSize else {
            throw LogLostError(reason: "the log does not match its index")
        }
        return Pending(reader: reader, last: header.lastFrame, commits: header.commits)
    }

    /// Reads the frames.
    ///
    /// - Returns: what lets another follower continue after them.
    func read(_ pending: Pending, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> LogEnd? {
        var reader = pending.reader
        guard try reader.read(through: pending.last, { frames, _ in try body(frames) }) else {
            throw LogLostError(reason: "a frame of the log is damaged")
        }
        position = .init(salts: position.salts, frame: pending.last)
        self.reader = reader
        return LogEnd(sums: reader.sums, commits: pending.commits, path: file.path)
    }

    /// Switches to the lock that hinders other connections least.
    func settle() throws {
        if let header = Self.header(index) { try settle(header) }
        try requireRoom()
    }

    private func settle(_ header: WALIndexHeader) throws {
        let isRead = header.salts == position.salts && header.lastFrame == position.frame
        let isDone = isRead && header.lastFrame > 0 && index.backfilled == header.lastFrame
        if mark != 0, isDone {
            guard try file.lockSlot(IndexLock.read(0), exclusively: false) else { return }
            file.barrier()
            // Frames were committed meanwhile: read them first.
            guard index.header() == header, index.backfilled == header.lastFrame else {
                return file.unlockSlot(IndexLock.read(0))
            }
            // From here on no checkpoint writes to the file.
            writes.block()
            file.unlockSlot(IndexLock.read(mark))
            mark = 0
        } else if mark == 0, !isDone, position.frame > 0, let other = try Self.takeUnusedMark(index) {
            // Frames of this log were read: it may now be checkpointed, but not reset.
            try writes.requireNone()
            writes.unblock()
            file.unlockSlot(IndexLock.read(0))
            mark = other
        }
    }

    private func requireRoom() throws {
        if logBytes > limits.logBytes {
            throw LogLostError(reason: "the log reached the limit of \(limits.logBytes) bytes")
        }
    }

    /// Shares the lock of a mark that blocks no checkpoint; nil if all are in use.
    private static func takeUnusedMark(_ index: WALIndex) throws -> Int? {
        // From the last mark: readers start with the first.
        for number in stride(from: IndexLock.markCount - 1, through: 1, by: -1) {
            let slot = IndexLock.read(number)
            guard try index.file.lockSlot(slot, exclusively: true) else { continue }
            index.setMark(number, to: WALIndex.unused)
            index.file.unlockSlot(slot)
            guard try index.file.lockSlot(slot, exclusively: false) else { continue }
            index.file.barrier()
            if index.mark(number) == WALIndex.unused { return number }
            // A reader set it in between.
            index.file.unlockSlot(slot)
        }
        return nil
    }

    private static func header(_ index: WALIndex) -> WALIndexHeader? {
        for _ in 0..<50 {
            if let header = index.header() { return header }
            SystemThread.sleep(seconds: 0.0002)
        }
        return nil
    }

    private static func map(_ file: SourceFile) throws -> UnsafeMutableRawPointer? {
        do {
            return try file.mapIndex()
        } catch let error as VaultError where error.code == .busy {
            return nil
        }
    }
}

/// The log cannot be followed, or not without a gap.
struct LogLostError: Error {
    let reason: String
    /// Whether something other than the log has written to the database file.
    var isOverwritten = false

    static var overwritten: LogLostError {
        LogLostError(reason: Follower.overwritten, isOverwritten: true)
    }
}
