internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSupport

/// The secret of a repository: whoever has it can tell what was written by somebody who has it. It is no key of a
/// database, encrypts nothing, and lies in no store.
public struct RepositorySecret: Sendable {
    /// A form of secret.
    enum Form { case passphrase, raw }

    let form: Form
    let bytes: SecretBytes

    private init(_ form: Form, _ bytes: some Collection<UInt8>) throws {
        guard !bytes.isEmpty else { throw BackupError(.keyRejected, "the repository's secret is empty") }
        self.form = form
        self.bytes = try SecretBytes(bytes)
    }

    /// A passphrase: the authentication key is derived from it slowly (PBKDF2-HMAC-SHA256).
    ///
    /// - Throws: ``BackupError`` `keyRejected` when it is empty.
    public static func passphrase(_ bytes: some Collection<UInt8>) throws -> RepositorySecret {
        try RepositorySecret(.passphrase, bytes)
    }

    /// 32 bytes or more of a random generator.
    ///
    /// - Throws: ``BackupError`` `keyRejected` when there are fewer.
    public static func raw(_ bytes: some Collection<UInt8>) throws -> RepositorySecret {
        guard bytes.count >= 32 else {
            throw BackupError(.keyRejected, "the repository's secret has fewer than 32 bytes")
        }
        return try RepositorySecret(.raw, bytes)
    }

    /// PBKDF2 (RFC 8018) with HMAC-SHA256, one block of output.
    func key(_ derivation: RepositoryConfig.Derivation) throws -> SymmetricKey {
        guard derivation.kdf == "pbkdf2-hmac-sha256", RepositoryFormat.iterations.contains(derivation.iterations),
            let salt = [UInt8](hex: derivation.salt)
        else {
            throw BackupError(.unsupported, "the secret is derived in an unknown way", path: RepositoryFormat.config)
        }
        let password = bytes.withBytes { SymmetricKey(data: $0) }
        let keyed = HMAC<SHA256>(key: password)
        var first = keyed
        first.update(data: salt + [0, 0, 0, 1])
        // What arrays would leave behind is in memory that is wiped; SymmetricKey wipes its own.
        let result = try SecretBytes(count: 64) { memory in
            let block = UnsafeMutableRawBufferPointer(rebasing: memory[32...])
            first.finalize().withUnsafeBytes { code in
                memory.copyMemory(from: code)
                block.copyMemory(from: code)
            }
            for _ in 1..<derivation.iterations {
                // A copy of the keyed state saves hashing the key each time.
                var next = keyed
                next.update(data: UnsafeRawBufferPointer(block))
                next.finalize().withUnsafeBytes { code in
                    for index in 0..<32 {
                        block[index] = code[index]
                        memory[index] ^= code[index]
                    }
                }
            }
        }
        return result.withBytes { SymmetricKey(data: UnsafeRawBufferPointer(rebasing: $0[..<32])) }
    }
}

extension RepositorySecret: CustomStringConvertible {
    /// Says nothing of the secret.
    public var description: String { "<redacted>" }
}
