/// What went wrong with a backup, a store or a repository, and what to do about it.
public struct BackupError: Error, Sendable {
    /// The kinds of failure; the raw value is the `code` of the command line's contract where it has one.
    public enum Code: String, Sendable {
        case busy, damaged, io, unsupported, config, `internal`
        case noSpace = "no-space"
        case noInput = "no-input"
        case wrongKind = "wrong-kind"
        case cannotCreate = "cannot-create"
        case keyRejected = "key-rejected"
        case jobFailed = "job-failed"
        /// A condition of a write did not hold: somebody else was first.
        case conflict
        /// No object, snapshot or database of that name.
        case missing
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence, without the path.
    public let message: String
    /// The file, folder or object concerned.
    public let path: String?
    /// What to do next.
    public let remedy: String?
    /// The error below it, if there is one.
    public let cause: (any Error)?

    /// Creates an error; the path and the remedy are told where there are any.
    public init(
        _ code: Code, _ message: String, path: String? = nil, remedy: String? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.remedy = remedy
        self.cause = cause
    }
}

extension BackupError: CustomStringConvertible {
    /// Path, message, remedy and cause in one line.
    public var description: String {
        [path.map { "\($0): \(message)" } ?? message, remedy, cause.map { "(\($0))" }].compactMap(\.self).joined(
            separator: "; ")
    }
}

extension BackupError {
    /// Whether it tells of the state of the repository, not of a failure to read it.
    package var isDamage: Bool { code == .damaged || code == .missing }
}
