internal import LiteVaultCore

extension DatabaseFile {
    /// Opens the file for an operation: with a key exactly when it is encrypted. Opening never creates it.
    ///
    /// For writing, as only then can SQLite recover a database whose last user died; nothing is written otherwise.
    func open(key: DatabaseKey?, settings: CipherSettings = .init()) throws -> Connection {
        if key != nil { _ = try CipherEngine.require(for: path) }
        try refuseUnsuitable(key: key)
        guard let key else {
            return try VaultError.about(path) {
                let connection = try Connection(.existing(path))
                connection.busyTimeout = busyTimeout
                try connection.prepareForOperation()
                return connection
            }
        }
        let connection = try Connection(
            .existing(path), key: key, settings: settings, readonly: false, busyTimeout: busyTimeout)
        try VaultError.about(path) { try connection.prepareForOperation() }
        return connection
    }

    /// Refuses what cannot be a database, and one that is not what the key, or its absence, says.
    func refuseUnsuitable(key: DatabaseKey?) throws {
        switch (try kind(), key) {
        case (.empty, _):
            throw VaultError(.wrongKind, "The file is empty: there is no database in it", path: path)
        case (.notADatabase, nil):
            throw VaultError(.wrongKind, "This is not a database", path: path)
        case (.plain, .some):
            throw VaultError(
                .wrongKind, "The database is not encrypted", path: path, remedy: "Use it without a key.")
        case (.encryptedOrUnknown, nil), (.plaintextHeader, nil):
            throw VaultError(
                .keyRejected, "The database is encrypted, and no key was given", path: path, remedy: "Give its key.")
        default: break
        }
    }
}

extension Connection {
    /// Temporary data stays in memory, where the engine would put it into plaintext files; and the schema is read, so
    /// that what cannot be read fails here.
    func prepareForOperation() throws {
        try execute("PRAGMA temp_store = MEMORY")
        _ = try scalar("SELECT count(*) FROM sqlite_master")
    }

    /// Runs a body while nothing changes for this connection: in a read transaction whose snapshot is taken.
    func reading<T>(_ body: () throws -> T) throws -> T {
        try transaction(.deferred) {
            _ = try scalar("SELECT count(*) FROM sqlite_master")
            return try body()
        }
    }

    /// Bytes in the database, as this connection sees it.
    func contentSize() throws -> Int64 { try integer("page_count") * pageSize() }

    /// The page size in bytes. SQLCipher answers `PRAGMA page_size` with text on an encrypted database.
    package func pageSize() throws -> Int64 {
        switch try scalar("PRAGMA page_size") {
        case let number as Int64: number
        case let text as String: Int64(text) ?? 0
        default: 0
        }
    }
}
