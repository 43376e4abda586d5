internal import AsyncHTTPClient
internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultSupport
package import NIOCore
internal import NIOSSL

extension S3Client {
    /// An HTTP client with the time limits of the settings.
    ///
    /// - Throws: `VaultError` `config` if the certificates of `AWS_CA_BUNDLE` or `SSL_CERT_FILE` cannot be read.
    static func http(_ settings: S3Settings, _ environment: AWSEnvironment) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        let silence = TimeAmount(settings.timeout)
        configuration.timeout = .init(connect: min(silence, .seconds(10)), read: silence, write: silence)
        // A redirected request would carry a signature for another host.
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.dnsOverride = settings.hosts
        configuration.http1_1ConnectionDebugInitializer = { PromptAcknowledgement.install($0) }
        if let bundle = TrustedCertificates.file(environment) {
            var tls = TLSConfiguration.makeClientConfiguration()
            do {
                tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(bundle))
            } catch {
                throw VaultError(
                    .config, "cannot read certificates from this file", path: bundle,
                    remedy: "AWS_CA_BUNDLE, ca_bundle and SSL_CERT_FILE name a file of certificates in PEM format.")
            }
            configuration.tlsConfiguration = tls
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}

/// Where the certificates to trust are.
package enum TrustedCertificates {
    /// Where NIO looks by itself: Debian, Ubuntu, Arch, Fedora.
    private static let usual = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]
    /// openSUSE; RHEL and its relatives; Alpine and the BSDs.
    private static let others = [
        "/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// The file to read them from: AWS's setting, then OpenSSL's, then a place of a distribution that NIO does not know.
    ///
    /// - Returns: nil if NIO finds the system's, or there are none.
    package static func file(_ environment: AWSEnvironment, exists: ((String) -> Bool)? = nil) -> String? {
        let isThere: (String) -> Bool = exists ?? { access($0, R_OK) == 0 }
        if let named = environment.variables["AWS_CA_BUNDLE"] ?? environment.settings["ca_bundle"]
            ?? environment.variables["SSL_CERT_FILE"]
        {
            return named
        }
        guard Platform.hasCertificateFiles else { return nil }
        return usual.contains(where: isThere) ? nil : others.first(where: isThere)
    }

    /// Whether this system has none in any known place.
    static var areMissing: Bool {
        Platform.hasCertificateFiles && !(usual + others).contains { access($0, R_OK) == 0 }
    }
}

/// Acknowledges what has been read of a response at once (`TCP_QUICKACK`).
///
/// A server without `TCP_NODELAY`, as Ceph's gateway is by default, holds back what does not fill a segment until all before it is
/// acknowledged: a short body after its head, or the end of a long one. The system would acknowledge 40 ms later, which is most of
/// what a small request takes in a local network.
package final class PromptAcknowledgement: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let option: ChannelOptions.Types.SocketOption

    private init(_ option: CInt) {
        self.option = ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: option))
    }

    /// Puts a handler before all others of a connection, where the system has the option.
    package static func install(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let option = Platform.quickAcknowledgement else { return channel.eventLoop.makeSucceededVoidFuture() }
        return channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(PromptAcknowledgement(option), position: .first)
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        // The system forgets it. Where it fails, the system acknowledges later.
        try? context.channel.syncOptions?.setOption(option, value: 1)
        context.fireChannelReadComplete()
    }
}
