extension Connection {
    /// Attaches a database under a name (`ATTACH DATABASE`).
    ///
    /// With SQLCipher, a database attached to an encrypted one is expected, or created, under the main database's key;
    /// `attach(_:as:key:)` attaches one with another key, or plaintext (`key: .plaintext`).
    ///
    /// - Parameters:
    ///   - location: the location of the database, which is created if it is missing.
    ///   - schemaName: the name for use in SQL: any text.
    /// - Throws: `DatabaseError`, for example when the name is taken, or when a new file would be plaintext although
    ///   the main database is encrypted. It names the attached file. The database is not attached then.
    public func attach(_ location: Location, as schemaName: String) throws {
        try location.refuseNUL()
        try withLock {
            let wrongKey =
                "it is plaintext, or has another key than the main database: attach it with 'key: .plaintext', or with its key"
            try location.namingErrors(of: self, wrongKey: wrongKey) {
                try run("ATTACH DATABASE ? AS \(sql: Quoting.sqlText(schemaName))", with: location.description)
            }
            try refuseAccidentalPlaintext(schemaName)
        }
    }

    /// SQLCipher 3 passes the main database's key on only after it has read or written a page with it: a new file
    /// attached to a new encrypted database would be plaintext.
    private func refuseAccidentalPlaintext(_ schemaName: String) throws {
        guard EngineInfo.linked.sqlcipherMajorVersion == 3, try untypedValue("PRAGMA main.cipher_provider") != nil,
            try untypedValue("PRAGMA \(quoted(schemaName)).cipher_provider") == nil,
            try integer("\(quoted(schemaName)).page_count") == 0
        else { return }
        try detach(schemaName)
        throw DatabaseError(
            misuse: "the new file would be plaintext beside an encrypted database: attach it with a key")
    }

    /// Detaches a database (`DETACH DATABASE`).
    ///
    /// - Throws: `DatabaseError` when no database of that name is attached, or statements are using it.
    public func detach(_ schemaName: String) throws {
        try withLock {
            // A cached statement on the database would keep it in use.
            finalizeCache()
            try run("DETACH DATABASE \(sql: Quoting.sqlText(schemaName))")
        }
    }

    /// Rebuilds the database file without free pages (`VACUUM`).
    ///
    /// It needs up to twice the file's size in free disk space. Rowids of tables without INTEGER PRIMARY KEY may
    /// change. `DatabaseFile.vacuum(into:)` writes a copy without free pages to a new file.
    ///
    /// - Throws: `DatabaseError`, for example inside a transaction; the database is unchanged then.
    @_disfavoredOverload
    public func vacuum() throws { try rebuildFile() }

    package func rebuildFile() throws {
        try withLock {
            try execute("VACUUM")
            // The engine has discarded the schema, by which `close` detects that the pages can be read.
            isKeyVerified = true
        }
    }
}

extension Connection.Location {
    /// Runs a body whose errors concern this file, which is or will be attached to a connection: the engine's errors name the main one.
    ///
    /// - Parameter wrongKey: what to do about a file that the engine cannot read, if the main database is encrypted.
    @discardableResult
    package func namingErrors<T>(of connection: Connection, wrongKey: String, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError where isFile && !connection.isDropIn {
            switch error.resultCode.primary {
            case .notADatabase:
                throw error.about(fileName, remedy: (try? connection.isKeyed("main")) == true ? wrongKey : nil)
            case .busy, .corrupt, .cantOpen, .full, .readOnly, .ioError, .permission: throw error.about(fileName)
            default: throw error
            }
        }
    }
}
