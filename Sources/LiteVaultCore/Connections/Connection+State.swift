internal import CEngineSupport
internal import LiteVaultEngine

// What the engine knows of a connection. All of it may be asked inside callbacks too.

extension Connection {
    /// Whether the main database cannot be written through this connection (`sqlite3_db_readonly`).
    public var isReadOnly: Bool { reading { sqlite3_db_readonly($0, "main") == 1 } ?? false }

    /// Whether a transaction is open (`sqlite3_get_autocommit`).
    public var isInTransaction: Bool { reading { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// Ends what other threads run on this connection as soon as possible, with `SQLITE_INTERRUPT` (`sqlite3_interrupt`).
    ///
    /// It waits for nothing and may be called from any thread.
    public func interrupt() {
        handleLock.lock()
        defer { handleLock.unlock() }
        if let db { sqlite3_interrupt(db) }
    }

    /// How long a call waits for locks of other connections before it fails with `SQLITE_BUSY` (`sqlite3_busy_timeout`).
    ///
    /// Zero by default: not at all. At most 24 days; what is negative counts as zero.
    public var lockTimeout: Duration {
        get { .seconds(lockTimeoutSeconds.isFinite ? min(lockTimeoutSeconds, 1e15) : 1e15) }
        set { lockTimeoutSeconds = newValue / .seconds(1) }
    }

    /// The same in seconds, as they were given. Setting it replaces a busy handler.
    package var lockTimeoutSeconds: Double {
        get { reading { _ in timeout } ?? 0 }
        set {
            reading { db in
                hooks.busy = nil
                // Below zero and not a number have no meaning, and milliseconds are counted in 32 bits: 24 days.
                timeout = newValue > 0 ? newValue : 0
                sqlite3_busy_timeout(db, Int32(Swift.min(timeout * 1000, 2_147_483_647)))
            }
        }
    }

    /// Has a closure decide what to do when another connection holds a lock (`sqlite3_busy_handler`).
    ///
    /// Replaces the lock timeout, as setting that replaces the handler.
    ///
    /// - Parameter callback: is given how often it was asked before for this lock; returns whether to try again. It must not use
    ///   the connection. nil: calls fail at once.
    package func setBusyHandler(_ callback: ((Int) -> Bool)?) {
        reading { db in
            timeout = 0
            guard let callback else {
                sqlite3_busy_handler(db, nil, nil)
                hooks.busy = nil
                return
            }
            let box = HookBox(self) { (count: Int32) in callback(Int(count)) }
            sqlite3_busy_handler(
                db,
                { context, count in
                    HookBox<Int32, Bool>.call(context, count) ? 1 : 0
                }, box.pointer)
            hooks.busy = box
        }
    }

    /// The rowid of the last row inserted on this connection (`sqlite3_last_insert_rowid`); 0 before the first.
    package var lastInsertedRowID: Int64 { reading { sqlite3_last_insert_rowid($0) } ?? 0 }

    /// How many rows the last INSERT, UPDATE or DELETE changed (`sqlite3_changes64`), triggers not counted.
    package var changedRowCount: Int { reading { Int(truncatingIfNeeded: lv_changes($0)) } ?? 0 }

    /// How many rows were changed since the connection was opened (`sqlite3_total_changes64`), by triggers too.
    package var totalChangedRowCount: Int { reading { Int(truncatingIfNeeded: lv_total_changes($0)) } ?? 0 }

    /// How many parameters a statement may have (`SQLITE_LIMIT_VARIABLE_NUMBER`): 999 on older engines, 32766 and more on newer.
    package var parameterLimit: Int { reading { Int(sqlite3_limit($0, SQLITE_LIMIT_VARIABLE_NUMBER, -1)) } ?? 0 }

    /// Whether errors are thrown as `DatabaseError.extendedError`. The extended code is part of every error either way, see
    /// `DatabaseError.extendedCode`.
    package var throwsExtendedErrors: Bool {
        get { reading { _ in extendedErrors } ?? false }
        set {
            reading { db in
                extendedErrors = newValue
                sqlite3_extended_result_codes(db, newValue ? 1 : 0)
            }
        }
    }

    /// Reads something of the handle that is allowed at any time, in callbacks too.
    @discardableResult
    func reading<T>(_ body: (OpaquePointer) -> T) -> T? {
        lock.lock()
        defer { leave() }
        return db.map(body)
    }
}
