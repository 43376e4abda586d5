#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Reads a `-wal` or `-journal`. SQLite takes no locks on these, so a descriptor of our own harms nobody.
package final class SideFile {
    private let descriptor: Int32
    package let path: String

    /// Nil when there is no such file.
    package init?(path: String) throws {
        // A FIFO would keep a reader waiting for somebody who writes.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if opened < 0 {
            if errno == ENOENT { return nil }
            throw VaultError(.io, String(cString: strerror(errno)), path: path)
        }
        descriptor = opened
        self.path = path
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw VaultError(.wrongKind, "This is not a regular file", path: path)
        }
    }

    deinit { close(descriptor) }

    package func size() throws -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw VaultError(.io, String(cString: strerror(errno)), path: path)
        }
        return Int64(status.st_size)
    }

    /// Reads `count` bytes at `offset`, fewer at the end of the file.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let base = buffer.baseAddress {
                let length = pread(descriptor, base + filled, count - filled, off_t(offset) + off_t(filled))
                if length < 0 {
                    if errno == EINTR { continue }
                    throw VaultError(.io, String(cString: strerror(errno)), path: path)
                }
                if length == 0 { break }
                filled += length
            }
        }
    }
}
