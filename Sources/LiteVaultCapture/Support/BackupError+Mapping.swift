internal import DurableFile
internal import Foundation
internal import LiteVaultCipher
internal import LiteVaultCore

// The one place where errors of the layers below become errors of this one.
extension BackupError {
    /// Runs a body and throws what it throws as a ``BackupError``; what the caller threw to cancel passes.
    package static func about<T>(_ path: String?, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw mapped(error, path)
        }
    }

    /// As ``about(_:_:)``, for a body that waits.
    package static func aboutAsync<T>(_ path: String?, _ body: () async throws -> T) async throws -> T {
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
                ? BackupError(error.code, error.message, path: path, remedy: error.remedy, cause: error.cause) : error
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

    init(_ error: DurableFileError) {
        let prefix = error.path + ": "
        let text = error.description
        let message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        let code: Code
        var remedy: String?
        switch error.reason {
        case .exists:
            code = .cannotCreate
            remedy = "Give another name, or remove the file first."
        case .leftover:
            code = .cannotCreate
            remedy = "It belongs to another database: move it away together with that."
        case .notRegularFile: code = .cannotCreate
        case .changed, .inUse: code = .busy
        case .unsupported: code = .unsupported
        case .system where error.isMissing || error.isNotPermitted:
            code = .cannotCreate
            remedy = "Check that the folder exists and can be written."
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
        case EACCES, EPERM, EROFS: self.init(.io, text, path: path, remedy: "Check the permissions of file and folder.")
        default: self.init(.io, text, path: path)
        }
    }
}
