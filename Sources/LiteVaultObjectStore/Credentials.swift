internal import LiteVaultBackup
package import LiteVaultSystem

/// An access key. Neither its description nor its mirror shows the secret parts.
package struct AWSCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let accessKey: String
    package let secretKey: String
    package let sessionToken: String?
    /// The expiration time; nil for permanent credentials.
    package let expiration: Date?

    package init(accessKey: String, secretKey: String, sessionToken: String? = nil, expiration: Date? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expiration = expiration
    }

    package var description: String { "AWSCredentials(\(accessKey.prefix(4))…)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Keeps credentials until they are about to expire, or a server refuses them, then renews them. Whether they have expired is judged by the
/// store's clock: the one here may be wrong.
actor CredentialCache {
    /// How long before their expiration credentials are renewed at the earliest.
    private static let renewalTime = Duration.seconds(300)

    private struct Held {
        let credentials: AWSCredentials
        let obtained = ContinuousClock.now
        /// When they have to be renewed; nil for permanent ones.
        var renewal: Date?
    }

    private let source: @Sendable () async throws -> AWSCredentials
    private let clock: ServerClock
    private let shortestUse: Duration
    private var held: Held?
    private var renewal: Task<AWSCredentials, any Error>?

    /// - Parameter shortestUse: how long credentials are used at least, unless the server says that they have expired.
    init(
        _ clock: ServerClock, shortestUse: Duration, _ source: @escaping @Sendable () async throws -> AWSCredentials
    ) {
        (self.clock, self.shortestUse, self.source) = (clock, shortestUse, source)
    }

    private var now: Date { clock.serverTime ?? clock.now() }

    func current() async throws -> AWSCredentials {
        if let held, held.renewal.map({ $0 > now }) ?? true { return held.credentials }
        let task = renewal ?? Task { [source] in try await source() }
        renewal = task
        defer { if renewal == task { renewal = nil } }
        do {
            let new = try await task.value
            // Credentials for a few minutes only are not fetched for each request.
            let due = new.expiration.map { end in
                end - min(Self.renewalTime.seconds, max(0, end.timeIntervalSince(now)) / 4)
            }
            held = Held(credentials: new, renewal: due)
            return new
        } catch {
            // Still valid: a failed renewal does not matter yet.
            if let held, held.credentials.expiration.map({ $0 > now }) ?? true { return held.credentials }
            throw error
        }
    }

    /// Takes note of a refusal.
    ///
    /// - Returns: whether they may have expired, so that the request is worth another attempt with those of ``current()``.
    func renew(_ used: AWSCredentials, after failure: S3Failure) -> Bool {
        let mayBeExpiration = failure.isExpiration || (used.expiration != nil && failure.mayBeExpiration)
        guard mayBeExpiration, let held else { return false }
        // Another request has renewed them.
        if (held.credentials.accessKey, held.credentials.sessionToken) != (used.accessKey, used.sessionToken) {
            return true
        }
        // If it is a missing permission, the next ones are refused as well: they are not obtained for each request.
        guard failure.isExpiration || ContinuousClock.now - held.obtained >= shortestUse else { return false }
        self.held?.renewal = .distantPast
        return true
    }
}
