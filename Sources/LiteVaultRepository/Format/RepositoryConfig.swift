internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem
internal import _CryptoExtras

/// The content of `repository.json`: the repository's identity, and the versions that can read and write it.
struct RepositoryConfig: CheckedDocument, Sendable {
    var type = "repository"
    /// The version that wrote it.
    var format = RepositoryFormat.unsealedVersion
    /// The oldest versions that can read it, and that may write to it.
    var minReader = 1
    var minWriter = 1
    /// Features that a reader must support; unknown ones are rejected.
    var features: [String] = []
    /// Increases with each change of the secrets; absent before the first.
    var generation: Int?
    /// 32 hexadecimal digits.
    var id: String
    var created: String
    /// How the key is derived from the secret that the repository was created with. Absent without a secret, and once that secret
    /// was removed.
    var secret: SecretDerivation?
    /// The slots of further secrets.
    var secrets: [SecretSlot]?
    /// While a new key is introduced, the one before, sealed.
    var previous: String?
    /// In a sealed repository, the key of its objects, sealed.
    var sealing: String?
    /// Whether objects of before may not be sealed yet: while a repository is upgraded.
    var unsealed: Bool?
    /// How names of databases become identifiers: "keyed" in a repository that was created sealed, by a hash if absent.
    var identifiers: String?

    /// The feature of a repository without its first secret: an older reader would take it for one that has none.
    static let slotsFeature = "secret-slots"
    /// The feature of a sealed repository.
    static let sealedFeature = "sealed"
    /// The value of ``identifiers``.
    static let keyed = "keyed"

    var slots: [SecretSlot] { secrets ?? [] }

    var hasSecret: Bool { secret != nil || !slots.isEmpty || features.contains(Self.slotsFeature) }

    var isSealed: Bool { sealing != nil }

    /// Adds a feature, after those that it has.
    mutating func add(feature: String) {
        if !features.contains(feature) { features.append(feature) }
    }

    /// Makes it that of a sealed repository, which versions that cannot open sealed objects refuse.
    mutating func seal(with key: SealingKey, under current: SymmetricKey) throws {
        (format, minReader, minWriter) = (RepositoryFormat.version, RepositoryFormat.version, RepositoryFormat.version)
        add(feature: Self.sealedFeature)
        sealing = try key.sealed(by: current)
    }

    /// Checks what newer versions cannot change; ``require(location:)`` checks the rest.
    func check() throws(OutOfLimits) {
        try require("id", id, digits: 32)
        try require("iterations", secret?.iterations, in: 1...Int(UInt32.max))
        try require("generation", generation, in: RepositoryFormat.generations)
        try require("secrets", slots.count, in: 0...SecretSlot.limit)
        for slot in slots { try slot.check(self) }
        try require("previous", previous, digits: 2 * SecretSlot.sealedBytes)
        try require("sealing", sealing, digits: 2 * SecretSlot.sealedBytes)
        // Every value is within its limits, so the sum is, too.
        try require("iterations", slots.reduce(0) { $0 + $1.iterations }, in: 0...SecretSlot.iterationLimit)
        guard zip(slots, slots.dropFirst()).allSatisfy({ $0.number < $1.number }) else {
            throw OutOfLimits("secrets", "are not in the order of their numbers")
        }
        guard slots.isEmpty || secret != nil || features.contains(Self.slotsFeature) else {
            throw OutOfLimits("features", "does not have '\(Self.slotsFeature)'")
        }
    }

    /// The identifier in a `repository.json`; nil if it is damaged, which says nothing about whose it is.
    static func identifier(in bytes: [UInt8]) -> String? {
        guard let document = try? SealedDocument(whole: bytes, name: RepositoryFormat.config) else { return nil }
        return (try? document.decode(Self.self, name: RepositoryFormat.config))?.id
    }

    /// - Throws: `VaultError` `unsupported` for a repository of a newer version, `damaged` if it is not a repository.
    func require(location: String) throws {
        guard type == "repository", let id = [UInt8](hexadecimal: id), id.count == 16 else {
            throw VaultError(.damaged, "is not a repository", path: location)
        }
        guard minReader <= RepositoryFormat.version,
            features.allSatisfy({ [Self.slotsFeature, Self.sealedFeature].contains($0) }),
            identifiers == nil || identifiers == Self.keyed
        else {
            throw VaultError(
                .unsupported, "the repository has format \(minReader)\(features.map { ", \($0)" }.joined())",
                path: location, advice: .update)
        }
        guard isSealed == features.contains(Self.sealedFeature), isSealed || (unsealed == nil && identifiers == nil),
            !isSealed || hasSecret
        else { throw VaultError(.damaged, "is sealed without a key", path: location, advice: .restoreIdentity) }
    }
}

extension RepositoryConfig {
    /// What a secret leads to.
    struct Candidate {
        /// The number of the slot: 1 for the secret that the repository was created with.
        let slot: Int
        let key: SymmetricKey
    }

    /// The first slot that a secret opens and a condition accepts; nil if there is none. Slots that cost little come first.
    ///
    /// - Parameter accept: whether it is the repository's key. Any secret leads to a key by `secret`; that of the other slots is
    ///   sealed, and the right one.
    /// - Throws: `VaultError` `unsupported` for an unknown derivation.
    func unlock(_ secret: RepositorySecret, where accept: (Candidate) throws -> Bool) throws -> Candidate? {
        let repository = [UInt8](hexadecimal: id) ?? []
        let ways: [(cost: Int, slot: SecretSlot?)] =
            (self.secret.map { [($0.iterations, nil)] } ?? []) + slots.map { ($0.iterations, $0) }
        for way in ways.sorted(by: { $0.cost < $1.cost }) {
            let candidate: Candidate?
            if let slot = way.slot {
                candidate = try slot.open(secret, of: repository).map { Candidate(slot: slot.number, key: $0) }
            } else {
                candidate = try self.secret.map { Candidate(slot: 1, key: try secret.key($0)) }
            }
            if let candidate, try accept(candidate) { return candidate }
        }
        return nil
    }
}

/// The secret of a repository. It authenticates what is written to the repository and, if that is sealed, leads to the key that
/// everything stored is encrypted under. It is not a database key, and is never stored.
public struct RepositorySecret: Sendable {
    let bytes: SecretBytes
    /// The rounds of PBKDF2 in a slot that is made for it.
    let iterations: Int

    private init(_ bytes: some Collection<UInt8>, iterations: Int) throws {
        guard !bytes.isEmpty else { throw VaultError(.keyRejected, "the repository's secret is empty") }
        self.bytes = try SecretBytes(bytes)
        self.iterations = iterations
    }

    /// Creates a secret from a passphrase. The authentication key is derived from it with PBKDF2-HMAC-SHA256.
    ///
    /// - Throws: `VaultError` `keyRejected` if it is empty.
    public static func passphrase(_ bytes: some Collection<UInt8>) throws -> RepositorySecret {
        try passphrase(bytes, iterations: 600_000)
    }

    /// As ``passphrase(_:)``, with the number of rounds in the slots that are made for it.
    package static func passphrase(_ bytes: some Collection<UInt8>, iterations: Int) throws -> RepositorySecret {
        try RepositorySecret(bytes, iterations: iterations)
    }

    /// Creates a secret from 32 or more random bytes.
    ///
    /// - Throws: `VaultError` `keyRejected` if there are fewer.
    public static func raw(_ bytes: some Collection<UInt8>) throws -> RepositorySecret {
        guard bytes.count >= 32 else {
            throw VaultError(.keyRejected, "the repository's secret has fewer than 32 bytes")
        }
        return try RepositorySecret(bytes, iterations: 1)
    }

    /// PBKDF2 (RFC 8018) with HMAC-SHA256, 32 bytes, by swift-crypto.
    func key(_ derivation: SecretDerivation) throws -> SymmetricKey {
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
