/// An open directory. Names are resolved in it, not along a path, so that renaming a parent directory has no effect.
final class Directory: Sendable {
    let path: String
    let descriptor: Int32

    init(path: String) throws(DurableFileError) {
        self.path = path
        descriptor = try systemCall("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    /// Owns an open descriptor from now on.
    init(path: String, adopting descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func metadata(_ name: String) throws(DurableFileError) -> FileMetadata? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileMetadata(status) }
        let code = errno
        if code == ENOENT { return nil }
        throw DurableFileError(.system, operation: "lstat", path: path + "/" + name, code: code)
    }

    @discardableResult
    func unlink(_ name: String) -> Bool { unlinkat(descriptor, name, 0) == 0 }

    /// Makes creations, renames and removals in the directory durable.
    func sync() throws(DurableFileError) {
        do { try OpenFile.syncDirectory(descriptor) } catch {
            throw DurableFileError(.system, operation: "fsync", path: path, code: error.code)
        }
    }

    /// The names in the directory itself, whatever has its path by now. One that is not UTF-8 is repaired: LiteVault makes none.
    func names() -> [String] {
        let again = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0 else { return [] }
        guard let stream = fdopendir(again) else {
            close(again)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}

/// A path split at its last slash, for system calls with a directory descriptor.
struct PathParts: Equatable {
    let directory: String
    let name: String

    /// The name is empty for paths that can only be directories: "", "/", "a/".
    init(_ path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            (directory, name) = (".", path)
            return
        }
        directory = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[path.utf8.index(after: slash)...])
    }

    func sibling(_ name: String) -> String {
        switch directory {
        case ".": name
        case "/": "/" + name
        default: directory + "/" + name
        }
    }
}

/// Patterns of paths: `*`, `?` and `[…]` stand for characters in the names of what exists, as `glob` of the C library expands them.
package enum PathPattern {
    /// The paths that match, in alphabetical order, and those of files that no text can name, repaired for messages: they are not UTF-8.
    /// Nil if none matches, or `glob` fails.
    ///
    /// - Parameter flags: those of `glob`: `GLOB_NOSORT` for any order, `GLOB_NOCHECK` for the pattern itself if nothing matches.
    package static func matches(_ pattern: String, flags: Int32 = 0) -> (paths: [String], notUTF8: [String])? {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, flags, nil, &found) == 0, let matches = found.gl_pathv else { return nil }
        var (paths, notUTF8): ([String], [String]) = ([], [])
        for match in (0..<Int(found.gl_pathc)).compactMap({ matches[$0] }) {
            var status = stat()
            if let path = String(validatingCString: match) {
                paths.append(path)
            } else if stat(match, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR {
                notUTF8.append(String(cString: match))
            }
        }
        return (paths, notUTF8)
    }
}

/// The name of a file that another writer has created.
package enum DurableName {
    /// Makes the name of an existing file durable, behind symbolic links, without opening the file.
    package static func sync(_ path: String) throws(DurableFileError) {
        try Directory(path: PathParts(FileMetadata.resolvedPath(path)).directory).sync()
    }
}

/// Files that SQLite would treat as part of a new database of a name.
package enum Leftovers {
    /// The `-wal` and `-journal` files beside `path`, as SQLite would look for them.
    ///
    /// A `-shm` is not among them: SQLite rebuilds it, and it has no content.
    ///
    /// - Parameter ignoringEmpty: whether to skip empty files, from which nothing is replayed. A database that is open
    ///   elsewhere may have one.
    package static func find(
        beside path: String, ignoringEmpty: Bool = false
    ) throws(DurableFileError) -> [String] {
        var found: [String] = []
        for ending in ["-wal", "-journal"] {
            guard let metadata = try FileMetadata.ifExists(path: path + ending) else { continue }
            if ignoringEmpty && metadata.kind == .regular && metadata.size == 0 { continue }
            if ending == "-journal", metadata.kind == .regular, isFinished(path + ending, metadata) { continue }
            found.append(path + ending)
        }
        return found
    }

    /// Whether nothing is replayed from a rollback journal: it is empty (`journal_mode = TRUNCATE`), or its header is zeros (`PERSIST`).
    private static func isFinished(_ path: String, _ metadata: FileMetadata) -> Bool {
        guard metadata.size > 0 else { return true }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 1, count: 28)
        let count = pread(descriptor, &header, header.count, 0)
        return count > 0 && header.prefix(count).allSatisfy { $0 == 0 }
    }

    /// Rejects a name with such files.
    ///
    /// - Throws: ``DurableFileError`` with the reason `leftover` and the path of the first file found.
    package static func refuse(beside path: String, ignoringEmpty: Bool = false) throws(DurableFileError) {
        if let first = try find(beside: path, ignoringEmpty: ignoringEmpty).first {
            throw DurableFileError(.leftover, operation: "check for leftovers", path: first)
        }
    }
}
