internal import AsyncHTTPClient
internal import Crypto
internal import LiteVaultBackup
package import LiteVaultFoundation
internal import NIOCore

/// A request before it is signed.
struct S3Request: Sendable {
    enum Body: Sendable {
        case none
        case bytes([UInt8])
        case file(FileSlice)

        var count: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .file(let slice): slice.count
            }
        }

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

        var forClient: HTTPClientRequest.Body? {
            switch self {
            case .none: nil
            case .bytes(let bytes): .bytes(ByteBuffer(bytes: bytes))
            case .file(let slice): .stream(slice, length: .known(slice.count))
            }
        }
    }

    var method: String
    /// The object's key including the prefix; nil for the bucket.
    var key: String?
    var query: [(String, String)] = []
    /// Headers with lowercase names.
    var headers: [(String, String)] = []
    var body = Body.none

    /// The object's location, for error messages.
    let location: String
}

/// A range of a file, read in chunks: a body is never in memory as a whole.
struct FileSlice: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let file: LocalFile
    let start: Int64
    let count: Int64

    private static let chunk: Int64 = 256 << 10

    struct AsyncIterator: AsyncIteratorProtocol {
        let slice: FileSlice
        var done: Int64 = 0

        mutating func next() async throws -> ByteBuffer? {
            let count = Swift.min(FileSlice.chunk, slice.count - done)
            guard count > 0 else { return nil }
            let bytes = try slice.file.read(at: slice.start + done, count: Int(count))
            done += count
            return ByteBuffer(bytes: bytes)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(slice: self) }

    /// Reads the range synchronously, chunk by chunk.
    func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(Self.chunk), alignment: 4096)
        defer { buffer.deallocate() }
        var done: Int64 = 0
        while done < count {
            let wanted = Int(Swift.min(Self.chunk, count - done))
            let read = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: start + done)
            guard read == wanted else {
                throw VaultError(.damaged, "the file was truncated during the upload", path: file.path)
            }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            done += Int64(read)
        }
    }
}

/// A response whose body has not been read yet.
struct S3Response {
    /// The body was shorter than announced.
    struct Truncated: Error {}
    /// The body is not the expected document: the page of a proxy, or truncated.
    struct Malformed: Error {}
    /// The body exceeds the limit for memory.
    struct TooLarge: Error {}

    let status: Int
    /// Headers with lowercase names.
    let headers: [String: String]
    private let body: HTTPClientResponse.Body

    init(_ response: HTTPClientResponse) {
        status = Int(response.status.code)
        headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
        body = response.body
    }

    /// The announced length of the body in bytes.
    var length: Int64? { headers["content-length"].flatMap { Int64($0) } }

    /// Reads the body in chunks.
    ///
    /// - Throws: ``Truncated`` when it is shorter than announced; what `read` throws.
    func forEachChunk(_ read: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var count: Int64 = 0
        for try await buffer in body {
            count += Int64(buffer.readableBytes)
            try buffer.withUnsafeReadableBytes(read)
        }
        if let length, length != count { throw Truncated() }
    }

    /// Reads the whole body.
    ///
    /// - Throws: ``TooLarge`` for more than `limit` bytes, ``Truncated``.
    func bytes(upTo limit: Int = 256 << 20) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        if let length { bytes.reserveCapacity(Int(min(max(length, 0), Int64(limit)))) }
        try await forEachChunk { chunk in
            guard bytes.count + chunk.count <= limit else { throw TooLarge() }
            bytes += chunk
        }
        return bytes
    }

    /// Parses the body as a document with the given root element.
    ///
    /// - Throws: ``Malformed`` for any other content.
    func document(_ name: String) async throws -> XMLTree {
        guard let tree = XMLTree(try await bytes(upTo: 16 << 20)), tree.name == name else {
            throw Malformed()
        }
        return tree
    }
}

/// The date formats of responses.
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
