package import LiteVaultFoundation

/// The clocks of the host, or a test's. Followers, snapshots and their labels take all that they know of time from one of these,
/// which comes with the repository.
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

    /// The system's clocks.
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
