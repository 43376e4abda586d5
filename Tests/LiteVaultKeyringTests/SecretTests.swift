import Crypto
import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

import LiteVaultKeyring

@Suite struct SecretTests {
    private func text(_ code: RecoveryCode) throws -> String {
        try code.withText { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `a recovery code is read as it was printed, in any case and spacing`() throws {
        for _ in 0..<200 {
            let code = try RecoveryCode.random()
            let printed = try text(code)
            #expect(printed.count == 47)
            for typed in [
                printed, printed.lowercased(), printed.replacingOccurrences(of: "-", with: " "),
                printed.replacingOccurrences(of: "0", with: "o").replacingOccurrences(of: "1", with: "l"),
            ] {
                #expect(try RecoveryCode(typed).secret.equals(code.secret))
            }
        }
    }

    @Test func `every single wrong character of a recovery code is found, with its group`() throws {
        let printed = Array(try text(.random()))
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        for index in printed.indices where printed[index] != "-" {
            for wrong in alphabet where wrong != printed[index] {
                var typed = printed
                typed[index] = wrong
                let error = #expect(throws: VaultError.self) { try RecoveryCode(String(typed)) }
                #expect(error?.message.contains("group \(index / 6 + 1),") ?? false)
            }
        }
        for count in 0..<printed.count {
            #expect(throws: VaultError.self) { try RecoveryCode(String(printed[..<count])) }
        }
        #expect(throws: VaultError.self) { try RecoveryCode(String(printed) + "0") }
        #expect(throws: VaultError.self) { try RecoveryCode("ÄÖ" + String(printed)) }
    }

    @Test func `a recovery code of known bytes is the documented one`() throws {
        let bytes = try [UInt8](0..<20).withUnsafeBytes { try KeyMaterial(contentsOf: $0) }
        #expect(try text(RecoveryCode(bytes: bytes)) == "000GG-40R4S-0M30D-E209P-185G6-R38EG-1W81A-24GKA")
    }

    @Test func `an identity leads to its recipient, whose text finds typing errors`() throws {
        let identity = try KeyringIdentity.random()
        let read = try identity.withText { try KeyringIdentity(contentsOf: $0) }
        let recipient = try identity.recipient()
        #expect(try read.recipient() == recipient)
        #expect(try KeyringRecipient(recipient.description) == recipient)
        var typed = Array(recipient.description)
        typed[30] = typed[30] == "0" ? "1" : "0"
        expect(.usage) { try KeyringRecipient(String(typed)) }
        expect(.usage) { try KeyringRecipient("") }
        expect(.keyRejected) { try KeyringIdentity(contentsOf: UnsafeRawBufferPointer(start: nil, count: 0)) }
    }

    @Test func `a weak passphrase is rejected, unless that is asked for`() throws {
        for weak in ["", "short", "aaaaaaaaaaaaaaaaaaaa", "1234567890123456789", "ababababababab"] {
            expect(.keyRejected) { try NewKeyringSlot.passphrase(weak) }
        }
        _ = try NewKeyringSlot.passphrase("short", allowingWeak: true)
        _ = try NewKeyringSlot.passphrase("12345678901234567890")
        _ = try NewKeyringSlot.passphrase("größer als äöü")
    }

    @Test func `a secret that is too short for HKDF is rejected`() throws {
        expect(.keyRejected) { try NewKeyringSlot.secret(.file, KeyMaterial("a passphrase in a file")) }
        expect(.usage) { try NewKeyringSlot.secret(.passphrase, .random()) }
    }

    @Test func `a public key of low order is rejected, not used`() throws {
        let scratch = Scratch()
        var unlocked = try Keyring(scratch.path("keys")).create(with: [.quick(first)])
        let zero = try KeyringRecipient(publicKey: [UInt8](repeating: 0, count: 32))
        expect(.keyRejected) { try unlocked.add(.recipient(zero)) }
    }

    @Test func `secrets do not show in descriptions`() throws {
        let secret = try KeyMaterial("hunter2hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] { #expect(!text.contains("hunter2")) }
        var slot = ""
        dump(try NewKeyringSlot.passphrase(secret, allowingWeak: true), to: &slot)
        dump(KeyringUnlock.passphrase(secret), to: &slot)
        #expect(!slot.contains("hunter2"))
    }

    @Test func `a calibrated cost is between the least and the most`() throws {
        #expect(try ScryptParameters.calibrated(to: .zero) == .least)
        #expect(try ScryptParameters.calibrated(to: .seconds(3600)) == .most)
    }
}
