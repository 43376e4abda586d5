package import Foundation
package import LiteVaultCapture
package import LiteVaultRepository

/// How a database is followed.
package struct FollowingOptions: Sendable {
    /// The database's name in the repository.
    package var database: String
    /// What it may cost those who use the database.
    package var limits = FollowerLimits()
    /// Bytes that may wait to be stored, above which the log is let go of.
    package var spoolBytes: Int64 = 1 << 30
    /// Whether a database without encryption may be stored.
    package var allowsPlaintext = false
    /// Seconds from one try to the next after a failure: the first time, and at most.
    package var backoff: ClosedRange<Double> = 1...300
    /// What pauses are measured by.
    package var clock = PauseClock.system

    package init(database: String) { self.database = database }
}

/// What pauses are measured by: a clock that nobody sets, or a test's.
package struct PauseClock: Sendable {
    /// Seconds since some moment.
    package let now: @Sendable () -> Double
    /// Waits for so many seconds, or until the task is cancelled.
    package let sleep: @Sendable (Double) async -> Void

    package init(now: @escaping @Sendable () -> Double, sleep: @escaping @Sendable (Double) async -> Void) {
        self.now = now
        self.sleep = sleep
    }

    /// The machine's.
    package static let system = PauseClock(
        now: { ProcessInfo.processInfo.systemUptime },
        sleep: { seconds in
            do { try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1e9)) } catch { return }
        })
}

/// What happens to a database that is followed.
package enum FollowingEvent: Sendable {
    /// What failed.
    package enum Step: String, Sendable {
        /// Reading the log, or spooling what was read.
        case log
        /// The snapshot that a run begins with.
        case snapshot
        /// Storing segments, or getting at the repository.
        case store
    }

    /// There is nothing to follow, for that reason; it is looked for again at each interval.
    case waiting(String)
    /// A run begins. Nothing of it can be restored before its snapshot is stored.
    case attached
    /// The snapshot that the run begins with is stored.
    case based(Snapshot)
    /// The log was looked at.
    case looked(Date)
    /// A segment is stored.
    case stored(frames: UInt32, bytes: Int64, seen: Date)
    /// A run has ended, and what is committed from now on is not seen before the next one begins.
    case gap(SnapshotGap)
    /// It is tried again after so many seconds.
    case failed(Step, any Error, again: Double)
    /// It was to end, and has; so many segments that were seen could not be stored in time.
    case ended(lost: Int)
}
