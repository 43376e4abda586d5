import LiteVaultObjectStore
import Testing

/// Which certificates are trusted.
@Suite struct CertificateTests {
    private func file(_ variables: [String: String], on system: Set<String> = []) -> String? {
        TrustedCertificates.file(AWSEnvironment(variables, profile: nil), exists: system.contains)
    }

    @Test func `the setting of AWS comes before that of OpenSSL, and both before the system's`() {
        let system: Set = ["/etc/ssl/ca-bundle.pem"]
        #expect(file(["AWS_CA_BUNDLE": "/a", "SSL_CERT_FILE": "/b"], on: system) == "/a")
        #expect(file(["SSL_CERT_FILE": "/b"], on: system) == "/b")
    }

    #if os(Linux)
        @Test func `a distribution's own place is used where NIO would find nothing`() {
            #expect(file([:], on: ["/etc/ssl/ca-bundle.pem"]) == "/etc/ssl/ca-bundle.pem")
            #expect(file([:], on: ["/etc/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt"]) == nil)
            #expect(file([:]) == nil)
        }
    #endif
}
