internal import CSystem

/// A new file: written under a temporary name in its destination's directory, mode 0600, and given its final name only once
/// it is complete and durable.
///
/// The writer, such as SQLite, opens ``path`` and closes it again before ``publish(replacing:like:ownedBy:beforeRename:)``.
/// While the temporary file exists, this object holds one descriptor of it, with an `flock` that tells sweeping
/// processes that its owner is alive. Closing any descriptor of a file drops the POSIX locks that SQLite holds on it in
/// this process, so between creation and publication nothing here opens or closes the temporary file, and nothing ever
/// opens the destination or the source.
///
/// An object that is released unpublished removes its file, unless the process is killed: then the file stays, under
/// the temporary name, and the next ``ReplacementFile`` created in that directory sweeps it.
package final class ReplacementFile: Sendable {
    /// The final path, as given.
    package let destination: String
    /// The temporary path.
    package let path: String

    private let directory: Directory
    private let destinationName: String
    private let temporaryName: String
    private let registry: TemporaryFileRegistry
    /// Nil once a caller has taken it to publish or remove the file.
    private let descriptor: Locked<Int32?>

    /// Creates the temporary file, after removing those that dead processes have left in the directory.
    ///
    /// - Parameters:
    ///   - destination: the final path, which must name a file. It is not examined yet.
    ///   - registry: what a signal removes the file by; that of the process by default.
    /// - Throws: ``DurableFileError``. Nothing is left behind.
    package convenience init(destination: String, registry: TemporaryFileRegistry = .shared) throws(DurableFileError) {
        let parts = PathParts(destination)
        guard !parts.name.isEmpty, parts.name != ".", parts.name != ".." else {
            throw DurableFileError(.notRegularFile, operation: "open", path: destination)
        }
        let directory = try Directory(path: parts.directory)
        StaleFileSweep(directory: directory).run()
        try self.init(parts, destination, in: directory, registry: registry)
    }

    /// Creates another temporary file for the destination of an earlier one, published or not, with which it shares the descriptor
    /// of the directory. The directory is not swept again.
    ///
    /// - Throws: ``DurableFileError``. Nothing is left behind.
    package convenience init(besides other: ReplacementFile) throws(DurableFileError) {
        try self.init(PathParts(other.destination), other.destination, in: other.directory, registry: other.registry)
    }

    /// Creates the temporary file in an open directory, whatever has its path by now.
    ///
    /// - Parameters:
    ///   - destination: the final path, of which only the name is used in calls that write.
    ///   - descriptor: the directory, which can be read. It stays the caller's.
    /// - Throws: ``DurableFileError``. Nothing is left behind.
    package convenience init(destination: String, within descriptor: Int32) throws(DurableFileError) {
        let parts = PathParts(destination)
        let own = try systemCall("fcntl", parts.directory) { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        let directory = Directory(path: parts.directory, adopting: own)
        StaleFileSweep(directory: directory).run()
        try self.init(parts, destination, in: directory, registry: .shared)
    }

    private init(
        _ parts: PathParts, _ destination: String, in directory: Directory, registry: TemporaryFileRegistry
    ) throws(DurableFileError) {
        let (name, descriptor) = try Self.create(for: parts, in: directory, registry: registry)
        self.destination = destination
        self.directory = directory
        self.registry = registry
        self.descriptor = Locked(descriptor)
        destinationName = parts.name
        temporaryName = name
        path = parts.sibling(name)
    }

    deinit { discard() }

    /// Keeps the largest part of a file that a killed process has written for a destination, before it is swept.
    ///
    /// - Returns: its path: a hidden file beside the destination, which the caller removes. Nil if there is none.
    package static func claimAbandoned(for destination: String) throws(DurableFileError) -> String? {
        let parts = PathParts(destination)
        let name = ".\(parts.name).litevault-partial"
        let sweep = StaleFileSweep(directory: try Directory(path: parts.directory))
        return sweep.claim(for: parts.name, as: name) ? parts.sibling(name) : nil
    }

    private static func create(
        for parts: PathParts, in directory: Directory, registry: TemporaryFileRegistry
    ) throws(DurableFileError) -> (name: String, descriptor: Int32) {
        var attempts = 0
        while true {
            let name = TemporaryName(for: parts.name).name
            let path = parts.sibling(name)
            let descriptor = try registry.create(path) { () throws(DurableFileError) in
                try systemCall("open", path) {
                    openat(directory.descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
                }
            }
            do {
                // The process's umask may have removed permission bits that SQLite needs.
                try systemCall("fchmod", path) { fchmod(descriptor, 0o600) }
                // On network file systems an flock may be a POSIX lock in disguise, which would lock SQLite out of the
                // file; there sweeping relies on the process alone.
                guard cfs_is_local(descriptor) == 1 else { return (name, descriptor) }
                if FileLock.isTaken(descriptor), try FileMetadata(descriptor: descriptor, path: path).linkCount == 1 {
                    return (name, descriptor)
                }
            } catch {
                close(descriptor)
                directory.unlink(name)
                registry.forget(path)
                throw error
            }
            // A sweeping process came between our open and our lock, and is removing the file: try another name.
            close(descriptor)
            directory.unlink(name)
            registry.forget(path)
            attempts += 1
            if attempts == 100 {
                throw DurableFileError(.inUse, operation: "flock", path: path, code: EWOULDBLOCK)
            }
        }
    }

    /// Writes bytes at an offset: for a writer that has no connection to the file.
    ///
    /// - Throws: ``DurableFileError``; some of the bytes may have been written.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DurableFileError) {
        guard let descriptor = descriptor.value else {
            throw DurableFileError(.system, operation: "pwrite", path: path, code: EBADF)
        }
        do { try OpenFile.write(bytes, to: descriptor, at: offset) } catch {
            throw DurableFileError(.system, operation: "pwrite", path: path, code: error.code)
        }
    }

    /// Removes what was written: for a writer that begins again.
    package func removeContent() throws(DurableFileError) {
        guard let descriptor = descriptor.value else {
            throw DurableFileError(.system, operation: "ftruncate", path: path, code: EBADF)
        }
        try systemCall("ftruncate", path) { ftruncate(descriptor, 0) }
    }

    /// Whether the file still has its temporary name: neither published nor discarded.
    package var isPending: Bool { descriptor.value != nil }

    /// Removes the temporary file with its `-wal`, `-journal` and `-shm`. Does nothing after a publication.
    ///
    /// A connection that still has it open keeps working on a file without a name, and loses its POSIX locks on it.
    package func discard() {
        guard let descriptor = takeDescriptor() else { return }
        // The file last: a companion without its file would not identify its owner.
        for companion in TemporaryName.companions { directory.unlink(temporaryName + companion) }
        directory.unlink(temporaryName)
        registry.forget(path)
        close(descriptor)
    }

    /// The descriptor, for one caller: publication and removal exclude each other.
    private func takeDescriptor() -> Int32? { descriptor.withLock { $0.take() } }
}

extension ReplacementFile {
    /// Makes the file durable and gives it its final name: owner and mode, fsync, rename, fsync of the directory.
    ///
    /// Every connection to the temporary must be closed. Without `replacing` the rename cannot overwrite anything, not
    /// even a file that appears at the last moment. With it, the destination must still be the file that `original`
    /// describes, if that is given.
    ///
    /// - Parameters:
    ///   - replacing: whether the destination may exist.
    ///   - original: the file at the destination, whose mode, owner and access control list are copied; without it, mode 0600 and the
    ///     process's owner stay.
    ///   - owner: whom the file belongs to from the moment that it has its name; nil for the owner of `original`.
    ///   - beforeRename: the last check before the rename, for example that a lease on the replaced file is unbroken. If it
    ///     throws, nothing has changed.
    /// - Throws: ``DurableFileError``. Unless the reason is `durabilityUnknown`, the destination is untouched and the
    ///   temporary file still exists: ``discard()`` removes it, as does the end of this object. With
    ///   `durabilityUnknown` the file is complete and in place, and there is no temporary file.
    package func publish(
        replacing: Bool = false, like original: FileMetadata? = nil, ownedBy owner: FileOwner? = nil,
        beforeRename: () throws -> Void = {}
    ) throws {
        guard let descriptor = takeDescriptor() else {
            throw DurableFileError(.system, operation: "publish", path: path, code: EBADF)
        }
        do {
            try requireFinished()
            if let owner = owner ?? original?.ownership { try give(descriptor, to: owner) }
            if let original { try adopt(original, descriptor) }
            try systemCall("fsync", path) { cfs_sync(descriptor) }
            try checkDestination(replacing: replacing, original: original)
            try beforeRename()
            try rename(replacing: replacing)
        } catch {
            self.descriptor.withLock { $0 = descriptor }
            throw error
        }
        registry.forget(path)
        close(descriptor)
        do {
            try directory.sync()
        } catch {
            throw DurableFileError(.durabilityUnknown, operation: "fsync", path: destination, code: error.code)
        }
    }

    /// Content in a journal belongs to the database, but would stay behind under the temporary name.
    private func requireFinished() throws(DurableFileError) {
        for companion in ["-wal", "-journal"] {
            if let metadata = try directory.metadata(temporaryName + companion), metadata.size > 0 {
                throw DurableFileError(.unfinished, operation: "check for leftovers", path: path + companion)
            }
        }
        for companion in TemporaryName.companions { directory.unlink(temporaryName + companion) }
    }

    private func give(_ descriptor: Int32, to owner: FileOwner) throws(DurableFileError) {
        guard try FileMetadata(descriptor: descriptor, path: path).ownership != owner else { return }
        try systemCall("fchown", path) { fchown(descriptor, owner.user, owner.group) }
    }

    private func adopt(_ original: FileMetadata, _ descriptor: Int32) throws(DurableFileError) {
        var mode = original.mode
        if let list = try AccessControlList(ofFile: destination) {
            do { try list.give(to: descriptor, path: path) } catch {
                // The group's bits of the mode are those of the list's mask: without the list, they would be the group's.
                AccessControlList.remove(from: descriptor)
                mode = (mode & ~0o070) | (list.groupBits & mode)
            }
        } else {
            AccessControlList.remove(from: descriptor)
        }
        // After the owner: a change of owner drops the set-id bits, and the mode must not hold for the wrong group.
        try systemCall("fchmod", path) { fchmod(descriptor, mode_t(mode)) }
    }

    private func checkDestination(replacing: Bool, original: FileMetadata?) throws(DurableFileError) {
        guard let present = try directory.metadata(destinationName) else {
            if replacing && original != nil {
                throw DurableFileError(.changed, operation: "lstat", path: destination, code: ENOENT)
            }
            // The destination is free; but a stale journal would be replayed into the new file.
            return try Leftovers.refuse(beside: destination)
        }
        guard replacing else {
            throw DurableFileError(.exists, operation: "rename", path: destination, code: EEXIST)
        }
        guard present.kind == .regular else {
            throw DurableFileError(.notRegularFile, operation: "lstat", path: destination)
        }
        if let original, !present.isSameFile(as: original) {
            throw DurableFileError(.changed, operation: "lstat", path: destination)
        }
    }

    private func rename(replacing: Bool) throws(DurableFileError) {
        let at = directory.descriptor
        guard !replacing else {
            try systemCall("rename", destination) { renameat(at, temporaryName, at, destinationName) }
            return
        }
        do {
            try systemCall("rename", destination) { cfs_rename_exclusive(at, temporaryName, at, destinationName) }
        } catch {
            switch error.code {
            case EEXIST: throw DurableFileError(.exists, operation: "rename", path: destination, code: EEXIST)
            case EINVAL, ENOSYS, ENOTSUP: try linkAndUnlink()
            default: throw error
            }
        }
    }

    /// Old kernels and some file systems have no rename without replacing. A second link never replaces either; if the
    /// process dies before the first is removed, the destination is complete and a sweep removes the other name.
    private func linkAndUnlink() throws(DurableFileError) {
        let at = directory.descriptor
        do {
            try systemCall("link", destination) { linkat(at, temporaryName, at, destinationName, 0) }
        } catch {
            switch error.code {
            case EEXIST: throw DurableFileError(.exists, operation: "link", path: destination, code: EEXIST)
            case EPERM, ENOTSUP, ENOSYS:
                throw DurableFileError(
                    .unsupported, operation: "rename without replacing", path: destination, code: error.code)
            default: throw error
            }
        }
        directory.unlink(temporaryName)
    }
}
