internal import Crypto
internal import Foundation
internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSupport
internal import _CryptoExtras

/// The content of `repository.json`: the repository's identity, and the versions that can read and write it.
struct RepositoryConfig: CheckedDocument, Sendable {
    /// How the authentication key is derived from the secret.
    struct Derivation: Codable, Sendable, Equatable {
        var kdf: String
        var iterations: Int
        var salt: String
    }

    var type = "repository"
    /// The version that wrote it.
    var format = RepositoryFormat.version
    /// The oldest versions that can read it, and that may write to it.
    var minReader = 1
    var minWriter = 1
    /// Features that a reader must support; unknown ones are rejected.
    var features: [String] = []
    /// 32 hexadecimal digits.
    var id: String
    var created: String
    /// Absent without a secret.
    var secret: Derivation?

    static let byteLimit = RepositoryFormat.documentBytes

    /// Checks what newer versions cannot change; ``require(location:)`` checks the rest.
    func check() throws(OutOfLimits) {
        try require("id", id, digits: 32)
        try require("iterations", secret?.iterations, in: 1...Int(UInt32.max))
    }

    /// A new repository.
    static func new(secret: RepositorySecret?, iterations: Int) -> RepositoryConfig {
        let derivation = secret.map { secret in
            Derivation(
                kdf: "pbkdf2-hmac-sha256", iterations: secret.form == .raw ? 1 : iterations, salt: PackID().hexadecimal)
        }
        return RepositoryConfig(id: PackID().hexadecimal, created: Timestamp.text(Date()), secret: derivation)
    }

    /// - Throws: `VaultError` `unsupported` for a repository of a newer version, `damaged` if it is not a repository.
    func require(location: String) throws {
        guard type == "repository", let id = [UInt8](hexadecimal: id), id.count == 16 else {
            throw VaultError(.damaged, "is not a repository", path: location)
        }
        guard minReader <= RepositoryFormat.version, features.isEmpty else {
            throw VaultError(
                .unsupported, "the repository has format \(minReader)\(features.map { ", \($0)" }.joined())",
                path: location, advice: .update)
        }
    }
}

/// The secret of a repository, which authenticates what is written to it. It is not a database key, does not encrypt
/// anything, and is never stored.
public struct RepositorySecret: Sendable {
    /// A form of secret.
    enum Form { case passphrase, raw }

    let form: Form
    let bytes: SecretBytes

    private init(_ form: Form, _ bytes: some Collection<UInt8>) throws {
        guard !bytes.isEmpty else { throw VaultError(.keyRejected, "the repository's secret is empty") }
        self.form = form
        self.bytes = try SecretBytes(bytes)
    }

    /// Creates a secret from a passphrase. The authentication key is derived from it with PBKDF2-HMAC-SHA256.
    ///
    /// - Throws: `VaultError` `keyRejected` if it is empty.
    public static func passphrase(_ bytes: some Collection<UInt8>) throws -> RepositorySecret {
        try RepositorySecret(.passphrase, bytes)
    }

    /// Creates a secret from 32 or more random bytes.
    ///
    /// - Throws: `VaultError` `keyRejected` if there are fewer.
    public static func raw(_ bytes: some Collection<UInt8>) throws -> RepositorySecret {
        guard bytes.count >= 32 else {
            throw VaultError(.keyRejected, "the repository's secret has fewer than 32 bytes")
        }
        return try RepositorySecret(.raw, bytes)
    }

    /// PBKDF2 (RFC 8018) with HMAC-SHA256, 32 bytes, by swift-crypto.
    func key(_ derivation: RepositoryConfig.Derivation) throws -> SymmetricKey {
        guard derivation.kdf == "pbkdf2-hmac-sha256", RepositoryFormat.iterations.contains(derivation.iterations),
            let salt = [UInt8](hexadecimal: derivation.salt), !salt.isEmpty
        else {
            throw VaultError(.unsupported, "the secret's key derivation is unknown", path: RepositoryFormat.config)
        }
        return try bytes.withBytes {
            // Unchecked: a raw secret is random already and takes one round; those of a passphrase are bounded above.
            try KDF.Insecure.PBKDF2.deriveKey(
                from: $0, salt: salt, using: .sha256, outputByteCount: 32, unsafeUncheckedRounds: derivation.iterations)
        }
    }
}

extension RepositorySecret: CustomStringConvertible {
    /// Does not reveal the secret.
    public var description: String { "<redacted>" }
}
