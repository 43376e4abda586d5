internal import CEngineSupport
internal import LiteVaultCore
internal import LiteVaultEngine

/// Gives a connection its key, in the only order that is safe: key, settings, then the first page. Whatever else runs
/// on the connection runs after that.
struct KeyUnlocker: ConnectionUnlocker {
    let key: DatabaseKey
    let settings: CipherSettings
    let path: String
    /// Seconds to wait for locks, during the unlocking and afterwards.
    var busyTimeout: Double = 0
    /// Whether a failure is worth the time it takes to find out why.
    var explainsFailure = true

    func unlock(_ connection: Connection) throws {
        let engine = try CipherEngine.require(for: path)
        try VaultError.about(path) {
            try settings.validate(with: key)
            try requireSupport(by: engine)
            let pragmas = try settings.pragmas(for: engine)
            if busyTimeout > 0 { connection.busyTimeout = busyTimeout }
            try connection.withHandle { db in
                try CipherDefaults.with(neededDefaults, engine: engine, on: connection) {
                    try give(key, to: db, on: connection)
                }
                try CipherLog.silence(connection, engine: engine)
                for pragma in pragmas { try connection.execute(pragma) }
                try requireSettings(of: connection)
                try proveKey(connection, db, engine: engine)
                // Temporary tables and sorters would go into plaintext files where the engine was built to use files.
                try connection.execute("PRAGMA temp_store = MEMORY")
            }
        }
    }

    /// The key brings the default settings, and with them reserved bytes that are too many for the smallest page:
    /// SQLite then silently makes 1024 of 512 bytes, SQLCipher does not, and nothing opens what they write together.
    /// These pages have no HMAC, so it must be off from the start.
    private var neededDefaults: CipherSettings { settings.pageSize == 512 ? CipherSettings(usesHMAC: false) : .init() }

    /// `sqlite3_key_v2`. Its result says nothing about whether the key is right.
    private func give(_ key: DatabaseKey, to db: OpaquePointer, on connection: Connection) throws {
        try key.withEngineBytes { bytes in
            guard let start = bytes.baseAddress else { throw VaultError(.keyRejected, "The key is empty") }
            try connection.check(lv_key(db, "main", start, Int32(bytes.count)))
        }
    }

    private func requireSupport(by engine: CipherVersion) throws {
        if key.form == .rawWithAuthenticationKeyAndSalt, !engine.hasRawAuthenticationKey {
            throw VaultError(
                .unsupported, "SQLCipher \(engine), which is linked, takes no raw authentication key",
                remedy: "It takes SQLCipher 4.7 or newer.")
        }
        if EngineInfo.linked.hasCompileOption("TEMP_STORE=0") {
            throw VaultError(
                .unsupported, "The engine was built to keep temporary data in files, in plaintext",
                remedy: "Link one that was built with SQLITE_TEMP_STORE=2.")
        }
    }

    /// Engines ignore what they do not understand. The settings must hold before the first page is read or written.
    private func requireSettings(of connection: Connection) throws {
        let held = try connection.cipherSettings()
        if let name = settings.firstDifference(to: held) {
            throw VaultError(.unsupported, "The engine did not accept the \(name)")
        }
    }

    /// Reads the schema: the first thing that fails under a wrong key.
    private func proveKey(_ connection: Connection, _ db: OpaquePointer, engine: CipherVersion) throws {
        do {
            _ = try connection.scalar("SELECT count(*) FROM sqlite_master")
        } catch let error as DatabaseError {
            // What engines answer to a key that does not fit: error, no memory, read-only, corrupt, not a database.
            guard [1, 7, 8, 11, 26].contains(error.code) else { throw error }
            guard explainsFailure else { throw UnlockFailure.undecided(path: path, cause: error) }
            throw try UnlockFailure(
                key: key, settings: settings, held: connection.cipherSettings(), engine: engine, path: path,
                cause: error
            ).explanation(EngineFile(connection: db, path: path))
        }
    }
}
