package import LiteVaultCapture
package import LiteVaultRepository
package import LiteVaultSystem

package struct FollowingOptions: Sendable {
    /// The database's name in the repository.
    package var database: String
    /// Limits on what it may cost the database's users.
    package var limits = FollowerLimits()
    /// Bytes that may wait to be stored. Beyond that, the log is released.
    package var spoolBytes: Int64 = 1 << 30
    /// Whether a database without encryption may be stored.
    package var allowsPlaintext = false
    /// How long commits can be restored one by one; nil joins no segments.
    package var compaction: CompactionPolicy?
    /// Seconds between attempts to join segments.
    package var compactionInterval: Double = 10
    /// Seconds between attempts after a failure: the first pause, and the maximum.
    package var backoff: ClosedRange<Double> = 1...300

    package init(database: String) { self.database = database }
}

/// An event of a followed database.
package enum FollowingEvent: Sendable {
    /// The step that failed.
    package enum Step: String, Sendable {
        /// Reading the log, or spooling what was read.
        case log
        /// The snapshot that a run begins with.
        case snapshot
        /// Storing segments, or accessing the repository.
        case store
        /// Joining stored segments.
        case compact
    }

    /// There is no log to follow, for this reason. It is checked again at each interval. `wasFollowed`: segments of the database are
    /// stored. What is committed without a log is not.
    case waiting(String, wasFollowed: Bool)
    /// A run begins. Its commits cannot be restored before its snapshot is stored.
    case attached
    /// An earlier run continues without a gap. It is based on this snapshot or an earlier one.
    case resumed(Snapshot)
    /// The snapshot that the run starts from is stored.
    case based(Snapshot)
    /// The log was polled.
    case polled(Date)
    /// A segment is stored.
    case stored(frames: UInt32, bytes: Int64, seen: Date)
    /// The clock is this many seconds behind the labels: it was set back, or had been ahead. Labels follow each other in milliseconds until
    /// it is ahead of them.
    case clockBehind(seconds: Double)
    /// Segments were joined or removed, or could not be.
    case compacted(CompactionResult)
    /// A run has ended. Commits are not seen until the next one begins.
    case gap(SnapshotGap)
    /// The repository is back in its place, where another one or none had been. Following continues.
    case returned
    /// A step failed; it is retried after this many seconds.
    case failed(Step, any Error, again: Double)
    /// A standby of the database was promoted. Following ends for good, with the error that says what to do.
    case promoted(VaultError)
    /// Following has ended; this many segments could not be stored in time.
    case ended(lost: Int)
}

/// How far what is stored of a database reaches, on a clock that nobody sets.
///
/// A poll is complete once every segment that was read by its end is stored, behind a snapshot that they extend: everything committed
/// before that poll began can be restored. Of the polls that are not complete yet, the oldest and the newest are remembered: what is known
/// is never more than what was observed, and memory does not grow with what waits.
package struct FollowingProgress: Sendable, Equatable {
    private struct Poll: Equatable {
        /// When it began.
        let began: Double
        /// The number of segments that were read by its end.
        let read: Int
    }

    private var oldest: Poll?
    private var newest: Poll?

    /// When the last complete poll began; nil before the first one.
    package private(set) var complete: Double?
    /// The number of segments that wait to be stored.
    package private(set) var waiting = 0

    package init() {}

    /// A new claim on the repository's segments begins, with an empty spool.
    package mutating func begin() { (oldest, newest, waiting) = (nil, nil, 0) }

    /// The log was polled.
    ///
    /// - Parameters:
    ///   - began: when the poll began.
    ///   - read: the number of segments that were ever spooled.
    ///   - stored: the number of those that were taken out of the spool.
    ///   - isBased: whether the snapshot that they extend is stored.
    package mutating func didPoll(began: Double, read: Int, stored: Int, isBased: Bool) {
        if isBased {
            newest = Poll(began: began, read: read)
            oldest = oldest ?? newest
        } else {
            (oldest, newest) = (nil, nil)
        }
        didStore(read: read, stored: stored)
    }

    /// Segments were stored; the numbers are those of ``didPoll(began:read:stored:isBased:)``.
    package mutating func didStore(read: Int, stored: Int) {
        waiting = read - stored
        if let newest, stored >= newest.read {
            complete = newest.began
            (oldest, self.newest) = (nil, nil)
        } else if let oldest, stored >= oldest.read {
            complete = oldest.began
            self.oldest = newest
        }
    }

    /// Seconds since the oldest moment of which a commit may not be stored; nil if nothing was observed yet.
    ///
    /// - Parameter now: the time of the clock.
    package func lag(at now: Double) -> Double? { complete.map { max(0, now - $0) } }
}
