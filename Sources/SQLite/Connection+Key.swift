internal import CEngineSupport
public import LiteVaultCipher
public import LiteVaultCore

// Keys as in SQLite.swift: applied to an open connection, and with the engine's error, `Result.error(_, SQLITE_NOTADB, _)`, for
// a key that does not open the file. `import LiteVault` opens a database with its key, and throws a `VaultError` that names the
// file and suggests a fix.

extension Connection {
    /// Applies the key (`sqlite3_key_v2`). It must be the first thing that happens on the connection.
    ///
    /// - Parameters:
    ///   - key: a passphrase, or a raw key literal `x'…'`.
    ///   - db: `main`; an attached database gets its key when it is attached.
    /// - Throws: `Result` with the engine's code when the key does not open the file; `VaultError` for a key that is
    ///   malformed or comes too late, and without encryption. The connection is closed then, unless the key came too late.
    public func key(_ key: String, db: String = "main") throws {
        try asResult { try unlock(with: .literalOrPassphrase(key), of: db) }
    }

    /// Applies the key: the bytes of a passphrase.
    ///
    /// - Throws: as ``key(_:db:)``.
    public func key(_ key: Blob, db: String = "main") throws {
        try asResult { try unlock(with: .passphrase(key.bytes, allowingRawKeyLiteral: true), of: db) }
    }

    /// Applies the key, and the settings of the file.
    ///
    /// - Throws: `VaultError`. The connection is closed then, unless the key came too late.
    public func key(_ key: DatabaseKey, settings: CipherSettings = .init(), db: String = "main") throws {
        try unlock(with: key, settings: settings, of: db)
    }

    /// Applies the key if the file has the engine's current format.
    ///
    /// The engine's own migration loses rows that other connections commit meanwhile, and the file's mode, `application_id`
    /// and `auto_vacuum`. A file of an older format is therefore not migrated under an open connection, but refused with an
    /// error that names the format: `DatabaseFile.migrate` converts it safely.
    ///
    /// - Throws: as ``key(_:db:)``.
    public func keyAndMigrate(_ key: String, db: String = "main") throws { try self.key(key, db: db) }

    /// Applies the key if the file has the engine's current format.
    ///
    /// - Throws: as ``keyAndMigrate(_:db:)``.
    public func keyAndMigrate(_ key: Blob, db: String = "main") throws { try self.key(key, db: db) }

    /// Changes the key of the database, while no other connection uses it. In memory, the key of databases attached later.
    ///
    /// - Throws: `Result` with the engine's code where it failed, `VaultError` where the change was refused.
    public func rekey(_ key: String, db: String = "main") throws { try change(to: .literalOrPassphrase(key), db) }

    /// Changes the key of the database to the bytes of a passphrase.
    ///
    /// - Throws: as ``rekey(_:db:)``.
    public func rekey(_ key: Blob, db: String = "main") throws {
        try change(to: .passphrase(key.bytes, allowingRawKeyLiteral: true), db)
    }

    /// Changes the key of the database, while no other connection uses it.
    ///
    /// - Throws: `VaultError`. When the engine fails in the middle, the connection is closed, and the old key stays in effect.
    public func rekey(_ key: DatabaseKey, db: String = "main") throws { try changeKey(to: key, of: db) }

    /// Attaches a database with a key given as text. An empty key is refused: it would mean plaintext.
    ///
    /// - Throws: `VaultError`, or `Result`, for example inside a transaction. Nothing is attached then.
    public func attach(_ location: Location, as schemaName: String, key: String?) throws {
        guard let key else { return try attach(location, as: schemaName) }
        try attach(location, as: schemaName, key: .literalOrPassphrase(key))
    }

    /// Writes an encrypted copy of the main database into a new file.
    ///
    /// The name is the engine's. Unlike the engine's function it also copies `user_version`, rowids and everything else, and
    /// the file appears complete or not at all.
    ///
    /// - Parameters:
    ///   - location: the path of the new file. URIs and databases in memory are refused.
    ///   - key: a passphrase, or a raw key literal `x'…'`. An empty one is refused.
    /// - Throws: `VaultError`. There is no new file then.
    public func sqlcipher_export(_ location: Location, key: String) throws {
        try exportEncrypted(to: location, key: .literalOrPassphrase(key))
    }

    /// Writes an encrypted copy of the main database into a new file, with the given settings.
    ///
    /// - Throws: as ``sqlcipher_export(_:key:)``.
    public func sqlcipher_export(_ location: Location, key: DatabaseKey, settings: CipherSettings = .init()) throws {
        try exportEncrypted(to: location, key: key, settings: settings)
    }

    private func change(to key: DatabaseKey, _ schemaName: String) throws {
        try asResult {
            // A database without a file has nothing on disk under the old key.
            guard description.isEmpty, try hasKey() else { return try changeKey(to: key, of: schemaName) }
            try withHandle { handle in
                try key.withEngineBytes { bytes in
                    guard let start = bytes.baseAddress else { return }
                    try check(lv_rekey(handle, schemaName, start, Int32(bytes.count)))
                }
            }
        }
    }

    private func asResult(_ body: () throws -> Void) throws {
        do { try body() } catch let error as VaultError {
            guard let cause = error.cause as? DatabaseError else { throw error }
            throw DatabaseError.error(message: cause.message, code: cause.code, statement: nil)
        }
    }
}
