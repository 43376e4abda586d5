internal import AsyncHTTPClient
internal import Foundation
internal import LiteVaultBackup
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// Signs requests, makes them, and makes them again where that may help.
final class S3Client: Sendable {
    let endpoint: Endpoint
    let region: String
    let backoff: Backoff
    let attempts: Int
    private let budget: RetryBudget
    private let credentials: CredentialCache
    private let http: HTTPClient
    private let clock: ServerClock

    init(
        endpoint: Endpoint, region: String, credentials: CredentialCache, http: HTTPClient, attempts: Int,
        budget: RetryBudget, backoff: Backoff, clock: ServerClock
    ) {
        self.endpoint = endpoint
        self.region = region
        self.credentials = credentials
        self.http = http
        self.attempts = max(1, attempts)
        self.budget = budget
        self.backoff = backoff
        self.clock = clock
    }

    deinit { http.shutdown { _ in } }

    /// The client below, with the time limits that the store asks for.
    ///
    /// - Throws: `BackupError` `config` when the certificates that `AWS_CA_BUNDLE` names can not be read.
    static func http(_ settings: S3Settings, _ environment: AWSEnvironment) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        let silence = TimeAmount.milliseconds(Int64(settings.timeout * 1000))
        configuration.timeout = .init(connect: min(silence, .seconds(10)), read: silence, write: silence)
        // A redirected request would carry a signature for another host.
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.dnsOverride = settings.hosts
        if let bundle = environment.variables["AWS_CA_BUNDLE"] ?? environment.settings["ca_bundle"] {
            var tls = TLSConfiguration.makeClientConfiguration()
            do {
                tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(bundle))
            } catch {
                throw BackupError(
                    .config, "holds no certificates that can be read", path: bundle,
                    remedy: "AWS_CA_BUNDLE and ca_bundle name a file of certificates in PEM form.")
            }
            configuration.tlsConfiguration = tls
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Makes a request until it is answered, or as often as the settings say.
    ///
    /// - Parameters:
    ///   - accepting: whether an answer of that status, besides 2xx, is one to receive.
    ///   - receive: reads the answer. What it throws, but for `BackupError` and ``S3Failure``, counts as a failure of
    ///     the connection.
    func send<T>(
        _ request: S3Request, accepting: @Sendable (Int) -> Bool = { _ in false },
        _ receive: (S3Response) async throws -> T
    ) async throws -> T {
        let digests = try request.body.digests()
        var attempt = 1
        var wasCorrected = false
        while true {
            let begin = ContinuousClock.now
            do {
                let answer = try await once(request, digests, accepting, receive)
                budget.succeeded()
                return answer
            } catch var failure as S3Failure {
                failure.isRepeated = attempt > 1
                if !wasCorrected, clock.correct(after: failure) {
                    // The server did nothing: the same request with its time is a first attempt still.
                    wasCorrected = true
                    continue
                }
                guard failure.isTransient else { throw failure }
                let pause = backoff.pause(attempt, asked: failure.retryAfter)
                guard budget.allows(since: begin, pause: pause), attempt < attempts else { throw failure }
                try await wait(pause)
            } catch let error as BackupError {
                throw error
            } catch let error as CancellationError {
                throw error
            } catch {
                if Task.isCancelled { throw CancellationError() }
                let failure = TransportFailure(error, endpoint)
                let pause = backoff.pause(attempt)
                guard budget.allows(since: begin, pause: pause), attempt < attempts, !failure.isLasting else {
                    throw failure.backupError(request.location, endpoint, attempts: attempt)
                }
                try await wait(pause)
            }
            attempt += 1
        }
    }

    private func once<T>(
        _ request: S3Request, _ digests: (sha256: String, md5: String?), _ accepting: @Sendable (Int) -> Bool,
        _ receive: (S3Response) async throws -> T
    ) async throws -> T {
        var headers = [("host", endpoint.host)] + request.headers
        if let md5 = digests.md5 { headers.append(("content-md5", md5)) }
        let path = endpoint.root + URIEncoding.encode(request.key ?? "", keepingSlashes: true)
        let query = URIEncoding.query(request.query)
        let now = clock.now()
        let signed = SignatureV4(credentials: try await credentials.current(), region: region)
            .sign(
                method: request.method, path: path, query: query, headers: headers, payloadHash: digests.sha256,
                time: now)
        var made = HTTPClientRequest(
            url: "\(endpoint.scheme)://\(endpoint.host)\(path)\(query.isEmpty ? "" : "?" + query)")
        made.method = HTTPMethod(rawValue: request.method)
        made.headers = HTTPHeaders(signed)
        made.body = request.body.forClient
        // The silence limit ends what hangs; this one ends what trickles.
        let response = try await http.execute(made, timeout: .hours(1))
        let answer = S3Response(response)
        guard (200..<300).contains(answer.status) || accepting(answer.status) else {
            // An answer without a body to HEAD has no code.
            let body = request.method == "HEAD" ? [] : try await answer.bytes(upTo: 256 << 10)
            throw S3Failure(status: answer.status, headers: answer.headers, body: body, now: now)
        }
        return try await receive(answer)
    }

    private func wait(_ seconds: Double) async throws {
        try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1e9))
    }
}
