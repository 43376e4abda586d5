internal import Foundation

/// Folders of our own: mode 0700, durable when made.
package enum Folder {
    /// Makes the folder, and those above it that are missing.
    package static func create(_ path: String) throws {
        if mkdir(path, 0o700) == 0 {
            return try sync(parent(of: path))
        }
        switch errno {
        case EEXIST:
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw BackupError(.cannotCreate, "is not a folder", path: path)
            }
        case ENOENT:
            let above = parent(of: path)
            guard above != path else { throw BackupError(errno: ENOENT, "mkdir", path: path) }
            try create(above)
            // Somebody may have made it in between.
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                // There are folders in which none can be made, and that say so in this way.
                guard errno != ENOENT else { throw BackupError(.cannotCreate, "can not be made", path: path) }
                throw BackupError(errno: errno, "mkdir", path: path)
            }
            try sync(above)
        default: throw BackupError(errno: errno, "mkdir", path: path)
        }
    }

    /// Makes creations, renames and removals in the folder durable.
    package static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupError(errno: errno, "open", path: path) }
        defer { close(descriptor) }
        while fsync(descriptor) != 0 {
            // File systems that keep no data of folders say so.
            if errno == EINVAL || errno == ENOTSUP { return }
            if errno != EINTR { throw BackupError(errno: errno, "fsync", path: path) }
        }
    }

    /// What is before the last slash.
    package static func parent(of path: String) -> String {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    /// The names in a folder, without those that start with a dot; none where there is no such folder.
    package static func names(_ path: String) throws -> [String] {
        guard let stream = opendir(path) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw BackupError(errno: errno, "opendir", path: path)
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw BackupError(errno: errno, "readdir", path: path) }
        return names
    }
}
