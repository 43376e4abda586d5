/// How much a follower may cost those who use the database.
package struct FollowerLimits: Sendable {
    /// Bytes of frames in the log above which the follower lets go of it, so that it can start over. That makes a gap.
    package var logBytes: Int64
    /// Seconds between two looks at the log.
    package var interval: Double

    package init(logBytes: Int64 = 256 << 20, interval: Double = 1) {
        self.logBytes = logBytes
        self.interval = interval
    }
}

/// What a look at the log gave.
package enum FollowerOutcome: Sendable, Equatable {
    /// There is no log, or it can not be followed now; nothing is held.
    case waiting(String)
    /// A new run begins: a snapshot has to be taken now.
    case attached(run: [UInt8])
    /// So many frames were read, 0 if nothing was committed.
    case read(frames: UInt32)
    /// The run has ended; frames may be lost to it.
    case gap(String)
}
