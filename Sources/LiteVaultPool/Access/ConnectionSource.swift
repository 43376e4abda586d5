internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// Opens connections to one database, and derives its key once for all of them.
final class ConnectionSource: Sendable {
    private struct State {
        var key: DatabaseKey?
        var settings: CipherSettings
        /// The raw key, which needs no derivation.
        var reusable: DatabaseKey?
        var derivations = 0
    }

    /// nil: in memory.
    private let file: String?
    private let state: Locked<State>

    /// - Parameter file: a path. A relative one is made absolute: connections are also opened later, when the current directory
    ///   may be another one, with another file of that name or none.
    init(file: String?, key: DatabaseKey?, settings: CipherSettings) {
        self.file = file.flatMap(Self.absolute)
        state = Locked(State(key: key, settings: settings))
    }

    var path: String { file ?? "" }
    var isEncrypted: Bool { state.withLock { $0.key != nil } }
    var settings: CipherSettings { state.withLock { $0.settings } }
    var derivations: Int { state.withLock { $0.derivations } }

    private var location: Connection.Location {
        guard let file else { return .inMemory }
        return .uri(file)
    }

    /// An absolute path, which never begins like a URI; nil for `:memory:`. An empty name stays: it is a temporary file.
    private static func absolute(_ path: String) -> String? {
        if path == ":memory:" { return nil }
        if path.utf8.isEmpty || path.utf8.first == UInt8(ascii: "/") { return path }
        let directory = FileManager.default.currentDirectoryPath
        return directory.utf8.last == UInt8(ascii: "/") ? directory + path : directory + "/" + path
    }

    /// Opens a connection for writing and configures it. The file then exists and has its salt: if two connections find
    /// it empty at the same time, each chooses a salt, and the second one reopens it with the salt of the first.
    func openWriter(_ configuration: DatabaseConfiguration, usesWAL: Bool) throws -> Connection {
        for _ in 0..<4 {
            let salt = try fileSalt()
            do { return try tryOpeningWriter(configuration, usesWAL: usesWAL) } catch {
                guard Self.mayBeWrongKey(error), isEncrypted, try fileSalt() != salt else { throw error }
            }
        }
        return try tryOpeningWriter(configuration, usesWAL: usesWAL)
    }

    private func tryOpeningWriter(_ configuration: DatabaseConfiguration, usesWAL: Bool) throws -> Connection {
        let writer = try unlocked(configuration)
        writer.lockTimeout = configuration.lockTimeout
        if usesWAL {
            try waiting(configuration.lockTimeout) { try writer.setPragma(.journalMode, to: .wal) }
            // Opens the log, which readers cannot.
            try writer.execute("SELECT 1 FROM sqlite_master LIMIT 1")
        }
        try writer.setPragma(.synchronous, to: configuration.synchronous)
        try prepare(writer, configuration)
        if !usesWAL, isEncrypted, file != nil {
            // Writes the first page, and the salt with it. In WAL mode that was done by changing to it.
            if try fileSalt() == nil { try writer.execute("BEGIN IMMEDIATE; COMMIT") }
            // Since the key was verified, on a file that was empty then, another process may have written its first page,
            // with another salt: reading it fails here, where it is tried again, and not in the first access.
            try writer.execute("SELECT 1 FROM sqlite_master LIMIT 1")
        }
        return writer
    }

    /// Retries while other connections change the journal mode: the engine does not always wait for them.
    private func waiting(_ limit: Duration, _ body: () throws -> Void) throws {
        let deadline = Deadline(in: limit)
        while true {
            do { return try body() } catch let error as DatabaseError
                where error.resultCode.primary == .busy && !deadline.isOver
            {
                SystemThread.sleep(seconds: 0.01)
            }
        }
    }

    /// What engines return for a key that does not fit.
    private static func mayBeWrongKey(_ error: any Error) -> Bool {
        switch error {
        case let error as VaultError: [.keyRejected, .wrongKind, .damaged].contains(error.code)
        case let error as DatabaseError:
            [.error, .outOfMemory, .readOnly, .corrupt, .notADatabase].contains(error.resultCode.primary)
        default: false
        }
    }

    func openReader(_ configuration: DatabaseConfiguration) throws -> Connection {
        let (key, settings) = state.withLock { ($0.reusable, $0.settings) }
        let reader: Connection
        if let key {
            reader = try Connection(
                location, key: key, settings: settings, readonly: true, lockTimeout: configuration.lockTimeout)
            if key.needsDerivation { state.withLock { $0.derivations += 1 } }
        } else {
            reader = try Connection(location, readonly: true)
        }
        reader.lockTimeout = configuration.lockTimeout
        try prepare(reader, configuration)
        return reader
    }

    private func prepare(_ connection: Connection, _ configuration: DatabaseConfiguration) throws {
        try connection.execute("PRAGMA foreign_keys = \(configuration.foreignKeys ? "ON" : "OFF")")
        connection.dateStorage = configuration.dateStorage
        try configuration.prepare?(connection)
    }

    /// A writable connection with a verified key.
    func unlocked(_ configuration: DatabaseConfiguration) throws -> Connection {
        let (key, settings, known) = state.withLock { ($0.key, $0.settings, $0.reusable) }
        guard let key else { return try Connection(location) }
        func open(_ key: DatabaseKey) throws -> Connection {
            try Connection(location, key: key, settings: settings, lockTimeout: configuration.lockTimeout)
        }
        // Refuses what cannot be encrypted before anything is derived or opened.
        _ = try CipherEngine.require(for: path)
        try settings.validate(with: key)
        guard key.needsDerivation, file != nil else {
            state.withLock { $0.reusable = key }
            return try open(key)
        }
        let salt = try fileSalt() ?? settings.salt ?? known?.salt ?? randomSalt()
        let reused = known.flatMap { $0.salt == salt ? $0 : nil }
        if let reusable = try reused ?? derive(key, salt: salt, settings) {
            do {
                let connection = try open(reusable)
                state.withLock { $0.reusable = reusable }
                return connection
            } catch let error where Self.mayBeWrongKey(error) {
                // Created or replaced by another process meanwhile: the salt differs from the one that was read.
                if let now = try fileSalt(), now != salt { throw error }
            }
        }
        // Either the key is wrong, and this finds out why; or the engine's derivation differs from its settings.
        state.withLock { $0.derivations += 1 }
        let connection = try open(key)
        state.withLock { $0.reusable = key }
        return connection
    }

    /// Nil if the engine has to derive it.
    private func derive(_ key: DatabaseKey, salt: [UInt8], _ settings: CipherSettings) throws -> DatabaseKey? {
        guard let derived = try key.derived(salt: salt, settings: settings) else { return nil }
        state.withLock { $0.derivations += 1 }
        return derived
    }

    /// The salt in the file; nil if the file does not exist yet, or its salt is kept elsewhere.
    private func fileSalt() throws -> [UInt8]? {
        guard let file, (settings.plaintextHeaderSize ?? 0) == 0, !file.utf8.contains(0) else { return nil }
        guard let bytes = try? EngineFile(path: file).read(at: 0, count: 16), bytes.count == 16 else { return nil }
        return bytes
    }

    private func randomSalt() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: .min ... .max) } }

    /// Changes the key of the file, while no connection of this process is open. The old key stays in effect when it
    /// throws.
    func rekey(to new: DatabaseKey, lockTimeout: Duration, _ progress: DatabaseFile.Progress.Report?) throws {
        let (key, settings, reusable) = state.withLock { ($0.key, $0.settings, $0.reusable) }
        guard let file, let old = reusable ?? key else {
            throw VaultError(
                .wrongKind, "The database has no key to change", path: path,
                remedy: "Encrypt the file with DatabaseFile.encryptInPlace before the pool is opened.")
        }
        // Before they are derived with different salts.
        if let key { try new.requireChange(from: key, path: path) }
        let hasHeader = (settings.plaintextHeaderSize ?? 0) > 0
        let salt = (hasHeader ? settings.salt ?? old.salt : nil) ?? randomSalt()
        let derived = try derive(new, salt: salt, settings) ?? new
        try DatabaseFile(file, lockTimeout: lockTimeout).rekey(
            from: old, to: derived, settings: settings, progress: progress)
        state.withLock { state in
            state.key = new
            state.reusable = derived
            state.settings.salt = hasHeader ? salt : nil
        }
    }

    /// Copies the database into a new file, while it is in use.
    func backup(
        to destination: String, newKey: DatabaseKey?, lockTimeout: Duration, _ progress: DatabaseFile.Progress.Report?
    ) throws {
        guard let file else { throw VaultError(.usage, "A database in memory has no file to copy") }
        let (key, settings) = state.withLock { ($0.reusable ?? $0.key, $0.settings) }
        try DatabaseFile(file, lockTimeout: lockTimeout).backup(
            to: destination, key: key, settings: settings, newKey: newKey, progress: progress)
    }
}
