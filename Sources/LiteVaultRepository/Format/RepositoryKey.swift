internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultFoundation
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
