#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

extension EngineFile {
    /// The system would take the part before it for the whole path.
    static func refuseNUL(_ path: String) throws {
        guard !path.utf8.contains(0), !path.isEmpty else {
            throw VaultError(.usage, "This is not a path: it is empty or contains a NUL", path: path)
        }
    }

    /// Refuses a path that leads to nothing, or to something that is not a file. Uses `stat`, which opens nothing.
    static func requireRegularFile(_ path: String) throws {
        try refuseNUL(path)
        var status = stat()
        guard stat(path, &status) == 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw VaultError(.noInput, "There is no such file", path: path)
            case EACCES:
                throw VaultError(
                    .io, "Access is denied", path: path,
                    remedy: "Check the permissions of the file and its directories.")
            default: throw VaultError(.io, String(cString: strerror(errno)), path: path)
            }
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw VaultError(.wrongKind, "This is not a regular file", path: path)
        }
    }
}
