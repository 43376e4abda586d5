internal import LiteVaultBackup
internal import LiteVaultSystem

/// Signs and sends requests, and retries those that may succeed later.
struct S3Client: Sendable {
    let endpoint: Endpoint
    let region: String
    let credentials: CredentialCache
    let http: any HTTPTransport
    let retries: RetryBudget
    let clock: ServerClock
    /// Whether the server has refused a body without `Content-MD5`, as Amazon's does in a bucket with object lock.
    private let needsMD5 = Locked(false)
    /// Bytes of a body that always has `Content-MD5`. For larger ones computing it would take more time than all else: the signed
    /// SHA-256 protects them.
    private static let alwaysWithMD5: Int64 = 1 << 20

    /// Sends a request until it succeeds, or the attempts or the retry budget are used up.
    ///
    /// - Parameters:
    ///   - accepting: whether a status other than 2xx is passed to `receive`.
    ///   - receive: reads the response. Errors other than `VaultError` and ``S3Failure`` count as connection failures.
    /// - Throws: ``S3Failure`` when the server refuses the request, `VaultError` when it cannot be reached.
    func send<T>(
        _ request: S3Request, accepting: @Sendable (Int) -> Bool = { _ in false },
        _ receive: (HTTPResponse) async throws -> T
    ) async throws -> T {
        var digests = try request.body.digests(
            withMD5: request.body.count <= Self.alwaysWithMD5 || needsMD5.value
                || request.headers.contains { $0.0.hasPrefix("x-amz-object-lock") })
        var number = 1
        var (wasCorrected, wasRenewed) = (false, false)
        while true {
            let begin = ContinuousClock.now
            var used: AWSCredentials?
            do {
                let current = try await credentials.current()
                used = current
                let result = try await attempt(request, digests, current, accepting, receive)
                retries.succeeded()
                return result
            } catch var failure as S3Failure {
                failure.isRepeated = number > 1
                if digests.md5 == nil, failure.wantsMD5 {
                    // The server did nothing.
                    needsMD5.withLock { $0 = true }
                    digests = try request.body.digests(withMD5: true)
                    continue
                }
                if !wasCorrected, clock.correct(after: failure) {
                    // The server did nothing: the request that is signed again still is a first attempt.
                    wasCorrected = true
                    continue
                }
                if !wasRenewed, let used, await credentials.renew(used, after: failure) {
                    wasRenewed = true
                    continue
                }
                guard failure.isTransient,
                    try await retries.pause(after: number, since: begin, asked: failure.retryAfter)
                else { throw failure }
            } catch let error as VaultError {
                throw error
            } catch let error as CancellationError {
                throw error
            } catch {
                if Task.isCancelled { throw CancellationError() }
                let failure = TransportFailure(error, isSecure: endpoint.scheme == "https")
                guard !failure.isPermanent, try await retries.pause(after: number, since: begin) else {
                    throw failure.vaultError(request.location, endpoint, attempts: number)
                }
            }
            number += 1
        }
    }

    private func attempt<T>(
        _ request: S3Request, _ digests: (sha256: String, md5: String?), _ credentials: AWSCredentials,
        _ accepting: @Sendable (Int) -> Bool, _ receive: (HTTPResponse) async throws -> T
    ) async throws -> T {
        var headers = [("host", endpoint.host)] + request.headers
        if let md5 = digests.md5 { headers.append(("content-md5", md5)) }
        let path = endpoint.root + URIEncoding.encode(request.key ?? "", keepingSlashes: true)
        let query = URIEncoding.query(request.query)
        let now = clock.now()
        let signed = SignatureV4(credentials: credentials, region: region)
            .sign(
                method: request.method, path: path, query: query, headers: headers, payloadHash: digests.sha256,
                time: now)
        var made = HTTPRequest(
            url: "\(endpoint.scheme)://\(endpoint.host)\(path)\(query.isEmpty ? "" : "?" + query)")
        made.method = request.method
        made.headers = signed.map { (name: $0.0, value: $0.1) }
        made.body = request.body
        // Silence ends requests that hang; this ends those that trickle.
        made.timeLimit = .seconds(3600)
        let answer = try await http.send(made)
        clock.observe(answer)
        guard (200..<300).contains(answer.status) || accepting(answer.status) else {
            // A response to HEAD has no body, and so no error code.
            let body = request.method == "HEAD" ? [] : try await answer.bytes(upTo: 256 << 10)
            throw S3Failure(status: answer.status, headers: answer.headers, body: body, signed: now, now: clock.now())
        }
        return try await receive(answer)
    }
}

/// The time that requests are signed with: the local clock, corrected once a server refuses it as too far from its own.
/// Servers tolerate 15 minutes; a machine whose clock is further off can still make backups.
final class ServerClock: Sendable {
    private let local: @Sendable () -> Date
    /// The time by which the server's clock is ahead of the local clock.
    private let ahead = Locked(Duration.zero)
    /// The same time by the newest response; nil before the first one. Requests are not signed by it: it has no fractions of a
    /// second, and the local clock is right as a rule.
    private let observed = Locked(Duration?.none)

    init(local: @escaping @Sendable () -> Date) { self.local = local }

    func now() -> Date { local() + ahead.value.seconds }

    /// The server's time, to about a second; nil before the first response.
    var serverTime: Date? { observed.value.map { local() + $0.seconds } }

    func observe(_ answer: HTTPResponse) {
        guard let time = answer.headers["date"].flatMap(HTTPDate.date) else { return }
        let difference = Duration(seconds: time.timeIntervalSince(local()))
        observed.withLock { $0 = difference }
    }

    /// The server's time, asked for without credentials if no response has told it; the local one if the server does not tell.
    func time(of endpoint: Endpoint, by http: any HTTPTransport) async -> Date {
        if serverTime == nil {
            var request = HTTPRequest(url: "\(endpoint.scheme)://\(endpoint.host)\(endpoint.root)")
            request.method = "HEAD"
            request.timeLimit = .seconds(10)
            if let answer = try? await http.send(request) { observe(answer) }
        }
        return serverTime ?? now()
    }

    /// Adopts the server's time where clock skew may be the reason for a refusal.
    ///
    /// - Returns: whether a new signature is worth another attempt: the clock was corrected, or the server refused a time that is right.
    func correct(after failure: S3Failure) -> Bool {
        guard failure.mayBeClockSkew, let skew = failure.skew, abs(skew.seconds) > Self.tolerated.seconds,
            let time = failure.serverTime
        else { return failure.isAboutTime }
        // Not by the difference in the failure: several requests refused together would each add it.
        let difference = Duration(seconds: time.timeIntervalSince(local()))
        ahead.withLock { $0 = difference }
        return true
    }

    /// The skew that every server tolerates.
    static let tolerated = Duration.seconds(60)
}
