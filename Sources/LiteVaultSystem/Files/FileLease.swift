internal import CSystem

/// Proof that no other process has a file open, and a way to block those that try: a write lease (`F_SETLEASE`, Linux).
///
/// The lease is taken on a descriptor that is already open, SQLite's own, which is found by device and inode. Opening
/// another one would be wrong twice: the file would then be open twice, and closing it would drop SQLite's locks.
///
/// While the lease is intact, opening the file in another process blocks for up to `/proc/sys/fs/lease-break-time` (45
/// s by default); ``isBroken`` then becomes true. The kernel notifies the process with `SIGURG`, which is ignored
/// unless it is handled, instead of the default `SIGIO`, which would end it.
///
/// To replace a file: take the lease, check ``isBroken`` in `beforeRename` of `publish(replacing:like:ownedBy:beforeRename:)`,
/// and check again after the rename, before ``release()``. If it broke only then, a process looked the name up before
/// the rename, and will get the *old* file, without a name, once the lease is released: its writes would be lost.
/// Make the old file unusable first (overwrite its first page through the open descriptor).
package final class FileLease: Sendable {
    package let path: String
    private let file: FileMetadata
    /// nil once released.
    private let descriptor: Locked<Int32?>

    /// Leases the file that this process has open exactly once.
    ///
    /// - Throws: ``DurableFileError`` with the reason `inUse` (another process has the file open, or this one has it
    ///   open twice), `unsupported` (this file system or platform has no leases, or the file belongs to another user),
    ///   or `system` with `EBADF` when this process does not have it open at all. No lease is held then.
    package init(path: String) throws(DurableFileError) {
        file = try FileMetadata(path: path, followingLinks: true)
        self.path = path
        let file = self.file
        let open = Platform.openDescriptors { FileMetadata($0).isSameFile(as: file) }
        guard let descriptor = open.first else {
            guard Platform.hasWriteLeases else {
                throw DurableFileError(.unsupported, operation: "lease", path: path, code: ENOTSUP)
            }
            throw DurableFileError(.system, operation: "lease", path: path, code: EBADF)
        }
        guard open.count == 1 else { throw DurableFileError(.inUse, operation: "lease", path: path) }
        do {
            try Self.take(descriptor, path)
        } catch {
            switch error.code {
            case EAGAIN, EBUSY:
                throw DurableFileError(.inUse, operation: "lease", path: path, code: error.code)
            case EINVAL, ENOLCK, ENOTSUP, EACCES, EPERM, ENOSYS:
                throw DurableFileError(.unsupported, operation: "lease", path: path, code: error.code)
            default: throw error
            }
        }
        self.descriptor = Locked(descriptor)
    }

    /// A program that another thread is just starting shares every descriptor of this process for a moment, until its
    /// own code is loaded: to the kernel the file is open twice then. Use by another process lasts longer than half a
    /// second.
    private static func take(_ descriptor: Int32, _ path: String) throws(DurableFileError) {
        for _ in 0..<100 {
            do throws(DurableFileError) {
                try systemCall("lease", path) { cfs_lease_take(descriptor) }
                return
            } catch {
                guard error.code == EAGAIN || error.code == EBUSY else { throw error }
            }
            SystemThread.sleep(seconds: 0.005)
        }
        try systemCall("lease", path) { cfs_lease_take(descriptor) }
    }

    deinit { release() }

    /// Whether a process is waiting to open the file, or the lease is gone for another reason: released, expired, or the
    /// descriptor was closed by its owner.
    package var isBroken: Bool {
        descriptor.withLock { descriptor in
            guard let descriptor, isStillOurs(descriptor) else { return true }
            return cfs_lease_is_whole(descriptor) != 1
        }
    }

    /// Releases the lease and unblocks waiting processes. Does nothing when called again, or if the descriptor was
    /// closed.
    package func release() {
        descriptor.withLock { descriptor in
            if let number = descriptor, isStillOurs(number) { _ = cfs_lease_release(number) }
            descriptor = nil
        }
    }

    /// The number may refer to another file by now: the descriptor belongs to SQLite.
    private func isStillOurs(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && FileMetadata(status).isSameFile(as: file)
    }
}
