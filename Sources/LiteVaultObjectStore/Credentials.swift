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

/// Keeps credentials until they are about to expire, then renews them.
actor CredentialCache {
    /// How long before their expiration credentials are renewed at the earliest.
    private static let renewalTime = Duration.seconds(300)

    private let source: @Sendable () async throws -> AWSCredentials
    /// The credentials, and when they have to be renewed; nil for permanent ones.
    private var held: (credentials: AWSCredentials, renewal: Date?)?
    private var renewal: Task<AWSCredentials, any Error>?

    init(_ source: @escaping @Sendable () async throws -> AWSCredentials) { self.source = source }

    /// The credentials to sign with now.
    func current() async throws -> AWSCredentials {
        let now = Date()
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
            held = (new, due)
            return new
        } catch {
            // Still valid: a failed renewal does not matter yet.
            if let held, let end = held.credentials.expiration, end > now { return held.credentials }
            throw error
        }
    }
}
