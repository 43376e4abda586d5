public import LiteVaultCapture

/// Something in a repository, or in what this machine remembers of it, that is not as it should be, and that stops nothing
/// that does not need it.
public struct RepositoryWarning: Sendable, Equatable {
    /// How much it matters.
    public enum Severity: String, Sendable {
        /// A name that is not the format's: it is ignored.
        case notice
        /// Something is damaged or missing, and somebody should look.
        case damage
    }

    /// How much it matters.
    public let severity: Severity
    /// The kind of failure that reading it met.
    public let code: BackupError.Code
    /// The object, or the file of this machine.
    public let path: String
    /// What is wrong: one sentence, without the path.
    public let message: String
    /// What to do about it.
    public let remedy: String

    package init(
        _ severity: Severity, _ code: BackupError.Code = .damaged, path: String, message: String, remedy: String
    ) {
        self.severity = severity
        self.code = code
        self.path = path
        self.message = message
        self.remedy = remedy
    }

    /// What an error at `path`, or at the place that it names, is to those who can do without what is there.
    init(_ error: BackupError, _ path: String, remedy: String = Self.repair) {
        self.init(
            .damage, error.code, path: error.path ?? path, message: error.message, remedy: error.remedy ?? remedy)
    }

    static let repair = "'litevault repair' sets it aside, and tells what is lost with it."

    /// Whether its path is one of an object that belongs to a database.
    var isBelowDatabase: Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && RepositoryFormat.isIdentifier(String(parts[1]))
    }

    /// A name that is none of the format's.
    static func stray(_ name: String) -> RepositoryWarning {
        RepositoryWarning(
            .notice, path: name, message: "is no object of a repository, and is ignored",
            remedy: "Move it out of the repository if nobody needs it there.")
    }
}

/// Snapshots, oldest first within each database, and what is wrong beside them.
public struct SnapshotList: RandomAccessCollection, Sendable {
    private let snapshots: [Snapshot]
    /// What could not be read, what is missing, and what does not belong there. None of it stops a restore of a snapshot
    /// that is listed.
    public let warnings: [RepositoryWarning]

    init(_ snapshots: [Snapshot], warnings: [RepositoryWarning]) {
        self.snapshots = snapshots
        self.warnings = warnings
    }

    /// Zero.
    public var startIndex: Int { snapshots.startIndex }
    /// How many snapshots there are.
    public var endIndex: Int { snapshots.endIndex }
    /// One of them; `position` has to be below ``endIndex``, as with an array.
    public subscript(position: Int) -> Snapshot { snapshots[position] }
}
