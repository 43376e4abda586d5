internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultFoundation
internal import LiteVaultSystem

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
