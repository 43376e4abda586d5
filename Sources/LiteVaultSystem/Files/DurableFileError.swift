/// An error of a file operation: the call, the path and the reason.
package struct DurableFileError: Error, Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        /// A system call failed with the error number ``DurableFileError/code``.
        case system
        /// The destination exists and should not be replaced. It was not touched.
        case exists
        /// There is a `-wal` or `-journal` beside the destination; ``DurableFileError/path`` is that file.
        case leftover
        /// The temporary file still has a `-wal` or `-journal` with content: its database was not closed properly.
        case unfinished
        /// The destination is no longer the file to replace. It was not touched.
        case changed
        /// A symbolic link, directory or device where a regular file is needed.
        case notRegularFile
        /// Something else than a directory where one is needed.
        case notDirectory
        /// Another process, or this one, has the file open.
        case inUse
        /// The kernel or the file system cannot do this.
        case unsupported
        /// The new file is in place under its final name, complete, but the directory could not be synced: after a
        /// power failure the name may be missing, or refer to the old file.
        case durabilityUnknown
        /// The volume has fewer bytes than the file will have. It was not begun.
        case tooLittleSpace(needed: UInt64, available: UInt64)
        /// A signal is ending the process; new temporary files are refused.
        case shuttingDown
    }

    package let reason: Reason
    /// The system call, such as `fsync`, or the step that found the problem.
    package let operation: String
    package let path: String
    /// The error number; 0 if no system call failed.
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
        case .exists: "\(path): already exists"
        case .leftover: "\(path): left over from another database; it would be replayed into the new one"
        case .unfinished: "\(path): has content, so the new database was not closed properly"
        case .changed: "\(path): was replaced by another process in the meantime"
        case .notRegularFile: "\(path): is not a regular file"
        case .notDirectory: "\(path): is not a directory"
        case .inUse: "\(path): is in use\(system)"
        case .unsupported: "\(path): \(operation) is not supported here\(system)"
        case .durabilityUnknown: "\(path): is in place and complete, but may not survive a power failure\(system)"
        case .tooLittleSpace(let needed, let available): "\(path): needs \(needed) bytes, and \(available) are free"
        case .shuttingDown: "\(path): not created, the process is being ended"
        }
    }
}

/// Calls a C function that returns -1 and sets `errno`, again while a signal interrupts it.
///
/// - Throws: ``DurableFileError`` with the operation, the path and the error number.
@discardableResult
func systemCall(_ operation: String, _ path: String, _ body: () -> Int32) throws(DurableFileError) -> Int32 {
    while true {
        let result = body()
        if result >= 0 { return result }
        let code = errno
        if code == EINTR { continue }
        throw DurableFileError(.system, operation: operation, path: path, code: code)
    }
}
