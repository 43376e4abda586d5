internal import CEngineSupport
public import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultSupport

extension Connection {
    /// Attaches an encrypted database under a name (`ATTACH … KEY`), or creates one.
    ///
    /// The key is bound, it is never part of SQL text. An existing file is read before this returns, so its key is
    /// proven then.
    ///
    /// - Parameters:
    ///   - location: created when it is missing, as by opening it.
    ///   - schemaName: the name for use in SQL: any text.
    ///   - key: the key of the attached database, independent of the main database's.
    ///   - settings: what the file was, or is to be, encrypted with. For the time of the call they are the engine's
    ///     defaults, which are global to the process: do not open encrypted databases by other means meanwhile.
    /// - Throws: ``VaultError`` as by opening, or `DatabaseError`, for example inside a transaction. Nothing is
    ///   attached then.
    public func attach(
        _ location: Location, as schemaName: String, key: DatabaseKey, settings: CipherSettings = .init()
    ) throws {
        let path = location.path
        let engine = try CipherEngine.require(for: path)
        try location.refuseKeysAndSharing()
        try VaultError.about(path) {
            try settings.validate(with: key)
            try settings.requireSupport(by: engine)
        }
        guard settings.salt == nil || settings.salt == key.salt else {
            throw VaultError(
                .usage, "The salt of an attached database can only come with its key", path: path,
                remedy: "Give the raw key together with the salt.")
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
            } catch let error as DatabaseError where [7, 11, 26].contains(error.code) && location.isFile {
                throw try UnlockFailure(
                    key: key, settings: settings,
                    held: PageLayout(settings, defaultCompatibility: engine.defaultCompatibility).settings,
                    engine: engine, path: path, cause: error
                ).explanation(EngineFile(path: path))
            }
        }
    }

    /// Attaches a database with a key, as text. An empty key is refused: it would stand for plaintext.
    ///
    /// Text of the form `x'…'` with 64 or 96 hexadecimal digits is a raw key, as everywhere in SQLCipher. Prefer
    /// ``attach(_:as:key:settings:)``, which says what the key is.
    ///
    /// - Throws: as ``attach(_:as:key:settings:)``.
    public func attach(_ location: Location, as schemaName: String, key: String?) throws {
        guard let key else { return try attach(location, as: schemaName) }
        try attach(location, as: schemaName, key: .literalOrPassphrase(key))
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
    /// What SQLCipher makes of text: a raw key if it has that form, else a passphrase.
    ///
    /// - Throws: ``VaultError`` `keyRejected` when it is empty, or a raw key literal of a length that is none: the
    ///   engine would silently take that for a passphrase.
    package static func literalOrPassphrase(_ text: String) throws -> DatabaseKey {
        let bytes = Array(text.utf8)
        if bytes.count >= 3, bytes[0] | 0x20 == UInt8(ascii: "x"), bytes[1] == UInt8(ascii: "'"),
            bytes.last == UInt8(ascii: "'"), bytes[2..<(bytes.count - 1)].allSatisfy({ Hexadecimal.value($0) != nil }),
            ![67, 99, 163].contains(bytes.count)
        {
            throw VaultError(
                .keyRejected, "The raw key literal has \(bytes.count - 3) digits",
                remedy: "Give 64 digits, 96 with the salt, or the text as DatabaseKey.passphrase if it is one.")
        }
        return try passphrase(bytes, allowingRawKeyLiteral: true)
    }
}
