internal import LiteVaultBackup
internal import LiteVaultSystem

/// Why there was no readable response, in plain words: the errors of the underlying libraries show numbers, and paths
/// of the machine they were built on.
struct TransportFailure {
    /// What happened: the end of a sentence.
    let message: String
    /// What to do about it.
    let remedy: String
    /// Whether another attempt would fail in the same way.
    let isPermanent: Bool

    init(_ error: any Error, isSecure: Bool) {
        switch error {
        case is S3Response.Truncated: self.init("the response was truncated")
        case is S3Response.Malformed, is HTTPResponse.TooLarge:
            self.init(
                "the response is not from an object store",
                "Check the endpoint: a proxy or another service may answer there.")
        case let failure as HTTPFailure: self.init(failure, isSecure: isSecure)
        default: self.init("the connection was lost")
        }
    }

    private init(_ message: String, _ remedy: String? = nil, isPermanent: Bool = false) {
        self.message = message
        self.remedy = remedy ?? "Check the endpoint and the network, then try again."
        self.isPermanent = isPermanent
    }

    private static let mayNeedTLS =
        "Check the endpoint and its port; use https:// if the server expects TLS there."
    private static let cannotConnect = "Check the endpoint, its port and the network, and that the server is running."

    private init(_ failure: HTTPFailure, isSecure: Bool) {
        // A server that expects TLS answers a plain request with bytes that are not HTTP, or not at all.
        let mayNeedTLS = isSecure ? nil : Self.mayNeedTLS
        switch failure {
        case .unresolved:
            self.init(
                "the host name cannot be resolved", "Check the host name of the endpoint and the DNS settings.")
        case .unreachable(let number): self.init(Self.text(errno: number), Self.cannotConnect)
        case .connectTimeout:
            self.init("the connection timed out", "Check the endpoint, the network and the firewall.")
        case .handshakeTimeout:
            self.init(
                "the TLS handshake timed out",
                "Check the endpoint and its port; use http:// if the server does not support TLS there.")
        case .silence, .deadline:
            self.init("the server did not respond in time", "Check the server and the network, then try again.")
        case .closed: self.init("the server closed the connection without a response", mayNeedTLS)
        case .lost(let number):
            self.init(number == 0 ? "the connection was lost" : Self.text(errno: number), mayNeedTLS)
        case .truncated: self.init("the response was truncated")
        case .notHTTP: self.init("the response is not HTTP", mayNeedTLS)
        case .tooManyHeaders: self.init(S3Response.Malformed(), isSecure: isSecure)
        case .invalidRequest: self.init("the request is not valid HTTP", "Check the endpoint.", isPermanent: true)
        case .tls(let problem): self.init(problem)
        case .proxy(let problem, let address): self.init(problem, address)
        case .other(let text): self.init(text)
        }
    }

    private init(_ problem: HTTPFailure.TLS) {
        switch problem {
        case .missing:
            self.init(
                "the server does not support TLS on that port",
                "Use http:// in the endpoint, or the port on which the server supports TLS.", isPermanent: true)
        case .unknownAuthority where TrustedCertificates.areMissing,
            .unreadableCertificates where TrustedCertificates.areMissing:
            self.init(
                "this system has no certificates to trust",
                "Install the package ca-certificates, or name a PEM file by SSL_CERT_FILE or AWS_CA_BUNDLE.",
                isPermanent: true)
        case .unknownAuthority:
            self.init(
                "the server's certificate is not trusted: its authority is unknown",
                "Set AWS_CA_BUNDLE to a PEM file with the certificates to trust, or install them on this system.",
                isPermanent: true)
        case .expired:
            self.init(
                "the server's certificate is not trusted: it has expired",
                "Renew the server's certificate. If it is valid, set this machine's clock.", isPermanent: true)
        case .notYetValid:
            self.init(
                "the server's certificate is not trusted: it is not valid yet",
                "Set this machine's clock (timedatectl set-ntp true), or check the server's certificate.",
                isPermanent: true)
        case .otherHost:
            self.init(
                "the server's certificate is for another host name",
                "Use the host name of the certificate; path-style URLs keep the bucket out of it.", isPermanent: true)
        case .unreadableCertificates:
            self.init(
                "the certificates to trust cannot be read",
                "AWS_CA_BUNDLE, ca_bundle and SSL_CERT_FILE name a file of certificates in PEM format.",
                isPermanent: true)
        case .other: self.init("the TLS handshake failed", "Check the endpoint, its port and its certificate.")
        }
    }

    private init(_ problem: HTTPFailure.Proxy, _ address: String) {
        let check = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or --s3-proxy, and the proxy."
        switch problem {
        case .unresolved: self.init("the host name of the proxy \(address) cannot be resolved", check)
        case .needsPassword:
            self.init(
                "the proxy \(address) requires a user and a password, or refuses the given ones",
                "Set HTTPS_PROXY or HTTP_PROXY to http://USER:PASSWORD@HOST:PORT, with special characters as %XX.",
                isPermanent: true)
        case .refused(let status): self.init("the proxy \(address) refused the connection with status \(status)", check)
        case .failed: self.init("the connection by the proxy \(address) failed", check)
        }
    }

    private static func text(errno number: CInt) -> String {
        switch number {
        case 0: "the server cannot be reached"
        case ECONNREFUSED: "the connection was refused"
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN: "the network is unreachable"
        case ETIMEDOUT: "the connection timed out"
        case ECONNRESET, EPIPE: "the server closed the connection"
        default: String(cString: strerror(number))
        }
    }

    /// The failure as a `VaultError`.
    func vaultError(_ path: String, _ endpoint: Endpoint, attempts: Int) -> VaultError {
        let times = attempts == 1 ? "once" : "\(attempts) times"
        return VaultError(
            .io, "the object store at \(endpoint.scheme)://\(endpoint.host) failed \(times): \(message)", path: path,
            remedy: remedy)
    }
}
