public import LiteVaultCore

/// How a ``DatabasePool`` or ``DatabaseQueue`` opens and uses its connections.
public struct DatabaseConfiguration: Sendable {
    /// How many connections read at the same time, at least 1. They are opened when they are needed.
    public var maximumReaderCount = 5
    /// Seconds to wait for locks of other processes before `SQLITE_BUSY` is thrown.
    public var busyTimeout = 5.0
    /// Whether foreign keys are enforced (`PRAGMA foreign_keys`).
    public var foreignKeys = true
    /// How the transactions of `write` begin. A deferred one can fail with `SQLITE_BUSY` that no timeout helps against.
    public var writeMode = Connection.TransactionMode.immediate
    /// How often the writer waits for the disk (`PRAGMA synchronous`). With `normal`, a power failure may undo the last
    /// commits of a pool, without damage.
    public var synchronous = Connection.Synchronous.full
    /// Seconds after which a reader that nobody uses is closed; nil: never.
    public var idleReaderTimeout: Double? = 60
    /// Run on each connection, readers included, when it is unlocked and set up, before anybody uses it. What it says with
    /// `setWALAutoCheckpoint(_:)` holds for the checkpoints of the writer, which are guarded: see <doc:WALReset>.
    public var prepare: (@Sendable (Connection) throws -> Void)?

    /// The defaults.
    public init() {}
}
