internal import LiteVaultCipher
package import LiteVaultSystem

/// A database file that no other process has open, and that another file is to replace, without its key.
///
/// A write lease of the kernel shows that nobody else has it open, and blocks those that try, as long as this object is held. The
/// log or journal that a crash has left belongs to the name, so it has to be gone before another file gets the name; and
/// at each moment before that, the old database has to be complete. So its pages are first synced, then copied into the file, which is
/// what SQLite would do: they are ciphertext, and need no key.
package final class UnusedDatabase {
    package let path: String
    package let original: FileMetadata
    private let file: SourceFile
    private let lease: FileLease

    /// Locks the file.
    ///
    /// - Parameter other: the name under which it is to be kept; a replacement that was killed may have given it that name already.
    /// - Throws: `VaultError` `busy` if another process has the database open, `unsupported` if the file system has no
    ///   leases, `usage` if the file has other hard links, `cannotCreate` if it cannot be kept under the name, `noInput`. The file is unchanged.
    package init(_ path: String, keptAs other: String? = nil) throws {
        let file = try SourceFile(path: path)
        self.file = file
        self.path = file.path
        try SourceVolume.requireLocal(file.path)
        (original, lease) = try withErrorContext(path: path) {
            let original = try FileMetadata(path: file.path)
            let links: UInt64 = try other.map { try Self.isFile($0, original) } == true ? 2 : 1
            guard original.linkCount == links else {
                throw VaultError(
                    .usage, "The file has \(original.linkCount) hard links; the others would keep the old content",
                    remedy:
                        "Remove the other hard links, one of which a restore that was killed may have left under the name to keep it by; or restore to a new file."
                )
            }
            if let other { try Self.requireRoom(other, for: file.path, original) }
            // A stat opens nothing: SQLite's is the only descriptor of this process.
            return (original, try FileLease(path: file.path))
        }
    }

    /// Throws `busy` if a process is waiting to open the file.
    package func requireUnwanted() throws {
        guard !lease.isBroken else {
            throw VaultError(.busy, "Another process is opening the database", path: path, remedy: "Try again.")
        }
    }

    /// Completes the file with what its log or journal has, and removes those.
    ///
    /// It may be killed at any moment: the log or journal stays until the file is durable, and SQLite would then do the same
    /// again.
    ///
    /// - Throws: `VaultError` `io`, `noSpace`. The database is complete, with its log or journal if that is still there.
    package func settle() throws {
        // In SQLite's order: a journal is rolled back before a log is read.
        if let overlay = try HotJournal.overlay(of: file) { try merge(overlay) }
        try remove("-journal")
        if let log = try LocalFile(ifExists: path + "-wal"), try file.size() > 0,
            let overlay = try LogContent(scanning: log).overlay
        {
            try merge(overlay)
        }
        try remove("-wal")
        try remove("-shm")
        try LocalDirectory.sync(LocalDirectory.parent(of: path))
    }

    private static func isFile(_ path: String, _ file: FileMetadata) throws -> Bool {
        try FileMetadata.ifExists(path: path)?.isSameFile(as: file) ?? false
    }

    /// Rejects a name that the file cannot be kept by. Directories are compared: in an overlay, files have devices of their own.
    private static func requireRoom(_ other: String, for path: String, _ original: FileMetadata) throws {
        try withErrorContext(path: other) {
            try Leftovers.refuse(beside: other)
            let exists = try FileMetadata.ifExists(path: other) != nil
            let devices = try [path, other].map {
                try FileMetadata(path: LocalDirectory.parent(of: $0), followingLinks: true).device
            }
            guard try !exists || isFile(other, original), devices[0] == devices[1] else {
                throw cannotKeep(other, exists: exists)
            }
        }
    }

    private static func cannotKeep(_ other: String, exists: Bool) -> VaultError {
        VaultError(
            .cannotCreate,
            exists ? "the file exists" : "the replaced database can only be kept in its own file system",
            path: other, remedy: "Choose another name for it.")
    }

    private func merge(_ overlay: PageOverlay) throws {
        // The writer that crashed may not have synced it. Without it, a file that has some of its pages is torn after a power failure.
        try overlay.file.sync()
        try LocalDirectory.sync(LocalDirectory.parent(of: path))
        try overlay.forEachPage { offset, page in try file.write(page, at: offset) }
        try file.truncate(to: overlay.byteCount)
        try file.sync()
    }

    private func remove(_ companion: String) throws {
        guard unlink(path + companion) != 0, errno != ENOENT else { return }
        throw VaultError(errno: errno, "unlink", path: path + companion)
    }

    /// Gives the file another name beside its own; it keeps both until it is replaced.
    ///
    /// - Throws: `VaultError` `cannotCreate` if the name is another file's, or in another file system.
    package func keep(as other: String) throws {
        guard link(path, other) != 0 else { return try LocalDirectory.sync(LocalDirectory.parent(of: other)) }
        let code = errno
        // A replacement that was killed got this far.
        if code == EEXIST, try withErrorContext(path: other, { try Self.isFile(other, original) }) {
            return try LocalDirectory.sync(LocalDirectory.parent(of: other))
        }
        guard code == EEXIST || code == EXDEV || code == EPERM else {
            throw VaultError(errno: code, "link", path: other)
        }
        throw Self.cannotKeep(other, exists: code == EEXIST)
    }

    /// Releases the lock after the file was replaced, as ``release(isRetired:)`` does.
    ///
    /// A process that waits for a file that is kept gets all of it; but it looked up the name that another file has now, and writes its log
    /// or journal beside that one.
    ///
    /// - Parameter other: the name that the file is kept by; nil if it is not.
    /// - Throws: `VaultError` `busy` if a process waits for a file that is kept. The lock is released.
    package func retire(keptAs other: String?) throws {
        let isAwaited = lease.isBroken
        release(isRetired: other == nil)
        guard let other, isAwaited else { return }
        throw VaultError(
            .busy,
            "The database was replaced, but another process was opening the former one, which is kept as \(other)",
            path: path,
            remedy:
                "End that process. A '-wal' or '-journal' that it leaves beside the database belongs to the former one: "
                + "rename it to \(other)-wal or \(other)-journal before anything opens the database; "
                + "if something has, restore it again.")
    }

    /// Releases the lock after the file was replaced, or was not.
    ///
    /// A process that looked the name up before it was replaced, and waits, gets the old file. Without a first page it
    /// cannot use that as the database.
    ///
    /// - Parameter isRetired: whether the file was replaced, and was not kept under another name.
    package func release(isRetired: Bool) {
        if isRetired, lease.isBroken {
            let zeros = [UInt8](repeating: 0, count: 65536)
            try? zeros.withUnsafeBytes { try file.write($0, at: 0) }
        }
        lease.release()
    }
}
