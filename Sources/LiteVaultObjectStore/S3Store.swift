public import LiteVaultBackup
public import LiteVaultSystem

/// An object store in a bucket of Amazon S3 or of a compatible server.
///
/// Requests are signed with Signature Version 4. Credentials are found as the AWS tools find them. A request is retried with
/// exponential backoff and jitter when the connection breaks, the response is truncated or the server is overloaded. A write
/// whose response was lost is recognised by an ID in the object's metadata.
public final class S3Store: ObjectStore {
    /// `s3://BUCKET/PREFIX`.
    public let location: String
    /// The location including the server: buckets of different servers may have the same name.
    public let identity: String
    let settings: S3Settings
    let client: S3Client
    let probe: ConditionalWriteProbe
    /// The options of uploads that the server is known to apply.
    let confirmed = Locked(Set<UploadOption>())

    /// Creates a store. No request is made yet.
    ///
    /// - Parameters:
    ///   - settings: the bucket, and how to reach it.
    ///   - environment: the variables that the AWS tools read; nil takes those of the process.
    /// - Throws: `VaultError` `config` if the endpoint, the region, the proxy or the options of uploads are invalid, or the
    ///   certificates of `AWS_CA_BUNDLE` cannot be read.
    public init(_ settings: S3Settings, environment: [String: String]? = nil) throws {
        try settings.uploads.check()
        let environment = environment ?? ProcessInfo.processInfo.environment
        let variables = AWSEnvironment(environment, profile: settings.profile)
        let region = settings.region ?? variables.region ?? "us-east-1"
        guard !region.isEmpty, region.utf8.allSatisfy({ $0 == 45 || (48...57).contains($0) || (97...122).contains($0) })
        else {
            throw VaultError(
                .config, "invalid object-store region",
                remedy: "A region has lowercase letters, digits and '-', as in eu-central-1.")
        }
        let url = settings.endpoint ?? variables.endpoint ?? AWSEnvironment.amazon("s3.\(region)", region: region)
        do {
            try StoreLocation.requireExpanded(settings.location)
            try BucketAddress(url: settings.location).requireName(at: url, usesPathStyle: settings.usesPathStyle)
        } catch let problem as StoreLocation.Problem {
            throw VaultError(.config, problem.message, path: settings.location, remedy: problem.remedy)
        }
        let endpoint = try Endpoint(
            url: url, bucket: settings.bucket,
            usesPathStyle: settings.usesPathStyle)
        let http = try S3Client.transport(settings, variables, environment)
        let clock = ServerClock(local: settings.clock)
        let chain = CredentialChain(environment: variables, http: http) { await clock.time(of: endpoint, by: http) }
        self.settings = settings
        location = settings.location
        let identity = "\(endpoint.scheme)://\(endpoint.host)\(endpoint.root)\(settings.prefix)"
        probe = ConditionalWriteProbe(directory: settings.cacheDirectory, identity: identity, clock: settings.clock)
        self.identity = identity
        client = S3Client(
            endpoint: endpoint, region: region,
            credentials: CredentialCache(clock, shortestUse: settings.shortestUse) { try await chain.resolve() },
            http: http,
            retries: RetryBudget(
                settings.retryTimeLimit, attempts: settings.attempts, firstPause: settings.firstPause),
            clock: clock)
    }

    /// Whether the server supports conditional writes. It is probed with the object `leases/conditions`, which stays; the
    /// result is cached for a week in the cache directory of the settings.
    public func supportsConditionalWrites() async throws -> Bool { try await conditionalWriteSupport() != .unsupported }

    /// The server's time, to the second: the `Date` header of a response.
    public func now() async throws -> Date {
        let request = request("HEAD", "clock")
        return try await perform(request, accepting: { $0 == 404 || $0 == 403 }) { answer in
            guard let time = answer.headers["date"].flatMap(HTTPDate.date) else {
                throw VaultError(.unsupported, "the server sends no Date header", path: self.location)
            }
            return time
        }
    }

    /// Removes the object. One that does not exist is ignored.
    public func remove(_ name: String) async throws {
        try ObjectName.validate(name)
        do {
            try await client.send(request("DELETE", name)) { answer in _ = try await answer.bytes(upTo: 1 << 20) }
        } catch let failure as S3Failure where failure.isMissing {
            // Servers differ in how they answer for an object that does not exist.
        } catch let failure as S3Failure {
            guard failure.isDenied else { throw failure.vaultError("\(location)/\(name)") }
            throw VaultError(
                .unsupported, "the credentials may not delete objects: \(failure.summary)",
                path: "\(location)/\(name)",
                remedy:
                    "Forgetting and pruning need s3:DeleteObject, and objects that are not locked. Use credentials that may delete; snapshots do not need this."
            )
        }
    }
}

extension S3Store {
    func request(_ method: String, _ name: String) -> S3Request {
        S3Request(
            method: method, key: settings.prefix.isEmpty ? name : "\(settings.prefix)/\(name)",
            location: "\(location)/\(name)")
    }

    /// Sends a request and maps a refusal to `VaultError`.
    func perform<T>(
        _ request: S3Request, accepting: @Sendable (Int) -> Bool = { _ in false },
        _ receive: (HTTPResponse) async throws -> T
    ) async throws -> T {
        do {
            return try await client.send(request, accepting: accepting, receive)
        } catch let failure as S3Failure {
            if failure.isMissing {
                throw VaultError(.missing, "no such object", path: request.location)
            }
            throw failure.vaultError(request.location)
        }
    }

    /// The error for an object that cannot be replaced.
    func replacementDenied(_ reason: String, _ name: String) -> VaultError {
        VaultError(
            .unsupported, "the credentials may not replace objects: \(reason)",
            path: "\(location)/\(name)",
            remedy:
                "Allow replacing objects below leases/, verified/ and forgotten/, and doomed.json; bucket versioning or object lock still keeps the old versions. All other objects are only added."
        )
    }

    /// The entity tag of a response, without its quotes.
    static func tag(_ text: String?) -> ETag {
        var text = text ?? ""
        if text.hasPrefix("W/") { text.removeFirst(2) }
        return ETag(text.trimmed { $0 == "\"" })
    }
}
