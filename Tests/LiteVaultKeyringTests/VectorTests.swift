import Foundation
import LiteVault
import Testing

import LiteVaultKeyring

/// The keyring of the page "Keyring format", which an independent reader opens as well.
@Suite struct VectorTests {
    private let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("KeyringTests/vectors")

    private func line(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: directory.appendingPathComponent(name)), as: UTF8.self)
            .trimmingCharacters(in: .newlines)
    }

    @Test func `every slot of the documented keyring leads to the documented key`() throws {
        let keyring = Keyring(directory.appendingPathComponent("keyring").path)
        let expected = try line("database-key")
        var identity = try line("identity")
        let ways: [KeyringUnlock] = [
            try .passphrase(line("passphrase")), .recoveryCode(try RecoveryCode(line("recovery"))),
            .identity(try identity.withUTF8 { try KeyringIdentity(contentsOf: UnsafeRawBufferPointer($0)) }),
            .secret(try KeyMaterial(line("secret"))),
        ]
        for (number, way) in ways.enumerated() {
            let unlocked = try keyring.unlock(with: way)
            #expect(try digits(unlocked) == expected)
            #expect(unlocked.slot.id == number + 1)
        }
        #expect(try keyring.slots()[0].name == "größer")
    }

    @Test
    func `the endorsements and the fingerprint of the documented keyring are those that an independent writer made`()
        throws
    {
        let keyring = Keyring(directory.appendingPathComponent("keyring-2").path)
        var identity = try line("identity")
        let ways: [KeyringUnlock] = [
            try .passphrase(line("passphrase")), .recoveryCode(try RecoveryCode(line("recovery"))),
            .identity(try identity.withUTF8 { try KeyringIdentity(contentsOf: UnsafeRawBufferPointer($0)) }),
            .secret(try KeyMaterial(line("secret"))),
        ]
        for way in ways {
            let unlocked = try keyring.unlock(with: way)
            #expect(try unlocked.proof() == .endorsed)
            #expect(try unlocked.fingerprint.description == line("fingerprint"))
        }
    }
}
