internal import LiteVaultSystem

/// The first lines of a request, as far as they are needed.
struct HTTPRequest: Equatable {
    let method: String
    /// The target without its query.
    let path: String

    /// Why bytes are not a request that is answered.
    enum Refusal: Error, Equatable {
        case malformed, tooLong
    }

    /// The most bytes of the line of the request and its headers.
    static let limit = 8192

    /// The request that `bytes` begin with; nil until its headers have ended.
    static func parse(_ bytes: [UInt8]) throws(Refusal) -> HTTPRequest? {
        guard let end = endOfHeaders(bytes) else {
            guard bytes.count < limit else { throw .tooLong }
            return nil
        }
        guard end <= limit else { throw .tooLong }
        let line = bytes.prefix { $0 != newline && $0 != carriageReturn }
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[2].starts(with: "HTTP/1.".utf8), words[2].count == 8,
            line.allSatisfy({ (32...126).contains($0) }), words[1].first == UInt8(ascii: "/")
        else { throw .malformed }
        return HTTPRequest(
            method: String(decoding: words[0], as: UTF8.self),
            path: String(decoding: words[1].prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self))
    }

    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// The number of bytes up to the end of the empty line; nil if there is none yet.
    private static func endOfHeaders(_ bytes: [UInt8]) -> Int? {
        var isEmptyLine = false
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case newline where isEmptyLine: return index + 1
            case newline: isEmptyLine = true
            case carriageReturn: break
            default: isEmptyLine = false
            }
        }
        return nil
    }
}

/// What a request is answered with. The connection ends after it.
struct HTTPResponse: Equatable {
    let status: Int
    let type: String
    let body: String
    /// Methods that would be answered, of a response 405.
    var allow: String?

    init(_ status: Int, _ body: String, type: String = "text/plain; charset=utf-8", allow: String? = nil) {
        (self.status, self.body, self.type, self.allow) = (status, body, type, allow)
    }

    /// The bytes to send.
    ///
    /// - Parameter isHead: whether only the headers were asked for.
    func bytes(isHead: Bool) -> [UInt8] {
        let content = Array(body.utf8)
        let lines =
            [
                "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Error")", "Content-Type: \(type)",
                "Content-Length: \(content.count)", "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
                "Connection: close",
            ] + (allow.map { ["Allow: \($0)"] } ?? [])
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (isHead ? [] : content)
    }

    private static let reasons = [
        200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed",
        431: "Request Header Fields Too Large", 503: "Service Unavailable",
    ]
}
