internal import CEngineSupport
internal import LiteVaultCipher
public import LiteVaultCore

// Keys as SQLite.swift's code gives them and catches what goes wrong: `Result.error(_, SQLITE_NOTADB, _)` for a key that does
// not open the file. It has the engine's words; `import LiteVault` throws a `VaultError`, with the file and the remedy.

extension Connection {
    /// Gives the connection its key (`sqlite3_key_v2`), before anything else happens on it.
    ///
    /// - Parameters:
    ///   - key: a passphrase, or a raw key literal `x'…'`.
    ///   - db: `main`; an attached database gets its key by attaching it.
    /// - Throws: `Result` with the engine's code when the key does not open the file; `VaultError` for a key that is
    ///   malformed or comes too late, and without encryption. The connection is closed then, unless the key came too late.
    public func key(_ key: String, db: String = "main") throws { try asResult { try giveKey(key, db: db) } }

    /// Gives the connection its key: the bytes of a passphrase.
    ///
    /// - Throws: as ``key(_:db:)``.
    public func key(_ key: Blob, db: String = "main") throws { try asResult { try giveKey(key, db: db) } }

    /// Gives the connection its key, when the file has the engine's current format. A file of an older one is refused
    /// and told as such: `DatabaseFile.migrate` brings it up to date.
    ///
    /// - Throws: as ``key(_:db:)``.
    public func keyAndMigrate(_ key: String, db: String = "main") throws { try self.key(key, db: db) }

    /// Gives the connection its key, when the file has the engine's current format.
    ///
    /// - Throws: as ``keyAndMigrate(_:db:)``.
    public func keyAndMigrate(_ key: Blob, db: String = "main") throws { try self.key(key, db: db) }

    /// Changes the key of the database, while nobody else uses it. In memory, that of databases attached later.
    ///
    /// - Throws: `Result` with the engine's code where it failed, `VaultError` where the change was refused.
    public func rekey(_ key: String, db: String = "main") throws { try change(to: .literalOrPassphrase(key), db) }

    /// Changes the key of the database to the bytes of a passphrase.
    ///
    /// - Throws: as ``rekey(_:db:)``.
    public func rekey(_ key: Blob, db: String = "main") throws {
        try change(to: .passphrase(key.bytes, allowingRawKeyLiteral: true), db)
    }

    private func change(to key: DatabaseKey, _ schemaName: String) throws {
        try asResult {
            // Nothing of a database without a file is on disk under the old key.
            guard description.isEmpty, try hasKey() else { return try rekey(key, db: schemaName) }
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
