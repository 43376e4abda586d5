public import LiteVaultCipher
public import LiteVaultCore
internal import LiteVaultFoundation
public import LiteVaultPool
internal import LiteVaultSupport

/// What to do where a key store has no key, or a database does not exist.
public enum StoredKeyCreation: Sendable {
    /// Both have to exist.
    case never
    /// Where neither exists, a key is generated and stored, and then the database is created. The default.
    case withNewKey
    /// As ``withNewKey``; and where the store has a key but the database is missing, an empty database is created under that
    /// key: after a reinstallation on systems that keep the keys of removed apps.
    case withStoredKey
}

/// A generated database key in a key store: 48 bytes, stored as 96 hexadecimal digits.
enum StoredDatabaseKey {
    /// The key for opening a database; it is generated and stored where that is allowed.
    ///
    /// - Throws: `keyMissing` when the database exists and the key does not; `databaseMissing` vice versa.
    static func key(
        for path: String, in store: any KeyStore, _ creation: StoredKeyCreation
    ) throws -> DatabaseKey {
        _ = try CipherEngine.require(for: path)
        let exists = try hasContent(path)
        if let stored = try store.read() {
            guard exists || creation == .withStoredKey else { throw VaultError.databaseIsMissing(path) }
            return try decoded(stored, from: store)
        }
        guard !exists else {
            throw VaultError(
                .keyMissing, "The database exists, but its key is not in \(store)", path: path,
                remedy:
                    "It may have been removed with an earlier installation, or belong to another device. Restore the key,"
                    + " or open the database by a slot of its keyring. Nothing was created.")
        }
        guard creation != .never else { throw VaultError.databaseIsMissing(path) }
        let digits = try KeyMaterial.random(count: KeyringDocument.keyLength).digits()
        try store.store(digits)
        // The database must not depend on a key that the store does not return.
        guard let stored = try store.read(), stored.equals(digits) else {
            throw VaultError(.io, "\(store) does not return what was stored in it", path: path)
        }
        return try decoded(stored, from: store)
    }

    private static func hasContent(_ path: String) throws -> Bool {
        guard try SecretFile.exists(path) else { return false }
        return try DatabaseFile(path).kind() != .empty
    }

    private static func decoded(_ stored: KeyMaterial, from store: any KeyStore) throws -> DatabaseKey {
        guard let bytes = try stored.decodedDigits(), bytes.count == KeyringDocument.keyLength else {
            throw VaultError(
                .keyRejected, "What is in \(store) is not a generated key",
                remedy: "A generated key has \(2 * KeyringDocument.keyLength) hexadecimal digits.")
        }
        return try UnlockedKeyring.databaseKey(bytes)
    }
}

extension Connection {
    /// Opens a database whose key was generated and is kept in a key store, or creates both.
    ///
    /// ```swift
    /// let db = try Connection("notes.db", keyIn: FileKeyStore("notes.key"))
    /// ```
    ///
    /// A database is never created where one may have been lost: see ``StoredKeyCreation``.
    ///
    /// - Parameters:
    ///   - path: the path of the database. It is never treated as a URI.
    ///   - store: the key store. A key store of its own for each database is best.
    ///   - creation: what to do where the key or the database is missing.
    ///   - settings: the settings that the file is, or will be, encrypted with.
    /// - Throws: `VaultError`: `keyMissing`, `databaseMissing`, `keyStoreLocked`, `noEncryption`; the errors of
    ///   the store; as opening with a key.
    public convenience init(
        _ path: String, keyIn store: any KeyStore, creation: StoredKeyCreation = .withNewKey,
        settings: CipherSettings = .init()
    ) throws {
        let key = try StoredDatabaseKey.key(for: path, in: store, creation)
        try self.init(.uri(path.engineFileName), key: key, settings: settings)
    }
}

extension DatabaseFileAccess {
    /// Opens a database whose key was generated and is kept in a key store, or creates both, in a `DatabasePool` or a
    /// `DatabaseQueue`.
    ///
    /// - Throws: as `Connection(_:keyIn:creation:settings:)`.
    public init(
        _ path: String, keyIn store: any KeyStore, creation: StoredKeyCreation = .withNewKey,
        settings: CipherSettings = .init(), configuration: DatabaseConfiguration = .init()
    ) throws {
        let key = try StoredDatabaseKey.key(for: path, in: store, creation)
        try self.init(path, key: key, settings: settings, configuration: configuration)
    }
}
