internal import AsyncHTTPClient
internal import Foundation
internal import LiteVaultBackup
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Why there was no answer that could be read, in words for whoever runs the tool: what the libraries below say of it has
/// numbers, and paths of the machine that they were built on.
struct TransportFailure {
    /// What happened, as the end of a sentence.
    let message: String
    /// What to do about it.
    let remedy: String
    /// Whether the next attempt would only end the same way.
    let isLasting: Bool

    init(_ error: any Error, _ endpoint: Endpoint) {
        let isSecure = endpoint.scheme == "https"
        let whole = "Check the endpoint and the network, then try again."
        func made(_ message: String, _ remedy: String? = nil, _ isLasting: Bool = false) -> TransportFailure {
            TransportFailure(message: message, remedy: remedy ?? whole, isLasting: isLasting)
        }
        switch error {
        case is S3Response.CutOff: self = made("the answer was cut off")
        case is S3Response.NotUnderstood, is S3Response.TooLarge:
            self = made(
                "the answer is not one of an object store",
                "Check the endpoint: a proxy, or another service, may answer there.")
        case let error as HTTPClientError: self = Self.told(error, isSecure, { made($0, $1, $2) })
        case let error as NIOConnectionError: self = Self.told(error) { made($0, $1, $2) }
        case let error as IOError: self = made(Self.text(error), isSecure ? nil : Self.mayNeedTLS)
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = Self.told(tls: error) { made($0, $1, $2) }
        case is ChannelError: self = made("the connection was not made in time, or was closed")
        default:
            // A server that expects TLS answers a plain request with bytes that are no HTTP, or with nothing.
            self =
                isSecure
                ? made("the connection broke")
                : made(
                    "what came back is no HTTP",
                    Self.mayNeedTLS)
        }
    }

    private static let mayNeedTLS =
        "Check the endpoint and its port; write https:// if the server expects TLS there."

    private init(message: String, remedy: String, isLasting: Bool) {
        self.message = message
        self.remedy = remedy
        self.isLasting = isLasting
    }

    private typealias Make = (String, String?, Bool) -> TransportFailure

    private static func told(_ error: HTTPClientError, _ isSecure: Bool, _ made: Make) -> TransportFailure {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
            made("it could not be reached in time", "Check the endpoint, the network and the firewall.", false)
        case .tlsHandshakeTimeout:
            made(
                "it did not agree on TLS in time",
                "Check the endpoint and its port; write http:// if the server does not speak TLS there.", false)
        case .readTimeout, .writeTimeout, .deadlineExceeded:
            made("it stayed silent for too long", "Check the server and the network, then try again.", false)
        case .remoteConnectionClosed:
            made(
                "it closed the connection without an answer",
                isSecure ? nil : mayNeedTLS, false)
        default: made(error.shortDescription, nil, false)
        }
    }

    private static func told(_ error: NIOConnectionError, _ made: Make) -> TransportFailure {
        if error.connectionErrors.isEmpty, error.dnsAError != nil || error.dnsAAAAError != nil {
            return made(
                "the name of the server is not known here", "Check the endpoint's host, and this machine's resolver.",
                false)
        }
        let reasons = error.connectionErrors.map { failure in
            (failure.error as? IOError).map(text) ?? "it could not be reached in time"
        }
        let refused = text(errno: ECONNREFUSED)
        return made(
            reasons.contains(refused) ? refused : reasons.first ?? "it could not be reached",
            "Check the endpoint, its port, the network, and that the server runs.", false)
    }

    private static func told(tls error: any Error, _ made: Make) -> TransportFailure {
        // Looked into, but not shown.
        let text = String(describing: error).uppercased()
        if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") || text.contains("RECORD_LAYER") {
            return made(
                "it does not speak TLS at that port",
                "Write the endpoint with http:// if that is meant, or give the port where the server speaks TLS.", true)
        }
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("UNABLETOVALIDATE") {
            return made(
                "its certificate is not trusted here, or has expired",
                "Name the certificates to trust in AWS_CA_BUNDLE (a file in PEM form), or install them for this machine.",
                true)
        }
        if text.contains("HOSTNAME") {
            return made(
                "its certificate is for another name",
                "Use the host's name that the certificate has; --s3-path-style keeps the bucket out of it.", true)
        }
        return made("TLS could not be agreed on", "Check the endpoint, its port and its certificate.", false)
    }

    private static func text(_ error: IOError) -> String { text(errno: error.errnoCode) }

    private static func text(errno number: CInt) -> String {
        switch number {
        case ECONNREFUSED: "the connection was refused"
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN: "there is no way to it through the network"
        case ETIMEDOUT: "it could not be reached in time"
        case ECONNRESET, EPIPE: "it closed the connection"
        default: String(cString: strerror(number))
        }
    }

    /// The failure as the package tells it.
    ///
    /// - Parameter attempts: how often the request was made.
    func backupError(_ path: String, _ endpoint: Endpoint, attempts: Int) -> BackupError {
        let times = attempts == 1 ? "once" : "\(attempts) times"
        return BackupError(
            .io, "the object store at \(endpoint.scheme)://\(endpoint.host) failed \(times): \(message)", path: path,
            remedy: remedy)
    }
}
