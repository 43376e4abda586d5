internal import Foundation

/// How long to wait before a request is made again: doubled each time, and random between nothing and that, so that many
/// clients that failed together do not come back together.
package struct Backoff: Sendable {
    package let first: Double
    package let most: Double

    package init(first: Double, most: Double = 20) {
        self.first = first
        self.most = most
    }

    /// Seconds to wait after `attempt` (from 1) failed, at most.
    package func limit(_ attempt: Int) -> Double {
        var limit = first
        for _ in 1..<max(attempt, 1) { limit = min(limit * 2, most) }
        return min(limit, most)
    }

    /// Seconds to wait after `attempt` failed.
    ///
    /// - Parameter asked: what the server asked for, which is not shortened.
    package func pause(_ attempt: Int, asked: Double? = nil) -> Double {
        let own = Double.random(in: 0...limit(attempt))
        return min(max(own, asked ?? 0), max(most, 60))
    }
}

/// The seconds that a store may spend on what fails, over all its requests: a server that answers most of them with errors
/// would otherwise be asked for hours.
package final class RetryBudget: @unchecked Sendable {  // the lock guards `spent`
    private let seconds: Double
    private let lock = NSLock()
    private var spent = 0.0

    package init(_ seconds: Double) { self.seconds = max(0, seconds) }

    /// Gives a twentieth back.
    package func succeeded() { lock.withLock { spent = max(0, spent - seconds / 20) } }

    /// Counts an attempt that failed, and whether a pause and another one are left.
    package func allows(since begin: ContinuousClock.Instant, pause: Double) -> Bool {
        let took = (ContinuousClock.now - begin).components
        return allows(took: Double(took.seconds) + Double(took.attoseconds) / 1e18, pause: pause)
    }

    /// As ``allows(since:pause:)``, for an attempt that took so many seconds.
    package func allows(took: Double, pause: Double) -> Bool {
        lock.withLock {
            // Several fail at the same time: together they do not spend more than the budget.
            spent = min(spent + took, seconds)
            guard spent + pause < seconds else { return false }
            spent += pause
            return true
        }
    }
}
