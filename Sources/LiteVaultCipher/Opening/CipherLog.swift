internal import Foundation
internal import LiteVaultCore

/// SQLCipher from 4.6 on prints lines to standard error for every wrong key. They are of no use to anybody, and the
/// error that is thrown says more.
enum CipherLog {
    /// Whether somebody asked for the log, see `Connection.enableCipherLogging`. For the whole process, as is the log.
    static var isWanted: Bool {
        get { lock.withLock { wanted } }
        set { lock.withLock { wanted = newValue } }
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var wanted = false

    /// Before the key: it is the key that makes the engine talk.
    static func silence(_ connection: Connection, engine: CipherVersion) throws {
        guard engine.hasLog, !isWanted else { return }
        try connection.execute("PRAGMA cipher_log_level = NONE")
    }
}
