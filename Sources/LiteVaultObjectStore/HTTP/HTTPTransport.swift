package import LiteVaultBackup
internal import LiteVaultSystem

/// Sends HTTP requests: by libcurl, on Apple's systems by URLSession.
///
/// Redirects are answers like others. A connection is used again by later requests. Requests of several tasks run at the same time, and
/// a task that is cancelled ends its request.
package protocol HTTPTransport: Sendable {
    /// Sends a request once, and returns when the head of the answer has arrived.
    ///
    /// - Throws: ``HTTPFailure`` when there is no answer, `CancellationError`; what reading a file for the body throws.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// What all requests of a client have in common.
package struct HTTPSettings: Sendable {
    /// How long neither side may send anything.
    package var silence = Duration.seconds(60)
    /// The least rate, as an average over ``silence``: a server below it counts as silent.
    package var bytesPerSecond = 1
    /// The time for a connection, TLS and the proxy included.
    package var connectTime = Duration.seconds(10)
    package var proxies = ProxyRules.none
    /// A file or directory of certificates to trust; nil for those of the system.
    package var certificates: String?
    /// Host names with fixed addresses, several separated by commas: for tests.
    package var hosts: [String: String] = [:]

    package init() {}
}

package struct HTTPRequest: Sendable {
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        case file(FileSlice)

        package var count: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .file(let slice): slice.count
            }
        }
    }

    package var method = "GET"
    /// Of the scheme `http` or `https`.
    package let url: String
    package var headers: [(name: String, value: String)] = []
    package var body = Body.none
    /// The time for everything, the body of the answer included.
    package var timeLimit = Duration.seconds(3600)
    /// Whether the request goes past all proxies: to this machine, or one that only this machine reaches.
    package var isDirect = false

    package init(url: String) { self.url = url }
}

package struct FileSlice: Sendable {
    package let file: LocalFile
    package let start: Int64
    package let count: Int64

    package init(file: LocalFile, start: Int64, count: Int64) {
        self.file = file
        self.start = start
        self.count = count
    }

    private static let chunk: Int64 = 256 << 10

    /// Reads the range synchronously, chunk by chunk.
    func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(Self.chunk), alignment: 4096)
        defer { buffer.deallocate() }
        var done: Int64 = 0
        while done < count {
            let wanted = Int(min(Self.chunk, count - done))
            let read = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: done)
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            done += Int64(read)
        }
    }

    /// Reads as much of the range as `buffer` has room for.
    ///
    /// - Parameter offset: in the range.
    /// - Throws: `VaultError` `damaged` if the file has become shorter.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let wanted = Int(min(Int64(buffer.count), count - offset))
        guard wanted > 0 else { return 0 }
        let read = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: start + offset)
        guard read == wanted else {
            throw VaultError(.damaged, "the file was truncated during the upload", path: file.path)
        }
        return read
    }
}

/// An answer whose body has not been read yet. The request ends with the last reference to it.
package struct HTTPResponse: Sendable {
    /// The body exceeds the limit for memory.
    package struct TooLarge: Error {}

    package let status: Int
    /// Headers with lowercase names; of those that occur several times, the last.
    package let headers: [String: String]
    private let body: HTTPBody

    init(_ head: HTTPHead, _ body: HTTPBody) {
        status = head.status
        headers = head.headers
        self.body = body
    }

    /// The announced length of the body in bytes.
    package var length: Int64? { headers["content-length"].flatMap { Int64($0) } }

    /// Reads the body in chunks. The sender waits for a reader that is slower.
    ///
    /// - Throws: ``HTTPFailure``, `CancellationError`; what `read` throws.
    package func forEachChunk(_ read: (UnsafeRawBufferPointer) throws -> Void) async throws {
        var chunk: [UInt8] = []
        while try await body.exchange.next(&chunk) { try chunk.withUnsafeBytes(read) }
    }

    /// Reads the whole body.
    ///
    /// - Throws: ``TooLarge`` for more than `limit` bytes; ``HTTPFailure``, `CancellationError`.
    package func bytes(upTo limit: Int = 256 << 20) async throws -> [UInt8] {
        if let length, length > Int64(limit) { throw TooLarge() }
        return try await body.exchange.all(upTo: limit, expected: Int(length ?? 0))
    }
}

struct HTTPHead: Sendable {
    var status = 0
    var headers: [String: String] = [:]

    /// Most bytes of the headers of an answer.
    static let limit = 128 << 10

    /// The head that begins with a status line; nil for another line.
    init?(statusLine line: String) {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/"), let status = Int(parts[1]), (100...999).contains(status)
        else { return nil }
        self.status = status
    }

    /// Creates a head without headers.
    init(status: Int) { self.status = status }

    /// Whether another head follows.
    var isInterim: Bool { (100..<200).contains(status) && status != 101 }

    /// Adds a line `NAME: VALUE`; ignores any other.
    mutating func add(line: String) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return }
        headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmed
    }
}

/// Ends the request of an answer that nobody reads any more.
final class HTTPBody: Sendable {
    let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    deinit { exchange.cancel() }
}

/// Why there was no answer, or not all of it.
package enum HTTPFailure: Error, Equatable {
    /// The name of the host has no address.
    case unresolved
    /// No connection, with the number of the system's error; 0 if it is unknown.
    case unreachable(CInt)
    case connectTimeout
    /// A connection, but no TLS in time.
    case handshakeTimeout
    /// Nothing was sent or received for too long.
    case silence
    /// Not done in the time for the whole request.
    case deadline
    case closed
    case lost(CInt)
    /// The connection was closed before the end of the body.
    case truncated
    case notHTTP
    /// The headers are larger than any that are meant.
    case tooManyHeaders
    case invalidRequest
    case tls(TLS)
    /// The proxy does not help, and its address.
    case proxy(Proxy, String)
    /// Anything else, in words without paths and numbers.
    case other(String)

    package enum TLS: Equatable, Sendable {
        /// What answers does not use it.
        case missing
        /// Signed by an authority that this machine does not trust, or by itself.
        case unknownAuthority
        case expired
        case notYetValid
        case otherHost
        /// The file of the certificates to trust is missing, or has none.
        case unreadableCertificates
        case other
    }

    /// Why not.
    package enum Proxy: Equatable, Sendable {
        case unresolved
        case needsPassword
        /// It answered with this status.
        case refused(Int)
        /// It answered with something else, or not at all.
        case failed
    }
}
