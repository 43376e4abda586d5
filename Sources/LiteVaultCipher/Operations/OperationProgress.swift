/// How far an operation is.
public struct OperationProgress: Sendable, Equatable {
    /// What is being done.
    public enum Phase: String, Sendable, CaseIterable {
        /// The new file is written.
        case copying
        /// The new file, opened again, is compared with the source.
        case comparing
        /// The authentication codes of the pages are verified.
        case authenticating
        /// The engine checks the structure.
        case checking
    }

    /// What is counted.
    public enum Unit: String, Sendable, CaseIterable {
        /// Bytes of the new file; the total is an estimate.
        case bytes
        /// Rows of all tables.
        case rows
        /// Pages of the database.
        case pages
    }

    /// What is being done.
    public let phase: Phase
    /// How much of it is done.
    public let completed: Int64
    /// How much there is, where that is known.
    public let total: Int64?
    /// What is counted.
    public let unit: Unit

    init(_ phase: Phase, _ completed: Int64, of total: Int64?, _ unit: Unit) {
        self.phase = phase
        self.completed = completed
        self.total = total
        self.unit = unit
    }

    /// Called now and then while an operation runs. What it throws ends the operation: nothing of it remains.
    public typealias Report = (OperationProgress) throws -> Void
}
