package import LiteVaultCapture
package import LiteVaultRepository
package import LiteVaultSystem

/// Options for following a database.
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

    /// There is no log to follow, for this reason. It is checked again at each interval.
    case waiting(String)
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
