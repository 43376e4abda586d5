internal import LiteVaultFoundation

/// A moment by which something has to be over, on the clock that nobody sets: a wall clock that steps back would prolong a wait by as
/// much as it stepped.
package struct Deadline: Sendable, Comparable {
    private let end: ContinuousClock.Instant

    /// The moment after `limit`, from now on. A limit of more than a century is one of a century.
    package init(in limit: Duration) { end = .now + min(limit, .seconds(100 * 365 * 86_400)) }

    /// The moment after this many seconds; infinity is a century.
    package init(seconds: Double) { self.init(in: Duration(seconds: seconds)) }

    private init(_ end: ContinuousClock.Instant) { self.end = end }

    /// Whether it has passed.
    package var isOver: Bool { .now >= end }

    /// What is left of the time; zero when it is over.
    package var remaining: Duration { max(.zero, end - .now) }

    /// Whether it comes before another one.
    package static func < (left: Deadline, right: Deadline) -> Bool { left.end < right.end }

    /// A later one.
    package static func + (deadline: Deadline, more: Duration) -> Deadline { Deadline(deadline.end + more) }
}
