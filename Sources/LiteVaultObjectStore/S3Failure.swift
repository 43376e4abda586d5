internal import AsyncHTTPClient
internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// An error response of a server.
struct S3Failure: Error {
    let status: Int
    /// The error code, such as `NoSuchKey`; empty without one.
    let code: String
    /// The error message, shortened to one line.
    let message: String
    /// The region of the bucket, where the server says it.
    let region: String?
    /// The time by which the request was ahead of the server's clock; nil without a `Date` header.
    let skew: Duration?
    /// The server's time; nil without a `Date` header.
    let serverTime: Date?
    /// The `Retry-After` header.
    let retryAfter: Duration?
    /// Whether an earlier attempt of the request had an unknown outcome.
    var isRepeated = false

    /// Parses an error response. The signed text that some servers return is left out.
    init(status: Int, headers: [String: String], body: [UInt8], now: Date) {
        let document = XMLTree(body)
        let error = document?.name == "Error" ? document : nil
        self.status = status
        code = Self.line(error?["Code"] ?? "")
        message = Self.line(error?["Message"] ?? "")
        region = (headers["x-amz-bucket-region"] ?? error?["Region"]).map(Self.line)
        serverTime = headers["date"].flatMap(HTTPDate.date)
        skew = serverTime.map { Duration(seconds: now.timeIntervalSince($0)) }
        retryAfter = headers["retry-after"].flatMap(Double.init).map { Duration(seconds: $0) }
    }

    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch code {
        case "SlowDown", "InternalError", "RequestTimeout", "ServiceUnavailable", "Throttling", "ThrottlingException",
            "ConditionalRequestConflict", "OperationAborted", "BadDigest", "IncompleteBody",
            "XAmzContentSHA256Mismatch":
            true
        case "NotImplemented": false
        default: status == 429 || status == 408 || (status >= 500 && status != 501 && status != 507)
        }
    }

    /// Whether the request may have been refused because of its time. A response to HEAD has no code.
    var mayBeClockSkew: Bool {
        switch code {
        case "RequestTimeTooSkewed", "RequestExpired", "AccessDenied": true
        default: code.isEmpty && (status == 403 || status == 400)
        }
    }

    /// Whether the request was refused because it has no `Content-MD5`.
    var wantsMD5: Bool { status == 400 && (message.contains("Content-MD5") || code.contains("MD5")) }

    /// Whether the condition of a write did not hold.
    var isConflict: Bool { status == 412 || code == "PreconditionFailed" }

    /// Whether a policy or an object lock denies the request.
    var isDenied: Bool {
        status == 403 && !mayBeSignature || status == 405 || status == 409 && !isTransient && !isConflict
            || code == "MethodNotAllowed" || code == "ObjectLocked"
    }

    private var mayBeSignature: Bool {
        switch code {
        case "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "InvalidClientTokenId", "ExpiredToken",
            "RequestTimeTooSkewed", "RequestExpired", "AuthorizationHeaderMalformed":
            true
        default: false
        }
    }

    /// Code and message, for error messages.
    var summary: String {
        [code, message.isEmpty ? "status \(status)" : message].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Whether the object does not exist. A missing bucket is a different failure.
    var isMissing: Bool { status == 404 && code != "NoSuchBucket" && code != "NoSuchUpload" }

    private static func line(_ text: String) -> String {
        String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }.prefix(200))
    }
}

extension S3Failure {
    /// The failure as a `VaultError`, with a remedy.
    func vaultError(_ path: String) -> VaultError {
        let text =
            "the server responded with \(code.isEmpty ? "" : code + ": ")\(message.isEmpty ? "status \(status)" : message)"
        func error(_ code: VaultError.Code, _ remedy: String?) -> VaultError {
            VaultError(code, text, path: path, remedy: remedy, cause: nil)
        }
        switch code {
        case "NoSuchBucket":
            return error(.noInput, "Create the bucket, or check its name, the endpoint and the region.")
        case "InvalidAccessKeyId", "InvalidToken", "InvalidClientTokenId":
            return error(
                .config,
                "Check which credentials are used: environment variables take precedence over the shared files.")
        case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired":
            return error(.config, "The credentials have expired; renew them.")
        case "SignatureDoesNotMatch":
            return error(.config, "Check the secret access key and the region.")
        case "RequestTimeTooSkewed", "RequestExpired":
            let difference = skew.map {
                "this machine's clock is \(Int(abs($0.seconds).rounded())) s \($0 < .zero ? "behind" : "ahead of") the server's"
            }
            return VaultError(
                .io, difference ?? "this machine's clock differs from the server's", path: path,
                remedy: "Set the clock (timedatectl set-ntp true), then try again.")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
            return error(.config, region.map { "Set the region to \($0)." } ?? "Check the region and the endpoint.")
        case "InvalidObjectState":
            return error(
                .io,
                "The object is in an archive and cannot be read. Retrieve it with the store's tools, and keep lifecycle rules from archiving this prefix."
            )
        case "QuotaExceeded", "XMinioStorageFull", "InsufficientStorage":
            return error(.noSpace, "Free space in the store, then try again.")
        default: break
        }
        switch status {
        case 301, 307, 308:
            return error(.config, region.map { "Set the region to \($0)." } ?? "Check the region and the endpoint.")
        case 401, 403:
            return error(
                .io, "Check the permissions of the credentials: s3:GetObject, PutObject, DeleteObject, ListBucket.")
        case 507: return error(.noSpace, "Free space in the store, then try again.")
        case 501: return error(.unsupported, nil)
        case 500...: return error(.io, "The request was retried without success. Try again later.")
        default: return error(.io, nil)
        }
    }
}

/// Why there was no readable response, in plain words: the errors of the underlying libraries show numbers, and paths
/// of the machine they were built on.
struct TransportFailure {
    /// What happened: the end of a sentence.
    let message: String
    /// What to do about it.
    let remedy: String
    /// Whether another attempt would fail in the same way.
    let isPermanent: Bool

    init(_ error: any Error, _ endpoint: Endpoint) {
        let isSecure = endpoint.scheme == "https"
        let usual = "Check the endpoint and the network, then try again."
        func made(_ message: String, _ remedy: String? = nil, _ isPermanent: Bool = false) -> TransportFailure {
            TransportFailure(message: message, remedy: remedy ?? usual, isPermanent: isPermanent)
        }
        switch error {
        case is S3Response.Truncated: self = made("the response was truncated")
        case is S3Response.Malformed, is S3Response.TooLarge:
            self = made(
                "the response is not from an object store",
                "Check the endpoint: a proxy or another service may answer there.")
        case let error as HTTPClientError: self = Self.described(error, isSecure, { made($0, $1, $2) })
        case let error as NIOConnectionError: self = Self.described(error) { made($0, $1, $2) }
        case let error as IOError: self = made(Self.text(error), isSecure ? nil : Self.mayNeedTLS)
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self = Self.described(tls: error) { made($0, $1, $2) }
        case is ChannelError: self = made("the connection timed out or was closed")
        default:
            // A server that expects TLS answers a plain request with bytes that are not HTTP, or not at all.
            self =
                isSecure
                ? made("the connection was lost")
                : made(
                    "the response is not HTTP",
                    Self.mayNeedTLS)
        }
    }

    private static let mayNeedTLS =
        "Check the endpoint and its port; use https:// if the server expects TLS there."

    private init(message: String, remedy: String, isPermanent: Bool) {
        self.message = message
        self.remedy = remedy
        self.isPermanent = isPermanent
    }

    private typealias Make = (String, String?, Bool) -> TransportFailure

    private static func described(_ error: HTTPClientError, _ isSecure: Bool, _ made: Make) -> TransportFailure {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
            made("the connection timed out", "Check the endpoint, the network and the firewall.", false)
        case .tlsHandshakeTimeout:
            made(
                "the TLS handshake timed out",
                "Check the endpoint and its port; use http:// if the server does not support TLS there.", false)
        case .readTimeout, .writeTimeout, .deadlineExceeded:
            made("the server did not respond in time", "Check the server and the network, then try again.", false)
        case .remoteConnectionClosed:
            made(
                "the server closed the connection without a response",
                isSecure ? nil : mayNeedTLS, false)
        default: made(error.shortDescription, nil, false)
        }
    }

    private static func described(_ error: NIOConnectionError, _ made: Make) -> TransportFailure {
        if error.connectionErrors.isEmpty, error.dnsAError != nil || error.dnsAAAAError != nil {
            return made(
                "the host name cannot be resolved", "Check the host name of the endpoint and the DNS settings.",
                false)
        }
        let reasons = error.connectionErrors.map { failure in
            (failure.error as? IOError).map(text) ?? "the connection timed out"
        }
        let refused = text(errno: ECONNREFUSED)
        return made(
            reasons.contains(refused) ? refused : reasons.first ?? "the server cannot be reached",
            "Check the endpoint, its port and the network, and that the server is running.", false)
    }

    private static func described(tls error: any Error, _ made: Make) -> TransportFailure {
        // Searched, but not shown.
        let text = String(describing: error).uppercased()
        if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") || text.contains("RECORD_LAYER") {
            return made(
                "the server does not support TLS on that port",
                "Use http:// in the endpoint, or the port on which the server supports TLS.", true)
        }
        if text.contains("UNKNOWNERROR([])"), TrustedCertificates.areMissing {
            return made(
                "this system has no certificates to trust",
                "Install the package ca-certificates, or name a PEM file by SSL_CERT_FILE or AWS_CA_BUNDLE.", true)
        }
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("UNABLETOVALIDATE") {
            return made(
                "the server's certificate is not trusted, or has expired",
                "Set AWS_CA_BUNDLE to a PEM file with the certificates to trust, or install them on this system.",
                true)
        }
        if text.contains("HOSTNAME") {
            return made(
                "the server's certificate is for another host name",
                "Use the host name of the certificate; path-style URLs keep the bucket out of it.", true)
        }
        return made("the TLS handshake failed", "Check the endpoint, its port and its certificate.", false)
    }

    private static func text(_ error: IOError) -> String { text(errno: error.errnoCode) }

    private static func text(errno number: CInt) -> String {
        switch number {
        case ECONNREFUSED: "the connection was refused"
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN: "the network is unreachable"
        case ETIMEDOUT: "the connection timed out"
        case ECONNRESET, EPIPE: "the server closed the connection"
        default: String(cString: strerror(number))
        }
    }

    /// The failure as a `VaultError`.
    ///
    /// - Parameter attempts: how often the request was sent.
    func vaultError(_ path: String, _ endpoint: Endpoint, attempts: Int) -> VaultError {
        let times = attempts == 1 ? "once" : "\(attempts) times"
        return VaultError(
            .io, "the object store at \(endpoint.scheme)://\(endpoint.host) failed \(times): \(message)", path: path,
            remedy: remedy)
    }
}
