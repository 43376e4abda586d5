internal import Crypto
internal import Foundation
internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSupport

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

    /// - Throws: ``BackupError`` `unsupported` for a repository of a newer version, `damaged` if it is not a repository.
    func require(location: String) throws {
        guard type == "repository", let id = [UInt8](hexadecimal: id), id.count == 16 else {
            throw BackupError(.damaged, "is not a repository", path: location)
        }
        guard minReader <= RepositoryFormat.version, features.isEmpty else {
            throw BackupError(
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
        guard !bytes.isEmpty else { throw BackupError(.keyRejected, "the repository's secret is empty") }
        self.form = form
        self.bytes = try SecretBytes(bytes)
    }

    /// Creates a secret from a passphrase. The authentication key is derived from it with PBKDF2-HMAC-SHA256.
    ///
    /// - Throws: ``BackupError`` `keyRejected` if it is empty.
    public static func passphrase(_ bytes: some Collection<UInt8>) throws -> RepositorySecret {
        try RepositorySecret(.passphrase, bytes)
    }

    /// Creates a secret from 32 or more random bytes.
    ///
    /// - Throws: ``BackupError`` `keyRejected` if there are fewer.
    public static func raw(_ bytes: some Collection<UInt8>) throws -> RepositorySecret {
        guard bytes.count >= 32 else {
            throw BackupError(.keyRejected, "the repository's secret has fewer than 32 bytes")
        }
        return try RepositorySecret(.raw, bytes)
    }

    /// PBKDF2 (RFC 8018) with HMAC-SHA256, one block of output.
    func key(_ derivation: RepositoryConfig.Derivation) throws -> SymmetricKey {
        guard derivation.kdf == "pbkdf2-hmac-sha256", RepositoryFormat.iterations.contains(derivation.iterations),
            let salt = [UInt8](hexadecimal: derivation.salt)
        else {
            throw BackupError(.unsupported, "the secret's key derivation is unknown", path: RepositoryFormat.config)
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
    /// Does not reveal the secret.
    public var description: String { "<redacted>" }
}
