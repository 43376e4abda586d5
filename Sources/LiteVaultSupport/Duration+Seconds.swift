extension Duration {
    /// The longest duration that ``init(seconds:)`` creates, in seconds: 31 million years.
    private static var longest: Double { 1e15 }

    /// Creates a duration from a number of seconds that may come from outside: it never traps.
    ///
    /// - Parameter seconds: too large or infinite values become about 31 million years, NaN becomes zero.
    package init(seconds: Double) {
        guard !seconds.isNaN else {
            self = .zero
            return
        }
        let seconds = min(max(seconds, -Self.longest), Self.longest)
        let whole = seconds.rounded(.towardZero)
        self.init(secondsComponent: Int64(whole), attosecondsComponent: Int64((seconds - whole) * 1e18))
    }

    /// The duration in seconds.
    package var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
