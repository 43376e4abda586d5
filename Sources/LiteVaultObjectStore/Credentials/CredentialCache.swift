internal import Foundation

/// Credentials as long as they last; those that end are asked for again in time.
actor CredentialCache {
    private let source: @Sendable () async throws -> AWSCredentials
    private var held: AWSCredentials?
    private var asking: Task<AWSCredentials, any Error>?

    init(_ source: @escaping @Sendable () async throws -> AWSCredentials) { self.source = source }

    /// Those to sign with now.
    func current() async throws -> AWSCredentials {
        let now = Date().timeIntervalSince1970
        if let held, held.expiration.map({ $0 - now > 300 }) ?? true { return held }
        let task = asking ?? Task { [source] in try await source() }
        asking = task
        defer { if asking == task { asking = nil } }
        do {
            let new = try await task.value
            held = new
            return new
        } catch {
            // The old ones are good for a while: a failure to renew them is no failure yet.
            if let held, let end = held.expiration, end > now { return held }
            throw error
        }
    }
}
