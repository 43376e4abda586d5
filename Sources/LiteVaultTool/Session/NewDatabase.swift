internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

// `--create`: an empty database where there is none, of the two commands that run statements.

extension Session {
    /// Makes the database of a command with `--create`, and returns its key and settings; nil if the file exists, and is opened as usual.
    ///
    /// - Throws: `cannot-create` if it cannot be made; as ``keyIfGiven(_:for:settings:confirms:trusted:)``, with a typed key asked for twice.
    func createIfMissing<Name>(
        _ database: DatabaseOptions<Name>
    ) throws -> (key: DatabaseKey?, settings: CipherSettings)? {
        let path = database.path
        var status = stat()
        guard lstat(path, &status) != 0, errno == ENOENT else { return nil }
        // A key that was given for an engine without encryption must not end in plaintext.
        if try database.key.isGiven { try Preflight.requireEncryption() }
        try Preflight.requireAbsent(path)
        let key = try keyIfGiven(database.key, for: path, confirms: true)
        let settings = try database.cipher.settings()
        try withErrorContext(path: path) {
            let file = try ReplacementFile(destination: path)
            let connection =
                try key.map { try Connection(file.path, key: $0, settings: settings) } ?? Connection(file.path)
            // The first page is written with the first change. A journal of the temporary name would have no use.
            try connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA user_version = 1; PRAGMA user_version = 0")
            try connection.close()
            try file.publish()
        }
        return (key, settings)
    }

    /// Adds to the failure for a missing database what makes one.
    func suggestingCreate<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch var failure as Failure where failure.code == .noInput {
            failure.remedy = "Check the path, or add --create to make a new database."
            throw failure
        }
    }
}
