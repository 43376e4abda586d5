public import LiteVaultCipher
public import LiteVaultCore
public import LiteVaultPool
internal import LiteVaultSystem

/// What to do where a key store has no key, or a database does not exist.
///
/// An empty file without a key does not count as a database. With a key it is one that nothing was written to yet, and is opened.
public enum StoredKeyCreation: Sendable {
    /// Both have to exist.
    case never
    /// Where neither exists, an empty file is created, and a key is generated and stored. The default.
    case withNewKey
    /// As ``withNewKey``; and where the store has a key but the database is missing, an empty database is created under that
    /// key: after a reinstallation on systems that keep the keys of removed apps.
    case withStoredKey
}

/// A generated database key in a key store: 48 bytes, stored as 96 hexadecimal digits.
///
/// Both are created in one order: the file, empty; the key; the first page. The process may be killed in between. So a key without
/// a file means that a database was lost, and a key with an empty file that nothing was written to it yet.
enum StoredDatabaseKey {
    /// How long to wait for others that create the same database: the command of a store may ask a person.
    private static let lockTimeout = Duration.seconds(60)

    /// The key for opening a database; it is generated and stored where that is allowed.
    ///
    /// - Throws: `keyMissing` when the database exists and the key does not; `databaseMissing` vice versa; `busy`.
    static func key(
        for path: String, in store: any KeyStore, _ creation: StoredKeyCreation
    ) throws -> DatabaseKey {
        _ = try CipherEngine.require(for: path)
        if let key = try existingKey(for: path, in: store, creation) { return key }
        guard creation != .never else { throw VaultError.databaseIsMissing(path) }
        // Others may be at this point, too, and most stores replace what they have: the key of a database that was written
        // to meanwhile. The lock has the name of the keyring's, which the tool knows to be no database.
        let lock = try LockFile.ofKeyring(Keyring.path(beside: path), timeout: lockTimeout, "creating the database")
        defer { lock.remove() }
        return try existingKey(for: path, in: store, creation) ?? newKey(for: path, in: store)
    }

    /// The key in the store; nil when there is neither a key nor a database.
    ///
    /// The store is asked first. Of a database that another process creates meanwhile, the file exists before the key.
    private static func existingKey(
        for path: String, in store: any KeyStore, _ creation: StoredKeyCreation
    ) throws -> DatabaseKey? {
        let first = try store.read()
        let kind = try kind(of: path)
        if first == nil, kind == nil || kind == .empty { return nil }
        // With content the key was stored before: an answer from before that is worth nothing.
        guard let stored = try first ?? store.read() else {
            throw VaultError(
                .keyMissing, "The database exists, but its key is not in \(store)", path: path,
                remedy:
                    "It may have been removed with an earlier installation, or belong to another device. Restore the key,"
                    + " or open the database by a slot of its keyring. Nothing was created.")
        }
        guard kind != nil || creation == .withStoredKey else { throw VaultError.databaseIsMissing(path) }
        return try decoded(stored, from: store)
    }

    /// Creates an empty file and stores a key, while this process has the lock.
    private static func newKey(for path: String, in store: any KeyStore) throws -> DatabaseKey {
        let isNew = try kind(of: path) == nil
        // By the engine: with its mode, and closing the file drops no lock of another connection.
        try Connection(.uri(path.engineFileName)).close()
        guard try kind(of: path) != nil else {
            throw VaultError(.usage, "A key in a key store needs a database that is a file", path: path)
        }
        do {
            try withErrorContext(path: path) { try DurableName.sync(path) }
            let digits = try KeyMaterial.random(count: KeyringDocument.keyLength).digits()
            return try decoded(store.secret(orStoring: digits), from: store)
        } catch {
            // A key that is put into the store later must not find a file: its database would be missing.
            if isNew, isEmpty(store), try kind(of: path) == .empty { unlink(path) }
            throw error
        }
    }

    private static func isEmpty(_ store: any KeyStore) -> Bool {
        do { return try store.read() == nil } catch { return false }
    }

    /// What the file is; nil when there is none.
    private static func kind(of path: String) throws -> FileKind? {
        let metadata = try withErrorContext(path: path) {
            try FileMetadata.ifExists(path: path, followingLinks: true)
        }
        return try metadata == nil ? nil : DatabaseFile(path).kind()
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
    /// A database is never created where one may have been lost: see ``StoredKeyCreation``. Of several processes that begin
    /// at the same time one creates it, and the others open it.
    ///
    /// - Parameters:
    ///   - path: the path of the database. It is never treated as a URI.
    ///   - store: the key store. A key store of its own for each database is best.
    ///   - creation: what to do where the key or the database is missing.
    ///   - settings: the settings that the file is, or will be, encrypted with.
    /// - Throws: `VaultError`: `keyMissing`, `databaseMissing`, `keyStoreLocked`, `noEncryption`; `busy` when
    ///   another process takes more than a minute to create the database; the errors of the store; as opening with a key.
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
