internal import AsyncHTTPClient
internal import Foundation
internal import LiteVaultBackup

/// A request that only has to arrive: a heartbeat.
package enum WebRequest {
    /// Asks for `url` up to three times, ten seconds each at most, and `seconds` in all.
    ///
    /// - Throws: `BackupError` `io` when there is no answer of success. The URL is not in it: it is as good as a password.
    package static func get(_ url: String, attempts: Int = 3, within seconds: Double = 60) async throws {
        let backoff = Backoff(first: 1)
        let end = ContinuousClock.now + .seconds(seconds)
        func rest() -> Int64 {
            let rest = (end - .now).components
            return rest.seconds * 1000 + rest.attoseconds / 1_000_000_000_000_000
        }
        var attempt = 1
        while true {
            let problem: String
            do {
                let request = HTTPClientRequest(url: url)
                let answer = S3Response(
                    try await HTTPClient.shared.execute(request, timeout: .milliseconds(max(1, min(10_000, rest())))))
                _ = try await answer.bytes(upTo: 1 << 20)
                if (200..<300).contains(answer.status) { return }
                problem = "status \(answer.status)"
            } catch let error as HTTPClientError {
                problem = error.shortDescription
            } catch {
                problem = "the connection failed"
            }
            let pause = backoff.pause(attempt)
            guard attempt < attempts, Double(rest()) > pause * 1000 else {
                throw BackupError(
                    .io, "the heartbeat did not arrive: \(problem)",
                    remedy: "Check its URL and the network; the limit 'heartbeat' says how long it is tried.")
            }
            try await Task.sleep(nanoseconds: UInt64(pause * 1e9))
            attempt += 1
        }
    }
}
