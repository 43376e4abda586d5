import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultTestSupport
import Testing

/// Which certificates are trusted.
@Suite struct CertificateTests {
    private static let debian = "/etc/ssl/certs/ca-certificates.crt"

    private func file(
        _ variables: [String: String], on system: Set<String> = [], preset: String? = Self.debian
    ) -> String? {
        TrustedCertificates.file(AWSEnvironment(variables, profile: nil), preset: preset, exists: system.contains)
    }

    @Test func `the setting of AWS comes before that of OpenSSL, and both before the system's`() {
        let system: Set = ["/etc/ssl/ca-bundle.pem"]
        #expect(file(["AWS_CA_BUNDLE": "/a", "SSL_CERT_FILE": "/b"], on: system) == "/a")
        #expect(file(["SSL_CERT_FILE": "/b"], on: system) == "/b")
    }

    #if os(Linux)
        @Test(arguments: [
            (debian, "Debian, Alpine"), ("/etc/pki/tls/certs/ca-bundle.crt", "Fedora"),
            ("/etc/ssl/ca-bundle.pem", "openSUSE"),
            ("/var/lib/ca-certificates/ca-bundle.pem", "openSUSE"), ("/etc/ssl/cert.pem", "Alpine"),
            ("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "RHEL"),
        ])
        func `the place of another distribution is used where the HTTP client would find nothing`(
            path: String, system: String
        ) {
            #expect(file([:], on: [path], preset: "/elsewhere") == path)
            #expect(file([:], on: [path], preset: nil) == path)
            #expect(file([:], on: [path, "/elsewhere"], preset: "/elsewhere") == nil)
            #expect(file([:], preset: "/elsewhere") == nil)
        }
    #endif

    @Test func `a file without certificates is refused before any request`() throws {
        let scratch = Scratch()
        try Data("nothing".utf8).write(to: URL(fileURLWithPath: scratch.path("empty.pem")))
        for path in [scratch.path("empty.pem"), scratch.path("missing.pem")] {
            do {
                _ = try FaultyS3.store(environment: ["AWS_CA_BUNDLE": path])
                Issue.record("taken")
            } catch {
                let error = try #require(error as? VaultError)
                #expect(error.code == .config && error.path == path)
            }
        }
        // A directory, as c_rehash makes one.
        _ = try FaultyS3.store(environment: ["AWS_CA_BUNDLE": scratch.directory])
    }
}
