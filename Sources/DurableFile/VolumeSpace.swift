internal import Foundation

/// How much room the file system of a path has.
package struct VolumeSpace: Sendable, Equatable {
    /// Bytes that this process may still use; what is reserved for root does not count.
    package let available: UInt64
    package let total: UInt64

    /// - Parameter path: any existing file or directory of the file system (`statvfs`).
    package init(path: String) throws(DurableFileError) {
        var status = statvfs()
        try systemCall("statvfs", path) { statvfs(path, &status) }
        let unit = UInt64(status.f_frsize)
        available = UInt64(status.f_bavail).multipliedReportingOverflow(by: unit).partialValue
        total = UInt64(status.f_blocks).multipliedReportingOverflow(by: unit).partialValue
    }

    /// - Throws: ``DurableFileError`` with ``DurableFileError/isNoSpace`` if fewer than `bytes` are available.
    package static func require(_ bytes: UInt64, beside path: String) throws(DurableFileError) {
        let directory = PathParts(path).directory
        if try VolumeSpace(path: directory).available < bytes {
            throw DurableFileError(.system, operation: "statvfs", path: path, code: ENOSPC)
        }
    }
}
