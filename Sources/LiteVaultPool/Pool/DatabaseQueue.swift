public import LiteVaultCipher
internal import LiteVaultCore

/// A database that is accessed through one connection: one access after the other.
///
/// For databases in memory, for tests, and for files that are not to be in WAL mode. It has the same face as
/// ``DatabasePool``.
public final class DatabaseQueue: DatabaseAccess {
    /// Who may use the connection when.
    public let core: AccessCore

    /// Makes a database in memory, gone with the queue.
    ///
    /// - Throws: what `prepare` throws.
    public init(configuration: DatabaseConfiguration = .init()) throws {
        core = try AccessCore(
            ConnectionSource(file: nil, key: nil, settings: .init()), configuration, hasReaders: false)
    }

    /// Opens a database file, or creates one. Its journal mode stays as it is.
    ///
    /// - Throws: as `DatabasePool.init(_:key:settings:configuration:)`.
    public init(
        _ path: String, key: DatabaseKey? = nil, settings: CipherSettings = .init(),
        configuration: DatabaseConfiguration = .init()
    ) throws {
        core = try AccessCore(
            ConnectionSource(file: path, key: key, settings: settings), configuration, hasReaders: false)
    }
}
