internal import Crypto
internal import LiteVaultBackup
internal import LiteVaultQuoting
package import LiteVaultSystem

/// AWS Signature Version 4, with all headers signed, the hash of the body among them.
package struct SignatureV4: Sendable {
    package let credentials: AWSCredentials
    package let region: String
    package let service: String

    package init(credentials: AWSCredentials, region: String, service: String = "s3") {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    package static let emptyHash = Array(SHA256.hash(data: [UInt8]())).hexadecimal

    /// The headers to send: the given ones, and `x-amz-date`, `x-amz-content-sha256`, `x-amz-security-token` and
    /// `Authorization`.
    ///
    /// - Parameters:
    ///   - query: the query of the URL, percent-encoded and sorted.
    ///   - headers: the headers, `host` among them, with lowercase names.
    package func sign(
        method: String, path: String, query: String, headers: [(String, String)], payloadHash: String, time: Date
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
        let digest = Array(SHA256.hash(data: Array(request.utf8))).hexadecimal
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope)\n\(digest)"
        var key = SymmetricKey(data: Array("AWS4\(credentials.secretKey)".utf8))
        for part in [String(stamp.prefix(8)), region, service, "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
        let signature = Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)).hexadecimal
        let authorization =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        return all + [("authorization", authorization)]
    }

    /// `20130524T000000Z`.
    private static func stamp(_ time: Date) -> String {
        // An out-of-range number of seconds, from a wrong clock, is not converted.
        var seconds = time_t(exactly: time.timeIntervalSince1970.rounded(.down)) ?? 0
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ value: Int32, _ count: Int = 2) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1) + digits(parts.tm_mday) + "T"
            + digits(parts.tm_hour) + digits(parts.tm_min) + digits(parts.tm_sec) + "Z"
    }

    /// Trims spaces and collapses runs of them.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }
}

/// Percent-encoding as Signature Version 4 requires it.
package enum URIEncoding {
    /// Encodes everything except ASCII letters, digits, `-`, `_`, `.` and `~` as `%XX`.
    package static func encode(_ text: String, keepingSlashes: Bool = false) -> String {
        var result = ""
        for byte in text.utf8 {
            if Quoting.isLetterOrDigit(byte) || (keepingSlashes ? "-_.~/" : "-_.~").utf8.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// A query sorted by name, as it is signed and sent.
    package static func query(_ items: [(String, String)]) -> String {
        items.map { (encode($0.0), encode($0.1)) }.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// Decodes percent-encoded text; nil when it is malformed.
    package static func decode(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
