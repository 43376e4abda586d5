import LiteVault
import Testing

import LiteVaultTool

/// What is checked before a command runs.
@Suite struct PreflightTests {
    @Test func `a build that encrypts but lacks the digests is refused, not taken for one without authentication`() {
        #expect {
            try Preflight.requireDigests(of: .sqlcipher(version: "4.19.0"), areAvailable: false)
        } throws: { error in
            let failure = error as? Failure
            return failure?.code == .noEncryption && failure?.message.contains("digests") == true
        }
    }

    @Test func `digests are needed only by an engine that encrypts`() throws {
        try Preflight.requireDigests(of: .none, areAvailable: false)
        try Preflight.requireDigests(of: .sqlcipher(version: "4.19.0"), areAvailable: true)
        try Preflight.requireDigests()
    }
}
