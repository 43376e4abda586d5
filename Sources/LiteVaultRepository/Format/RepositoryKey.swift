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
        try previous.sealed(by: current.derived(for: "1 previous", salt: repository))
    }

    /// - Parameter sealed: the result of ``seal(_:by:of:)``; nil if there is only one key.
    /// - Throws: `VaultError` `damaged` if it was not sealed by `current`.
    init(current: SymmetricKey, sealed: String?, of repository: [UInt8]) throws {
        self.current = current
        guard let sealed else { return }
        do {
            previous = try SymmetricKey(opening: sealed, by: current.derived(for: "1 previous", salt: repository))
        } catch {
            throw VaultError(
                .damaged, "the repository's previous key cannot be read", path: RepositoryFormat.config,
                advice: .restoreIdentity)
        }
    }

    init(current: SymmetricKey, previous: SymmetricKey?) { (self.current, self.previous) = (current, previous) }
}

extension SymmetricKey {
    /// A key for a purpose of its own: not the key itself, which computes codes or has another purpose.
    fileprivate func derived(for purpose: String, salt: [UInt8], _ more: [UInt8] = []) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: self, salt: salt, info: Array("litevault-repository \(purpose)".utf8) + more,
            outputByteCount: 32)
    }

    /// This key under another one, in hexadecimal digits.
    fileprivate func sealed(by key: SymmetricKey) throws -> String {
        let box = try withUnsafeBytes { try ChaChaPoly.seal($0, using: key) }
        return Array(box.combined).hexadecimal
    }

    /// Opens the result of ``sealed(by:)``.
    fileprivate init(opening sealed: String, by key: SymmetricKey) throws {
        let box = try ChaChaPoly.SealedBox(combined: [UInt8](hexadecimal: sealed) ?? [])
        self.init(data: try ChaChaPoly.open(box, using: key))
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
/// present authentication key. So a new key need not store all data again, and anyone who once opened the repository can read
/// what is stored later as well.
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
            key = try SymmetricKey(opening: sealed, by: current.derived(for: "2 sealing", salt: repository))
        } catch {
            throw VaultError(
                .damaged, "the key of the repository's objects cannot be read", path: RepositoryFormat.config,
                advice: .restoreIdentity)
        }
        self.repository = repository
    }

    /// This key under the repository's authentication key, in hexadecimal digits.
    func sealed(by current: SymmetricKey) throws -> String {
        try key.sealed(by: current.derived(for: "2 sealing", salt: repository))
    }

    /// The key of one object. Nothing else is sealed under it, so that its nonces are numbers.
    ///
    /// - Parameters:
    ///   - name: the object's: an object that is stored under another name cannot be opened.
    ///   - salt: random bytes in the object.
    func object(_ name: String, salt: [UInt8]) -> SymmetricKey {
        key.derived(for: "2 object", salt: salt, repository + Array(name.utf8))
    }

    /// The identifier of a database, in the names of objects. A plain hash would let anybody try names.
    func identifier(_ database: String) -> String {
        let naming = key.derived(for: "2 database", salt: repository)
        let code = HMAC<SHA256>.authenticationCode(for: Array(database.utf8), using: naming)
        return String(code.hexadecimal.prefix(32))
    }
}
