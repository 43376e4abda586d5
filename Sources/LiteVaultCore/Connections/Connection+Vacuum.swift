extension Connection {
    /// Rebuilds the database file without free pages (`VACUUM`).
    ///
    /// It needs up to twice the file's size in free disk space. Rowids of tables without INTEGER PRIMARY KEY may change.
    ///
    /// - Throws: `DatabaseError`, for example inside a transaction; the database is unchanged then.
    @discardableResult
    public func vacuum() throws -> Statement {
        let statement = try run("VACUUM")
        // The engine has forgotten the schema, by which `close` tells that the pages can be read: now it is known.
        try withLock { isProven = true }
        return statement
    }

    /// Writes a copy without free pages into a new file (`VACUUM INTO`, SQLite 3.27): with SQLCipher under the same key.
    ///
    /// The file is not synced to the disk, and incomplete when the process dies: `DatabaseFile.vacuum(into:)` is the
    /// safe form.
    ///
    /// - Parameter path: a file that does not exist, or is empty.
    /// - Throws: `EngineUnsupported` before 3.27; `DatabaseError`.
    public func vacuum(into path: String) throws {
        try EngineUnsupported.require(3, 27, for: "VACUUM INTO")
        // A name that begins with "file:" is read as a URI, and one with a key in it would change the key.
        try Location.uri(path).refuseNUL()
        try run("VACUUM INTO ?", Location.isURI(path) ? "./" + path : path)
    }
}
