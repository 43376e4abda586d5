internal import Crypto
internal import LiteVaultCore
internal import LiteVaultSystem
internal import _CryptoExtras

/// The X25519 key pair of a slot. The slot's secret leads to the private key; the public key is in the file.
///
/// Because database keys are sealed to public keys, any one slot suffices to give a new one to all slots.
package struct SlotKeyPair {
    private let key: Curve25519.KeyAgreement.PrivateKey
    /// The same, as it was derived or given: the library may keep another form of it.
    private let secret: KeyMaterial

    /// The key pair with the given private key, any 32 bytes.
    init(privateKey: KeyMaterial) throws {
        defer { HeapScrubber.run() }
        secret = privateKey
        do {
            key = try privateKey.withBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
        } catch {
            throw VaultError(.keyMaterialRejected, "A private key has 32 bytes")
        }
    }

    /// The key pair of a passphrase: scrypt's output is the private key.
    init(passphrase: KeyMaterial, _ cost: ScryptParameters, salt: [UInt8]) throws {
        let derived: SymmetricKey
        do {
            derived = try passphrase.withBytes {
                try KDF.Scrypt.deriveKey(
                    from: $0, salt: salt, outputByteCount: 32, rounds: cost.cost, blockSize: cost.blockSize,
                    parallelism: cost.parallelism)
            }
        } catch {
            throw VaultError(
                .internalFailure, "A key cannot be derived from the passphrase: that takes \(cost.memory >> 20) MiB")
        }
        HeapScrubber.run()
        try self.init(privateKey: derived.withUnsafeBytes { try KeyMaterial(contentsOf: $0) })
    }

    /// The key pair of a random secret, by HKDF-SHA256.
    init(secret: KeyMaterial, salt: [UInt8], use: String) throws {
        let derived = KeyringCode.derived(secret, salt: salt, use: use, count: 32)
        try self.init(privateKey: derived.withUnsafeBytes { try KeyMaterial(contentsOf: $0) })
    }

    /// 32 bytes.
    var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// A key for another use of the same secret, by HKDF-SHA256: 32 bytes that do not lead back to it.
    func derivedKey(salt: [UInt8], use: String) throws -> KeyMaterial {
        defer { HeapScrubber.run() }
        return try KeyringCode.derived(secret, salt: salt, use: use, count: 32)
            .withUnsafeBytes { try KeyMaterial(contentsOf: $0) }
    }

    /// The database keys that a slot seals for this key pair; nil when the slot is for another.
    ///
    /// - Throws: `damaged` when the slot is for this key pair, but does not open.
    package func open(_ slot: SlotRecord, of keyring: [UInt8], path: String) throws -> [KeyMaterial]? {
        guard slot.publicKey == publicKey else { return nil }
        defer { HeapScrubber.run() }
        var plain: Data
        do {
            plain = try HPKESuite.open(
                slot.sealed, encapsulated: slot.encapsulated, by: key, info: Self.info(keyring, slot.number))
        } catch let error as VaultError { throw error } catch { throw VaultError.changedKeyring(path) }
        defer { plain.wipe() }
        let length = KeyringDocument.keyLength
        return try plain.withUnsafeBytes { bytes in
            try stride(from: 0, to: bytes.count - length + 1, by: length).map {
                try KeyMaterial(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + length]))
            }
        }
    }

    /// Seals database keys for a slot. Its private key is not needed.
    package static func seal(_ keys: [KeyMaterial], for slot: inout SlotRecord, of keyring: [UInt8]) throws {
        defer { HeapScrubber.run() }
        let joined = try KeyMaterial.joined(keys)
        do {
            (slot.encapsulated, slot.sealed) = try joined.withBytes {
                try HPKESuite.seal($0, to: slot.publicKey, info: info(keyring, slot.number))
            }
        } catch let error as VaultError {
            throw error
        } catch {
            throw VaultError(.keyMaterialRejected, "The public key of slot \(slot.number) is not one that can be used")
        }
    }

    private static func info(_ keyring: [UInt8], _ number: UInt32) -> Data {
        var info = Data("\(KeyringDocument.domain) slot".utf8)
        info.append(contentsOf: keyring)
        withUnsafeBytes(of: number.bigEndian) { info.append(contentsOf: $0) }
        return info
    }
}

/// HPKE (RFC 9180) in base mode: X25519, HKDF-SHA256, ChaCha20-Poly1305. Apple's systems have it since 2023.
private enum HPKESuite {
    package static func seal(
        _ plain: UnsafeRawBufferPointer, to publicKey: [UInt8], info: Data
    ) throws -> (encapsulated: [UInt8], sealed: [UInt8]) {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { throw unsupported }
        let recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: publicKey)
        // RFC 9180 asks for this, the library does not do it: with such a key everybody could open what is sealed.
        let shared = try Curve25519.KeyAgreement.PrivateKey().sharedSecretFromKeyAgreement(with: recipient)
        guard shared.withUnsafeBytes({ $0.contains { $0 != 0 } }) else { throw CryptoKitError.incorrectParameterSize }
        var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: .Curve25519_SHA256_ChachaPoly, info: info)
        return (Array(sender.encapsulatedKey), Array(try sender.seal(plain)))
    }

    package static func open(
        _ sealed: [UInt8], encapsulated: [UInt8], by key: Curve25519.KeyAgreement.PrivateKey, info: Data
    ) throws -> Data {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { throw unsupported }
        var recipient = try HPKE.Recipient(
            privateKey: key, ciphersuite: .Curve25519_SHA256_ChachaPoly, info: info,
            encapsulatedKey: Data(encapsulated))
        return try recipient.open(sealed)
    }

    private static var unsupported: VaultError {
        VaultError(.unsupported, "Keyrings need macOS 14, iOS 17, tvOS 17 or watchOS 10")
    }
}

/// What a database key authenticates, and how it is named.
package enum KeyringCode {
    package static func identifier(of key: KeyMaterial) -> KeyIdentifier {
        let bytes = derived(key, salt: [], use: "key-id", count: KeyIdentifier.length)
        return KeyIdentifier(bytes: bytes.withUnsafeBytes { Array($0) })
    }

    /// The authentication code of a document's body.
    package static func code(of document: KeyringDocument, by key: KeyMaterial) -> [UInt8] {
        let mac = derived(key, salt: document.id, use: "mac", count: 32)
        defer { HeapScrubber.run() }
        return Array(HMAC<SHA256>.authenticationCode(for: Array(document.body.utf8), using: mac))
    }

    /// Whether the code is right, compared in constant time.
    static func isValid(_ code: [UInt8], of document: KeyringDocument, by key: KeyMaterial) -> Bool {
        let mac = derived(key, salt: document.id, use: "mac", count: 32)
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array(document.body.utf8), using: mac)
    }

    /// What people compare: see ``KeyringFingerprint``.
    static func fingerprint(of newest: KeyMaterial, in keyring: [UInt8]) -> KeyringFingerprint {
        let bytes = derived(newest, salt: keyring, use: "fingerprint", count: KeyringFingerprint.length)
        return KeyringFingerprint(bytes: bytes.withUnsafeBytes { Array($0) })
    }

    fileprivate static func derived(_ key: KeyMaterial, salt: [UInt8], use: String, count: Int) -> SymmetricKey {
        key.withBytes {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), salt: salt,
                info: Array("\(KeyringDocument.domain) \(use)".utf8), outputByteCount: count)
        }
    }
}

extension Data {
    /// Overwrites the bytes. The value must be the only owner of its storage.
    fileprivate mutating func wipe() { withUnsafeMutableBytes { SecretMemory.wipe($0) } }
}

/// Overwrites small blocks that were just freed: the cryptographic library returns plain arrays for what it derives and
/// opens, and frees its own intermediate ones without wiping them.
///
/// Best effort: an allocator hands out what was freed last, by size, so the blocks that are taken and wiped here are those.
enum HeapScrubber {
    static func run() {
        var blocks: [UnsafeMutableRawPointer] = []
        blocks.reserveCapacity(sizes.count * 32)
        for size in sizes {
            for _ in 0..<32 {
                guard let block = malloc(size) else { continue }
                SecretMemory.wipe(UnsafeMutableRawBufferPointer(start: block, count: size))
                blocks.append(block)
            }
        }
        for block in blocks { free(block) }
    }

    private static let sizes = Array(stride(from: 24, through: 1048, by: 16))
}
