internal import Crypto
internal import LiteVaultCore
internal import LiteVaultSystem

/// Endorses the newest database key of a keyring with a key that only the secret of one slot leads to.
///
/// The public key of a slot is in the file for all to read, and everybody can seal a key to it. So a slot that opens shows that
/// the keyring was made *for* the slot, and not by whom. Only who has the slot's secret can endorse.
package struct SlotEndorser {
    /// The public key of the slot.
    let publicKey: [UInt8]
    private let key: KeyMaterial
    private let keyring: [UInt8]

    /// - Parameter pair: the key pair of the slot. What is kept of it is of use for this keyring only.
    init(_ pair: SlotKeyPair, of keyring: [UInt8]) throws {
        publicKey = pair.publicKey
        self.keyring = keyring
        key = try pair.derivedKey(salt: keyring, use: "endorsement")
    }

    /// Endorses a key.
    ///
    /// - Parameter generation: that of the keyring which is being written. It tells an endorsement of now from one of before.
    func endorsement(of newest: KeyMaterial, slot: UInt32, generation: UInt64) throws -> SlotEndorsement {
        defer { HeapScrubber.run() }
        let message = try Self.message(newest, slot, generation)
        let code = key.withBytes { key in
            message.withBytes { HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: key)) }
        }
        return SlotEndorsement(key: KeyringCode.identifier(of: newest), generation: generation, code: Array(code))
    }

    /// Whether a slot has endorsed a key, compared in constant time.
    func hasEndorsed(_ newest: KeyMaterial, in slot: SlotRecord) throws -> Bool {
        guard let endorsement = slot.endorsement, slot.publicKey == publicKey,
            endorsement.key == KeyringCode.identifier(of: newest)
        else { return false }
        defer { HeapScrubber.run() }
        let message = try Self.message(newest, slot.number, endorsement.generation)
        return key.withBytes { key in
            message.withBytes {
                HMAC<SHA256>.isValidAuthenticationCode(
                    endorsement.code, authenticating: $0, using: SymmetricKey(data: key))
            }
        }
    }

    /// The whole key, not its identifier: that has 64 bits, which can be found by trying.
    private static func message(_ newest: KeyMaterial, _ slot: UInt32, _ generation: UInt64) throws -> KeyMaterial {
        let number = withUnsafeBytes(of: slot.bigEndian) { Array($0) }
        let time = withUnsafeBytes(of: generation.bigEndian) { Array($0) }
        return try KeyMaterial.joined([(number + time).withUnsafeBytes(KeyMaterial.init(contentsOf:)), newest])
    }
}
