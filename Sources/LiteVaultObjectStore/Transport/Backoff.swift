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
