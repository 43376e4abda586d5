internal import DurableFile
internal import Foundation
internal import LiteVaultCore

// The only place where errors of the layers below become errors of this one.
extension VaultError {
    /// Runs a body and throws what it throws as a `VaultError` about `path`.
    static func about<T>(_ path: String, creating: Bool = false, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as DurableFileError {
            throw VaultError(error)
        } catch let error as DatabaseError {
            throw VaultError(error, path: path, creating: creating)
        } catch let error as QueryError {
            // Columns of the engine's own tables that are not what they always are.
            throw VaultError(.damaged, "The schema cannot be read: \(error)", path: path, cause: error)
        } catch let error as EngineUnsupported {
            throw VaultError(.unsupported, error.description, path: path, cause: error)
        } catch var error as VaultError {
            if error.path == nil { error.path = path }
            throw error
        }
        // Anything else is the caller's own: what it threw to cancel.
    }

    init(_ error: DatabaseError, path: String, creating: Bool = false) {
        let (code, message, remedy) = Self.meaning(of: error, path: path, creating: creating)
        self.init(code, message, path: path, cause: error, remedy: remedy)
    }

    private static func meaning(
        of error: DatabaseError, path: String, creating: Bool
    ) -> (Code, String, String?) {
        switch error.resultCode.primary {
        case .busy, .locked:
            return (.busy, "The database is locked", "Somebody else is using it: try again.")
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
                return (.noInput, "There is no such file", nil)
            }
            return (.io, "The file cannot be opened", "Check the permissions of the file and its directory.")
        case .ioError:
            return (.io, "Reading or writing failed (SQLite code \(error.extendedCode))", nil)
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
            remedy = "Give another name, or remove the file first."
        case .leftover:
            code = .cannotCreate
            remedy = "It belongs to another database: move it away together with that."
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
