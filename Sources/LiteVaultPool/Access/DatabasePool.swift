public import LiteVaultCipher
public import LiteVaultCore

/// A database file with concurrent reads while one connection writes.
///
/// The file is in WAL mode. Reads see the last commit at the time they begin, on read-only connections that are opened on
/// demand and closed after an idle time. The key is derived from a passphrase once, whatever the number of connections.
///
/// ```swift
/// let pool = try DatabasePool("notes.db", key: key)
/// try await pool.write { db in try db.run("INSERT INTO note (text) VALUES (?)", with: "milk") }
/// let count = try await pool.read { db in try db.value("SELECT count(*) FROM note", as: Int.self) }
/// ```
public final class DatabasePool: DatabaseAccess, DatabaseFileAccess, @unchecked Sendable {
    /// Opens a database, or creates one, and changes it to WAL mode.
    ///
    /// - Parameters:
    ///   - path: the path of the file. It is never treated as a URI. If it is relative, it is that of the current directory of
    ///     now, also when that changes.
    ///   - key: the key; nil for a plaintext database.
    ///   - settings: the settings that the file is, or will be, encrypted with.
    ///   - configuration: how connections are opened and used.
    /// - Throws: `VaultError` as `Connection(_:key:settings:)`, and for a database without a file, which each connection would have
    ///   for itself; `DatabaseError`; the errors of `prepare`.
    public init(
        _ path: String, key: DatabaseKey? = nil, settings: CipherSettings = .init(),
        configuration: DatabaseConfiguration = .init()
    ) throws {
        guard path != ":memory:", !path.utf8.isEmpty else {
            throw VaultError(
                .usage, "A pool needs a file: each of its connections would have a database of its own in memory",
                remedy: "Use DatabaseQueue() for a database in memory, or a path in a temporary directory.")
        }
        super.init(
            try ConnectionCoordinator(
                ConnectionSource(file: path, key: key, settings: settings), configuration, hasReaders: true))
    }
}

/// A database with serialized access through a single connection.
///
/// For in-memory databases, for tests, and for files that should not be in WAL mode. It has the same API as
/// ``DatabasePool``.
public final class DatabaseQueue: DatabaseAccess, DatabaseFileAccess, @unchecked Sendable {
    /// Creates an in-memory database that exists as long as the queue.
    ///
    /// - Throws: the errors of `prepare`.
    public convenience init(configuration: DatabaseConfiguration = .init()) throws {
        try self.init(":memory:", configuration: configuration)
    }

    /// Opens a database file, or creates one. Its journal mode does not change. `:memory:` is a database in memory.
    ///
    /// - Throws: as `DatabasePool.init(_:key:settings:configuration:)`.
    public init(
        _ path: String, key: DatabaseKey? = nil, settings: CipherSettings = .init(),
        configuration: DatabaseConfiguration = .init()
    ) throws {
        super.init(
            try ConnectionCoordinator(
                ConnectionSource(file: path, key: key, settings: settings), configuration, hasReaders: false))
    }
}

/// What opens a database file: a ``DatabasePool`` or a ``DatabaseQueue``.
///
/// An extension of this protocol gives both another initializer, such as those that take a key from a keyring.
public protocol DatabaseFileAccess: DatabaseAccess {
    /// Opens a database file, or creates one.
    ///
    /// - Parameters:
    ///   - path: the path of the file. It is never treated as a URI.
    ///   - key: the key; nil for a plaintext database.
    ///   - settings: the settings that the file is, or will be, encrypted with.
    ///   - configuration: how connections are opened and used.
    /// - Throws: `VaultError`, `DatabaseError`; the errors of the configuration's `prepare`.
    init(_ path: String, key: DatabaseKey?, settings: CipherSettings, configuration: DatabaseConfiguration) throws
}

/// The configuration of a ``DatabasePool`` or ``DatabaseQueue``.
public struct DatabaseConfiguration: Sendable {
    /// The maximum number of concurrent readers, at least 1. They are opened on demand.
    public var maximumReaderCount = 5
    /// How long to wait for locks of other processes before throwing `SQLITE_BUSY`.
    public var lockTimeout = Duration.seconds(5)
    /// Whether foreign keys are enforced (`PRAGMA foreign_keys`).
    public var foreignKeys = true
    /// The mode of the transactions of `write`. A deferred one can fail with `SQLITE_BUSY` regardless of the timeout.
    public var writeMode = Connection.TransactionMode.immediate
    /// How often the writer syncs (`PRAGMA synchronous`). With `normal`, a power failure may undo the last commits of a pool,
    /// without damage.
    public var synchronous = Connection.Synchronous.full
    /// How dates are stored: see ``Connection/dateStorage``.
    public var dateStorage = DateStorage.text
    /// The idle time after which a reader is closed; nil keeps readers open.
    public var idleReaderTimeout: Duration? = .seconds(60)
    /// Called for each connection, including readers, after it is unlocked and set up, and before it is used. Its
    /// `setWALAutoCheckpoint(_:)` applies to the checkpoints of the writer, which are guarded: see <doc:WALReset>.
    public var prepare: (@Sendable (Connection) throws -> Void)?

    /// Creates the default configuration.
    public init() {}
}
