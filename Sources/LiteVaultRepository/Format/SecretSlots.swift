internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

/// How a key is derived from a secret.
struct SecretDerivation: Codable, Sendable, Equatable {
    var kdf: String
    var iterations: Int
    var salt: String

    /// A new one, for one secret.
    static func new(_ secret: RepositorySecret) -> SecretDerivation {
        SecretDerivation(kdf: "pbkdf2-hmac-sha256", iterations: secret.iterations, salt: PackID().hexadecimal)
    }
}

/// A slot of `repository.json`: the repository's key, sealed under a key that one secret leads to.
///
/// Not a key pair, as the slots of keyrings are: with a public key anybody could seal a key of their own choice for a slot, and
/// authenticate a forged repository by it. Only who has the secret of a slot can make one that it opens.
struct SecretSlot: Codable, Sendable, Equatable {
    /// The generation of the change that added it: no number is used twice.
    var number: Int
    var name: String?
    var added: String
    var kdf: String
    var iterations: Int
    var salt: String
    /// Nonce, ciphertext and tag.
    var sealed: String

    /// The maximum number of slots: the document has to stay small enough to be repaired.
    static let limit = 16
    /// The maximum sum of the iterations of all slots: what a wrong secret costs, about ten seconds.
    static let iterationLimit = 20_000_000
    /// The maximum size of a name in bytes.
    static let nameBytes = 100
    /// The size of a sealed key: the nonce of ChaCha20-Poly1305, the key and the tag.
    static let sealedBytes = 12 + 32 + 16

    var derivation: SecretDerivation { SecretDerivation(kdf: kdf, iterations: iterations, salt: salt) }

    func check(_ document: RepositoryConfig) throws(OutOfLimits) {
        try document.require("number", number, in: 2...RepositoryFormat.generations.upperBound)
        try document.require("name", (name ?? "-").utf8.count, in: 1...Self.nameBytes)
        try document.require("added", time: added)
        try document.require("iterations", iterations, in: RepositoryFormat.iterations)
        try document.require("salt", salt, digits: 32)
        try document.require("sealed", sealed, digits: 2 * Self.sealedBytes)
    }

    /// Seals the repository's key.
    ///
    /// - Parameter sealing: the key that ``derivation`` leads to.
    init(
        number: Int, name: String, derivation: SecretDerivation, sealing: SymmetricKey, _ key: SymmetricKey,
        of repository: [UInt8]
    ) throws {
        self.number = number
        self.name = name.isEmpty ? nil : name
        added = Timestamp.text(Date())
        (kdf, iterations, salt) = (derivation.kdf, derivation.iterations, derivation.salt)
        let box = try key.withUnsafeBytes {
            try ChaChaPoly.seal($0, using: sealing, authenticating: Self.context(number, repository))
        }
        sealed = Array(box.combined).hexadecimal
    }

    /// The repository's key; nil if the secret is not that of the slot, or the slot was changed.
    func open(_ secret: RepositorySecret, of repository: [UInt8]) throws -> SymmetricKey? {
        let sealing = try secret.key(derivation)
        guard let bytes = [UInt8](hexadecimal: sealed) else { return nil }
        do {
            return SymmetricKey(
                data: try ChaChaPoly.open(
                    ChaChaPoly.SealedBox(combined: bytes), using: sealing,
                    authenticating: Self.context(number, repository)))
        } catch { return nil }
    }

    /// A slot opens in its repository and under its number only.
    private static func context(_ number: Int, _ repository: [UInt8]) -> [UInt8] {
        Array("litevault-repository 1 slot".utf8) + repository
            + withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
    }

    /// - Throws: `VaultError` `usage` for a name that cannot be shown.
    static func require(name: String) throws {
        let isShown = name.unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        guard name.utf8.count <= nameBytes, isShown else {
            throw VaultError(
                .usage, "the name of a secret has more than \(nameBytes) bytes, or invisible characters",
                remedy: "Choose another name.")
        }
    }
}
