internal import CSystem
package import LiteVaultSystem

/// An open directory below a root, which no link has led to: the root itself may be one, nothing below it.
///
/// Each part of its name is opened in the one before, without following links, and the files of the directory are used by their names in
/// it. Anyone who can write to the root can put a link in the place of a directory: by paths, files of other directories would be read,
/// replaced and removed with the rights of this process.
package final class RootedDirectory: Sendable {
    /// What a directory is opened for.
    package enum Use {
        /// For the files in it, by their names.
        case lookup
        /// Also for the names in it, and to be synced.
        case everything
    }

    package let path: String
    private let descriptor: Int32

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens a directory.
    ///
    /// - Parameter name: its name below the root, of parts between slashes; empty for the root.
    /// - Returns: nil if there is none.
    /// - Throws: `damaged` if a part of the name is a link.
    package static func open(_ name: String, below root: String, for use: Use) throws -> RootedDirectory? {
        let parts = name.split(separator: "/")
        let opened = cfs_open_directory(AT_FDCWD, root, 1, parts.isEmpty && use == .everything ? 0 : 1)
        guard opened >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw VaultError(errno: errno, "open", path: root)
        }
        var directory = RootedDirectory(opened, root)
        for (index, part) in parts.enumerated() {
            guard let next = try directory.directory(String(part), for: index == parts.count - 1 ? use : .lookup) else {
                return nil
            }
            directory = next
        }
        return directory
    }

    /// Opens a directory for everything, and creates it with those above it if they are missing, as ``LocalDirectory/create(_:)``.
    ///
    /// The path is used only to create directories and to sync them, after it was found to have no link. Somebody who makes one in
    /// between gets empty directories there, and an error here: nothing is written into them.
    package static func create(_ name: String, below root: String) throws -> RootedDirectory {
        let found = try open(name, below: root, for: .everything)
        let path = name.isEmpty ? root : root + "/" + name
        try LocalDirectory.create(path)
        guard let directory = try found ?? open(name, below: root, for: .everything) else {
            throw VaultError(.cannotCreate, "was removed by another process", path: path)
        }
        return directory
    }

    /// Opens a directory of this one; nil if there is none.
    ///
    /// - Throws: `damaged` if it is a link, or anything but a file or a directory.
    package func directory(_ name: String, for use: Use) throws -> RootedDirectory? {
        let opened = cfs_open_directory(descriptor, name, 0, use == .everything ? 0 : 1)
        if opened >= 0 { return RootedDirectory(opened, path(of: name)) }
        switch errno {
        case ENOENT: return nil
        // Systems have different codes for a link that is not followed.
        case ENOTDIR, ELOOP, EMLINK:
            guard let status = try status(of: name) else { return nil }
            switch status.st_mode & S_IFMT {
            // The names are below an object: there are none. A directory may have been made since.
            case S_IFREG, S_IFDIR: return nil
            default: throw misplaced(name, status)
            }
        default: throw VaultError(errno: errno, "open", path: path(of: name))
        }
    }

    /// The error for what has a name in it and is neither a file nor a directory.
    package func misplaced(_ name: String, _ status: stat) -> VaultError {
        guard status.st_mode & S_IFMT == S_IFLNK else {
            return VaultError(
                .damaged, "is neither a file nor a directory", path: path(of: name),
                remedy: "Find out who made it, and remove it.")
        }
        return VaultError(
            .damaged, "is a link; a repository has none below its root", path: path(of: name),
            remedy: "Find out who made it. Put what it stands for in its place.")
    }

    /// The path of a file in it, for errors and for those who open it by its path.
    package func path(of name: String) -> String { path + "/" + name }

    /// The attributes of what has the name, which may be a link; nil for nothing.
    package func status(of name: String) throws -> stat? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw VaultError(errno: errno, "stat", path: path(of: name))
    }

    /// The names in it, without those that start with a dot.
    ///
    /// - Parameter limit: how many are read at most.
    package func names(upTo limit: Int) throws -> [String] {
        let again = cfs_open_directory(descriptor, ".", 0, 0)
        guard again >= 0 else { throw VaultError(errno: errno, "opendir", path: path) }
        return try LocalDirectory.names(again, path, upTo: limit)
    }

    package func file(reading name: String) throws -> LocalFile {
        try LocalFile(reading: name, at: descriptor, path: path(of: name))
    }

    /// Begins a new file of the name, or one that replaces it.
    package func replacement(of name: String) throws -> ReplacementFile {
        try ReplacementFile(destination: path(of: name), within: descriptor)
    }

    /// Links a file of another directory to a name here: the code of the system's error, or 0.
    package func link(_ file: String, as name: String) -> Int32 {
        linkat(AT_FDCWD, file, descriptor, name, 0) == 0 ? 0 : errno
    }

    /// Removes a file: the code of the system's error, or 0.
    package func remove(_ name: String) -> Int32 { unlinkat(descriptor, name, 0) == 0 ? 0 : errno }

    /// Makes creations, renames and removals in it durable.
    package func sync() throws { try LocalDirectory.sync(descriptor, path) }
}
