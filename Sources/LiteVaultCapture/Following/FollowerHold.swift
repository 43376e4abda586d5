internal import LiteVaultSystem

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

    /// The salts of the frames that are in the log's file, by its header; nil if it has none.
    var storedSalts: UInt64? { (try? WALReader(log))?.salts }

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
        LogLostError(reason: "something other than its log wrote to the database file", isOverwritten: true)
    }
}
