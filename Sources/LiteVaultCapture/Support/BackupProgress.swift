/// How far a backup operation is.
public struct BackupProgress: Sendable, Equatable {
    /// What is being done.
    public enum Phase: String, Sendable, CaseIterable {
        /// The database is read, and what changed is spooled.
        case capturing
        /// What changed is stored.
        case storing
        /// A snapshot is written into a file.
        case restoring
        /// Objects are read and compared with their hashes.
        case checking
        /// Snapshots or packs are removed.
        case removing
    }

    /// What is being done.
    public let phase: Phase
    /// How many bytes or objects are done.
    public let completed: Int64
    /// How many there are, where that is known.
    public let total: Int64?

    package init(_ phase: Phase, _ completed: Int64, of total: Int64?) {
        self.phase = phase
        self.completed = completed
        self.total = total
    }

    /// Called now and then, from one thread at a time. What it throws ends the operation.
    public typealias Report = @Sendable (BackupProgress) throws -> Void
}
