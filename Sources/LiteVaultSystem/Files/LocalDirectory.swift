/// Directories created by LiteVault: mode 0700, and durable.
package enum LocalDirectory {
    private struct Place: Hashable {
        let path: String
        let device: UInt64
        let inode: UInt64

        init(_ path: String, _ status: stat) {
            self.path = path
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    /// The directories whose names this process has made durable, or found to be.
    private static let settled = Locked<Set<Place>>([])

    /// Creates the directory and its missing parents. The names of all are durable afterwards, also if they existed.
    ///
    /// - Throws: ``DurableFileError``: `notDirectory` if something else has the path, `unsupported` if the file system makes none there.
    package static func make(_ path: String) throws(DurableFileError) {
        if mkdir(path, 0o700) == 0 {
            try settle(parent(of: path))
            return try syncParent(of: path)
        }
        switch errno {
        case EEXIST:
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw DurableFileError(.notDirectory, operation: "mkdir", path: path)
            }
            try settle(path)
        case ENOENT:
            let above = parent(of: path)
            guard above != path else { throw DurableFileError(.system, operation: "mkdir", path: path, code: ENOENT) }
            try make(above)
            // Another process may have created it in between.
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                // Some file systems report this for directories in which no file can be created.
                throw DurableFileError(
                    errno == ENOENT ? .unsupported : .system, operation: "mkdir", path: path, code: errno)
            }
            try syncParent(of: path)
        default: throw DurableFileError(.system, operation: "mkdir", path: path, code: errno)
        }
    }

    /// Makes the name of an existing directory durable, and those above it, once per process: the process that created it may have
    /// been killed before it synced the parent, or its sync has failed. Directories that are not as this program creates them,
    /// private and of this user, are taken as they are.
    private static func settle(_ path: String) throws(DurableFileError) {
        var path = path
        while true {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
                status.st_mode & 0o077 == 0
            else { return }
            let (place, above) = (Place(path, status), parent(of: path))
            // A directory that cannot be read cannot be synced.
            if above == path || settled.withLock({ $0.contains(place) }) || access(above, R_OK) != 0 { return }
            try syncParent(of: path)
            path = above
        }
    }

    private static func syncParent(of path: String) throws(DurableFileError) {
        try flush(parent(of: path))
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let place = Place(path, status)
        settled.withLock { settled in
            if settled.count >= 10_000 { settled = [] }
            settled.insert(place)
        }
    }

    /// Makes creations, renames and deletions in the directory durable.
    package static func flush(_ path: String) throws(DurableFileError) { try Directory(path: path).sync() }

    /// The absolute path with symbolic links resolved as far as it exists. One that leads to a path that is not UTF-8 stays as it is.
    package static func resolved(_ path: String) -> String {
        let absolute = path.starts(withText: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var existing = absolute
        var missing: [Substring] = []
        while true {
            if let found = realpath(existing, nil) {
                defer { free(found) }
                guard let text = String(validatingCString: found) else { return absolute }
                var parts = text.pathNames
                for part in missing.reversed() where part != "." {
                    if part != ".." { parts.append(part) } else if !parts.isEmpty { parts.removeLast() }
                }
                return "/" + parts.joined(separator: "/")
            }
            let above = parent(of: existing)
            guard above != existing else { return absolute }
            missing.append(existing.pathNames.last ?? "")
            existing = above
        }
    }

    /// The parent directory: everything before the last slash.
    package static func parent(of path: String) -> String {
        // By bytes: a slash that a combining mark follows is a slash for the system.
        let slash = UInt8(ascii: "/")
        var trimmed = path.utf8[...]
        while trimmed.count > 1, trimmed.last == slash { trimmed.removeLast() }
        guard let end = trimmed.lastIndex(of: slash) else { return "." }
        return end == trimmed.startIndex ? "/" : String(path[..<end])
    }
}
