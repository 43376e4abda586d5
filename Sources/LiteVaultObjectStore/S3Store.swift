internal import Foundation
public import LiteVaultBackup

/// Objects in a bucket of S3, or of a server that speaks its protocol.
///
/// Requests are signed (version 4) with credentials found by the conventions of the AWS tools; they are made again, with
/// growing random pauses, when the connection breaks, the answer is cut off or the server is overloaded. A write whose
/// answer was lost is recognised by a mark of its own in the object's metadata.
public final class S3Store: ObjectStore {
    /// `s3://BUCKET/PREFIX`.
    public let location: String
    /// The location with the server that it is on: buckets of different servers may have the same name.
    public let identity: String
    let settings: S3Settings
    let client: S3Client
    let probe: ConditionProbe

    /// The store of the settings; nothing is asked of it yet.
    ///
    /// - Parameters:
    ///   - settings: the bucket, its endpoint, and how long to try.
    ///   - environment: variables as the AWS tools name them; nil for those of the process.
    /// - Throws: `BackupError` `config` if the endpoint or the region is invalid.
    public init(_ settings: S3Settings, environment: [String: String]? = nil) throws {
        let variables = AWSEnvironment(
            environment ?? ProcessInfo.processInfo.environment, profile: settings.profile)
        let region = settings.region ?? variables.region ?? "us-east-1"
        guard !region.isEmpty, region.utf8.allSatisfy({ $0 == 45 || (48...57).contains($0) || (97...122).contains($0) })
        else { throw BackupError(.config, "the region of the object store is none", remedy: "Check --s3-region.") }
        let endpoint = try Endpoint(
            url: settings.endpoint ?? variables.endpoint ?? Endpoint.amazon(region), bucket: settings.bucket,
            usesPathStyle: settings.usesPathStyle)
        let http = try S3Client.http(settings, variables)
        let chain = CredentialChain(environment: variables, http: http)
        self.settings = settings
        location = settings.location
        let identity = "\(endpoint.scheme)://\(endpoint.host)\(endpoint.root)\(settings.prefix)"
        probe = ConditionProbe(folder: settings.cacheFolder, identity: identity, clock: settings.clock)
        self.identity = identity
        client = S3Client(
            endpoint: endpoint, region: region, credentials: CredentialCache { try await chain.find() }, http: http,
            attempts: settings.attempts, budget: RetryBudget(settings.patience),
            backoff: Backoff(first: settings.firstPause),
            clock: ServerClock(local: settings.clock))
    }

    /// Whether the server makes a write whose condition holds, and refuses one whose condition does not: tried out with the
    /// object `leases/conditions`, which stays, and remembered for a week in the cache folder of the settings.
    public func supportsConditionalWrites() async throws -> Bool { try await conditions() != .neither }

    /// The time that the server writes into its answers, to the second.
    public func now() async throws -> Double {
        let request = request("HEAD", "clock")
        return try await sending(request, accepting: { $0 == 404 || $0 == 403 }) { answer in
            guard let time = answer.headers["date"].flatMap(HTTPDate.seconds) else {
                throw BackupError(.unsupported, "the server does not tell its time", path: self.location)
            }
            return time
        }
    }

    /// Removes the object.
    public func remove(_ name: String) async throws {
        try ObjectName.validate(name)
        do {
            try await client.send(request("DELETE", name)) { answer in _ = try await answer.bytes(upTo: 1 << 20) }
        } catch let failure as S3Failure where failure.isMissing {
            // Servers differ in what they say of an object that is not there.
        } catch let failure as S3Failure {
            guard failure.isDenied else { throw failure.backupError("\(location)/\(name)") }
            throw BackupError(
                .unsupported, "the store removes nothing for these credentials: \(failure.said)",
                path: "\(location)/\(name)",
                remedy:
                    "'forget' and '--prune' need s3:DeleteObject, and objects that no lock holds. Run them with credentials that may remove; snapshots need no such right."
            )
        }
    }
}

extension S3Store {
    /// A request for an object of the store.
    func request(_ method: String, _ name: String) -> S3Request {
        S3Request(
            method: method, key: settings.prefix.isEmpty ? name : "\(settings.prefix)/\(name)",
            location: "\(location)/\(name)")
    }

    /// Makes a request, and reports a refusal as a `BackupError`.
    func sending<T>(
        _ request: S3Request, accepting: @Sendable (Int) -> Bool = { _ in false },
        _ receive: (S3Response) async throws -> T
    ) async throws -> T {
        do {
            return try await client.send(request, accepting: accepting, receive)
        } catch let failure as S3Failure {
            if failure.isMissing {
                throw BackupError(.missing, "there is no such object", path: request.location)
            }
            throw failure.backupError(request.location)
        }
    }

    /// What is told where an object cannot be replaced.
    ///
    /// - Parameter said: what the server says.
    func replacementRefusal(_ said: String, _ name: String) -> BackupError {
        BackupError(
            .unsupported, "the store does not let these credentials replace an object: \(said)",
            path: "\(location)/\(name)",
            remedy:
                "Let them replace objects under leases/, verified/ and forgotten/, and doomed.json; versioning or a lock of the bucket keeps the old ones all the same. Everything else is only added."
        )
    }

    /// The tag in an answer: as the server writes it, without the quotes.
    static func tag(_ text: String?) -> ETag {
        var text = text ?? ""
        if text.hasPrefix("W/") { text.removeFirst(2) }
        return ETag(text.trimmingCharacters(in: CharacterSet(charactersIn: "\"")))
    }
}
