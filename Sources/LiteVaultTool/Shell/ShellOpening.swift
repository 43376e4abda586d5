internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore

/// The database that a shell is to open: its path and key options, and whether it may be new.
struct ShellTarget: ParsableArguments {
    @OptionGroup var database: DatabaseOptions<OnlyArgument>

    @Flag(help: "Make a new database if there is none, encrypted if a key is given.")
    var create = false
}

/// A database that has been opened, or whose key has been proven. What fails, fails before the last one is closed.
struct ShellOpening {
    let path: String
    let key: DatabaseKey?
    let settings: CipherSettings
    /// Whether Ctrl-C stops a statement and keeps the shell, as a person wants.
    let isInteractive: Bool
    /// Nil for one that is only read: its state is that of the time at which it is used.
    private let connection: Connection?

    /// Whether it is one state that cannot be changed.
    var isReadOnly: Bool { connection == nil }

    /// - Throws: `no-input` if it does not exist; what reading its key, or opening it, throws.
    init(_ target: ShellTarget, _ session: Session, isReadOnly: Bool, isInteractive: Bool) throws {
        self.isInteractive = isInteractive
        let options = target.database
        path = options.path
        if target.create, let made = try session.createIfMissing(options) {
            (key, settings) = made
        } else {
            try session.suggestingCreate { try Preflight.requireSource(options.path) }
            settings = try options.cipher.settings()
            key = try session.keyIfEncrypted(options, settings: settings)
        }
        connection = try isReadOnly ? nil : Self.connect(path, key, settings)
    }

    /// Opens a database for reading and writing. It has to exist.
    private static func connect(_ path: String, _ key: DatabaseKey?, _ settings: CipherSettings) throws -> Connection {
        let connection = try key.map { try Connection(path, key: $0, settings: settings) } ?? Connection(path)
        connection.lockTimeout = .seconds(5)
        // The engine would write temporary data to plaintext files.
        try withErrorContext(path: path) {
            try connection.execute("PRAGMA temp_store = MEMORY")
            _ = try connection.value("SELECT count(*) FROM sqlite_master", as: Int64.self)
        }
        return connection
    }

    func prove() throws {
        if isReadOnly { try DatabaseFile(path).read(key: key, settings: settings) { _ in } }
    }

    /// Runs a body on the database, and closes it.
    func use<T>(_ body: (ShellDatabase) throws -> T) throws -> T {
        guard let connection else {
            return try DatabaseFile(path).read(key: key, settings: settings) {
                try body(ShellDatabase(connection: $0, opening: self))
            }
        }
        defer { try? connection.close() }
        return try body(ShellDatabase(connection: connection, opening: self))
    }
}
