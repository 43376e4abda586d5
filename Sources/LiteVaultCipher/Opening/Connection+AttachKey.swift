internal import CEngineSupport
public import LiteVaultCore
internal import LiteVaultEngine

extension Connection {
    /// Attaches an encrypted database under a name (`ATTACH … KEY`), or creates one.
    ///
    /// The key is bound, it is never part of SQL text. An existing file is read before this returns, so its key is verified.
    ///
    /// - Parameters:
    ///   - location: the location of the database, which is created if it is missing.
    ///   - schemaName: the name for use in SQL: any text.
    ///   - key: the key of the attached database, independent of the key of the main database.
    ///   - settings: the settings that the file is, or will be, encrypted with. During the call they are the engine's
    ///     defaults, which are global to the process: do not open encrypted databases by other means meanwhile.
    /// - Throws: ``VaultError`` as for opening; `DatabaseError`, for example inside a transaction. The database is not
    ///   attached then.
    public func attach(
        _ location: Location, as schemaName: String, key: DatabaseKey, settings: CipherSettings = .init()
    ) throws {
        let path = location.path
        let engine = try KeyUnlocker(key: key, settings: settings, path: path).engine
        try location.requirePrivateCacheAndNoKey()
        guard settings.salt == nil || settings.salt == key.salt else {
            throw VaultError(
                .usage, "The salt of an attached database must be part of its key", path: path,
                remedy: "Pass a raw key with the salt.")
        }
        try withHandle { db in
            do {
                try CipherLog.silencing(engine: engine) {
                    try CipherDefaults.with(settings, engine: engine, on: self) {
                        try attach(location, as: schemaName, key: key, db)
                    }
                }
                if let name = settings.firstDifference(to: try cipherSettings(of: schemaName)) {
                    try detach(schemaName)
                    throw VaultError(.unsupported, "The engine did not accept the \(name)", path: path)
                }
            } catch let error as DatabaseError where error.isUnreadableDefinition && location.isFile {
                // A definition in the schema was read: the key is right.
                throw VaultError(error, path: path)
            } catch let error as DatabaseError where [7, 11, 26].contains(error.code) && location.isFile {
                throw try UnlockFailure(
                    key: key, settings: settings,
                    held: PageLayout(settings, defaultCompatibility: engine.defaultCompatibility).settings,
                    engine: engine, path: path, cause: error
                ).explanation(EngineFile(path: path))
            }
        }
    }

    /// Attaches a plaintext database under a name (`ATTACH … KEY ''`), or creates one, whether the main database is encrypted
    /// or not.
    ///
    /// ```swift
    /// try db.attach(.uri("import.db"), as: "source", key: .plaintext)
    /// ```
    ///
    /// - Parameters:
    ///   - location: the location of the database, which is created if it is missing. What is written there is readable by everybody.
    ///   - schemaName: the name for use in SQL: any text.
    ///   - key: ``DatabaseKey/NoKey/plaintext``.
    /// - Throws: `DatabaseError` with the path of that file, for example when it is encrypted, or inside a transaction. The database is
    ///   not attached then.
    public func attach(_ location: Location, as schemaName: String, key: DatabaseKey.NoKey) throws {
        try location.requirePrivateCacheAndNoKey()
        try withLock {
            try location.namingErrors(
                of: self, wrongKey: "it is encrypted, or not a database: attach it with its key"
            ) {
                // Without KEY '' the file would get the key of the main database.
                let clause = EngineInfo.linked.encryption == .none ? "" : " KEY ''"
                try run(
                    "ATTACH DATABASE ? AS \(sql: Quoting.sqlText(schemaName))\(sql: clause)", with: location.description
                )
            }
        }
    }

    private func attach(
        _ location: Location, as schemaName: String, key: DatabaseKey, _ db: OpaquePointer
    ) throws {
        let sql = "ATTACH DATABASE ? AS \(quoted(schemaName)) KEY ?"
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(db, sql, -1, &statement, nil), sql: sql)
        guard let statement else { return }
        defer { sqlite3_finalize(statement) }
        let name = Array(location.description.utf8CString)
        try name.withUnsafeBufferPointer { name in
            try key.withEngineBytes { bytes in
                // Null destructors (SQLITE_STATIC): both live until the statement has run, and are not copied.
                try check(sqlite3_bind_text(statement, 1, name.baseAddress, Int32(name.count - 1), nil), sql: sql)
                try check(sqlite3_bind_blob(statement, 2, bytes.baseAddress, Int32(bytes.count), nil), sql: sql)
                let code = sqlite3_step(statement)
                if code != SQLITE_DONE { try check(code, sql: sql) }
                sqlite3_reset(statement)
                sqlite3_clear_bindings(statement)
            }
        }
    }
}

extension DatabaseKey {
    /// The key of a database that is not encrypted, for `attach(_:as:key:)`.
    public enum NoKey: Sendable {
        /// The database is plaintext.
        case plaintext
    }
}
