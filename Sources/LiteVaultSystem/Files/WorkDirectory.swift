internal import CSystem

/// A directory for the temporary files of one operation: of mode 0700, and removed with this object.
///
/// It may be created in a directory that others can write to, and a sweep removes those that killed processes have left. So
/// nothing is removed by its path: a user who exchanges a directory for a symbolic link at the right moment would choose what a
/// sweep of root removes. A directory is opened without following links, and is swept only if it belongs to this user and has the
/// marker of a ``WorkDirectory`` that nobody holds; then what it contains is unlinked through its descriptor. It has no
/// subdirectories, so a sweep enters none.
package final class WorkDirectory: Sendable {
    /// The file by which a sweep recognises such a directory. Its creator holds an `flock` on it.
    package static let marker = ".litevault-work"

    package let path: String

    private let parent: Directory
    private let name: String
    private let directory: Directory
    /// The open marker: the kernel drops its lock however the process ends.
    private let held: Int32

    /// Creates the directory, after removing those that dead processes have left beside it.
    ///
    /// - Parameters:
    ///   - purpose: a part of its name, for people.
    ///   - path: the directory to create it in, which exists.
    package init(for purpose: String, in path: String) throws(DurableFileError) {
        parent = try Directory(path: path)
        Self.sweep(parent)
        var attempts = 0
        while true {
            let name = TemporaryName(for: purpose).name
            if let (directory, held) = try Self.create(name, in: parent) {
                (self.name, self.path) = (name, path + "/" + name)
                (self.directory, self.held) = (directory, held)
                return
            }
            // Another process is removing it, before its marker was locked.
            attempts += 1
            if attempts == 100 {
                throw DurableFileError(.inUse, operation: "mkdir", path: path + "/" + name, code: EWOULDBLOCK)
            }
        }
    }

    deinit {
        directory.removeFiles(except: Self.marker)
        directory.unlink(Self.marker)
        parent.removeEmpty(name)
        close(held)
    }

    private static func create(
        _ name: String, in parent: Directory
    ) throws(DurableFileError) -> (Directory, Int32)? {
        let path = parent.path + "/" + name
        try systemCall("mkdir", path) { mkdirat(parent.descriptor, name, 0o700) }
        guard let directory = parent.own(name) else { return nil }
        // What was put in its place meanwhile is not ours, whatever its owner.
        guard directory.names().allSatisfy({ $0 == "." || $0 == ".." }) else {
            throw DurableFileError(.changed, operation: "mkdir", path: path)
        }
        // The umask may have removed bits.
        try systemCall("fchmod", path) { fchmod(directory.descriptor, 0o700) }
        let held = openat(
            directory.descriptor, marker, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard held >= 0 else {
            let code = errno
            parent.removeEmpty(name)
            if code == ENOENT { return nil }
            throw DurableFileError(.system, operation: "open", path: path + "/" + marker, code: code)
        }
        // On network file systems only the death of the process counts.
        guard cfs_is_local(held) == 1 else { return (directory, held) }
        if FileLock.isTaken(held), (try? FileMetadata(descriptor: held, path: path))?.linkCount == 1 {
            return (directory, held)
        }
        close(held)
        return nil
    }

    /// Removes the directories that dead processes of this user have left. Best effort: what cannot be examined stays.
    ///
    /// On a file system of this machine the lock of the marker says whether the process lives, also if it is one of another
    /// container; elsewhere it has to be dead, or unknown and silent for a week, which is longer than such an operation takes.
    private static func sweep(_ parent: Directory) {
        for name in parent.names() {
            guard let state = TemporaryName(parsing: name)?.owner.state, state != .alive,
                let directory = parent.own(name)
            else { continue }
            let marker = openat(directory.descriptor, marker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard marker >= 0 else {
                // One that was killed between the marker's removal and its own, or before the marker was made.
                if errno == ENOENT, state == .dead { parent.removeEmpty(name) }
                continue
            }
            defer { close(marker) }
            var status = stat()
            guard fstat(marker, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
                status.st_nlink == 1
            else { continue }
            let isAbandoned =
                if cfs_is_local(marker) == 1 {
                    FileLock.isTaken(marker)
                } else {
                    state == .dead || time(nil) - status.modificationTime.tv_sec > 7 * 86_400
                }
            guard isAbandoned else { continue }
            directory.removeFiles(except: Self.marker)
            // The marker last: without it the rest would not be recognised.
            directory.unlink(Self.marker)
            parent.removeEmpty(name)
        }
    }
}

extension WorkDirectory {
    /// The directory that this process uses because another user has the usual name.
    private static let fresh = Locked<String?>(nil)

    /// A private directory for files that need not outlive the process: `litevault-UID` in the system's temporary directory, of
    /// mode 0700. If something else has that name, it is left alone, and a directory with a random part in its name is used, which later
    /// processes of this user find and use, too.
    ///
    /// It is not in `XDG_RUNTIME_DIR`, which is in memory and small: whole databases are written here.
    ///
    /// - Parameter parent: the directory that it is in; nil for the system's temporary directory.
    package static func temporary(in parent: String? = nil) throws(DurableFileError) -> String {
        let parent = try Directory(path: parent ?? FileManager.default.temporaryDirectory.path)
        let name = "litevault-\(geteuid())"
        if mkdirat(parent.descriptor, name, 0o700) != 0, errno != EEXIST {
            throw DurableFileError(.system, operation: "mkdir", path: parent.path + "/" + name, code: errno)
        }
        if let known = parent.own(name), fchmod(known.descriptor, 0o700) == 0 { return parent.path + "/" + name }
        return try fresh.withLock { fresh throws(DurableFileError) in
            if let fresh, fresh.starts(withText: parent.path + "/") { return fresh }
            let path: String
            if let own = Self.earlier(name, in: parent) {
                path = "\(parent.path)/\(own)"
            } else {
                var generator = SystemRandomNumberGenerator()
                path = "\(parent.path)/\(name)-\(String(generator.next() as UInt64, radix: 16))"
                try systemCall("mkdir", path) { mkdir(path, 0o700) }
            }
            fresh = path
            return path
        }
    }

    /// The directory that an earlier process of this user made, because another user had the usual name then; nil if none did.
    private static func earlier(_ name: String, in parent: Directory) -> String? {
        parent.names().filter { entry in
            entry.starts(withText: name + "-") && UInt64(entry.dropFirst(name.count + 1), radix: 16) != nil
        }.sorted().first { entry in
            guard let own = parent.own(entry) else { return false }
            return fchmod(own.descriptor, 0o700) == 0
        }
    }
}

/// Removing a tree of directories that this user's programs have made.
package enum OwnedTree {
    /// Removes a directory and everything in it, as far as it belongs to this user. No symbolic link is followed, also if one
    /// appears meanwhile, and no other file system is entered. Best effort.
    package static func remove(_ path: String) {
        let parts = PathParts(path)
        guard let parent = try? Directory(path: parts.directory) else { return }
        parent.removeTree(parts.name, depth: 16)
    }
}

extension Directory {
    /// Opens a directory in this one that belongs to this user, and that nobody else may write to; nil for anything else. A symbolic
    /// link is not followed.
    fileprivate func own(_ name: String) -> Directory? {
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            close(opened)
            return nil
        }
        return Directory(path: path + "/" + name, adopting: opened)
    }

    /// Unlinks what is not a directory.
    fileprivate func removeFiles(except kept: String) {
        for name in names() where name != kept && name != "." && name != ".." { unlink(name) }
    }

    fileprivate func removeEmpty(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

    fileprivate func removeTree(_ name: String, depth: Int) {
        if unlink(name) || depth == 0 { return }
        guard let below = own(name), below.isOnSameFileSystem(as: self) else { return }
        for entry in below.names() where entry != "." && entry != ".." { below.removeTree(entry, depth: depth - 1) }
        removeEmpty(name)
    }

    private func isOnSameFileSystem(as other: Directory) -> Bool {
        var (one, two) = (stat(), stat())
        return fstat(descriptor, &one) == 0 && fstat(other.descriptor, &two) == 0 && one.st_dev == two.st_dev
    }
}
