internal import LiteVaultBackup
internal import LiteVaultSystem

/// A GET request that only has to arrive: the heartbeat of a job.
package enum Heartbeat {
    /// Requests `url`, retrying on failure. A single attempt takes ten seconds at most.
    ///
    /// - Parameter environment: the variables that name proxies and certificates; nil takes those of the process.
    /// - Throws: `VaultError` `io` when no attempt succeeds, `config` for an invalid proxy or unreadable certificates. It does not
    ///   contain the URL, which is as good as a password.
    package static func send(
        to url: String, attempts: Int = 3, within limit: Duration = .seconds(60), environment: [String: String]? = nil
    ) async throws {
        let variables = environment ?? ProcessInfo.processInfo.environment
        var settings = HTTPSettings()
        settings.proxies = try ProxyRules(environment: variables)
        settings.certificates = try TrustedCertificates.checked(AWSEnvironment(variables, profile: nil))
        let http = try settings.transport()
        let backoff = Backoff(1...20)
        let deadline = Deadline(in: limit)
        var attempt = 1
        while true {
            guard let problem = try await problem(http, url, until: deadline) else { return }
            let pause = Duration(seconds: backoff.jittered(attempt))
            guard attempt < attempts, deadline.remaining > pause else {
                throw VaultError(
                    .io, "the heartbeat failed: \(problem)",
                    remedy: "Check its URL and the network. The limit 'heartbeat' sets how long it is retried.")
            }
            try await Task.sleep(for: pause)
            attempt += 1
        }
    }

    /// Redirects that are followed: nothing secret but the URL is sent.
    private static let redirects = 5

    /// Requests the URL once; returns what went wrong.
    private static func problem(
        _ http: any HTTPTransport, _ url: String, until deadline: Deadline
    ) async throws -> String? {
        var url = url
        for _ in 0...redirects {
            var request = HTTPRequest(url: url)
            request.headers = [(name: "user-agent", value: "litevault")]
            request.timeLimit = min(.seconds(10), max(.milliseconds(1), deadline.remaining))
            let answer: HTTPResponse
            do {
                answer = try await http.send(request)
                _ = try await answer.bytes(upTo: 1 << 20)
            } catch let error as CancellationError {
                throw error
            } catch {
                return TransportFailure(error, isSecure: true).message
            }
            if (200..<300).contains(answer.status) { return nil }
            guard [301, 302, 303, 307, 308].contains(answer.status), let place = answer.headers["location"],
                let next = URL(string: place, relativeTo: URL(string: url))
            else { return "status \(answer.status)" }
            url = next.absoluteString
        }
        return "more than \(redirects) redirects"
    }
}
