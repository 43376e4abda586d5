internal import Foundation

/// The time by which requests are signed: this machine's, corrected once a server has refused it for being too far from its
/// own. Servers allow for 15 minutes; a machine whose clock is further off still has its backups made.
final class ServerClock: @unchecked Sendable {  // its lock guards `ahead`
    private let lock = NSLock()
    private let local: @Sendable () -> Double
    /// Seconds that the server's clock is ahead of this machine's.
    private var ahead = 0.0

    /// - Parameter local: seconds since 1970 by this machine.
    init(local: @escaping @Sendable () -> Double) { self.local = local }

    func now() -> Double { local() + lock.withLock { ahead } }

    /// Takes the server's time over, where its refusal may come from a difference of the clocks.
    ///
    /// - Returns: whether the request is worth another attempt.
    func correct(after failure: S3Failure) -> Bool {
        guard failure.mayBeSkew, let skew = failure.skew, abs(skew) > Self.tolerated, let time = failure.serverTime
        else { return false }
        // Not by the difference that was told: of several requests that are refused together each has told it.
        let difference = time - local()
        lock.withLock { ahead = difference }
        return true
    }

    /// Seconds within which no server refuses a request for its time.
    private static let tolerated = 60.0
}
