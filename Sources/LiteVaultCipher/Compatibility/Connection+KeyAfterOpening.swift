public import LiteVaultCore
internal import LiteVaultEngine

extension Connection {
    /// Gives an open connection its key (`sqlite3_key_v2`). It must be the first thing that happens on it.
    ///
    /// Text of the form `x'…'` with 64 or 96 hexadecimal digits is a raw key. Prefer to open the database with its key,
    /// `Connection(_:key:settings:readonly:journalMode:)`: that cannot come too late.
    ///
    /// - Parameters:
    ///   - key: a passphrase, or a raw key literal.
    ///   - db: `main`; an attached database gets its key by attaching it.
    /// - Throws: ``VaultError``. The connection is closed then, and the file and its log stay as they are: nothing is
    ///   written in plaintext by code that goes on. Only a key that comes too late (`usage`: in a transaction, a second
    ///   one; `wrongKind`: a plaintext database) leaves the connection usable as it was.
    @_disfavoredOverload  // module SQLite has forms that throw `Result`, as for all of these
    public func key(_ key: String, db: String = "main") throws { try giveKey(key, db: db) }

    /// ``key(_:db:)-(String,_)`` for module `SQLite`, whose own form hides it there.
    package func giveKey(_ key: String, db: String) throws {
        let key = try closingUnlessKeyed { try DatabaseKey.literalOrPassphrase(key) }
        try self.key(key, db: db)
    }

    /// Gives an open connection its key: the bytes of a passphrase. What ``key(_:db:)-(String,_)`` says holds.
    ///
    /// - Throws: as ``key(_:db:)-(String,_)``.
    @_disfavoredOverload
    public func key(_ key: Blob, db: String = "main") throws { try giveKey(key, db: db) }

    /// ``key(_:db:)-(Blob,_)`` for module `SQLite`, whose own form hides it there.
    package func giveKey(_ key: Blob, db: String) throws {
        let key = try closingUnlessKeyed { try DatabaseKey.passphrase(key.bytes, allowingRawKeyLiteral: true) }
        try self.key(key, db: db)
    }

    /// Gives an open connection its key, and the settings of the file.
    ///
    /// - Throws: as ``key(_:db:)-(String,_)``.
    public func key(_ key: DatabaseKey, settings: CipherSettings = .init(), db: String = "main") throws {
        let path = description
        try closingUnlessKeyed {
            _ = try CipherEngine.require(for: path)
            try withHandle { handle in
                try requireMain(db, for: "key")
                try refuseLateKey(handle, path: path)
                try KeyUnlocker(key: key, settings: settings, path: path, busyTimeout: busyTimeout).unlock(self)
                isKeyVerified = true
            }
        }
    }

    /// Whoever asked for a key and goes on after an error must not write plaintext, nor with a key that does not fit:
    /// the connection is closed, unless what it was before stands.
    private func closingUnlessKeyed<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as LateKey {
            throw error.reason
        } catch {
            isKeyVerified = false
            try? close()
            throw error
        }
    }

    /// Gives an open connection its key, when the file has the engine's current format.
    ///
    /// The engine's own migration loses rows that somebody else commits meanwhile, and the file's mode,
    /// `application_id` and `auto_vacuum`. A file of an older format is therefore not migrated under an open
    /// connection: ``DatabaseFile/migrate(key:settings:newSettings:progress:)`` does it safely.
    ///
    /// - Throws: as ``key(_:db:)-(String,_)``; `wrongKind` for an older format, which names it. The connection is
    ///   closed.
    @_disfavoredOverload
    public func keyAndMigrate(_ key: String, db: String = "main") throws { try self.key(key, db: db) }

    /// Gives an open connection its key, when the file has the engine's current format.
    ///
    /// - Throws: as ``keyAndMigrate(_:db:)-(String,_)``.
    @_disfavoredOverload
    public func keyAndMigrate(_ key: Blob, db: String = "main") throws { try self.key(key, db: db) }

    /// Engines take an unknown name for the main database.
    func requireMain(_ schemaName: String, for what: String) throws {
        guard schemaName.lowercased() == "main" else {
            throw VaultError(
                .usage, "There is no \(what) for the database '\(schemaName)' by itself", path: description,
                remedy: "Attach it with its key, or open it as the main database of a connection.")
        }
    }

    /// A key that comes too late is ignored by the engine, and what was meant to be encrypted is written in plaintext.
    private func refuseLateKey(_ handle: OpaquePointer, path: String) throws {
        func refuse(_ message: String) -> LateKey {
            LateKey(VaultError(.usage, message, path: path, remedy: "Give the key first, when opening."))
        }
        guard !isInTransaction else { throw refuse("A key cannot be given inside a transaction") }
        guard try !hasKey() else { throw refuse("The connection has a key already") }
        guard let name = sqlite3_db_filename(handle, "main"), name.pointee != 0 else { return }
        if let cache = sqlite3_uri_parameter(name, "cache"), String(cString: cache) == "shared" {
            throw refuse("A shared cache shows an encrypted database to connections without its key")
        }
        let file = try EngineFile(connection: handle, path: path)
        guard try FileKind.classify(size: file.size(), read: { try file.read(at: $0, count: $1) }) != .plain else {
            throw LateKey(
                VaultError(
                    .wrongKind, "The database is not encrypted", path: path,
                    remedy: "Use it without a key, or encrypt it with DatabaseFile.encryptInPlace."))
        }
    }
}

/// A key that was refused for coming too late. The connection is what it was before.
private struct LateKey: Error {
    let reason: VaultError

    init(_ reason: VaultError) { self.reason = reason }
}
