/// The clocks of the host, or a test's. Followers, snapshots and their labels take all that they know of time from that of their
/// repository, and the times of jobs come from that of their runner.
package struct HostClock: Sendable {
    /// The time of day. It may be set to anything at any moment: it makes labels, and never decides an order.
    package let time: @Sendable () -> Date
    /// Seconds of a clock that nobody sets.
    package let now: @Sendable () -> Double
    /// Waits for this many seconds, or until the task is cancelled.
    package let sleep: @Sendable (Double) async -> Void

    package init(
        time: @escaping @Sendable () -> Date = { Date() }, now: @escaping @Sendable () -> Double,
        sleep: @escaping @Sendable (Double) async -> Void
    ) {
        self.time = time
        self.now = now
        self.sleep = sleep
    }

    package static let system = HostClock(
        now: { ProcessInfo.processInfo.systemUptime },
        sleep: { seconds in
            do { try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1e9)) } catch { return }
        })
}

extension Date {
    /// A date is a sum of binary fractions of a second, so that one made of whole milliseconds may be a little less than them. Its
    /// error is below a microsecond until the year 2272 and far below a millisecond until 9999.
    private static var error: Double { 1e-6 }

    /// Whole milliseconds since 1970: the unit of labels, in which all times of a repository are compared.
    package var milliseconds: Int64 {
        let value = ((timeIntervalSince1970 + Self.error) * 1000).rounded(.down)
        return Int64(exactly: value) ?? (value > 0 ? .max : 0)
    }

    /// The date of a label.
    package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

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
