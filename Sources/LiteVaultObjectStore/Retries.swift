internal import AsyncHTTPClient
internal import Foundation
internal import LiteVaultBackup
internal import NIOCore

/// Exponential backoff with full jitter: the limit doubles with each attempt, and the pause is random below it, so that
/// clients that failed together do not retry together.
package struct Backoff: Sendable {
    private let first: Double
    private let maximum: Double

    /// - Parameters:
    ///   - first: the limit of the first pause, in seconds.
    ///   - maximum: the limit of all pauses, in seconds.
    package init(first: Double, maximum: Double = 20) {
        self.first = first
        self.maximum = maximum
    }

    /// The longest pause after the given attempt (from 1) failed, in seconds.
    package func limit(after attempt: Int) -> Double {
        var limit = first
        for _ in 1..<max(attempt, 1) { limit = min(limit * 2, maximum) }
        return min(limit, maximum)
    }

    /// The pause after the given attempt failed, in seconds.
    ///
    /// - Parameter retryAfter: the pause that the server asked for, which is respected up to a minute.
    package func pause(after attempt: Int, retryAfter: Double? = nil) -> Double {
        let own = Double.random(in: 0...limit(after: attempt))
        return min(max(own, retryAfter ?? 0), max(maximum, 60))
    }
}

/// The time that a store may spend on failing requests, over all of them: a server that answers most requests with errors
/// would otherwise be retried for hours.
package final class RetryBudget: @unchecked Sendable {  // the lock guards `spent`
    private let seconds: Double
    private let lock = NSLock()
    private var spent = 0.0

    package init(_ limit: Duration) { seconds = max(0, limit.seconds) }

    /// Gives a twentieth of the budget back.
    package func succeeded() { lock.withLock { spent = max(0, spent - seconds / 20) } }

    /// Charges a failed attempt, and returns whether the budget covers a pause and another attempt.
    package func allows(since begin: ContinuousClock.Instant, pause: Double) -> Bool {
        allows(took: (ContinuousClock.now - begin).seconds, pause: pause)
    }

    /// As ``allows(since:pause:)``, with the duration of the attempt in seconds.
    package func allows(took: Double, pause: Double) -> Bool {
        lock.withLock {
            // Requests that fail at the same time do not spend more than the budget together.
            spent = min(spent + took, seconds)
            guard spent + pause < seconds else { return false }
            spent += pause
            return true
        }
    }
}

/// The time that requests are signed with: the local clock, corrected once a server refuses it as too far from its own.
/// Servers tolerate 15 minutes; a machine whose clock is further off can still make backups.
final class ServerClock: @unchecked Sendable {  // its lock guards `ahead`
    private let lock = NSLock()
    private let local: @Sendable () -> Double
    /// Seconds by which the server's clock is ahead of the local clock.
    private var ahead = 0.0

    /// - Parameter local: the local clock, in seconds since 1970.
    init(local: @escaping @Sendable () -> Double) { self.local = local }

    func now() -> Double { local() + lock.withLock { ahead } }

    /// Adopts the server's time where clock skew may be the reason for a refusal.
    ///
    /// - Returns: whether the clock was corrected, so that the request is worth another attempt.
    func correct(after failure: S3Failure) -> Bool {
        guard failure.mayBeClockSkew, let skew = failure.skew, abs(skew) > Self.tolerated, let time = failure.serverTime
        else { return false }
        // Not by the difference in the failure: several requests refused together would each add it.
        let difference = time - local()
        lock.withLock { ahead = difference }
        return true
    }

    /// The skew in seconds that every server tolerates.
    private static let tolerated = 60.0
}

/// A GET request that only has to arrive: the heartbeat of a job.
package enum Heartbeat {
    /// Requests `url`, retrying on failure. A single attempt takes ten seconds at most.
    ///
    /// - Parameters:
    ///   - attempts: the most attempts.
    ///   - limit: the time for all attempts and pauses.
    /// - Throws: ``BackupError`` `io` when no attempt succeeds. It does not contain the URL, which is as good as a password.
    package static func send(to url: String, attempts: Int = 3, within limit: Duration = .seconds(60)) async throws {
        let backoff = Backoff(first: 1)
        let end = ContinuousClock.now + limit
        var attempt = 1
        while true {
            let problem: String
            do {
                let request = HTTPClientRequest(url: url)
                let answer = S3Response(
                    try await HTTPClient.shared.execute(request, timeout: min(.seconds(10), max(.milliseconds(1), TimeAmount(end - .now)))))
                _ = try await answer.bytes(upTo: 1 << 20)
                if (200..<300).contains(answer.status) { return }
                problem = "status \(answer.status)"
            } catch let error as HTTPClientError {
                problem = error.shortDescription
            } catch {
                problem = "the connection failed"
            }
            let pause = backoff.pause(after: attempt)
            guard attempt < attempts, (end - .now).seconds > pause else {
                throw BackupError(
                    .io, "the heartbeat failed: \(problem)",
                    remedy: "Check its URL and the network. The limit 'heartbeat' sets how long it is retried.")
            }
            try await Task.sleep(nanoseconds: UInt64(pause * 1e9))
            attempt += 1
        }
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
