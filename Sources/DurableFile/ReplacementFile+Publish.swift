internal import CFileSupport
internal import Foundation

extension ReplacementFile {
    /// Makes the file durable and gives it its final name: owner and mode, fsync, rename, fsync of the directory.
    ///
    /// Every connection to the temporary must be closed. Without `replacing` the rename cannot overwrite anything, not
    /// even a file that appears at the last moment. With it, the destination must still be the file that `original`
    /// describes, if that is given.
    ///
    /// - Parameters:
    ///   - replacing: whether the destination may exist.
    ///   - original: whose mode and owner the file gets; without it, mode 0600 and the process's owner stay.
    ///   - beforeRename: the last word, when all else is done: that a lease on the file to be replaced is still whole,
    ///     say. What it throws is thrown, and nothing has changed.
    /// - Throws: ``DurableFileError``. Unless the reason is `durabilityUnknown`, the destination is untouched and the
    ///   temporary still there: ``discard()`` removes it, as does the end of this object. With `durabilityUnknown` the
    ///   file is complete and in place, and no temporary is left.
    package func publish(
        replacing: Bool = false, like original: FileMetadata? = nil, beforeRename: () throws -> Void = {}
    ) throws {
        guard let descriptor = takeDescriptor() else {
            throw DurableFileError(.system, operation: "publish", path: path, code: EBADF)
        }
        do {
            try refuseUnfinished()
            if let original { try adopt(original, descriptor) }
            try systemCall("fsync", path) { cfs_sync(descriptor) }
            try checkDestination(replacing: replacing, original: original)
            try beforeRename()
            try rename(replacing: replacing)
        } catch {
            giveBack(descriptor)
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

    /// Content in a journal belongs to the database, but would stay behind under the temporary's name.
    private func refuseUnfinished() throws(DurableFileError) {
        for companion in ["-wal", "-journal"] {
            if let metadata = try directory.metadata(temporaryName + companion), metadata.size > 0 {
                throw DurableFileError(.unfinished, operation: "check for leftovers", path: path + companion)
            }
        }
        for companion in TemporaryName.companions { directory.unlink(temporaryName + companion) }
    }

    private func adopt(_ original: FileMetadata, _ descriptor: Int32) throws(DurableFileError) {
        let own = try FileMetadata(descriptor: descriptor, path: path)
        if own.owner != original.owner || own.group != original.group {
            try systemCall("fchown", path) { fchown(descriptor, original.owner, original.group) }
        }
        // After the owner: a change of owner drops the set-id bits, and the mode must not hold for the wrong group.
        try systemCall("fchmod", path) { fchmod(descriptor, mode_t(original.mode)) }
    }

    private func checkDestination(replacing: Bool, original: FileMetadata?) throws(DurableFileError) {
        guard let present = try directory.metadata(destinationName) else {
            if replacing && original != nil {
                throw DurableFileError(.changed, operation: "lstat", path: destination, code: ENOENT)
            }
            // The way to the final name; a stale journal would be replayed into it.
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

    /// Old kernels and some file systems know no rename without replacing. A second link never replaces either; if the
    /// process dies before the first is removed, the destination is complete and a sweep removes the other name.
    func linkAndUnlink() throws(DurableFileError) {
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
