internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

/// What authenticates the documents of a repository.
struct RepositoryKey: Sendable {
    /// The key of every document that is written.
    let current: SymmetricKey
    /// While a new key is introduced, the one of the documents that have no code of the new one yet.
    var previous: SymmetricKey?

    /// The key before, under the one that takes its place.
    ///
    /// - Parameter repository: the repository's identifier.
    static func seal(_ previous: SymmetricKey, by current: SymmetricKey, of repository: [UInt8]) throws -> String {
        let box = try previous.withUnsafeBytes { try ChaChaPoly.seal($0, using: sealing(current, repository)) }
        return Array(box.combined).hexadecimal
    }

    /// - Parameter sealed: the result of ``seal(_:by:of:)``; nil if there is only one key.
    /// - Throws: `VaultError` `damaged` if it was not sealed by `current`.
    init(current: SymmetricKey, sealed: String?, of repository: [UInt8]) throws {
        self.current = current
        guard let sealed else { return }
        do {
            let box = try ChaChaPoly.SealedBox(combined: [UInt8](hexadecimal: sealed) ?? [])
            previous = SymmetricKey(data: try ChaChaPoly.open(box, using: Self.sealing(current, repository)))
        } catch {
            throw VaultError(
                .damaged, "the repository's previous key cannot be read", path: RepositoryFormat.config,
                advice: .restoreIdentity)
        }
    }

    init(current: SymmetricKey, previous: SymmetricKey?) { (self.current, self.previous) = (current, previous) }

    /// Not the key itself, which computes codes.
    private static func sealing(_ key: SymmetricKey, _ repository: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: repository, info: Array("litevault-repository 1 previous".utf8),
            outputByteCount: 32)
    }
}

extension SealedDocument {
    /// Whether its code was computed with one of the keys.
    func isAuthentic(_ key: RepositoryKey) -> Bool {
        isAuthentic(key.current) || key.previous.map(isAuthentic) ?? false
    }
}

/// The key that every object of a sealed repository is encrypted under.
///
/// It is random, and stays when the repository's secrets and its authentication key change: `repository.json` has it under the
/// present authentication key. So a new key need not store all data again, and who once opened the repository can read what
/// is stored later as well.
struct SealingKey: Sendable {
    private let key: SymmetricKey
    /// The 16 bytes of the repository's identifier.
    private let repository: [UInt8]

    /// A new random key.
    init(of repository: [UInt8]) {
        key = SymmetricKey(size: .bits256)
        self.repository = repository
    }

    /// The key in `repository.json`.
    ///
    /// - Parameter sealed: the result of ``sealed(by:)``.
    /// - Throws: `VaultError` `damaged` if it was not sealed by `current`.
    init(opening sealed: String, by current: SymmetricKey, of repository: [UInt8]) throws {
        do {
            let box = try ChaChaPoly.SealedBox(combined: [UInt8](hexadecimal: sealed) ?? [])
            key = SymmetricKey(data: try ChaChaPoly.open(box, using: Self.wrapping(current, repository)))
        } catch {
            throw VaultError(
                .damaged, "the key of the repository's objects cannot be read", path: RepositoryFormat.config,
                advice: .restoreIdentity)
        }
        self.repository = repository
    }

    /// This key under the repository's authentication key, in hexadecimal digits.
    func sealed(by current: SymmetricKey) throws -> String {
        let box = try key.withUnsafeBytes { try ChaChaPoly.seal($0, using: Self.wrapping(current, repository)) }
        return Array(box.combined).hexadecimal
    }

    /// Not the key itself, which computes codes.
    private static func wrapping(_ current: SymmetricKey, _ repository: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: current, salt: repository, info: Array("litevault-repository 2 sealing".utf8),
            outputByteCount: 32)
    }

    /// The key of one object. Nothing else is sealed under it, so that its nonces are numbers.
    ///
    /// - Parameters:
    ///   - name: the object's: an object that is stored under another name cannot be opened.
    ///   - salt: random bytes in the object.
    func object(_ name: String, salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: salt,
            info: Array("litevault-repository 2 object".utf8) + repository + Array(name.utf8), outputByteCount: 32)
    }

    /// The identifier of a database, in the names of objects. A plain hash would let anybody try names.
    func identifier(_ database: String) -> String {
        let naming = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: repository, info: Array("litevault-repository 2 database".utf8),
            outputByteCount: 32)
        let code = HMAC<SHA256>.authenticationCode(for: Array(database.utf8), using: naming)
        return String(code.hexadecimal.prefix(32))
    }
}
