internal import CFileSupport
internal import Foundation

/// An open file of our own: a spool, a pack, never a database that somebody may have open (closing a second descriptor
/// would drop SQLite's locks).
///
/// Positions are given with every call, so readers in several threads do not disturb each other.
package final class LocalFile: Sendable {
    package let path: String
    private let descriptor: Int32

    private init(path: String, flags: Int32) throws {
        descriptor = try Self.open(path, flags)
        self.path = path
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Self.notRegular(path)
        }
    }

    /// Opens what is there without waiting for anybody: a FIFO would keep a reader waiting for somebody who writes.
    private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
        var patience = 3000
        while true {
            let opened = Foundation.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            if opened >= 0 { return opened }
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK where patience > 0:
                // Somebody has a lease of the file (fcntl), and was told to give it back.
                patience -= 1
                usleep(20_000)
            case ELOOP, ENXIO, EISDIR, ENODEV: throw notRegular(path)
            default: throw BackupError(errno: errno, "open", path: path)
            }
        }
    }

    private static func notRegular(_ path: String) -> BackupError {
        BackupError(
            .damaged, "is not a regular file", path: path,
            remedy: "Look at what was put in its place; LiteVault makes regular files only.")
    }

    /// Opens a file that exists for reading.
    package convenience init(reading path: String) throws { try self.init(path: path, flags: O_RDONLY) }

    /// Opens a file that exists for reading and writing.
    package convenience init(updating path: String) throws { try self.init(path: path, flags: O_RDWR) }

    /// Makes a new file, mode 0600, and fails with ``BackupError/Code/conflict`` where there is one of the name.
    package convenience init(creating path: String) throws {
        try self.init(path: path, flags: O_RDWR | O_CREAT | O_EXCL)
    }

    deinit { close(descriptor) }

    /// Bytes in the file.
    package func size() throws -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw BackupError(errno: errno, "fstat", path: path) }
        return Int64(status.st_size)
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        var done = 0
        while done < bytes.count {
            let written = pwrite(
                descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset) + off_t(done))
            if written < 0 {
                if errno == EINTR { continue }
                throw BackupError(errno: errno, "write", path: path)
            }
            done += written
        }
    }

    /// Writes all of `bytes` at `offset`.
    package func write(_ bytes: [UInt8], at offset: Int64) throws {
        try bytes.withUnsafeBytes { try write($0, at: offset) }
    }

    /// Reads at `offset` until `buffer` is full or the file ends; returns how many bytes that was.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        var done = 0
        while done < buffer.count {
            let read = pread(
                descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset) + off_t(done))
            if read < 0 {
                if errno == EINTR { continue }
                throw BackupError(errno: errno, "read", path: path)
            }
            if read == 0 { break }
            done += read
        }
        return done
    }

    /// `count` bytes at `offset`.
    ///
    /// - Throws: ``BackupError`` `damaged` when the file ends before.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        var read = 0
        let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            read = try self.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            initialized = read
        }
        guard read == count else {
            throw BackupError(.damaged, "ends \(count - read) bytes too early", path: path)
        }
        return bytes
    }

    /// The whole file.
    ///
    /// - Throws: ``BackupError`` `damaged` when it is larger than `limit` bytes, before anything of it is read.
    package func contents(upTo limit: Int) throws -> [UInt8] {
        let size = try size()
        guard size <= Int64(limit) else { throw BackupError.tooLarge(limit, path: path) }
        return try read(at: 0, count: Int(size))
    }

    /// The whole file, a megabyte at a time.
    package func forEachPiece(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try read(into: buffer, at: offset)
            if count == 0 { return }
            try body(offset, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
    }

    /// Cuts the file off, or lengthens it with zeros.
    package func truncate(to size: Int64) throws {
        while ftruncate(descriptor, off_t(size)) != 0 {
            if errno != EINTR { throw BackupError(errno: errno, "ftruncate", path: path) }
        }
    }

    /// Down to the medium.
    package func sync() throws {
        while cfs_sync(descriptor) != 0 {
            if errno != EINTR { throw BackupError(errno: errno, "fsync", path: path) }
        }
    }

    /// Sets the time of its last change to now, by the clock of whoever serves the file, and returns it.
    package func touch() throws -> Double {
        guard futimens(descriptor, nil) == 0 else { throw BackupError(errno: errno, "futimens", path: path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw BackupError(errno: errno, "fstat", path: path) }
        return status.modified
    }

    /// Takes the exclusive lock of the file (`flock`), which goes with the descriptor, and waits for nobody.
    ///
    /// - Returns: whether it was taken: false while somebody else has it.
    package func tryLock() throws -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw BackupError(errno: errno, "flock", path: path) }
        }
        return true
    }
}

extension BackupError {
    /// An object or a file that is larger than what there can be.
    package static func tooLarge(_ limit: Int, path: String?) -> BackupError {
        BackupError(.damaged, "is larger than the \(limit) bytes that there may be", path: path)
    }
}

extension stat {
    /// Seconds since 1970 of the last change of content.
    package var modified: Double {
        #if canImport(Darwin)
            Double(st_mtimespec.tv_sec) + Double(st_mtimespec.tv_nsec) / 1e9
        #else
            Double(st_mtim.tv_sec) + Double(st_mtim.tv_nsec) / 1e9
        #endif
    }
}
