internal import AsyncHTTPClient
internal import Foundation
internal import LiteVaultBackup

/// A request that only has to arrive: a heartbeat.
package enum WebRequest {
    /// Asks for `url` up to three times.
    ///
    /// - Throws: ``BackupError`` `io` when there is no answer of success. The URL is not in it: it is as good as a password.
    package static func get(_ url: String, attempts: Int = 3) async throws {
        let backoff = Backoff(first: 1)
        var attempt = 1
        while true {
            let problem: String
            do {
                let request = HTTPClientRequest(url: url)
                let answer = S3Response(try await HTTPClient.shared.execute(request, timeout: .seconds(10)))
                _ = try await answer.bytes(upTo: 1 << 20)
                if (200..<300).contains(answer.status) { return }
                problem = "status \(answer.status)"
            } catch let error as HTTPClientError {
                problem = error.shortDescription
            } catch {
                problem = "the connection failed"
            }
            guard attempt < attempts else {
                throw BackupError(
                    .io, "the heartbeat did not arrive: \(problem)", remedy: "Check its URL and the network.")
            }
            try await Task.sleep(nanoseconds: UInt64(backoff.pause(attempt) * 1e9))
            attempt += 1
        }
    }
}
