internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher

/// The database that a shell is to open: its path and key options, and whether it may be new.
struct ShellTarget: ParsableArguments {
    @OptionGroup var database: DatabaseOptions<OnlyArgument>

    @Flag(help: "Make a new database if there is none, encrypted if a key is given.")
    var create = false
}

/// A database that has been opened, or whose key has been proven. What fails, fails before the last one is closed.
struct ShellOpening {
    private let path: String
    private let key: DatabaseKey?
    private let settings: CipherSettings
    private let isInteractive: Bool
    /// Nil for one that is only read: its state is that of the time at which it is used.
    private let database: ShellDatabase?

    /// - Throws: `no-input` if it does not exist; what reading its key, or opening it, throws.
    init(_ target: ShellTarget, _ session: Session, isReadOnly: Bool, isInteractive: Bool) throws {
        self.isInteractive = isInteractive
        let options = target.database
        path = options.path
        if target.create, let made = try session.createIfMissing(options) {
            (key, settings) = made
        } else {
            try session.suggestingCreate { try Preflight.requireSource(options.path) }
            key = try session.keyIfEncrypted(options)
            settings = try options.cipher.settings()
        }
        database =
            isReadOnly
            ? nil : try ShellDatabase(path, key: key, settings: settings, isInteractive: isInteractive)
    }

    /// Finds out whether a database that is only read can be read.
    func prove() throws {
        if database == nil { try DatabaseFile(path).read(key: key, settings: settings) { _ in } }
    }

    /// Runs a body on the database, and closes it.
    func use<T>(_ body: (ShellDatabase) throws -> T) throws -> T {
        if let database {
            defer { database.close() }
            return try body(database)
        }
        return try DatabaseFile(path).read(key: key, settings: settings) {
            try body(
                ShellDatabase(reading: $0, path, key: key, settings: settings, isInteractive: isInteractive))
        }
    }
}
