internal import Crypto
internal import LiteVaultBackup
package import LiteVaultSystem

struct S3Request: Sendable {
    var method: String
    /// The object's key including the prefix; nil for the bucket.
    var key: String?
    var query: [(String, String)] = []
    /// Headers with lowercase names.
    var headers: [(String, String)] = []
    var body = HTTPRequest.Body.none

    /// The object's location, for error messages.
    let location: String
}

extension HTTPRequest.Body {
    /// SHA-256 in hexadecimal digits, which is signed and compared by servers that check signatures, and MD5 in base64.
    func digests(withMD5: Bool) throws -> (sha256: String, md5: String?) {
        var sha256 = SHA256()
        var md5 = Insecure.MD5()
        switch self {
        case .none: return (SignatureV4.emptyHash, nil)
        case .bytes(let bytes):
            sha256.update(data: bytes)
            if withMD5 { md5.update(data: bytes) }
        case .file(let slice):
            try slice.forEachChunk { chunk in
                sha256.update(bufferPointer: chunk)
                if withMD5 { md5.update(bufferPointer: chunk) }
            }
        }
        let sum = withMD5 ? Data(md5.finalize()).base64EncodedString() : nil
        return (Array(sha256.finalize()).hexadecimal, sum)
    }
}

/// The answer was not what an object store sends.
enum S3Response {
    /// The body was shorter than announced.
    struct Truncated: Error {}
    /// The body is not the expected document: the page of a proxy, or truncated.
    struct Malformed: Error {}
}

extension HTTPResponse {
    /// Parses the body as a document with the given root element.
    ///
    /// - Throws: `S3Response.Malformed` for any other content.
    func document(_ name: String) async throws -> XMLTree {
        guard let tree = XMLTree(try await bytes(upTo: 16 << 20)), tree.name == name else {
            throw S3Response.Malformed()
        }
        return tree
    }
}

package enum HTTPDate {
    /// The date of `Fri, 24 May 2013 00:00:00 GMT`; nil for anything else.
    package static func date(_ text: String) -> Date? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == ":" || $0 == "-" })
        guard words.count == 8, words[7] == "GMT" || words[7] == "UTC",
            let month = months.firstIndex(of: words[2].lowercased())
        else { return nil }
        return time([words[3], nil, words[1], words[4], words[5], words[6]], month: month + 1)
    }

    /// The date of `2013-05-24T00:00:00.000Z`, also with `UTC` or an offset such as `+01:00`; nil for anything else.
    package static func isoDate(_ text: String) -> Date? {
        for zone in ["Z", "UTC"] where text.hasSuffix(zone) { return isoDate(inUTC: text.dropLast(zone.count)) }
        // The last sign of a time without a zone is in its date.
        guard let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }),
            text.distance(from: text.startIndex, to: sign) > 10
        else { return nil }
        let digits = text[text.index(after: sign)...].filter { $0 != ":" }
        guard digits.count == 4, let number = UInt16(digits), number / 100 < 24, number % 100 < 60 else { return nil }
        let offset = Double(number / 100 * 60 + number % 100) * 60
        return isoDate(inUTC: text[..<sign]).map { $0 - (text[sign] == "-" ? -offset : offset) }
    }

    private static func isoDate(inUTC text: Substring) -> Date? {
        let parts = text.split(whereSeparator: { "-T:".contains($0) })
        guard parts.count == 6, let month = Int(parts[1]) else { return nil }
        let second = parts[5].split(separator: ".", maxSplits: 1)
        let digits = second.count > 1 ? second[1].prefix { $0.isASCII && $0.isNumber } : ""
        let fraction = digits.isEmpty ? 0 : Double("0." + digits.prefix(9)) ?? 0
        return time([parts[0], nil, parts[2], parts[3], parts[4], second.first], month: month).map { $0 + fraction }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func time(_ parts: [Substring?], month: Int) -> Date? {
        let numbers = parts.map { $0.flatMap { Int32($0) } }
        guard let year = numbers[0], let day = numbers[2], let hour = numbers[3], let minute = numbers[4],
            let second = numbers[5], (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        var time = tm()
        time.tm_year = year - 1900
        time.tm_mon = Int32(month - 1)
        time.tm_mday = day
        time.tm_hour = hour
        time.tm_min = minute
        time.tm_sec = second
        return Date(timeIntervalSince1970: Double(timegm(&time)))
    }
}
