/// The metadata of a file. Reading it never opens the file: closing any descriptor of a file drops the
/// POSIX locks that SQLite holds on it in the same process.
package struct FileMetadata: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case regular, directory, symbolicLink, other }

    package let kind: Kind
    package let device: UInt64
    package let inode: UInt64
    /// The permission bits, set-id and sticky bits included.
    package let mode: UInt16
    package let owner: UInt32
    package let group: UInt32
    package let size: Int64
    /// The number of hard links. Above 1, replacing one name leaves the old content under the others.
    package let linkCount: UInt64

    /// - Parameter followingLinks: whether a symbolic link stands for its target (`stat`) or for itself (`lstat`).
    /// - Throws: ``DurableFileError``, with ``DurableFileError/isMissing`` when the file does not exist.
    package init(path: String, followingLinks: Bool = false) throws(DurableFileError) {
        var status = stat()
        try systemCall(followingLinks ? "stat" : "lstat", path) {
            followingLinks ? stat(path, &status) : lstat(path, &status)
        }
        self.init(status)
    }

    package init(descriptor: Int32, path: String) throws(DurableFileError) {
        var status = stat()
        try systemCall("fstat", path) { fstat(descriptor, &status) }
        self.init(status)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        mode = UInt16(truncatingIfNeeded: status.st_mode & 0o7777)
        owner = status.st_uid
        group = status.st_gid
        size = Int64(status.st_size)
        linkCount = UInt64(status.st_nlink)
    }

    /// The metadata; nil if the file does not exist, or cannot because its name is too long.
    package static func ifExists(
        path: String, followingLinks: Bool = false
    ) throws(DurableFileError) -> FileMetadata? {
        do {
            return try FileMetadata(path: path, followingLinks: followingLinks)
        } catch {
            if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(error.code) { return nil }
            throw error
        }
    }

    /// The user and the group of the file.
    package var ownership: FileOwner { FileOwner(user: owner, group: group) }

    /// Whether both describe the same file, regardless of hard links and symbolic links.
    package func isSameFile(as other: FileMetadata) -> Bool { device == other.device && inode == other.inode }

    /// Whether two paths lead to the same file; false if either file is missing.
    package static func isSameFile(_ first: String, _ second: String) throws(DurableFileError) -> Bool {
        guard let one = try ifExists(path: first, followingLinks: true),
            let two = try ifExists(path: second, followingLinks: true)
        else { return false }
        return one.isSameFile(as: two)
    }

    /// The path with every symbolic link resolved. A file that is to be replaced must be specified this way, or the
    /// rename would replace the link and leave the old file behind.
    ///
    /// - Throws: ``DurableFileError``, with `EILSEQ` for a path that is not UTF-8: repaired, it would be that of another file.
    package static func resolvedPath(_ path: String) throws(DurableFileError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw DurableFileError(.system, operation: "realpath", path: path, code: errno)
        }
        defer { free(resolved) }
        guard let text = String(validatingCString: resolved) else {
            throw DurableFileError(.system, operation: "realpath", path: path, code: EILSEQ)
        }
        return text
    }
}

/// A user and a group that a file belongs to.
package struct FileOwner: Sendable, Equatable {
    package let user: UInt32
    package let group: UInt32

    package init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }
}

/// The free space of the file system of a path.
package struct VolumeSpace: Sendable, Equatable {
    /// Bytes that this process may still use, without those reserved for root.
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
        let available = try VolumeSpace(path: directory).available
        if available < bytes {
            throw DurableFileError(
                .tooLittleSpace(needed: bytes, available: available), operation: "statvfs", path: path, code: ENOSPC)
        }
    }
}
