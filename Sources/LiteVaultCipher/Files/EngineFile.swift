internal import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultSystem

/// Reads the bytes of a database file through a descriptor that SQLite owns.
///
/// A process that opens a database file a second time and closes that descriptor loses the POSIX locks that SQLite holds on
/// the file, on every connection of the process: fcntl(2) locks belong to the process and are released by the first close.
/// SQLite accounts for this and defers its own closes. So the bytes are read through SQLite's file object and never through
/// a descriptor of ours. (`-wal` and `-journal` carry no locks and may be opened freely: see ``SideFile``.)
package final class EngineFile {
    private let handle: OpaquePointer
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let ownsHandle: Bool
    private var isLocked = false
    private var isMapped = false
    private var slots: Set<Int32> = []
    package let path: String

    /// Uses the file of a schema of an open connection. The connection has to outlive this object.
    package init(connection: OpaquePointer, schema: String = "main", path: String) throws {
        handle = connection
        self.path = path
        ownsHandle = false
        file = try Self.filePointer(connection, schema: schema, path: path)
    }

    /// Opens a file read-only. It takes no lock and executes nothing, so nothing is created or recovered; the index of a log,
    /// if needed, is opened read-only.
    package init(path: String) throws {
        try Self.requireRegularFile(path)
        let name = Connection.Location.uri(path.engineFileName, parameters: [.mode(.readOnly)])
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            name.description + "&readonly_shm=1", &opened,
            SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_URI, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw VaultError(.io, "The file cannot be opened for reading (SQLite code \(code))", path: path)
        }
        do {
            file = try Self.filePointer(opened, schema: "main", path: path)
        } catch {
            sqlite3_close(opened)
            throw error
        }
        handle = opened
        self.path = path
        ownsHandle = true
    }

    deinit {
        guard ownsHandle else { return }
        unlock()
        sqlite3_close(handle)
    }

    // MARK: Locks

    /// Takes the SHARED lock: until it is released, only checkpoints write to the file, and the log is not removed.
    ///
    /// - Returns: false if another connection is writing.
    func lockShared() throws -> Bool {
        let code = methods?.xLock?(file, SQLITE_LOCK_SHARED) ?? SQLITE_MISUSE
        if code & 0xff == SQLITE_BUSY { return false }
        guard code == SQLITE_OK else { throw VaultError(.io, "Locking failed (SQLite code \(code))", path: path) }
        isLocked = true
        return true
    }

    /// Whether a write transaction is open.
    func isReserved() throws -> Bool {
        var result: Int32 = 0
        let code = methods?.xCheckReservedLock?(file, &result) ?? SQLITE_MISUSE
        guard code == SQLITE_OK else { throw VaultError(.io, "Locking failed (SQLite code \(code))", path: path) }
        return result != 0
    }

    /// The result of an attempt to hold a log.
    enum LogHold {
        /// The log is neither checkpointed nor restarted.
        case held
        /// Another connection is about to do either.
        case busy
        /// There is no index to lock: no connection uses the log now, but one may begin to.
        case impossible
    }

    /// Takes shared locks on two read marks: the first prevents checkpoints, the second prevents the log from being restarted
    /// (https://sqlite.org/walformat.html#locks). The index is neither changed nor created.
    func holdLog() throws -> LogHold {
        guard let methods, methods.iVersion >= 2, let map = methods.xShmMap,
            let lock = methods.xShmLock
        else { return .impossible }
        var region: UnsafeMutableRawPointer?
        let code = map(file, 0, 32768, 0, &region) & 0xff
        isMapped = true
        if code == SQLITE_BUSY { return .busy }
        // SQLITE_READONLY: the index is not in use, so its content does not count; its locks do.
        guard code == SQLITE_OK || code == SQLITE_READONLY else { return .impossible }
        for slot: Int32 in [3, 4] where !slots.contains(slot) {
            let code = lock(file, slot, 1, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED)
            if code & 0xff == SQLITE_BUSY { return .busy }
            guard code == SQLITE_OK else { return .impossible }
            slots.insert(slot)
        }
        return .held
    }

    /// Releases every lock.
    func unlock() {
        guard let methods else { return }
        for slot in slots { _ = methods.xShmLock?(file, slot, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED) }
        slots = []
        if isMapped { _ = methods.xShmUnmap?(file, 0) }
        isMapped = false
        if isLocked { _ = methods.xUnlock?(file, SQLITE_LOCK_NONE) }
        isLocked = false
    }

    private var methods: sqlite3_io_methods? { file.pointee.pMethods?.pointee }

    // MARK: Bytes

    /// The file's size in bytes.
    package func size() throws -> Int64 {
        var size: sqlite3_int64 = 0
        try check(methods?.xFileSize?(file, &size))
        return size
    }

    /// Reads `count` bytes at `offset`, fewer at the end of the file.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        let available = max(0, min(Int64(count), try size() - offset))
        guard available > 0 else { return [] }
        return try [UInt8](unsafeUninitializedCapacity: Int(available)) { buffer, initialized in
            try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            initialized = Int(available)
        }
    }

    /// Fills `buffer` from `offset`; bytes beyond the end of the file become zeros.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        let code = methods?.xRead?(file, buffer.baseAddress, Int32(buffer.count), offset)
        // SQLITE_IOERR_SHORT_READ: SQLite has filled the rest with zeros.
        if code != SQLITE_IOERR | (2 << 8) { try check(code) }
    }

    /// Overwrites the start of a file that no longer has a name with zeros, and syncs it.
    func overwrite(upTo end: Int64) throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        var offset: Int64 = 0
        while offset < end {
            let count = min(Int64(zeros.count), end - offset)
            try zeros.withUnsafeBytes { try check(methods?.xWrite?(file, $0.baseAddress, Int32(count), offset)) }
            offset += count
        }
        try check(methods?.xSync?(file, SQLITE_SYNC_FULL))
    }

    /// - Parameter code: nil if the file is not open, and so has no methods.
    private func check(_ code: Int32?) throws {
        guard let code else { throw VaultError(.io, "The file is not open", path: path) }
        guard code == SQLITE_OK else { throw VaultError(.io, "Reading failed (SQLite code \(code))", path: path) }
    }

    private static func filePointer(
        _ handle: OpaquePointer, schema: String, path: String
    ) throws -> UnsafeMutablePointer<sqlite3_file> {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(handle, schema, SQLITE_FCNTL_FILE_POINTER, &pointer)
        guard code == SQLITE_OK, let pointer, pointer.pointee.pMethods != nil else {
            throw VaultError(.io, "The engine does not provide its file object", path: path)
        }
        return pointer
    }
}

// MARK: Paths

extension EngineFile {
    /// Rejects paths that the system would truncate at a NUL.
    static func requirePath(_ path: String) throws {
        guard !path.utf8.contains(0), !path.isEmpty else {
            throw VaultError(.usage, "The path is empty or contains a NUL", path: path)
        }
    }

    /// Rejects a path that does not exist or is not a regular file. Uses `stat`, which opens nothing.
    static func requireRegularFile(_ path: String) throws {
        try requirePath(path)
        var status = stat()
        guard stat(path, &status) == 0 else {
            switch errno {
            case ENOENT, ENOTDIR:
                throw VaultError(.noInput, "The file does not exist", path: path, remedy: "Check the path.")
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

extension String {
    /// The name for `sqlite3_open` of a path, which is never to be treated as a URI.
    package var engineFileName: String { isURI ? "./" + self : self }
}

/// Reads a `-wal` or `-journal`. SQLite takes no locks on these, so a descriptor of our own is harmless.
package final class SideFile {
    private let descriptor: Int32
    package let path: String

    package init?(path: String) throws {
        // Opening a FIFO would block until there is a writer.
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
            do {
                filled = try OpenFile.read(into: UnsafeMutableRawBufferPointer(buffer), from: descriptor, at: offset)
            } catch { throw VaultError(.io, "\(error)", path: path) }
        }
    }
}
