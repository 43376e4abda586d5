public import LiteVaultCore
internal import LiteVaultSystem

extension VaultError.Code {
    /// The linked engine does not encrypt.
    public static let noEncryption = Self(rawValue: "no-encryption")
    /// The key is missing, wrong or malformed.
    public static let keyRejected = Self(rawValue: "key-rejected")
}

// The one place where errors of the layers below become errors about a file.

/// Runs `body` and throws its errors as ``VaultError`` about `path`. Errors of other types are thrown as they are: those of
/// the caller's own closures.
///
/// - Parameter creating: whether the file is being created: a failure to open it then means that it cannot be created.
func withErrorContext<T>(path: String, creating: Bool, _ body: () throws -> T) throws -> T {
    do { return try body() } catch { throw mapped(error, path, creating: creating) }
}

/// See ``withErrorContext(path:creating:_:)``. No default of that one: in asynchronous code the compiler would choose the next one then.
package func withErrorContext<T>(path: String, _ body: () throws -> T) throws -> T {
    try withErrorContext(path: path, creating: false, body)
}

/// See ``withErrorContext(path:creating:_:)``.
package func withErrorContext<T>(path: String, _ body: () async throws -> T) async throws -> T {
    do { return try await body() } catch { throw mapped(error, path, creating: false) }
}

private func mapped(_ error: any Error, _ path: String, creating: Bool) -> any Error {
    switch error {
    case let error as DurableFileError: return VaultError(error)
    case let error as DatabaseError: return VaultError(error, path: path, creating: creating)
    case let error as QueryError:
        // A column of one of the engine's own tables has an unexpected type.
        return VaultError(.damaged, "The schema cannot be read: \(error)", path: path, cause: error)
    case let error as VaultError: return error.path == nil ? error.at(path) : error
    default: return error
    }
}

extension VaultError {
    init(_ error: DatabaseError, path: String, creating: Bool = false) {
        let (code, message, remedy) = Self.meaning(of: error, path: path, creating: creating)
        self.init(code, message, path: path, remedy: remedy, cause: error)
    }

    private static func meaning(
        of error: DatabaseError, path: String, creating: Bool
    ) -> (Code, String, String?) {
        switch error.resultCode.primary {
        case .busy, .locked:
            return (.busy, "The database is locked", "Another connection is using it. Try again.")
        case .full:
            return (.noSpace, "The disk is full", "Free space and try again.")
        case .corrupt where error.isUnreadableDefinition:
            return (
                .unsupported, "\(EngineInfo.linked.sqliteVersion) cannot read the schema: \(error.message)",
                "A newer version of SQLite may have written it: use that version. If none can read it, restore a backup."
            )
        case .corrupt, .notADatabase, .constraint:
            return (.damaged, "The database is damaged: \(error.message)", "Verify it, and restore a backup.")
        case .error where error.message == "unsupported file format":
            return (
                .damaged, "The schema has a format that the engine does not know",
                "Verify it, and restore a backup, or use a newer engine."
            )
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
        case .notDirectory:
            code = .cannotCreate
            remedy = "Name a directory."
        case .changed, .inUse:
            code = .busy
            remedy = "Close the other programs that have it open, and try again."
        case .unsupported:
            code = .unsupported
            if error.operation == "lease" { remedy = "Write a new file instead of replacing this one." }
        case .system where error.isNotPermitted || error.isMissing:
            code = .cannotCreate
            remedy =
                error.operation == "fchown"
                ? "Only root can give a file to another user or group."
                : "Check that the directory exists and can be written."
        case .system, .unfinished, .durabilityUnknown, .tooLittleSpace, .shuttingDown: code = .io
        }
        if error.isNoSpace {
            code = .noSpace
            remedy = "Free space and try again."
        }
        let prefix = error.path + ": "
        let text = error.description
        let message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        self.init(code, message, path: error.path, remedy: remedy, cause: error)
    }
}

extension DatabaseError {
    /// Whether the engine cannot read in an order because it does not know the collation. SQLite 3.15 names it; later versions do not.
    var isUnknownCollation: Bool {
        message.contains("no query solution") || message.contains("no such collation sequence")
    }
}
