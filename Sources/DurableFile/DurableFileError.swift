internal import Foundation

/// What an operation on files ran into: which call, on which path, why.
package struct DurableFileError: Error, Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        /// A system call failed; ``DurableFileError/code`` says how.
        case system
        /// The destination exists and was not to be replaced. It was not touched.
        case exists
        /// A `-wal` or `-journal` lies beside the destination; ``DurableFileError/path`` is that file.
        case leftover
        /// The temporary file still has a `-wal` or `-journal` with content: its database was not closed properly.
        case unfinished
        /// The destination is no longer the file that was to be replaced. It was not touched.
        case changed
        /// A symbolic link, directory or device where a regular file is needed.
        case notRegularFile
        /// Somebody has the file open.
        case inUse
        /// The kernel or the file system cannot do this.
        case unsupported
        /// The new file is in place under its final name, complete, but the directory could not be synced: after a
        /// power failure the name may be missing, or stand for the old file.
        case durabilityUnknown
        /// A signal is ending the process; new temporary files are refused.
        case shuttingDown
    }

    package let reason: Reason
    /// The system call, such as `fsync`, or the step that noticed the problem.
    package let operation: String
    package let path: String
    /// The error number, 0 where no system call failed.
    package let code: Int32

    package init(_ reason: Reason, operation: String, path: String, code: Int32 = 0) {
        self.reason = reason
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// The disk is full, or a quota is used up.
    package var isNoSpace: Bool { code == ENOSPC || code == EDQUOT }
    package var alreadyExists: Bool { reason == .exists }
    package var isMissing: Bool { code == ENOENT }
    package var isNotPermitted: Bool { code == EACCES || code == EPERM || code == EROFS }
}

extension DurableFileError: CustomStringConvertible {
    /// Names the file and the cause.
    package var description: String {
        let system = code == 0 ? "" : " (\(operation): \(String(cString: strerror(code))))"
        return switch reason {
        case .system: "\(path): \(operation) failed: \(String(cString: strerror(code)))"
        case .exists: "\(path): exists already"
        case .leftover: "\(path): left over from another database; it would be replayed into the new one"
        case .unfinished: "\(path): has content, so the new database was not closed properly"
        case .changed: "\(path): was replaced by another process in the meantime"
        case .notRegularFile: "\(path): is not a regular file"
        case .inUse: "\(path): is in use\(system)"
        case .unsupported: "\(path): \(operation) is not supported here\(system)"
        case .durabilityUnknown: "\(path): is in place and complete, but may not survive a power failure\(system)"
        case .shuttingDown: "\(path): not created, the process is being ended"
        }
    }
}
