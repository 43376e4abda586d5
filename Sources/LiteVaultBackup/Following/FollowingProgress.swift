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
