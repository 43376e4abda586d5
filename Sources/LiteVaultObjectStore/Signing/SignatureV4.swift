internal import Crypto
internal import Foundation
internal import LiteVaultBackup

/// Request signing, version 4, with all headers signed and the hash of the body among them.
package struct SignatureV4: Sendable {
    package let credentials: AWSCredentials
    package let region: String
    package let service: String

    package init(credentials: AWSCredentials, region: String, service: String = "s3") {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    /// The SHA-256 of no bytes.
    package static let emptyHash = Array(SHA256.hash(data: [UInt8]())).hex

    /// The headers to send: those that are given, and `x-amz-date`, `x-amz-content-sha256`, `x-amz-security-token` and
    /// `Authorization`.
    ///
    /// - Parameters:
    ///   - path: percent-encoded, from the slash on.
    ///   - query: percent-encoded and sorted.
    ///   - headers: `host` among them; names in lowercase.
    ///   - time: seconds since 1970.
    package func sign(
        method: String, path: String, query: String, headers: [(String, String)], payloadHash: String, time: Double
    ) -> [(String, String)] {
        let stamp = Self.stamp(time)
        var all = headers
        all.append(("x-amz-content-sha256", payloadHash))
        all.append(("x-amz-date", stamp))
        if let token = credentials.sessionToken { all.append(("x-amz-security-token", token)) }
        let sorted = all.map { ($0.0.lowercased(), Self.trimmed($0.1)) }.sorted { $0.0 < $1.0 }
        let names = sorted.map(\.0).joined(separator: ";")
        let request =
            ([method, path, query] + sorted.map { "\($0.0):\($0.1)" } + ["", names, payloadHash])
            .joined(separator: "\n")
        let scope = "\(stamp.prefix(8))/\(region)/\(service)/aws4_request"
        let digest = Array(SHA256.hash(data: Array(request.utf8))).hex
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope)\n\(digest)"
        var key = SymmetricKey(data: Array("AWS4\(credentials.secretKey)".utf8))
        for part in [String(stamp.prefix(8)), region, service, "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
        let signature = Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)).hex
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        return all + [("authorization", authorization)]
    }

    /// `20130524T000000Z`.
    static func stamp(_ time: Double) -> String {
        var seconds = time_t(time)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ value: Int32, _ count: Int = 2) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1) + digits(parts.tm_mday) + "T"
            + digits(parts.tm_hour) + digits(parts.tm_min) + digits(parts.tm_sec) + "Z"
    }

    /// Without spaces at the ends, and with single ones inside.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }
}
