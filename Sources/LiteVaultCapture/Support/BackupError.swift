internal import DurableFile
internal import Foundation
internal import LiteVaultCipher
internal import LiteVaultCore

/// An error of a backup, a store or a repository, with advice on what to do about it.
public struct BackupError: Error, Sendable {
    /// The kinds of failure. The raw value is the `code` of the command line's contract, for codes that it has.
    public enum Code: String, Sendable {
        case busy, damaged, io, unsupported, config, `internal`
        case noSpace = "no-space"
        case noInput = "no-input"
        case wrongKind = "wrong-kind"
        case cannotCreate = "cannot-create"
        case keyRejected = "key-rejected"
        case jobFailed = "job-failed"
        /// The condition of a conditional write did not hold: another writer was first.
        case conflict
        /// The object, snapshot or database does not exist.
        case missing
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence, without the path.
    public let message: String
    /// The file, directory or object concerned.
    public let path: String?
    /// What to do next, as a value that a program can phrase in terms of its own commands.
    public let advice: Remedy?
    /// The underlying error, if any.
    public let cause: (any Error)?

    /// What to do next, in the library's words.
    public var remedy: String? { advice?.description }

    /// Creates an error with advice in words.
    public init(
        _ code: Code, _ message: String, path: String? = nil, remedy: String? = nil, cause: (any Error)? = nil
    ) {
        self.init(code, message, path: path, advice: remedy.map(Remedy.text), cause: cause)
    }

    /// Creates an error with advice that a program can phrase itself.
    public init(_ code: Code, _ message: String, path: String? = nil, advice: Remedy?, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.advice = advice
        self.cause = cause
    }

    /// Whether it describes the state of the repository rather than a failure to read it.
    package var isDamage: Bool { code == .damaged || code == .missing }
}

extension BackupError: CustomStringConvertible {
    /// Path, message, remedy and cause on one line.
    public var description: String {
        [path.map { "\($0): \(message)" } ?? message, remedy, cause.map { "(\($0))" }].compactMap(\.self).joined(
            separator: "; ")
    }
}

/// What to do about an error or a warning of a repository.
///
/// ``description`` phrases it in terms of the library. A program with commands and options phrases it with `text(_:)`.
public enum Remedy: Sendable, Hashable {
    /// Advice in words.
    case text(String)
    /// Several pieces of advice, in order.
    case all([Remedy])
    /// Check the repository's name; the first snapshot creates a repository.
    case createRepository
    /// Pass the repository's secret.
    case provideSecret
    /// Use a newer version of the program.
    case update
    /// Accept a repository that was replaced, or an older state of it, if that was intended.
    case acceptReplacement
    /// Accept that the repository is gone, which creates a new one.
    case acceptLoss
    /// Restore `repository.json` from a copy of the repository, or repair the repository.
    case restoreIdentity
    /// Repair the repository: it sets damaged objects aside and reports what is lost with them.
    case repair
    /// Repair the repository to learn what is lost.
    case repairToReport
    /// Repair the repository with credentials that may delete objects.
    case repairWithDeletion
    /// Repair the repository to set an object aside, unless it belongs there.
    case repairUnlessOwn
    /// Repair the repository, which rebuilds the object.
    case rebuild
    /// Check or repair the repository, which rebuilds the object.
    case checkOrRepair
    /// Repair the repository to learn what is lost, then remove the affected snapshot so that pruning can continue.
    case repairThenForget
    /// Give the database a name of its own, or name it to confirm.
    case nameDatabase
    /// Choose one of the databases by name.
    case chooseDatabase
    /// Encrypt the database, or allow plaintext.
    case encryptOrAllowPlaintext
    /// Verify a partly encrypted database and restore it, or allow plaintext.
    case verifyOrAllowPlaintext
    /// List the snapshots.
    case listSnapshots
    /// Restore an earlier snapshot by its identifier.
    case restoreEarlier(snapshot: String, time: String)
    /// Restore the state at a time, or the newest one that can be reached.
    case restoreReachable(time: String)
    /// Give at least one retention rule.
    case addRetentionRule

    /// The remedy in words.
    ///
    /// - Parameter word: phrases a single remedy in a program's own terms; returns nil for the library's words.
    public func text(_ word: (Remedy) -> String?) -> String {
        switch self {
        case .text(let text): text
        case .all(let remedies): remedies.map { $0.text(word) }.joined(separator: " ")
        default: word(self) ?? words
        }
    }

    private var words: String {
        switch self {
        case .text, .all: ""
        case .createRepository: "Check the name. The first snapshot creates a repository."
        case .provideSecret: "Open the repository with its secret."
        case .update: "Use a newer version of LiteVault."
        case .acceptReplacement: "If that was intended, accept the repository as it is."
        case .acceptLoss:
            "Mount its disk, or restore it from a copy. If it was removed on purpose, accept that to create a new one."
        case .restoreIdentity: "Restore it from a copy of the repository, or repair the repository."
        case .repair: "Repair the repository: that sets it aside and reports what is lost with it."
        case .repairToReport: "Repair the repository to learn what is lost."
        case .repairWithDeletion: "Repair the repository with credentials that may delete objects."
        case .repairUnlessOwn: "If it does not belong there, repair the repository to set it aside."
        case .rebuild: "Repair the repository to rebuild it."
        case .checkOrRepair: "Check or repair the repository to rebuild it."
        case .repairThenForget:
            "Repair the repository to learn what is lost; pruning continues once that snapshot is removed."
        case .nameDatabase: "Give the database a name of its own, or name it to confirm."
        case .chooseDatabase: "Name one of them."
        case .encryptOrAllowPlaintext: "Encrypt it, or allow plaintext."
        case .verifyOrAllowPlaintext:
            "It may be only partly converted: verify it with its key, and restore a backup or export it. To store it "
                + "as it is, allow plaintext."
        case .listSnapshots: "List the snapshots to see which ones exist."
        case .restoreEarlier(let snapshot, let time): "Restore the previous one, of \(time): snapshot \(snapshot)."
        case .restoreReachable(let time):
            "Restore the state at \(time), or the newest state that can be reached."
        case .addRetentionRule: "Give at least one rule."
        }
    }
}

extension Remedy: CustomStringConvertible {
    /// The remedy in the library's words.
    public var description: String { text { _ in nil } }
}

// The one place where errors of lower layers become errors of this one.
extension BackupError {
    /// Runs a body and throws its errors as ``BackupError``, with `path` where they name none. Errors of other types,
    /// such as cancellation, pass unchanged.
    package static func withPath<T>(_ path: String?, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw mapped(error, path)
        }
    }

    /// See ``withPath(_:_:)``.
    package static func withPath<T>(_ path: String?, _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            throw mapped(error, path)
        }
    }

    private static func mapped(_ error: any Error, _ path: String?) -> any Error {
        switch error {
        case let error as BackupError:
            error.path == nil
                ? BackupError(error.code, error.message, path: path, advice: error.advice, cause: error.cause) : error
        case let error as DurableFileError: BackupError(error)
        case let error as VaultError:
            BackupError(
                Code(rawValue: error.code.name) ?? .internal, error.message, path: error.path ?? path,
                remedy: error.remedy, cause: error.cause)
        case let error as DatabaseError:
            BackupError(error.code == 5 ? .busy : .damaged, error.message, path: path, cause: error)
        default: error
        }
    }

    private init(_ error: DurableFileError) {
        let prefix = error.path + ": "
        let text = error.description
        let message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        let code: Code
        var remedy: String?
        switch error.reason {
        case .exists:
            code = .cannotCreate
            remedy = "Choose another name, or remove the file first."
        case .leftover:
            code = .cannotCreate
            remedy = "It belongs to another database: move it away together with that database."
        case .notRegularFile: code = .cannotCreate
        case .changed, .inUse: code = .busy
        case .unsupported: code = .unsupported
        case .system where error.isMissing || error.isNotPermitted:
            code = .cannotCreate
            remedy = "Check that the directory exists and is writable."
        case .system, .unfinished, .durabilityUnknown, .shuttingDown: code = .io
        }
        self.init(
            error.isNoSpace ? .noSpace : code, message, path: error.path,
            remedy: error.isNoSpace ? "Free space and try again." : remedy, cause: error)
    }

    /// The failure of a system call on a file.
    package init(errno number: Int32, _ operation: String, path: String) {
        let text = "\(operation) failed: \(String(cString: strerror(number)))"
        switch number {
        case ENOSPC, EDQUOT: self.init(.noSpace, text, path: path, remedy: "Free space and try again.")
        case ENOENT: self.init(.missing, text, path: path)
        case EEXIST: self.init(.conflict, text, path: path)
        case EACCES, EPERM, EROFS:
            self.init(.io, text, path: path, remedy: "Check the permissions of the file and its directory.")
        default: self.init(.io, text, path: path)
        }
    }
}
