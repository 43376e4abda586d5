/// Where the segments of a run end in the log, as far back as a snapshot may need it.
///
/// A snapshot by the follower's process records how many segments of the run are in its image. Salts alone do not tell: a connection
/// that has reset no log itself gives random ones to a log that another one has reset.
struct LogTrail {
    private struct Step {
        let salts: UInt64
        /// The first and the last frame; of the position from which the follower reads on, the next one and its own.
        let first: UInt32
        let last: UInt32
        /// How many segments of the run end here or before.
        let count: UInt64
    }

    private var steps: [Step] = []
    /// The most steps that are kept, which are those of seconds to minutes.
    private static let limit = 4096

    /// Begins at a position from which the follower reads on, behind this many segments of its run.
    mutating func begin(at position: LogPosition, after count: UInt64) {
        steps = [Step(salts: position.salts, first: position.frame &+ 1, last: position.frame, count: count)]
    }

    mutating func add(_ segment: WALSegment) {
        if steps.count >= Self.limit { steps.removeFirst(Self.limit / 2) }
        steps.append(
            Step(
                salts: segment.salts, first: segment.firstFrame, last: segment.lastFrame, count: segment.sequence + 1))
    }

    /// How many segments of the run end at or before a position: those that an image which ends there has; nil if that is not known.
    ///
    /// - Parameter isBehind: whether the log was read after the image, so that everything up to the position was read.
    func count(upTo position: LogPosition, isBehind: Bool) -> UInt64? {
        if let step = steps.first(where: { $0.salts == position.salts && $0.last >= position.frame }) {
            if step.last == position.frame { return step.count }
            // It begins before the position, or the position is one that was not read.
            return step.first <= position.frame &+ 1 && step.count > 0 ? step.count - 1 : nil
        }
        guard isBehind, position.frame == 0 else { return nil }
        // The log was reset, and the next connection that wrote to it gave it other salts.
        return steps.last { $0.salts.resets(to: position.salts) != nil }?.count
    }
}

extension UInt64 {
    /// How often a log with these salts was reset until it had others: the first half counts. Nil if they do not lead there.
    ///
    /// A connection that writes to a reset log and has reset none itself gives it random salts (`sqlite3WalFrames`), and so does the first
    /// writer of a new log. One in 65,536 of such seems to be a later state of an earlier log.
    package func resets(to later: UInt64) -> UInt32? {
        let count = UInt32(truncatingIfNeeded: later >> 32) &- UInt32(truncatingIfNeeded: self >> 32)
        return (1..<(1 << 16)).contains(count) ? count : nil
    }
}
