/// How long to wait between attempts: twice as long each time, within a range.
///
/// A single waiting loop calls ``next()`` and ``reset()``. Where many clients may fail together, ``jittered(_:asked:)``
/// keeps them from retrying together.
package struct Backoff: Sendable {
    /// The first and the longest pause, in seconds.
    package let range: ClosedRange<Double>

    private var attempt = 0

    /// Creates a backoff whose first pause is the lower bound of `range`, in seconds.
    package init(_ range: ClosedRange<Double>) { self.range = range }

    /// Creates a backoff from `first` to `most` seconds. With `most` below `first`, all pauses are `most`.
    package init(first: Double, most: Double) { range = min(first, most)...most }

    /// The pause after the given attempt failed, in seconds. Attempts count from 1.
    package func limit(_ attempt: Int) -> Double {
        var limit = range.lowerBound
        for _ in 1..<max(attempt, 1) where limit < range.upperBound { limit = min(limit * 2, range.upperBound) }
        return limit
    }

    /// A random pause of at most ``limit(_:)`` after the given attempt failed, in seconds ("full jitter").
    ///
    /// - Parameter asked: the pause requested by the server, in seconds. It is honored up to a minute or the longest
    ///   pause, whichever is more.
    package func jittered(_ attempt: Int, asked: Double? = nil) -> Double {
        min(max(Double.random(in: 0...limit(attempt)), asked ?? 0), max(range.upperBound, 60))
    }

    /// The pause before the next attempt, in seconds: longer with each call.
    package mutating func next() -> Double {
        // Beyond this no range of seconds grows.
        attempt = min(attempt + 1, 2048)
        return limit(attempt)
    }

    /// Begins with the first pause again.
    package mutating func reset() { attempt = 0 }
}

/// The attempts of a store's requests. The time for those that fail is one for all requests: a server that answers most of them with
/// errors would otherwise be retried for hours.
package final class RetryBudget: Sendable {
    private let limit: Duration
    private let attempts: Int
    private let backoff: Backoff
    private let spent = Locked(Duration.zero)

    /// - Parameters:
    ///   - limit: the time for failed attempts and the pauses after them, over all requests.
    ///   - attempts: how often a request is sent, at least once.
    ///   - firstPause: the longest pause before the second attempt; doubled with each further one, up to 20 seconds.
    package init(_ limit: Duration, attempts: Int = .max, firstPause: Duration = .zero) {
        self.limit = max(.zero, limit)
        self.attempts = max(1, attempts)
        backoff = Backoff(first: firstPause.seconds, most: 20)
    }

    /// Gives a twentieth of the budget back.
    package func succeeded() { spent.withLock { $0 = max(.zero, $0 - limit / 20) } }

    /// Charges a failed attempt that is not the last one, and waits for the next one if the budget covers the pause.
    ///
    /// - Parameters:
    ///   - number: the number of the attempt that failed, from 1.
    ///   - begin: when it began.
    ///   - asked: the pause requested by the server.
    /// - Returns: false if there is no further attempt. Nothing is waited for then.
    /// - Throws: `CancellationError`.
    package func pause(
        after number: Int, since begin: ContinuousClock.Instant, asked: Duration? = nil
    ) async throws -> Bool {
        let pause = Duration(seconds: backoff.jittered(number, asked: asked?.seconds))
        guard number < attempts, allows(took: .now - begin, pause: pause) else { return false }
        try await Task.sleep(for: pause)
        return true
    }

    /// Charges a failed attempt, and returns whether the budget covers a pause and another attempt.
    package func allows(took: Duration, pause: Duration) -> Bool {
        spent.withLock { spent in
            // Requests that fail at the same time do not spend more than the budget together.
            spent = min(spent + took, limit)
            guard spent + pause < limit else { return false }
            spent += pause
            return true
        }
    }
}
