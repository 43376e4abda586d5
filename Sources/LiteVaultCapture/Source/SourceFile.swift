internal import Foundation
internal import LiteVaultEngine

/// A live database's file through SQLite's own file object, for locks and bytes: no key, no SQL, no page read.
///
/// The object belongs to a connection that runs no statement, so closing it recovers, checkpoints and deletes nothing.
/// SQLite's file object also keeps the locks of other connections of this process: POSIX locks go with the first
/// descriptor of a file that a process closes, and SQLite defers its own closes.
final class SourceFile {
    private let handle: OpaquePointer
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods
    /// The path with links resolved, as SQLite names its journal and its log after it.
    let path: String
    private var isLocked = false
    private var isMapped = false
    private var slots: [Int32: Int32] = [:]

    init(path: String) throws {
        // Absolute, so that no name is read as a URI or as `:memory:`.
        let resolved = try Self.resolve(path)
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            resolved, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw BackupError(
                .io, "cannot be opened (SQLite code \(code))", path: path, remedy: "check the file's permissions")
        }
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(opened, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK, let pointer,
            let methods = pointer.pointee.pMethods?.pointee
        else {
            sqlite3_close(opened)
            throw BackupError(.unsupported, "the engine does not give access to the file", path: path)
        }
        handle = opened
        file = pointer
        self.methods = methods
        self.path = resolved
    }

    deinit {
        unlock()
        sqlite3_close(handle)
    }

    private static func resolve(_ path: String) throws -> String {
        guard !path.utf8.contains(0), let resolved = realpath(path, nil) else {
            throw BackupError(.noInput, "no such file", path: path)
        }
        defer { free(resolved) }
        var status = stat()
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw BackupError(.noInput, "is not a regular file", path: path)
        }
        return String(cString: resolved)
    }

    // MARK: Bytes

    func size() throws -> Int64 {
        var size: sqlite3_int64 = 0
        try check(methods.xFileSize?(file, &size), "reading its size")
        return size
    }

    /// Fills `buffer` from `offset`; what lies behind the end of the file becomes zeros.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        let code = methods.xRead?(file, buffer.baseAddress, Int32(buffer.count), offset)
        // SQLITE_IOERR_SHORT_READ: SQLite has filled the rest with zeros.
        if code != SQLITE_IOERR | (2 << 8) { try check(code, "reading") }
    }

    // MARK: The lock of the file

    /// Takes the SHARED lock; false if somebody is writing, or holds the file exclusively.
    func lockShared() throws -> Bool {
        if isLocked { return true }
        let code = methods.xLock?(file, SQLITE_LOCK_SHARED)
        if code.map({ $0 & 0xff }) == SQLITE_BUSY { return false }
        try check(code, "locking")
        isLocked = true
        return true
    }

    /// Whether somebody holds the RESERVED lock: a transaction that writes is open.
    func isReserved() throws -> Bool {
        var result: Int32 = 0
        try check(methods.xCheckReservedLock?(file, &result), "asking for a lock")
        return result != 0
    }

    /// Gives back everything: slots, the mapping, the lock.
    func unlock() {
        for slot in Array(slots.keys) { unlockSlot(slot) }
        if isMapped { _ = methods.xShmUnmap?(file, 0) }
        isMapped = false
        if isLocked { _ = methods.xUnlock?(file, SQLITE_LOCK_NONE) }
        isLocked = false
    }

    // MARK: The index of the log

    /// The first region of the `-shm` file, which holds the index's header; nil if the file is too short to have one.
    ///
    /// A first user of a `-shm` file empties it, as SQLite does: after a crash nothing in it counts.
    func mapIndex() throws -> UnsafeMutableRawPointer? {
        guard methods.iVersion >= 2 else { throw notMappable(SQLITE_MISUSE) }
        var region: UnsafeMutableRawPointer?
        isMapped = true
        let code = methods.xShmMap?(file, 0, 32768, 0, &region)
        if code.map({ $0 & 0xff }) == SQLITE_BUSY {
            throw BackupError(.busy, "the index of the log is being made", path: path)
        }
        guard code == SQLITE_OK else { throw notMappable(code) }
        return region
    }

    private func notMappable(_ code: Int32?) -> BackupError {
        BackupError(
            .unsupported,
            "its -shm file can not be written, so no read mark can be set (SQLite code \(code ?? SQLITE_MISUSE))",
            path: path, remedy: "run as a user who may write to it, and not through a read-only mount")
    }

    func barrier() { methods.xShmBarrier?(file) }

    /// Locks one of the index's slots; false if it is taken. A slot locked for sharing is not to be locked again.
    func lockSlot(_ slot: Int32, exclusively: Bool) throws -> Bool {
        let kind = exclusively ? SQLITE_SHM_EXCLUSIVE : SQLITE_SHM_SHARED
        let code = methods.xShmLock?(file, slot, 1, SQLITE_SHM_LOCK | kind)
        if code.map({ $0 & 0xff }) == SQLITE_BUSY { return false }
        try check(code, "locking its -shm file")
        slots[slot] = kind
        return true
    }

    func unlockSlot(_ slot: Int32) {
        guard let kind = slots.removeValue(forKey: slot) else { return }
        _ = methods.xShmLock?(file, slot, 1, SQLITE_SHM_UNLOCK | kind)
    }

    /// - Parameter code: nil where the file has no such method.
    private func check(_ code: Int32?, _ doing: String) throws {
        guard code != SQLITE_OK else { return }
        throw BackupError(.io, "\(doing) failed (SQLite code \(code ?? SQLITE_MISUSE))", path: path)
    }
}

/// The slots of the index's locks: https://sqlite.org/walformat.html#locks
enum IndexLock {
    static let write: Int32 = 0
    static let checkpoint: Int32 = 1
    static let recover: Int32 = 2
    /// The lock of read mark 0…4.
    static func read(_ mark: Int) -> Int32 { Int32(3 + mark) }
    static let markCount = 5
}
