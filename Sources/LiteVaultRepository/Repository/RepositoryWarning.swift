public import LiteVaultCapture
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A problem in a repository, or in this machine's memory of it, that does not stop unrelated operations.
public struct RepositoryWarning: Sendable, Equatable {
    /// How serious it is.
    public enum Severity: String, Sendable {
        /// An object that is not part of the format, which is ignored, or a change of the repository's key that was not completed.
        case notice
        /// Something is damaged or missing, and needs attention.
        case damage
    }

    /// How serious it is.
    public let severity: Severity
    /// The kind of failure that occurred when reading it.
    public let code: VaultError.Code
    /// The object, or the local file.
    public let path: String
    /// What is wrong: one sentence, without the path.
    public let message: String
    /// What to do about it, as a value that a program can phrase in terms of its own commands.
    public let advice: Remedy

    /// Whether it says that a snapshot continues the history of another file, or of another machine's database.
    package fileprivate(set) var continuesHistory = false

    /// What to do about it, in the library's words.
    public var remedy: String { advice.description }

    package init(
        _ severity: Severity, _ code: VaultError.Code = .damaged, path: String, message: String, advice: Remedy
    ) {
        self.severity = severity
        self.code = code
        self.path = path
        self.message = message
        self.advice = advice
    }

    /// The warning for an error at `path`, or at the path named by the error, if the operation does not depend on it.
    init(_ error: VaultError, _ path: String, advice: Remedy = .repair) {
        self.init(
            .damage, error.code, path: error.path ?? path, message: error.message, advice: error.advice ?? advice)
    }

    /// The notice for a repository that has two keys.
    static let unfinishedRotation = RepositoryWarning(
        .notice, .busy, path: RepositoryFormat.config,
        message: "a change of the repository's key was interrupted, or another process is making it",
        advice: .completeRotation)

    /// The notice that a snapshot was taken by the selected time, and has a later label.
    static func datedAhead(_ snapshot: Snapshot) -> RepositoryWarning {
        RepositoryWarning(
            .notice, path: snapshot.object,
            message:
                "snapshot \(snapshot.id) was taken at \(Timestamp.text(snapshot.taken)) and is dated \(Timestamp.text(snapshot.time)), because "
                + "the clock had been ahead: it is a newer state of the selected time than what was found by date",
            advice: .text("If that state is wanted, select this snapshot by its identifier."))
    }

    /// Whether its path is that of an object of a database.
    var isBelowDatabase: Bool {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.count == 3 && RepositoryFormat.isIdentifier(String(Substring(parts[1])))
    }

    /// An object whose name is not part of the format.
    static func stray(_ name: String) -> RepositoryWarning {
        RepositoryWarning(
            .notice, path: name, message: "is not an object of a repository and is ignored",
            advice: .text("If nothing needs it there, move it out of the repository."))
    }
}

extension Snapshot {
    /// The notice that a snapshot of the database at `path` would continue, or continues, the history of another file; nil if it is the same
    /// one. A database that was moved, or restored to a new place, is another file as well: nobody but its owner can tell.
    package func warning(continuedBy path: String) -> RepositoryWarning? {
        let path = LocalDirectory.resolved(path)
        guard !isSameText(source, path), !isSameText(LocalDirectory.resolved(source), path) else { return nil }
        var warning = RepositoryWarning(
            .notice, .cannotCreate, path: path,
            message: "its name '\(database)' in the repository has the history of another file, \(source) on \(host)",
            advice: .text(
                "If that file was moved or restored to here, there is nothing to do. Otherwise give the database a name of its own, or "
                    + "another repository: retention counts the snapshots of both files together."))
        warning.continuesHistory = true
        return warning
    }
}

extension Snapshot {
    /// The notice that it seems to be of another database than the snapshot before it, which was taken on another machine; nil if it continues
    /// that one, or nothing tells.
    ///
    /// The machine alone tells nothing: containers get a name with each start, and machines are renamed. Nor does the content: a rekey or a VACUUM
    /// replaces all of it. Both together do, unless the names of machines have changed before and this one is new: then they are those of containers.
    ///
    /// - Parameters:
    ///   - earlier: the snapshots of the database before it, in order.
    ///   - isCompared: whether its blocks were compared with those of the last one. Of blocks that were not, all count as changed.
    package func warning(continuing earlier: [Snapshot], isCompared: Bool = true) -> RepositoryWarning? {
        guard let last = earlier.last, last.line == line, !isSameText(last.host, host) else { return nil }
        let history = earlier.filter { $0.line == line }
        let hasReturned = history.contains { isSameText($0.host, host) }
        guard hasReturned || history.allSatisfy({ isSameText($0.host, last.host) }) else { return nil }
        // A change of a small file may replace all of its blocks, and does not count as rewriting it.
        let isReplaced =
            hasReturned && isCompared && last.manifest.blocks < 8 && manifest.changedBlocks == manifest.blocks
        guard manifest.salt != last.manifest.salt || manifest.rewritten || isReplaced else { return nil }
        var warning = RepositoryWarning(
            .notice, .cannotCreate, path: source,
            message:
                "its name '\(database)' in the repository seems to have the history of two databases: snapshot \(id), taken "
                + "on \(host), has nearly nothing of the one before it, \(last.id), taken on \(last.host)",
            advice: .text(
                "If it is one database, which was rekeyed or rewritten on a machine that was renamed or took the place of the "
                    + "other, there is nothing to do. Otherwise give each machine a repository of its own, or each database a "
                    + "name of its own: retention counts the snapshots of both together, and a restore takes the newest."
            ))
        warning.continuesHistory = true
        return warning
    }
}

/// Snapshots, oldest first within each database, and problems found while listing them.
public struct SnapshotList: RandomAccessCollection, Sendable {
    private let snapshots: [Snapshot]
    /// Objects that could not be read, are missing, or are not part of the format. Restoring listed snapshots is not
    /// affected.
    public let warnings: [RepositoryWarning]

    init(_ snapshots: [Snapshot], warnings: [RepositoryWarning]) {
        self.snapshots = snapshots
        self.warnings = warnings
    }

    /// The index of the first snapshot: zero.
    public var startIndex: Int { snapshots.startIndex }
    /// The number of snapshots.
    public var endIndex: Int { snapshots.endIndex }
    /// The snapshot at `position`, which must be below ``endIndex``.
    public subscript(position: Int) -> Snapshot { snapshots[position] }
}
