internal import CEngineSupport
internal import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultSystem

/// Unlocks a connection in the only safe order: key, settings, then the first page. Everything else on the connection runs
/// after that.
///
/// Key and settings are validated once, when the unlocker is created: before a file is opened, because opening creates it.
struct KeyUnlocker: ConnectionUnlocker {
    let key: DatabaseKey
    let settings: CipherSettings
    let engine: CipherVersion
    private var path: String
    private var lockTimeout: Duration
    private let explainsFailure: Bool
    /// Whether the file may have a journal, which the engine would roll back.
    private var hasJournal = true

    /// Validates a key and settings.
    ///
    /// - Parameters:
    ///   - path: the file for error messages.
    ///   - lockTimeout: how long to wait for locks, while unlocking and afterwards.
    ///   - explainsFailure: whether to find out why the key does not open the file, which takes time.
    /// - Throws: ``VaultError`` `noEncryption`, `usage` or `unsupported`.
    init(
        key: DatabaseKey, settings: CipherSettings, path: String, lockTimeout: Duration = .zero,
        explainsFailure: Bool = true
    ) throws {
        (self.key, self.settings, self.path) = (key, settings, path)
        (self.lockTimeout, self.explainsFailure) = (lockTimeout, explainsFailure)
        engine = try CipherEngine.require(for: path)
        try withErrorContext(path: path) {
            try settings.validate(with: key)
            try settings.requireSupport(by: engine)
            try requireSupport()
        }
    }

    /// The same key and settings for another file, such as the temporary name of a new one.
    func unlocking(_ path: String, lockTimeout: Duration) -> KeyUnlocker {
        var other = self
        (other.path, other.lockTimeout) = (path, lockTimeout)
        return other
    }

    /// The same for an image of the file in which the journal is rolled back already.
    func unlockingImage() -> KeyUnlocker {
        var other = self
        other.hasJournal = false
        return other
    }

    private func requireSupport() throws {
        if key.form == .rawWithAuthenticationKeyAndSalt, !engine.hasRawAuthenticationKey {
            throw VaultError(
                .unsupported, "The linked SQLCipher \(engine) does not support raw authentication keys",
                remedy: "SQLCipher 4.7 or newer is required.")
        }
        if EngineInfo.linked.hasCompileOption("TEMP_STORE=0") {
            throw VaultError(
                .unsupported, "The engine was built to keep temporary data in plaintext files",
                remedy: "Link one that was built with SQLITE_TEMP_STORE=2.")
        }
    }

    func unlock(_ connection: Connection) throws {
        try withErrorContext(path: path) {
            if lockTimeout > .zero { connection.lockTimeoutSeconds = lockTimeout.seconds }
            try connection.withHandle { db in
                try requireRollback(by: db)
                try CipherDefaults.with(neededDefaults, engine: engine, on: connection) {
                    try applyKey(to: db, on: connection)
                }
                try CipherLog.silence(connection, engine: engine)
                for pragma in settings.pragmas(for: engine) { try connection.execute(pragma) }
                // Engines ignore settings they do not support. The settings must be in effect before the first page is
                // read or written.
                if let name = try settings.firstDifference(to: connection.cipherSettings()) {
                    throw VaultError(.unsupported, "The engine did not accept the \(name)")
                }
                try verifyKey(connection, db)
                // Temporary tables and sorters would go to plaintext files if the engine was built to use files.
                try connection.execute("PRAGMA temp_store = MEMORY")
            }
        }
    }

    /// The key is applied with the default settings, which reserve too many bytes for the smallest page: SQLite then
    /// silently uses 1024 instead of 512 bytes, SQLCipher does not, and nothing can open the result. These pages have
    /// no HMAC, so it must be off from the start.
    private var neededDefaults: CipherSettings { settings.pageSize == 512 ? CipherSettings(usesHMAC: false) : .init() }

    /// `sqlite3_key_v2`. Its result does not show whether the key is right.
    private func applyKey(to db: OpaquePointer, on connection: Connection) throws {
        try key.withEngineBytes { bytes in
            guard let start = bytes.baseAddress else { throw VaultError(.keyRejected, "The key is empty") }
            try connection.check(lv_key(db, "main", start, Int32(bytes.count)))
        }
    }

    /// The first page is read after a rollback, which must not happen under a wrong key. A connection that cannot write does not roll back.
    private func requireRollback(by db: OpaquePointer) throws {
        guard hasJournal, sqlite3_db_readonly(db, "main") == 0, let name = sqlite3_db_filename(db, "main"),
            name.pointee != 0
        else { return }
        do {
            try DatabaseFile.requireRollback(of: String(cString: name), self, acceptsEmpty: true)
        } catch let error as VaultError where [.keyRejected, .wrongKind, .damaged].contains(error.code) {
            throw error.at(path)
        } catch {
            // The engine is about to meet the same, and reports it.
        }
    }

    /// Reads the schema: the first operation that fails with a wrong key.
    private func verifyKey(_ connection: Connection, _ db: OpaquePointer) throws {
        do {
            _ = try connection.value("SELECT count(*) FROM sqlite_master", as: StoredValue.self)
        } catch let error as DatabaseError {
            // The results of engines for a wrong key: error, no memory, read-only, corrupt, not a database.
            // A definition in the schema was read, and with it the first page.
            guard [1, 7, 8, 11, 26].contains(error.code), !error.isUnreadableDefinition else { throw error }
            guard explainsFailure else { throw UnlockFailure.undecided(path: path, cause: error) }
            throw try UnlockFailure(
                key: key, settings: settings, held: connection.cipherSettings(), engine: engine, path: path,
                cause: error
            ).explanation(EngineFile(connection: db, path: path))
        }
    }
}

/// The engine's defaults for new keys: global to the process and without a lock of their own.
///
/// ATTACH reads the schema before any pragma could set the file's settings, so for its duration, and only then, the
/// settings become the defaults. Every function in this library that applies a key holds the lock meanwhile.
enum CipherDefaults {
    private static let lock = RecursiveLock()

    /// Runs `body` with other defaults, and restores the old ones in any case. Empty settings change nothing, but nothing
    /// else changes the defaults meanwhile.
    static func with<T>(
        _ settings: CipherSettings, engine: CipherVersion, on connection: Connection, _ body: () throws -> T
    ) throws -> T {
        try lock.withLock {
            guard settings != CipherSettings() else { return try body() }
            let before = try current(connection, engine: engine)
            defer { for pragma in pragmas(before, engine: engine) { try? connection.execute(pragma) } }
            let wanted = PageLayout(settings, defaultCompatibility: engine.defaultCompatibility)
            for pragma in pragmas(wanted.settings, engine: engine) { try connection.execute(pragma) }
            return try body()
        }
    }

    private static let names = ["kdf_iter", "page_size", "use_hmac"]
    private static let format4Names = ["hmac_algorithm", "kdf_algorithm", "plaintext_header_size"]

    private static func current(_ connection: Connection, engine: CipherVersion) throws -> CipherSettings {
        var settings = CipherSettings()
        for name in names + (engine.hasFormat4 ? format4Names : []) {
            guard let value = try connection.untypedValue("PRAGMA cipher_default_\(name)") else { continue }
            settings.apply(name: name == "kdf_iter" ? name : "cipher_" + name, value: "\(value)")
        }
        return settings
    }

    private static func pragmas(_ settings: CipherSettings, engine: CipherVersion) -> [String] {
        // A salt has no default.
        settings.values(for: engine).filter { $0.name != "salt" }
            .map { "PRAGMA cipher_default_\($0.name) = \($0.value)" }
    }
}

/// SQLCipher's log. From 4.6 on the engine prints lines to standard error for every wrong key, with less information
/// than the thrown error: the log is off unless requested.
package enum CipherLog {
    /// Whether the log was requested, see `Connection.enableCipherLogging`. For the whole process, like the log.
    package static var isWanted: Bool {
        get { wanted.value }
        set { wanted.withLock { $0 = newValue } }
    }

    private static let wanted = Locked(false)

    /// Call it after setting the key and before reading the first page: the first key of a process sets the level to
    /// the default.
    static func silence(_ connection: Connection, engine: CipherVersion) throws {
        guard engine.hasLog, !isWanted else { return }
        try connection.execute("PRAGMA cipher_log_level = NONE")
    }

    /// For a body that applies a key and reads a page in one call: another connection with a key, which exists until
    /// the body returns, sets the level.
    static func silencing<T>(engine: CipherVersion, _ body: () throws -> T) throws -> T {
        guard engine.hasLog, !isWanted else { return try body() }
        let other = try Connection(.inMemory, key: .raw([UInt8](repeating: 1, count: 32)))
        defer { withExtendedLifetime(other) {} }
        return try body()
    }
}
