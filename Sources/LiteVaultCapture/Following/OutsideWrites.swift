internal import LiteVaultSystem

/// Finds out whether something other than a checkpoint has written to a followed database file: a copy over it, for instance. The segments that
/// follow would not fit the file.
///
/// In WAL mode only checkpoints write to the file. Three observations prove another writer, and none is made of a checkpoint, whoever runs it:
///
/// * Under read mark 0 no checkpoint writes. A file whose size or modification time changes while the follower holds that lock was written to.
/// * A checkpoint that has something to copy records how far it goes before it writes. A file that changes while that number stays the
///   same, and no checkpoint is running, was written to.
/// * A page whose newest frame in the log is checkpointed is the same in the file until a later checkpoint writes it.
///
/// Reading, and changes of the mode, the owner, the links or the time of access do not count. A program that sets the modification time without
/// writing does, except to the same time with fewer digits, as programs do that put back the time of access.
struct OutsideWrites {
    /// How far checkpoints have got.
    private struct Checkpoints: Equatable {
        let backfilled: UInt32
        let attempted: UInt32
        /// Whether the last one has ended, and was not interrupted.
        var isComplete: Bool { backfilled == attempted }

        init(_ index: WALIndex) {
            index.file.barrier()
            (backfilled, attempted) = (index.backfilled, index.attempted)
        }
    }

    private let file: SourceFile
    private let log: LocalFile
    private let index: WALIndex
    /// The file when it was last looked at, and how far checkpoints had got before that.
    private var known: (checkpoints: Checkpoints, stamp: WriteStamp?)
    /// Frames up to this one were compared with the file, or were in it before the log was followed.
    private var compared: UInt32

    /// Looks at the file for the first time. What was written to it before is in the snapshot that is taken after this.
    init(file: SourceFile, log: LocalFile, index: WALIndex) {
        (self.file, self.log, self.index) = (file, log, index)
        let checkpoints = Checkpoints(index)
        known = (checkpoints, WriteStamp(file.path))
        compared = checkpoints.backfilled
    }

    /// Compares the file's size and time of modification with those of the last look.
    ///
    /// - Parameter isBlocked: whether no checkpoint could write since then, as the lock of read mark 0 was held.
    /// - Throws: ``LogLostError`` if something else has written to it.
    mutating func look(isBlocked: Bool) throws {
        // Before the file: a checkpoint that ends in between is one that the next look sees.
        let first = Checkpoints(index)
        let found = WriteStamp(file.path)
        defer { known = (first, found) }
        guard let stamp = found, let before = known.stamp, !stamp.isSame(as: before) else { return }
        // After it: a checkpoint that has written to it has recorded that before.
        let isProven = try isBlocked || known.checkpoints.isComplete && noneHasRun(since: known.checkpoints)
        if isProven { throw LogLostError.overwritten }
    }

    /// Whether no checkpoint has written to the file since then.
    private func noneHasRun(since earlier: Checkpoints) throws -> Bool {
        guard Checkpoints(index) == earlier else { return false }
        // Engines from before 2016 record nothing until the end. This is asked only once there is a suspicion: an application's checkpoint would
        // be busy for this moment.
        guard try file.lockSlot(IndexLock.checkpoint, exclusively: true) else { return false }
        defer { file.unlockSlot(IndexLock.checkpoint) }
        return Checkpoints(index) == earlier
    }

    /// Compares the file with what has been checkpointed since the last time.
    ///
    /// - Parameter header: that of the log, which cannot be reset.
    /// - Throws: ``LogLostError`` if something else has written to it.
    mutating func compare(_ header: WALIndexHeader) throws {
        let checkpoints = Checkpoints(index)
        let end = checkpoints.backfilled
        // What is being copied is compared later.
        guard checkpoints.isComplete, end > compared, end <= header.lastFrame else { return }
        if try pages(header).areInFile(behind: compared, through: end) {
            compared = end
        } else if try noneHasRun(since: checkpoints) {
            throw LogLostError.overwritten
        }
    }

    /// Whether the file has all of the log that was checkpointed; also if that is not known.
    func hasAllThatWasCheckpointed(_ header: WALIndexHeader) throws -> Bool {
        let checkpoints = Checkpoints(index)
        let end = checkpoints.backfilled
        guard checkpoints.isComplete, end > 0, end <= header.lastFrame else { return true }
        return try pages(header).areInFile(behind: 0, through: end) || !noneHasRun(since: checkpoints)
    }

    /// Compares the file with the log, all of which is checkpointed, and remembers it: from now on no checkpoint may write to it. The caller has
    /// the lock of read mark 0.
    ///
    /// - Throws: ``LogLostError`` if something else has written to it.
    mutating func block(_ header: WALIndexHeader) throws {
        // Before it is compared: what is written meanwhile is seen by the next look.
        known = (Checkpoints(index), WriteStamp(file.path))
        guard try pages(header).areInFile(behind: compared, through: header.lastFrame) else {
            throw LogLostError.overwritten
        }
        compared = header.lastFrame
    }

    /// Another log has begun, of which nothing is checkpointed.
    mutating func beginLog() { compared = 0 }

    private func pages(_ header: WALIndexHeader) -> CheckpointedPages {
        CheckpointedPages(file: file, log: log, pageSize: header.pageSize, lastFrame: header.lastFrame)
    }
}

/// The size of a file, and when it was written to.
struct WriteStamp {
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Nil if there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        size = Int64(status.st_size)
        let time = status.modificationTime
        (seconds, nanoseconds) = (Int64(time.tv_sec), Int64(time.tv_nsec))
    }

    /// Whether nothing was written since the earlier one. A program that sets the time back may know fewer of its digits.
    func isSame(as earlier: WriteStamp) -> Bool {
        guard size == earlier.size, seconds == earlier.seconds else { return false }
        return [1, 100, 1000, 1_000_000, 1_000_000_000].contains { unit in
            nanoseconds == earlier.nanoseconds / unit * unit
        }
    }
}

/// The pages of a log that checkpoints have copied into the database file.
struct CheckpointedPages {
    let file: SourceFile
    let log: LocalFile
    let pageSize: Int
    /// The last committed frame.
    let lastFrame: UInt32

    /// Limits what is compared: the newest pages, each read from the log and from the file.
    private static let byteLimit = 4 << 20

    /// Whether the file has the newest pages among these frames, which are all checkpointed.
    ///
    /// Left out are pages that a later frame has as well, which another checkpoint may be about to copy, and those that a later commit has removed:
    /// they may be there again without a frame, as free pages.
    func areInFile(behind first: UInt32, through end: UInt32) throws -> Bool {
        guard pageSize > 0 else { return true }
        let length = WALReader.frameHeaderLength + pageSize
        var rest = max(16, Self.byteLimit / pageSize)
        // Many frames may be of the same pages.
        let start = max(first, lastFrame - min(lastFrame, UInt32(8 * rest)))
        var later: Set<UInt32> = []
        var least = UInt32.max
        var number = lastFrame
        while number > start, rest > 0 {
            let place = Int64(WALReader.headerLength) + Int64(number - 1) * Int64(length)
            let header = try log.readPrefix(count: WALReader.frameHeaderLength, at: place)
            // The log is no longer what its index says: the next frames to be read show that.
            guard header.count == WALReader.frameHeaderLength else { return true }
            let (page, count) = (header.word(0), header.word(4))
            if count != 0 { least = min(least, count) }
            if later.insert(page).inserted, number <= end, (1...least).contains(page) {
                guard try isInFile(page, at: place + Int64(WALReader.frameHeaderLength)) else { return false }
                rest -= 1
            }
            number -= 1
        }
        return true
    }

    private func isInFile(_ page: UInt32, at place: Int64) throws -> Bool {
        let bytes = try log.readPrefix(count: pageSize, at: place)
        guard bytes.count == pageSize else { return true }
        var found = [UInt8](repeating: 0, count: pageSize)
        try found.withUnsafeMutableBytes { try file.read(into: $0, at: Int64(page - 1) * Int64(pageSize)) }
        return found == bytes
    }
}
