package import LiteVaultSystem

/// Reads a consistent image of a live database, without its key, while others write to it.
///
/// The database and its log do not change; in the index (`-shm`) only lock marks do. Without the key it is unknown
/// whether the database is in WAL mode: the bytes that record it are encrypted, and without a `-wal` file it looks like
/// a database in rollback-journal mode. So a copy under the SHARED lock is valid only if there was no `-wal` file when
/// it began and none just before the lock is released; nobody can remove one in between.
package struct Capture {
    private let path: String
    private let limits: CaptureLimits
    private let clock: HostClock
    private let observe: ((CaptureEvent) throws -> Void)?

    /// - Parameter observe: called at points of the capture, for tests; an error it throws ends the capture.
    package init(
        _ path: String, limits: CaptureLimits = .init(), clock: HostClock = .system,
        observe: ((CaptureEvent) throws -> Void)? = nil
    ) {
        self.path = path
        self.limits = limits
        self.clock = clock
        self.observe = observe
    }

    /// Copies the image into `sink`. No lock is held once this returns.
    ///
    /// - Throws: `VaultError`: `noInput` if the file does not exist; `busy` if the locks could not be taken in time
    ///   (a long write transaction, exclusive locking mode) or a limit was reached; `unsupported` on a network file
    ///   system and if the `-shm` file is not writable; `damaged` if the log does not match its index; `io`. Rethrows
    ///   errors of the sink.
    package func run(into sink: inout some BlockSink) throws -> CaptureReport {
        let file = try SourceFile(path: path)
        try SourceVolume.requireLocal(file.path)
        var deadline = Deadline(in: limits.lockTimeout)
        var attempts = 0
        while true {
            do {
                defer { file.unlock() }
                let began = (date: clock.time(), instant: ContinuousClock.now)
                let attempt = CaptureAttempt(
                    file: file, basis: sink.basis, settled: began.date - limits.settling, observe: observe)
                let image: CapturedImage
                if SourceVolume.isReadOnlyMedium(file.path) {
                    image = try attempt.readOnlyImage()
                } else {
                    guard try file.lockShared() else {
                        throw RetryableCaptureError(
                            reason: "another connection is writing to it, or holds it in exclusive locking mode")
                    }
                    attempts += 1
                    try observe?(.locked)
                    image = try attempt.image()
                }
                let start = try copy(image, of: file, since: began.instant, into: &sink)
                try attempt.confirm(image)
                return image.completed(
                    start: start, began: began.date, ended: clock.time(), attempts: max(1, attempts))
            } catch let error as RetryableCaptureError {
                // Time spent on a copy that was discarded is not time spent waiting.
                if error.hasCopied { deadline = max(deadline, Deadline(seconds: 1)) }
                guard attempts < 1000, !deadline.isOver else { throw error.final(path) }
            }
            SystemThread.sleep(seconds: 0.002)
        }
    }

    /// Copies an image, and returns its first bytes.
    private func copy(
        _ image: CapturedImage, of file: SourceFile, since began: ContinuousClock.Instant,
        into sink: inout some BlockSink
    ) throws -> [UInt8] {
        var overlay = image.overlay
        let byteCount = image.report.byteCount
        var unchanged = (image.changes?.unchanged(byteCount: byteCount) ?? [])[...]
        try sink.begin(byteCount: byteCount)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var start: [UInt8] = []
        var offset: Int64 = 0
        while offset < byteCount {
            var count = min(Int64(buffer.count), byteCount - offset)
            if let blocks = unchanged.first {
                let block = Int(offset / Int64(blockSize))
                if block < blocks.lowerBound {
                    count = min(count, Int64(blocks.lowerBound - block) * Int64(blockSize))
                } else {
                    let kept = try sink.keep(block..<blocks.upperBound, ofSame: image.changes?.isNothing ?? false)
                    guard block + kept < blocks.upperBound else {
                        unchanged.removeFirst()
                        offset = min(Int64(blocks.upperBound) * Int64(blockSize), byteCount)
                        try observe?(.copied(offset))
                        continue
                    }
                    // The one that stopped it, or, without any, a whole run of them.
                    offset += Int64(kept) * Int64(blockSize)
                    let next = kept > 0 ? 1 : blocks.count - (block - blocks.lowerBound)
                    count = min(count, Int64(next) * Int64(blockSize), byteCount - offset)
                    let read = block + kept + Int((count + Int64(blockSize) - 1) / Int64(blockSize))
                    unchanged[unchanged.startIndex] = min(read, blocks.upperBound)..<blocks.upperBound
                    if unchanged[unchanged.startIndex].isEmpty { unchanged.removeFirst() }
                }
            }
            let run = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)])
            try file.read(into: run, at: offset)
            try overlay?.apply(to: run, at: offset)
            if offset == 0 { start = Array(run.prefix(24)) }
            try sink.append(UnsafeRawBufferPointer(run))
            offset += Int64(run.count)
            try requireWithinLimits(file, since: began, walBytes: image.report.walBytes)
            try observe?(.copied(offset))
        }
        try observe?(.beforeUnlock)
        return start
    }

    private func requireWithinLimits(
        _ file: SourceFile, since began: ContinuousClock.Instant, walBytes: Int64
    ) throws {
        if ContinuousClock.now - began > limits.maximumLockDuration {
            throw VaultError(
                .busy, "copying took longer than the limit of \(limits.maximumLockDuration) and was abandoned",
                path: file.path, remedy: "Allow more time, or back up to a faster disk.")
        }
        if LocalFile.size(file.path + "-wal") - walBytes > limits.maximumWALGrowth {
            throw VaultError(
                .busy,
                "its write-ahead log grew by more than the limit of \(limits.maximumWALGrowth) bytes during the copy",
                path: file.path, remedy: "Allow more growth, or back up when there is less write traffic.")
        }
    }
}

/// How long a capture may wait for locks, and what it may cost the database's users.
public struct CaptureLimits: Sendable {
    /// How long to keep trying while a lock is unavailable, for example during a write transaction or a checkpoint.
    public var lockTimeout: Duration
    /// The maximum time to hold a lock or a read mark. A copy that takes longer is abandoned.
    public var maximumLockDuration: Duration
    /// The maximum growth of the write-ahead log, in bytes, while a read mark keeps it from being reset.
    public var maximumWALGrowth: Int64
    /// How long before a capture a file must have been left alone for its times to identify its content.
    package var settling: TimeInterval = 2

    /// Creates limits: by default ten seconds for a lock, one hour for the copy and 1 GiB of growth.
    public init(
        lockTimeout: Duration = .seconds(10), maximumLockDuration: Duration = .seconds(3600),
        maximumWALGrowth: Int64 = 1 << 30
    ) {
        self.lockTimeout = lockTimeout
        self.maximumLockDuration = maximumLockDuration
        self.maximumWALGrowth = maximumWALGrowth
    }
}

/// A point of a capture at which a test can step in.
package enum CaptureEvent: Sendable, Equatable {
    /// The SHARED lock is held.
    case locked
    /// A read mark is held, and the log's index was checked again; the slot's number.
    case marked(slot: Int)
    /// This many bytes of the image were passed to the sink.
    case copied(Int64)
    /// The copy is complete; the locks are still held.
    case beforeUnlock
}

/// Receives the blocks of a consistent image of a database, in order, while a lock or a read mark is held. It does fast
/// work only (hash, compare, spool to a local file) and never waits for a network.
package protocol BlockSink {
    /// An earlier image, from which the sink can take blocks; nil without one.
    var basis: CaptureBasis? { get }

    /// Begins a copy at block 0. Discards blocks appended by an earlier, abandoned copy.
    mutating func begin(byteCount: Int64) throws

    /// Takes blocks from the earlier image instead of having them appended.
    ///
    /// - Parameters:
    ///   - blocks: the numbers of blocks that are the same as there, from the one to be appended next.
    ///   - isSame: whether that is because the whole image is supposed to be the same.
    /// - Returns: how many were taken, from the first. The others have to be appended.
    mutating func keep(_ blocks: Range<Int>, ofSame isSame: Bool) throws -> Int

    /// Appends whole blocks of ``blockSize`` bytes. Only the last block of the image may be shorter.
    mutating func append(_ blocks: UnsafeRawBufferPointer) throws
}

extension BlockSink {
    package var basis: CaptureBasis? { nil }
    package mutating func keep(_ blocks: Range<Int>, ofSame isSame: Bool) throws -> Int { 0 }
}

/// Bytes in a block. A database's page size may be unknown without its key; 4096 is the default page size of both engines.
package let blockSize = 4096

package struct CaptureReport: Sendable, Equatable {
    /// How the image was made consistent.
    package enum Mode: String, Sendable {
        /// Under a SHARED lock, without a write-ahead log.
        case rollback
        /// Under a read mark, with the pages in the write-ahead log.
        case wal
        /// Without a lock, on read-only media.
        case readOnly
    }

    package var mode = Mode.rollback
    package let byteCount: Int64
    /// Page size in bytes, if the log, a journal or a plaintext header contains it; nil for an encrypted database
    /// without a log.
    package var pageSize: Int?
    /// The position in the log up to which the image goes; nil without a log, or if the log has no valid header.
    package var position: LogPosition?
    /// What lets a follower continue from that position; nil if the log has no index.
    package var end: LogEnd?
    /// What identifies the file, if the image is the file alone; nil otherwise, and if it was changed just before.
    package var file: SourceState?
    /// Bytes of the `-wal` file when the capture began; 0 without one.
    package var walBytes: Int64 = 0
    /// The image's first 16 bytes, fewer if it is shorter: the salt of an encrypted database.
    package var start: [UInt8] = []
    /// Whether a hot journal was rolled back in the image.
    package var rolledBack = false
    /// Commits in the log after an invalid frame. They are not in the image; SQLite does not recover them either.
    package var unreachableCommits = 0
    /// When the lock or mark that makes the image consistent was taken, and when it was released.
    package var began: Date
    package var ended: Date
    /// The number of copies that were begun, including this one.
    package var attempts = 1

    /// The report of an image of known length that was just read, without a log.
    package init(byteCount: Int64, at time: Date = Date()) {
        (self.byteCount, began, ended) = (byteCount, time, time)
    }
}
