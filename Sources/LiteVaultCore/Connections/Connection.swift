internal import CEngineSupport
internal import LiteVaultEngine
internal import LiteVaultSystem

/// A connection to a database.
///
/// A connection may be used from any thread: calls wait for each other on one recursive lock, and a transaction holds
/// it for its whole block. The engine's own mutexes are off. Trace, update, commit and rollback hooks, busy handlers
/// and collations must not use the connection, which throws then; SQL functions may use it, but not close it.
///
/// Opening a file creates it if it is missing, unless `readonly` is true.
public final class Connection: @unchecked Sendable {  // all state below only under `lock`
    let lock = RecursiveLock()
    let deferred = DeferredWork()
    /// The handle for `interrupt()`, which must not wait for the statement it interrupts: nil before the handle is closed.
    let interruptible = Locked<OpaquePointer?>(nil)
    /// What statements throw instead of running: see `refuseStatements(with:)`. The flag says whether there is an error.
    let refusal = Locked<VaultError?>(nil)
    let refuses = AtomicFlag()
    var db: OpaquePointer?
    let cache = StatementCache()
    /// Above 0 inside a callback in which the engine forbids use of the connection.
    var callbackDepth = 0
    /// Above 0 inside an SQL function: the connection may be used, not closed.
    var functionDepth = 0
    /// The backups from or into this connection that are not finished: the engine counts only those from it.
    var backups = 0
    /// The numbers of the open blobs, by their handles: see `Connection+OpenHandles.swift`.
    var openBlobs: [OpaquePointer: UInt64] = [:]
    /// The sessions that are not deleted: the engine does not count them, and each refers to the handle.
    var sessions = 0
    /// How many blobs were opened.
    var blobCount: UInt64 = 0
    /// How often bytes were written through a blob, which the engine does not count as changes.
    package internal(set) var blobWrites: UInt64 = 0
    /// Whether the key, if there is one, is known to be right: see `Connection+Close.swift`.
    package var isKeyVerified = false
    var extendedErrors = false
    var timeout: Double = 0
    var hooks = Hooks()
    let authorizer = Authorizer()
    /// Whether a statement may run only inside a transaction: see `Connection+Transaction.swift`.
    var requiresTransaction = false
    /// The statements of a rollback that an interrupt has stopped, and that is repeated: see `Connection+Transaction.swift`.
    @exclusivity(unchecked) var interruptedRollback: [String]?
    /// The typed layer's cache of its last INSERTs. Accessed under the lock, and read or written at once: so
    /// overlapping accesses need not be checked, which takes as long as binding a value.
    @exclusivity(unchecked) package var lastInserts: AnyObject?

    let location: Location
    /// Whether it was opened by module `SQLite`: its errors have the engine's words only, without file and remedy, and
    /// a statement that was read to its end starts again.
    package var isDropIn = false

    /// Opens a connection.
    ///
    /// No SQL runs, and an encrypted file can be given its key afterwards, unless `journalMode` is set.
    ///
    /// - Parameters:
    ///   - location: the location of the database; by default in memory, gone with the connection.
    ///   - readonly: whether to open an existing file for reading only (`SQLITE_OPEN_READONLY`); false by default.
    ///   - journalMode: the mode to set after opening; ignored for connections that turn out to be read-only (by
    ///     `mode=ro` or `immutable=1` in a URI, or by the file's permissions) and for databases without a file.
    /// - Throws: `DatabaseError`, for example `SQLITE_CANTOPEN`; `VaultError` `unsupported` if the library is not thread-safe.
    @_disfavoredOverload  // module SQLite has its own
    public convenience init(
        _ location: Location = .inMemory, readonly: Bool = false, journalMode: JournalMode? = nil
    ) throws {
        try self.init(location, readonly: readonly, unlocker: nil, journalMode: journalMode)
    }

    /// Opens a connection to a file, by its path or a `file:` URI.
    ///
    /// - Throws: as `init(_:readonly:journalMode:)`.
    @_disfavoredOverload
    public convenience init(_ filename: String, readonly: Bool = false, journalMode: JournalMode? = nil) throws {
        try self.init(.uri(filename), readonly: readonly, unlocker: nil, journalMode: journalMode)
    }

    /// Opens a connection and unlocks it before anything else happens on it. The journal mode is set after the key:
    /// before it, the engine would write a plaintext page.
    package init(
        _ location: Location, readonly: Bool, unlocker: (any ConnectionUnlocker)?, journalMode: JournalMode? = nil
    ) throws {
        self.location = location
        guard EngineInfo.linked.isThreadSafe else {
            throw VaultError.unsupported("A library built with SQLITE_THREADSAFE=0", requiredVersion: nil)
        }
        try location.refuseNUL()
        let access = readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            location.description, &opened, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw DatabaseError(opened, code: code, sql: nil, extended: false).about(location.fileName)
        }
        do { try Self.requireNoPipes(beside: opened) } catch {
            sqlite3_close_v2(opened)
            throw error
        }
        db = opened
        // An earlier connection may have had this address.
        DateStorages.set(.text, for: opened)
        interruptible.withLock { $0 = opened }
        // The engine's default, set explicitly because builds may be configured differently.
        sqlite3_extended_result_codes(opened, 0)
        suppressCheckpointOnClose(true)
        do {
            if let unlocker {
                try unlocker.unlock(self)
                isKeyVerified = true
            }
            if let journalMode, canChangeJournalMode { try changeJournalMode(to: journalMode) }
        } catch {
            isKeyVerified = false
            closeFinally()
            throw error
        }
    }

    /// The engine opens a journal or log that it finds beside a database, and would wait without limit for the writer of a FIFO.
    private static func requireNoPipes(beside db: OpaquePointer) throws {
        guard let name = sqlite3_db_filename(db, "main"), name.pointee != 0 else { return }
        for ending in ["-journal", "-wal"] {
            let path = String(cString: name) + ending
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFREG, S_IFLNK, S_IFDIR: continue
            default:
                throw VaultError(
                    .wrongKind, "This is not a regular file", path: path,
                    remedy: "Find out what created it, and remove it: no database has such a journal.")
            }
        }
    }

    deinit { closeFinally() }
}

package protocol ConnectionUnlocker: Sendable {
    /// Called right after the file was opened, before any statement. If it throws, the handle is closed at once and the
    /// file and its log are unchanged.
    func unlock(_ connection: Connection) throws
}

extension Connection: CustomStringConvertible {
    /// The path of the main database's file; empty for a database without one, or a closed connection.
    public var description: String {
        lock.lock()
        defer { leave() }
        guard let db, let name = sqlite3_db_filename(db, "main") else { return "" }
        return String(cString: name)
    }
}
