internal import DurableFile
internal import Foundation
internal import LiteVaultCore

/// An error of a file operation, or of opening an encrypted database.
///
/// It names the file and suggests a fix. Neither the error nor its description contains a key.
public struct VaultError: Error, Sendable {
    /// The kind of failure.
    public var code: Code
    /// What happened: a sentence without the path and the remedy.
    public var message: String
    /// The file concerned.
    public var path: String?
    /// The underlying error, if any.
    public var cause: (any Error)?
    /// What to do next: a sentence.
    public var remedy: String?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, path: String? = nil, cause: (any Error)? = nil, remedy: String? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.cause = cause
        self.remedy = remedy
    }
}

extension VaultError {
    /// A kind of failure. New kinds may be added: a `switch` needs a `default`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case damaged
            case noInput = "no-input"
            case wrongKind = "wrong-kind"
            case noEncryption = "no-encryption"
            case unsupported
            case cannotCreate = "cannot-create"
            case io
            case noSpace = "no-space"
            case busy
            case keyRejected = "key-rejected"
            case usage
            case internalFailure = "internal"
        }

        private let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        /// The data is damaged, or a verification failed.
        public static let damaged = Code(.damaged)
        /// The source is missing.
        public static let noInput = Code(.noInput)
        /// The source is not a database of the expected kind.
        public static let wrongKind = Code(.wrongKind)
        /// The linked engine does not encrypt.
        public static let noEncryption = Code(.noEncryption)
        /// The linked engine encrypts, but its version does not support the request.
        public static let unsupported = Code(.unsupported)
        /// The destination exists, has the journal or log of another database beside it, or cannot be created.
        public static let cannotCreate = Code(.cannotCreate)
        /// Input or output failed.
        public static let io = Code(.io)
        /// The disk is full.
        public static let noSpace = Code(.noSpace)
        /// The database is locked, or in use by another connection.
        public static let busy = Code(.busy)
        /// The key is missing, wrong or malformed.
        public static let keyRejected = Code(.keyRejected)
        /// The arguments are invalid.
        public static let usage = Code(.usage)
        /// Any other failure.
        public static let internalFailure = Code(.internalFailure)

        /// The stable name of the code, as printed by the command line: `key-rejected`.
        public var name: String { kind.rawValue }

        /// The same as ``name``.
        public var description: String { name }
    }
}

extension VaultError: CustomStringConvertible {
    /// The file, what happened and the remedy.
    public var description: String {
        var text = path.map { "\($0): " } ?? ""
        text += message
        if !text.hasSuffix(".") { text += "." }
        if let remedy { text += " " + remedy }
        return text
    }
}

// MARK: Errors of the layers below

/// Runs `body` and throws its errors as ``VaultError`` about `path`. Errors of other types are thrown as they are: those of
/// the caller's own closures.
///
/// - Parameter creating: whether the file is being created: a failure to open it then means that it cannot be created.
func withErrorContext<T>(path: String, creating: Bool = false, _ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as DurableFileError {
        throw VaultError(error)
    } catch let error as DatabaseError {
        throw VaultError(error, path: path, creating: creating)
    } catch let error as QueryError {
        // A column of one of the engine's own tables has an unexpected type.
        throw VaultError(.damaged, "The schema cannot be read: \(error)", path: path, cause: error)
    } catch let error as EngineUnsupported {
        throw VaultError(.unsupported, error.description, path: path, cause: error)
    } catch var error as VaultError {
        if error.path == nil { error.path = path }
        throw error
    }
}

extension VaultError {
    init(_ error: DatabaseError, path: String, creating: Bool = false) {
        let (code, message, remedy) = Self.meaning(of: error, path: path, creating: creating)
        self.init(code, message, path: path, cause: error, remedy: remedy)
    }

    private static func meaning(
        of error: DatabaseError, path: String, creating: Bool
    ) -> (Code, String, String?) {
        switch error.resultCode.primary {
        case .busy, .locked:
            return (.busy, "The database is locked", "Another connection is using it. Try again.")
        case .full:
            return (.noSpace, "The disk is full", "Free space and try again. Nothing was changed.")
        case .corrupt, .notADatabase, .constraint:
            return (.damaged, "The database is damaged: \(error.message)", "Verify it, and restore a backup.")
        case .readOnly:
            return (.io, "The database cannot be written", "Check the permissions of the file and its directory.")
        case .cantOpen where creating:
            return (.cannotCreate, "The file cannot be created", "Check that its directory exists and can be written.")
        case .cantOpen:
            guard FileManager.default.fileExists(atPath: path) else {
                return (.noInput, "The file does not exist", nil)
            }
            return (.io, "The file cannot be opened", "Check the permissions of the file and its directory.")
        case .ioError:
            return (.io, "I/O failed (SQLite code \(error.extendedCode))", nil)
        case .interrupt:
            return (.internalFailure, "The operation was interrupted", nil)
        default:
            return (.internalFailure, error.message, nil)
        }
    }

    init(_ error: DurableFileError) {
        var code: Code
        var remedy: String?
        switch error.reason {
        case .exists:
            code = .cannotCreate
            remedy = "Choose another name, or remove the file first."
        case .leftover:
            code = .cannotCreate
            remedy = "It belongs to another database: move it away together with its database."
        case .notRegularFile: code = .cannotCreate
        case .changed, .inUse:
            code = .busy
            remedy = "Close the other programs that have it open, and try again."
        case .unsupported:
            code = .unsupported
            remedy = "Write a new file instead of replacing this one."
        case .system where error.isNotPermitted || error.isMissing:
            code = .cannotCreate
            remedy = "Check that the directory exists and can be written."
        case .system, .unfinished, .durabilityUnknown, .shuttingDown: code = .io
        }
        if error.isNoSpace {
            code = .noSpace
            remedy = "Free space and try again."
        }
        let prefix = error.path + ": "
        let text = error.description
        let message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        self.init(code, message, path: error.path, cause: error, remedy: remedy)
    }
}
