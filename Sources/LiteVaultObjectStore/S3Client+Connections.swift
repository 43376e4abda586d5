internal import LiteVaultBackup
internal import LiteVaultSystem

extension S3Client {
    /// An HTTP client with the time limits, the proxy and the certificates of the settings.
    ///
    /// - Throws: `VaultError` `config` if the proxy is invalid, or the certificates of `AWS_CA_BUNDLE` or `SSL_CERT_FILE` cannot be
    ///   read.
    static func transport(
        _ settings: S3Settings, _ environment: AWSEnvironment, _ variables: [String: String]
    ) throws -> any HTTPTransport {
        var made = HTTPSettings()
        made.silence = settings.timeout
        made.bytesPerSecond = ReadLimits.bytesPerSecond
        made.connectTime = min(settings.timeout, .seconds(10))
        made.hosts = settings.hosts
        made.proxies = try proxies(settings.proxy, variables)
        made.certificates = try TrustedCertificates.checked(environment)
        return try made.transport()
    }

    private static func proxies(_ chosen: String?, _ variables: [String: String]) throws -> ProxyRules {
        guard let chosen else { return try ProxyRules(environment: variables) }
        if chosen == "none" { return .none }
        guard let proxy = ProxyRules.Proxy(chosen) else {
            // It is not shown: it may contain a password.
            throw VaultError(
                .config, "invalid proxy of the object store", remedy: "Write http://HOST:PORT, or none.")
        }
        return ProxyRules(proxy)
    }
}

package enum TrustedCertificates {
    /// Where distributions keep them: Debian, Ubuntu, Arch, Alpine; Fedora; openSUSE; RHEL and its relatives; Alpine and the BSDs.
    private static let known = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/var/lib/ca-certificates/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// The file or directory to read them from: AWS's setting, then OpenSSL's, then the place that the HTTP client was built for, then
    /// that of another distribution: a program may run on another one than it was built on.
    ///
    /// - Parameter preset: where the HTTP client looks by itself.
    /// - Returns: nil if the HTTP client finds the system's, or there are none.
    package static func file(
        _ environment: AWSEnvironment, preset: String? = HTTPSettings.presetCertificates,
        exists: ((String) -> Bool)? = nil
    ) -> String? {
        let isThere: (String) -> Bool = exists ?? { access($0, R_OK) == 0 }
        if let named = named(environment) { return named }
        guard Platform.hasCertificateFiles else { return nil }
        if let preset, isThere(preset) { return nil }
        return known.first(where: isThere)
    }

    /// The same, once it is certain that a file that the user names can be read.
    ///
    /// - Throws: `VaultError` `config` if it cannot, or has no certificate.
    static func checked(_ environment: AWSEnvironment) throws -> String? {
        if let named = named(environment) {
            let isDirectory = (try? FileMetadata(path: named, followingLinks: true))?.kind == .directory
            let text = isDirectory ? nil : try? InputFile(path: named).read(upTo: 16 << 20)
            let isValid = isDirectory || text.map { contains(Self.mark, $0) } ?? false
            guard isValid else {
                throw VaultError(
                    .config, "cannot read certificates from this file", path: named,
                    remedy: "AWS_CA_BUNDLE, ca_bundle and SSL_CERT_FILE name a file of certificates in PEM format.")
            }
        }
        return file(environment)
    }

    private static func named(_ environment: AWSEnvironment) -> String? {
        environment.variables["AWS_CA_BUNDLE"] ?? environment.settings["ca_bundle"]
            ?? environment.variables["SSL_CERT_FILE"]
    }

    /// What ends the first line of a certificate: BEGIN CERTIFICATE, or BEGIN TRUSTED CERTIFICATE.
    private static let mark = "CERTIFICATE-----"

    private static func contains(_ mark: String, _ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).firstRange(ofText: mark) != nil
    }

    /// Whether this system has none in any known place.
    static var areMissing: Bool {
        Platform.hasCertificateFiles
            && !(known + [HTTPSettings.presetCertificates].compactMap(\.self)).contains { access($0, R_OK) == 0 }
    }
}
