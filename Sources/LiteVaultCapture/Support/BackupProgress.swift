/// The progress of a backup operation.
public struct BackupProgress: Sendable, Equatable {
    /// The phases of a backup operation.
    public enum Phase: String, Sendable, CaseIterable {
        /// Reading the database and spooling changed blocks.
        case capturing
        /// Storing changed blocks.
        case storing
        /// Writing a snapshot to a file.
        case restoring
        /// Reading objects and comparing them with their hashes.
        case checking
        /// Removing snapshots or packs.
        case removing
    }

    /// The current phase.
    public let phase: Phase
    /// The number of bytes or objects done.
    public let completed: Int64
    /// The total number of bytes or objects, if known.
    public let total: Int64?

    package init(_ phase: Phase, _ completed: Int64, of total: Int64?) {
        self.phase = phase
        self.completed = completed
        self.total = total
    }

    /// Called regularly, on one thread at a time. An error that it throws cancels the operation.
    public typealias Report = @Sendable (BackupProgress) throws -> Void

    package static let untilCancelled: Report = { _ in try Task.checkCancellation() }
}
