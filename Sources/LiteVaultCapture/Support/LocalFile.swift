internal import CSystem
internal import LiteVaultCipher
package import LiteVaultSystem

/// An open file that LiteVault owns, such as a spool or a pack, or a `-wal` or `-journal`, which carries no locks; never a database that
/// may be open, as closing a second descriptor would drop SQLite's locks.
///
/// Every call takes a position, so readers on several threads do not interfere.
package final class LocalFile: Sendable {
    package let path: String
    private let descriptor: Int32

    private init(path: String, flags: Int32, at directory: Int32 = AT_FDCWD, name: String? = nil) throws {
        descriptor = try Self.open(path, flags, at: directory, name: name ?? path)
        self.path = path
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Self.notRegular(path)
        }
    }

    /// Opens the file without blocking: opening a FIFO would wait for a writer.
    private static func open(_ path: String, _ flags: Int32, at directory: Int32, name: String) throws -> Int32 {
        var patience = 3000
        while true {
            let opened = openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            if opened >= 0 { return opened }
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK where patience > 0:
                // Another process holds a lease on the file (fcntl) and was asked to release it.
                patience -= 1
                SystemThread.sleep(seconds: 0.02)
            case ELOOP, ENXIO, EISDIR, ENODEV: throw notRegular(path)
            default: throw VaultError(errno: errno, "open", path: path)
            }
        }
    }

    private static func notRegular(_ path: String) -> VaultError {
        VaultError(
            .damaged, "is not a regular file", path: path,
            remedy: "Find out what replaced it; LiteVault creates regular files only.")
    }

    /// Stores a file durably under its name, in place of an existing one.
    ///
    /// - Parameters:
    ///   - isPublic: whether its mode is 0644 instead of 0600.
    ///   - replacing: whether there may be a file of that name.
    /// - Throws: `VaultError` `conflict` if there is one, and it is not to be replaced; `io`, `noSpace`. The existing file is as it was then,
    ///   unless the last step failed, which syncs the directory: the new file has the name, and may lose it when the power fails.
    package static func replace(
        _ path: String, with bytes: [UInt8], isPublic: Bool = false, replacing: Bool = true
    ) throws {
        try withErrorContext(path: path) {
            let file = try ReplacementFile(destination: path)
            // Closed before it gets its name.
            do { try LocalFile(updating: file.path).write(bytes, at: 0) }
            if isPublic { chmod(file.path, 0o644) }
            try file.publish(replacing: replacing)
        }
    }

    /// Opens an existing file for reading.
    package convenience init(reading path: String) throws { try self.init(path: path, flags: O_RDONLY) }

    /// Opens a file for reading; nil if it does not exist.
    convenience init?(ifExists path: String) throws {
        do {
            try self.init(reading: path)
        } catch let error as VaultError where error.code == .missing {
            return nil
        }
    }

    /// Opens an existing file of an open directory for reading. The path is for errors.
    convenience init(reading name: String, at directory: Int32, path: String) throws {
        try self.init(path: path, flags: O_RDONLY, at: directory, name: name)
    }

    /// Opens an existing file for reading and writing.
    package convenience init(updating path: String) throws { try self.init(path: path, flags: O_RDWR) }

    /// Creates a file of mode 0600; throws `VaultError` `conflict` if it exists.
    package convenience init(creating path: String) throws {
        try self.init(path: path, flags: O_RDWR | O_CREAT | O_EXCL)
    }

    /// Opens a file for reading and writing, and creates it if it does not exist.
    package static func openingOrCreating(_ path: String) throws -> LocalFile {
        do {
            return try LocalFile(creating: path)
        } catch let error as VaultError where error.code == .conflict {
            return try LocalFile(updating: path)
        }
    }

    deinit { close(descriptor) }

    /// The file's attributes (`fstat`), whatever has the path by now.
    package func status() throws -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw VaultError(errno: errno, "fstat", path: path) }
        return status
    }

    /// The file's size in bytes.
    package func size() throws -> Int64 { Int64(try status().st_size) }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        do { try OpenFile.write(bytes, to: descriptor, at: offset) } catch {
            throw VaultError(errno: error.code, "write", path: path)
        }
    }

    package func write(_ bytes: [UInt8], at offset: Int64) throws {
        try bytes.withUnsafeBytes { try write($0, at: offset) }
    }

    /// Reads at `offset` until `buffer` is full or the file ends; returns the number of bytes.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        do { return try OpenFile.read(into: buffer, from: descriptor, at: offset) } catch {
            throw VaultError(errno: error.code, "read", path: path)
        }
    }

    /// Reads `count` bytes at `offset`.
    ///
    /// - Throws: `VaultError` `damaged` if the file is shorter.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        let bytes = try readPrefix(count: count, at: offset)
        guard bytes.count == count else {
            throw VaultError(.damaged, "is \(count - bytes.count) bytes too short", path: path)
        }
        return bytes
    }

    /// Reads `count` bytes at `offset`, or those that there are: fewer at the end of the file, none behind it.
    func readPrefix(count: Int, at offset: Int64) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
    }

    /// Reads the whole file.
    ///
    /// - Throws: `VaultError` `damaged` if it is larger than `limit` bytes, before any of it is read.
    package func contents(upTo limit: Int) throws -> [UInt8] {
        let size = try size()
        guard size <= Int64(limit) else { throw VaultError.tooLarge(limit, path: path) }
        return try read(at: 0, count: Int(size))
    }

    /// Reads the whole file, a megabyte at a time.
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

    /// Whether something has the name, be it a link to nothing.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The size in bytes of the file at a path; 0 without one.
    package static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Truncates the file, or extends it with zeros.
    package func truncate(to size: Int64) throws {
        while ftruncate(descriptor, off_t(size)) != 0 {
            if errno != EINTR { throw VaultError(errno: errno, "ftruncate", path: path) }
        }
    }

    /// Lets the system write a part of the file to the storage medium in the meantime, so that ``sync()`` has less to wait for.
    package func startWriting(_ range: Range<Int64>) {
        // It is a hint: what fails is reported by sync().
        _ = cfs_start_writing(descriptor, range.lowerBound, Int64(range.count))
    }

    /// Flushes the file to the storage medium.
    package func sync() throws {
        do { try OpenFile.sync(descriptor) } catch { throw VaultError(errno: error.code, "fsync", path: path) }
    }

    /// Sets the modification time to now, by the clock of the file server, and returns it.
    package func touch() throws -> Double {
        guard futimens(descriptor, nil) == 0 else { throw VaultError(errno: errno, "futimens", path: path) }
        return try status().modified
    }

    /// Takes the lock of the file (`flock`) without waiting. It is released with the descriptor.
    ///
    /// - Parameter isShared: whether others may share it; false by default.
    /// - Returns: false if another descriptor holds it.
    package func tryLock(isShared: Bool = false) throws -> Bool {
        do { return try FileLock.take(descriptor, isShared: isShared) } catch {
            throw VaultError(errno: error.code, "flock", path: path)
        }
    }
}

extension VaultError {
    /// The error for an object or file that exceeds a limit.
    package static func tooLarge(_ limit: Int, path: String?) -> VaultError {
        VaultError(.damaged, "is larger than the limit of \(limit) bytes", path: path)
    }
}

extension stat {
    /// The modification time, in seconds since 1970.
    package var modified: Double { Double(modificationTime.tv_sec) + Double(modificationTime.tv_nsec) / 1e9 }
}

extension LocalDirectory {
    /// Creates the directory and its missing parents. The names of all are durable afterwards, also if they existed.
    package static func create(_ path: String) throws {
        do { try make(path) } catch {
            switch error.reason {
            case .notDirectory:
                throw VaultError(.cannotCreate, "is not a directory", path: error.path, remedy: "Name a directory.")
            case .unsupported: throw VaultError(.cannotCreate, "cannot be created", path: error.path)
            default: throw VaultError(errno: error.code, error.operation, path: error.path)
            }
        }
    }

    /// Makes creations, renames and deletions in the directory durable.
    package static func sync(_ path: String) throws {
        do { try flush(path) } catch { throw VaultError(errno: error.code, error.operation, path: path) }
    }

    static func sync(_ descriptor: Int32, _ path: String) throws {
        do { try OpenFile.syncDirectory(descriptor) } catch { throw VaultError(errno: error.code, "fsync", path: path) }
    }

    /// The names in a directory, without those that start with a dot; empty if it does not exist.
    ///
    /// - Parameter limit: how many are read at most.
    package static func names(_ path: String, upTo limit: Int = .max) throws -> [String] {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw VaultError(errno: errno, "opendir", path: path)
        }
        return try names(descriptor, path, upTo: limit)
    }

    /// The same of an open directory. The descriptor is closed.
    static func names(_ descriptor: Int32, _ path: String, upTo limit: Int) throws -> [String] {
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw VaultError(errno: code, "opendir", path: path)
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.starts(withText: ".") { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw VaultError(errno: errno, "readdir", path: path) }
        return names
    }
}
