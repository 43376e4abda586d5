public import LiteVaultCipher
internal import LiteVaultCore

/// A database file that many read at once while one writes.
///
/// The file is in WAL mode. Reads see the last commit at the time they begin, on connections of their own that cannot
/// write; they are opened when they are needed, and closed when they are idle for long. The key is derived from a
/// passphrase once, whatever the number of connections.
///
/// ```swift
/// let pool = try DatabasePool("notes.db", key: key)
/// try await pool.write { db in try db.run("INSERT INTO note (text) VALUES (?)", "milk") }
/// let count = try await pool.read { db in try db.scalar("SELECT count(*) FROM note") as? Int64 }
/// ```
public final class DatabasePool: DatabaseAccess {
    /// Who may use which connection when.
    public let core: AccessCore

    /// Opens a database, or creates one, and changes it to WAL mode.
    ///
    /// - Parameters:
    ///   - path: the file's path. It is never taken for a URI.
    ///   - key: the key; nil for a database in plaintext.
    ///   - settings: what the file was, or is to be, encrypted with.
    ///   - configuration: how connections are opened and used.
    /// - Throws: `VaultError` as by `Connection(_:key:settings:)`; `DatabaseError`; what `prepare` throws.
    public init(
        _ path: String, key: DatabaseKey? = nil, settings: CipherSettings = .init(),
        configuration: DatabaseConfiguration = .init()
    ) throws {
        core = try AccessCore(
            ConnectionSource(file: path, key: key, settings: settings), configuration, hasReaders: true)
    }
}
