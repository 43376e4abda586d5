internal import LiteVaultCore
internal import LiteVaultSupport

/// SQLCipher from 4.6 on prints lines to standard error for every wrong key. They are of no use to anybody, and the
/// error that is thrown says more.
enum CipherLog {
    /// Whether somebody asked for the log, see `Connection.enableCipherLogging`. For the whole process, as is the log.
    static var isWanted: Bool {
        get { wanted.value }
        set { wanted.withLock { $0 = newValue } }
    }

    private static let wanted = Locked(false)

    /// After the key and before the first page: the first key of a process sets the level that holds by default.
    static func silence(_ connection: Connection, engine: CipherVersion) throws {
        guard engine.hasLog, !isWanted else { return }
        try connection.execute("PRAGMA cipher_log_level = NONE")
    }

    /// For a body that gives a key and reads a page in one call: the level is set on another connection that has a key
    /// and is there until the body is done.
    static func silencing<T>(engine: CipherVersion, _ body: () throws -> T) throws -> T {
        guard engine.hasLog, !isWanted else { return try body() }
        let other = try Connection(
            .inMemory, key: .raw([UInt8](repeating: 1, count: 32)), settings: .init(), readonly: false, busyTimeout: 0)
        defer { withExtendedLifetime(other) {} }
        return try body()
    }
}
