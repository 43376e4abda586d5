internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultSystem

/// The time that requests are signed with: the local clock, corrected once a server refuses it as too far from its own.
/// Servers tolerate 15 minutes; a machine whose clock is further off can still make backups.
final class ServerClock: Sendable {
    private let local: @Sendable () -> Date
    /// The time by which the server's clock is ahead of the local clock.
    private let ahead = Locked(Duration.zero)
    /// The same time by the newest response; nil before the first one. Requests are not signed by it: it has no fractions of a
    /// second, and the local clock is right as a rule.
    private let observed = Locked(Duration?.none)

    /// - Parameter local: the local clock.
    init(local: @escaping @Sendable () -> Date) { self.local = local }

    func now() -> Date { local() + ahead.value.seconds }

    /// The server's time, to about a second; nil before the first response.
    var serverTime: Date? { observed.value.map { local() + $0.seconds } }

    /// Takes note of the time in a response.
    func observe(_ time: Date) {
        let difference = Duration(seconds: time.timeIntervalSince(local()))
        observed.withLock { $0 = difference }
    }

    /// Adopts the server's time where clock skew may be the reason for a refusal.
    ///
    /// - Returns: whether the clock was corrected, so that the request is worth another attempt.
    func correct(after failure: S3Failure) -> Bool {
        guard failure.mayBeClockSkew, let skew = failure.skew, abs(skew.seconds) > Self.tolerated.seconds,
            let time = failure.serverTime
        else { return false }
        // Not by the difference in the failure: several requests refused together would each add it.
        let difference = Duration(seconds: time.timeIntervalSince(local()))
        ahead.withLock { $0 = difference }
        return true
    }

    /// The skew that every server tolerates.
    private static let tolerated = Duration.seconds(60)
}
