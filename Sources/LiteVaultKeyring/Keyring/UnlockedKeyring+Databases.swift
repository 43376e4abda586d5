public import LiteVaultCipher
public import LiteVaultCore
public import LiteVaultPool
internal import LiteVaultSystem

extension UnlockedKeyring {
    /// The key of a database: the one of the keyring's that opens it.
    ///
    /// - Parameters:
    ///   - path: the path of the database. For a file that is missing or empty it is the newest key, as for a new database.
    ///   - settings: the settings that the file is encrypted with.
    /// - Throws: `VaultError` `io`, `wrongKind`; for a file that is missing or empty, as ``databaseKey()``. Where no key opens
    ///   the file, it is the newest key: opening then explains why.
    public func databaseKey(for path: String, settings: CipherSettings = .init()) throws -> DatabaseKey {
        guard try SecretFile.exists(path) else { return try databaseKey() }
        let kind = try DatabaseFile(path).kind()
        guard kind != .empty else { return try databaseKey() }
        guard keys.count > 1 else { return try newestKey() }
        if kind == .encryptedOrUnknown {
            let salt = try EngineFile(path: path).read(at: 0, count: 16)
            for key in keys where key.withBytes({ $0.suffix(16).elementsEqual(salt) }) {
                return try Self.databaseKey(key)
            }
        }
        guard kind == .encryptedOrUnknown || kind == .plaintextHeader else { return try newestKey() }
        // The salt of a file with a plaintext header is kept elsewhere: only opening shows which key it has.
        for key in keys {
            let key = try Self.databaseKey(key)
            do {
                try Connection(
                    .existing(path), key: key, settings: settings, lockTimeout: .seconds(5), explainsFailure: false
                ).close()
                return key
            } catch let error as VaultError where [.keyRejected, .damaged, .wrongKind].contains(error.code) { continue }
        }
        return try newestKey()
    }

    /// Whether the newest key opens a database, observed: it is opened with it, without writing.
    package func opensWithNewestKey(_ path: String, settings: CipherSettings, lockTimeout: Duration) throws -> Bool {
        try DatabaseFile(path, lockTimeout: lockTimeout).opens(with: newestKey(), settings: settings)
    }

    /// The databases in some directories that have a key of this keyring, observed: each was opened with it, without writing.
    ///
    /// The salt of a file names its key, so that other files cost one read. A database with a plaintext header has its salt
    /// elsewhere, and is not found. One that is in use or damaged counts: nothing shows that it can do without the key.
    ///
    /// - Parameter sparingNewest: whether databases with the newest key are left out.
    /// - Throws: `VaultError` `io` when a directory cannot be read, or has a file whose name is not UTF-8.
    package func databases(
        in directories: [String], sparingNewest: Bool, settings: CipherSettings = .init()
    ) throws -> [String] {
        let keys = sparingNewest ? Array(keys.dropFirst()) : keys
        guard !keys.isEmpty else { return [] }
        var found: [String] = []
        for directory in directories {
            let names: [String]
            do { names = try FileManager.default.contentsOfDirectory(atPath: directory) } catch {
                throw VaultError(.io, "The directory cannot be read", path: directory, cause: error)
            }
            for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
                let file = directory + "/" + name
                // A name that is not UTF-8 comes repaired: no file has that name, or another one.
                if name.unicodeScalars.contains("\u{FFFD}") {
                    throw VaultError(
                        .io, "A file whose name is not UTF-8, or has U+FFFD, cannot be read", path: file,
                        remedy: "Rename it.")
                }
                guard let status = try? FileMetadata.ifExists(path: file, followingLinks: true),
                    status.kind == .regular, let salt = try? EngineFile(path: file).read(at: 0, count: 16),
                    salt.count == 16
                else { continue }
                for key in keys where key.withBytes({ $0.suffix(16).elementsEqual(salt) }) {
                    let opens = try? DatabaseFile(file).opens(with: Self.databaseKey(key), settings: settings)
                    if opens != false { found.append(file) }
                }
            }
        }
        return found
    }

    /// The key that opens a database, observed: it was opened with it, without writing.
    ///
    /// - Throws: `keyRejected`, which names the database, when no key of the keyring opens it; as for opening.
    func observedKey(of path: String, settings: CipherSettings, lockTimeout: Duration) throws -> DatabaseKey {
        let file = DatabaseFile(path, lockTimeout: lockTimeout)
        let salt = try EngineFile(path: path).read(at: 0, count: 16)
        // The key with the file's salt first. The writer of the file chose that salt: it proves nothing.
        let ordered = keys.filter { $0.withBytes { $0.suffix(16).elementsEqual(salt) } } + keys
        for key in try ordered.map(Self.databaseKey) where try file.opens(with: key, settings: settings) {
            return key
        }
        throw VaultError(
            .keyRejected, "No key of the keyring opens the database", path: path,
            remedy: "Its key was not changed. An older copy of the keyring may have its key: 'rekey' it with that.")
    }
}

/// Whether opening a database may create it.
public enum KeyringDatabaseCreation: Sendable {
    /// A missing database is an error, `databaseMissing`. The default: with a keyring, a missing database is a lost one.
    case never
    /// A missing or empty database is created under the newest key.
    case ifMissing
}

extension Keyring {
    fileprivate func key(
        for path: String, _ unlock: KeyringUnlock, _ creation: KeyringDatabaseCreation,
        _ fingerprint: KeyringFingerprint?, _ settings: CipherSettings
    ) throws -> DatabaseKey {
        guard try SecretFile.exists(path) || creation == .ifMissing else { throw VaultError.databaseIsMissing(path) }
        return try self.unlock(with: unlock, trusting: fingerprint).databaseKey(for: path, settings: settings)
    }
}

extension VaultError {
    static func databaseIsMissing(_ path: String) -> VaultError {
        VaultError(
            .databaseMissing, "The key is there, but its database is not", path: path,
            remedy: "Restore the database from a backup. To begin with an empty one, ask for that explicitly.")
    }
}

extension Connection {
    /// Opens a database with the key of a keyring.
    ///
    /// - Parameters:
    ///   - path: the path of the database. It is never treated as a URI.
    ///   - keyring: the keyring.
    ///   - unlock: the secret of a slot.
    ///   - creation: whether to create a missing database; by default that is an error.
    ///   - fingerprint: the fingerprint of the keyring, if somebody has compared it: a database is created only under the key of a
    ///     keyring that is proven (``UnlockedKeyring/proof()``) or has this fingerprint. One that exists needs neither.
    ///   - settings: the settings that the file is, or will be, encrypted with.
    ///   - readonly: whether to open an existing file for reading only; false by default.
    ///   - journalMode: the journal mode to set; by default that of the file stays.
    /// - Throws: `VaultError`: `databaseMissing`; `keyringUntrusted` instead of creating a database; as
    ///   ``Keyring/unlock(with:trusting:)``; as opening with a key.
    public convenience init(
        _ path: String, keyring: Keyring, unlockedBy unlock: KeyringUnlock,
        creation: KeyringDatabaseCreation = .never, trusting fingerprint: KeyringFingerprint? = nil,
        settings: CipherSettings = .init(), readonly: Bool = false, journalMode: JournalMode? = nil
    ) throws {
        let key = try keyring.key(for: path, unlock, creation, fingerprint, settings)
        try self.init(
            .uri(path.engineFileName), key: key, settings: settings, readonly: readonly, journalMode: journalMode)
    }
}

extension DatabaseFileAccess {
    /// Opens a database with the key of a keyring, in a `DatabasePool` or a `DatabaseQueue`.
    ///
    /// - Throws: as `Connection(_:keyring:unlockedBy:creation:trusting:settings:readonly:journalMode:)`, and as opening a pool or queue.
    public init(
        _ path: String, keyring: Keyring, unlockedBy unlock: KeyringUnlock,
        creation: KeyringDatabaseCreation = .never, trusting fingerprint: KeyringFingerprint? = nil,
        settings: CipherSettings = .init(), configuration: DatabaseConfiguration = .init()
    ) throws {
        let key = try keyring.key(for: path, unlock, creation, fingerprint, settings)
        try self.init(path, key: key, settings: settings, configuration: configuration)
    }
}
