internal import LiteVaultCore
internal import LiteVaultEngine

/// Reads the bytes of a database file through a descriptor that SQLite owns.
///
/// A process that opens a database file a second time and closes that descriptor loses the POSIX locks that SQLite
/// holds on it, on every connection of the process: fcntl(2) locks belong to the process and go with the first close.
/// SQLite knows of this and defers its own closes. So the bytes are read through SQLite's file object and never through
/// a descriptor of ours. (Its `-wal` and `-journal` carry no locks and may be opened freely.)
package final class EngineFile {
    private let handle: OpaquePointer
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let ownsHandle: Bool
    private var isLocked = false
    private var isMapped = false
    private var slots: Set<Int32> = []
    package let path: String

    /// The file behind a schema of an open connection. The connection has to outlive this object.
    package init(connection: OpaquePointer, schema: String = "main", path: String) throws {
        handle = connection
        self.path = path
        ownsHandle = false
        file = try Self.filePointer(connection, schema: schema, path: path)
    }

    /// Opens a file read-only. No lock is taken, nothing is executed, so nothing is created or recovered; the index of a
    /// log, where it is needed, is opened for reading only.
    package init(path: String) throws {
        try Self.requireRegularFile(path)
        let name = Connection.Location.uri(path.isURI ? "./" + path : path, parameters: [.mode(.readOnly)])
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

    /// Takes the SHARED lock, under which nobody writes to the file but a checkpoint, and nobody removes the log. False if
    /// somebody is writing.
    func lockShared() throws -> Bool {
        let code = file.pointee.pMethods?.pointee.xLock?(file, SQLITE_LOCK_SHARED) ?? SQLITE_MISUSE
        if code & 0xff == SQLITE_BUSY { return false }
        guard code == SQLITE_OK else { throw VaultError(.io, "Locking failed (SQLite code \(code))", path: path) }
        isLocked = true
        return true
    }

    /// Whether a transaction that writes is open.
    func isReserved() throws -> Bool {
        var result: Int32 = 0
        let code = file.pointee.pMethods?.pointee.xCheckReservedLock?(file, &result) ?? SQLITE_MISUSE
        guard code == SQLITE_OK else { throw VaultError(.io, "Locking failed (SQLite code \(code))", path: path) }
        return result != 0
    }

    /// What came of an attempt to hold a log.
    enum LogHold {
        /// Nobody copies it into the file, and nobody starts it over.
        case held
        /// Somebody is about to do either.
        case busy
        /// There is no index with locks: nobody uses the log now, but somebody may begin to.
        case impossible
    }

    /// Locks two read marks for sharing: the first keeps everybody from copying the log into the file, the second from
    /// starting the log over (https://sqlite.org/walformat.html#locks). No byte of the index is changed, nor is it made.
    func holdLog() throws -> LogHold {
        guard let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2, let map = methods.xShmMap,
            let lock = methods.xShmLock
        else { return .impossible }
        var region: UnsafeMutableRawPointer?
        let code = map(file, 0, 32768, 0, &region) & 0xff
        isMapped = true
        if code == SQLITE_BUSY { return .busy }
        // SQLITE_READONLY: what the index holds does not count, as nobody uses it; its locks do.
        guard code == SQLITE_OK || code == SQLITE_READONLY else { return .impossible }
        for slot: Int32 in [3, 4] where !slots.contains(slot) {
            let code = lock(file, slot, 1, SQLITE_SHM_LOCK | SQLITE_SHM_SHARED)
            if code & 0xff == SQLITE_BUSY { return .busy }
            guard code == SQLITE_OK else { return .impossible }
            slots.insert(slot)
        }
        return .held
    }

    /// Gives back every lock.
    func unlock() {
        guard let methods = file.pointee.pMethods?.pointee else { return }
        for slot in slots { _ = methods.xShmLock?(file, slot, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED) }
        slots = []
        if isMapped { _ = methods.xShmUnmap?(file, 0) }
        isMapped = false
        if isLocked { _ = methods.xUnlock?(file, SQLITE_LOCK_NONE) }
        isLocked = false
    }

    // MARK: Bytes

    /// The file's size in bytes.
    package func size() throws -> Int64 {
        var size: sqlite3_int64 = 0
        guard let method = file.pointee.pMethods?.pointee.xFileSize else { throw notOpen() }
        try check(method(file, &size))
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

    /// Fills `buffer` from `offset`; what lies behind the end of the file becomes zeros.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        guard let method = file.pointee.pMethods?.pointee.xRead else { throw notOpen() }
        let code = method(file, buffer.baseAddress, Int32(buffer.count), offset)
        // SQLITE_IOERR_SHORT_READ: SQLite has filled the rest with zeros.
        if code != SQLITE_IOERR | (2 << 8) { try check(code) }
    }

    func write(_ bytes: [UInt8], count: Int32, at offset: Int64) throws {
        guard let method = file.pointee.pMethods?.pointee.xWrite else { throw notOpen() }
        try bytes.withUnsafeBytes { try check(method(file, $0.baseAddress, count, offset)) }
    }

    func sync() throws {
        guard let method = file.pointee.pMethods?.pointee.xSync else { throw notOpen() }
        try check(method(file, SQLITE_SYNC_FULL))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw VaultError(.io, "Reading failed (SQLite code \(code))", path: path) }
    }

    private func notOpen() -> VaultError { VaultError(.io, "The file is not open", path: path) }

    private static func filePointer(
        _ handle: OpaquePointer, schema: String, path: String
    ) throws -> UnsafeMutablePointer<sqlite3_file> {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(handle, schema, SQLITE_FCNTL_FILE_POINTER, &pointer)
        guard code == SQLITE_OK, let pointer, pointer.pointee.pMethods != nil else {
            throw VaultError(.io, "The engine does not give access to the file", path: path)
        }
        return pointer
    }
}
