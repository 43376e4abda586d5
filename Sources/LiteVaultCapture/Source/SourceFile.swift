internal import CEngineSupport
internal import LiteVaultEngine
internal import LiteVaultSystem

/// A live database file, accessed through SQLite's own file object for locks and bytes, without a key or SQL.
///
/// The object belongs to a connection that runs no statement, so closing it recovers, checkpoints and deletes nothing.
/// SQLite's file object also preserves the locks of other connections of this process: a process loses its POSIX locks
/// when it closes any descriptor of the file, and SQLite defers its own closes.
final class SourceFile {
    private let handle: OpaquePointer
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods
    /// The path with links resolved: SQLite derives the names of journal and log from it.
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
            throw VaultError(
                .io, "cannot be opened (SQLite code \(code))", path: path, remedy: "Check the file's permissions.")
        }
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(opened, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK, let pointer,
            let methods = pointer.pointee.pMethods?.pointee
        else {
            sqlite3_close(opened)
            throw VaultError(.unsupported, "the engine does not provide its file object", path: path)
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
            throw VaultError(.noInput, "no such file", path: path)
        }
        defer { free(resolved) }
        var status = stat()
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw VaultError(.noInput, "is not a regular file", path: path)
        }
        guard let text = String(validatingCString: resolved) else {
            throw VaultError(.noInput, "is a link to a path that is not UTF-8", path: path)
        }
        return text
    }

    // MARK: Bytes

    func size() throws -> Int64 {
        var size: sqlite3_int64 = 0
        try check(methods.xFileSize?(file, &size), "reading its size")
        return size
    }

    /// Fills `buffer` from `offset`, with zeros beyond the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        let code = methods.xRead?(file, buffer.baseAddress, Int32(buffer.count), offset)
        // SQLITE_IOERR_SHORT_READ: SQLite has filled the rest with zeros.
        if code != SQLITE_IOERR | (2 << 8) { try check(code, "reading") }
    }

    /// Writes bytes at `offset`. Only for a file that nobody else has open, or under the locks of a checkpoint.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try check(methods.xWrite?(file, bytes.baseAddress, Int32(bytes.count), offset), "writing")
    }

    /// Sets the file's length.
    func truncate(to size: Int64) throws { try check(methods.xTruncate?(file, size), "truncating") }

    func sync() throws { try check(methods.xSync?(file, SQLITE_SYNC_FULL), "syncing") }

    // MARK: The lock of the file

    /// Takes the SHARED lock; false if another connection is writing or holds the file exclusively.
    func lockShared() throws -> Bool {
        if !isLocked { isLocked = try took(methods.xLock?(file, SQLITE_LOCK_SHARED), "locking") }
        return isLocked
    }

    /// Takes the EXCLUSIVE lock, if the SHARED one is held; false if another connection has the file open in WAL mode, or reads it.
    func lockExclusive() throws -> Bool {
        guard isLocked else { return false }
        return try took(methods.xLock?(file, SQLITE_LOCK_EXCLUSIVE), "locking")
    }

    /// Whether a call has taken a lock; false if another connection has it.
    private func took(_ code: Int32?, _ doing: String) throws -> Bool {
        if code.map({ $0 & 0xff }) == SQLITE_BUSY { return false }
        try check(code, doing)
        return true
    }

    /// Whether a connection holds the RESERVED lock: a write transaction is open.
    func isReserved() throws -> Bool {
        var result: Int32 = 0
        try check(methods.xCheckReservedLock?(file, &result), "checking for a lock")
        return result != 0
    }

    /// Releases everything: slots, the mapping, the lock.
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
    /// The first user of a `-shm` file truncates it, as SQLite does: after a crash its content is invalid.
    func mapIndex() throws -> UnsafeMutableRawPointer? {
        try map(0, extending: false)
    }

    /// A region of the index, 32 KB, which is added if it does not exist.
    func region(_ number: Int) throws -> UnsafeMutableRawPointer {
        guard let region = try map(Int32(number), extending: true) else { throw notMappable(SQLITE_OK) }
        return region
    }

    private func map(_ number: Int32, extending: Bool) throws -> UnsafeMutableRawPointer? {
        guard methods.iVersion >= 2 else { throw notMappable(SQLITE_MISUSE) }
        var region: UnsafeMutableRawPointer?
        isMapped = true
        let code = methods.xShmMap?(file, number, 32768, extending ? 1 : 0, &region)
        if code.map({ $0 & 0xff }) == SQLITE_BUSY {
            throw VaultError(.busy, "the log's index is being built", path: path)
        }
        if extending, code.map({ $0 & 0xff }) == SQLITE_IOERR { try check(code, "extending the log's index") }
        guard code == SQLITE_OK else { throw notMappable(code) }
        return region
    }

    private func notMappable(_ code: Int32?) -> VaultError {
        VaultError(
            .unsupported,
            "its -shm file is not writable, so no read mark can be set (SQLite code \(code ?? SQLITE_MISUSE))",
            path: path, remedy: "Run as a user with write access, and not through a read-only mount.")
    }

    /// Releases the index and removes its file. Only under the EXCLUSIVE lock.
    func removeIndex() {
        for slot in Array(slots.keys) { unlockSlot(slot) }
        if isMapped { _ = methods.xShmUnmap?(file, 1) }
        isMapped = false
    }

    func barrier() { methods.xShmBarrier?(file) }

    /// Locks a slot of the index; false if it is taken. A slot that is locked shared must not be locked again.
    func lockSlot(_ slot: Int32, exclusively: Bool) throws -> Bool {
        let kind = exclusively ? SQLITE_SHM_EXCLUSIVE : SQLITE_SHM_SHARED
        guard try took(methods.xShmLock?(file, slot, 1, SQLITE_SHM_LOCK | kind), "locking its -shm file") else {
            return false
        }
        slots[slot] = kind
        return true
    }

    func unlockSlot(_ slot: Int32) {
        guard let kind = slots.removeValue(forKey: slot) else { return }
        _ = methods.xShmLock?(file, slot, 1, SQLITE_SHM_UNLOCK | kind)
    }

    /// - Parameter code: nil if the file has no such method.
    private func check(_ code: Int32?, _ doing: String) throws {
        guard code != SQLITE_OK else { return }
        if code == SQLITE_FULL { throw VaultError(.noSpace, "\(doing) failed: no space is left", path: path) }
        throw VaultError(.io, "\(doing) failed (SQLite code \(code ?? SQLITE_MISUSE))", path: path)
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

/// Properties of the file system that holds a database.
package enum SourceVolume {
    /// Network and shared file systems, by `f_type` of statfs(2): locks taken here do not hold on other machines, and
    /// shared memory is not shared.
    package static let networkTypes: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x564C: "NCP", 0x5346_414F: "AFS",
        0x7375_7245: "Coda", 0x0102_1997: "9P", 0x00C3_6400: "Ceph", 0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS",
        0x0116_1970: "GFS2", 0x7461_636F: "OCFS2", 0x1983_0326: "BeeGFS", 0xAAD7_AAEA: "PanFS",
        0x786F_4256: "a VirtualBox share", 0xBACB_ACBC: "a VMware share",
        0x6573_5546: "FUSE",
    ]

    /// Rejects file systems whose locks cannot be relied on.
    package static func requireLocal(_ path: String, type: UInt32? = nil) throws {
        guard let name = networkTypes[type ?? lv_file_system_type(path)] else { return }
        throw VaultError(
            .unsupported, "is on \(name), where SQLite's locks do not exclude writers on other machines",
            path: path, remedy: "Run the backup on the machine with the disk.")
    }

    /// Whether the file system itself is mounted read-only, so that nobody can write to the file. A container's
    /// read-only mount of a directory that others write to does not count.
    static func isReadOnlyMedium(_ path: String) -> Bool {
        var information = statvfs()
        guard statvfs(path, &information) == 0, information.f_flag & UInt(ST_RDONLY) != 0 else { return false }
        guard let table = Platform.mountTable else { return true }
        // Of a file whose size is 0, as those of /proc, String(contentsOfFile:) reads one page only.
        guard let mounts = try? InputFile(path: table).readToEnd() else { return false }
        return isReadOnly(path, mounts: String(decoding: mounts, as: UTF8.self))
    }

    /// Whether the mount that holds `path` has a read-only file system, by the text of `/proc/self/mountinfo`: proc(5).
    package static func isReadOnly(_ path: String, mounts: String) -> Bool {
        var best = (length: -1, readOnly: false)
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 3 < fields.count else { continue }
            let point = String(fields[4]).replacing(text: "\\040", with: " ")
            let below = point.ends(withText: "/") ? point : point + "/"
            guard path == point || path.starts(withText: below) else { continue }
            // Of two mounts at one path, the later one hides the earlier.
            guard point.utf8.count >= best.length else { continue }
            best = (point.utf8.count, fields[dash + 3].split(separator: ",").contains("ro"))
        }
        return best.readOnly
    }
}
