internal import CEngineSupport
internal import LiteVaultEngine

// The engine's state of a connection. All of it may be read inside callbacks too.

extension Connection {
    /// Whether the main database cannot be written through this connection (`sqlite3_db_readonly`).
    public var isReadOnly: Bool { reading { sqlite3_db_readonly($0, "main") == 1 } ?? false }

    /// Whether a transaction is open (`sqlite3_get_autocommit`).
    public var isInTransaction: Bool { reading { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// Interrupts the statements that other threads run on this connection, with `SQLITE_INTERRUPT`
    /// (`sqlite3_interrupt`).
    ///
    /// It does not wait and may be called from any thread.
    public func interrupt() {
        interruptible.withLock { if let db = $0 { sqlite3_interrupt(db) } }
    }

    /// Makes statements throw an error from now on, except for those that end transactions of `transaction(_:block:)`; nil lets
    /// them run again. It does not wait, may be called from any thread, and leaves a running statement alone.
    package func refuseStatements(with error: VaultError?) {
        refusal.withLock { refusal in
            refusal = error
            refuses.set(error != nil)
        }
    }

    /// How long a call waits for locks of other connections before it fails with `SQLITE_BUSY` (`sqlite3_busy_timeout`).
    ///
    /// Zero, the default, does not wait. At most 24 days; negative values count as zero.
    public var lockTimeout: Duration {
        get { .seconds(lockTimeoutSeconds.isFinite ? min(lockTimeoutSeconds, 1e15) : 1e15) }
        set { lockTimeoutSeconds = newValue / .seconds(1) }
    }

    /// The same in seconds, as set. Setting it replaces a busy handler.
    package var lockTimeoutSeconds: Double {
        get { reading { _ in timeout } ?? 0 }
        set {
            reading { db in
                hooks.busy = nil
                // Negative values and NaN are meaningless, and milliseconds have 32 bits: 24 days.
                timeout = newValue > 0 ? newValue : 0
                sqlite3_busy_timeout(db, Int32(Swift.min(timeout * 1000, 2_147_483_647)))
            }
        }
    }

    /// Calls a closure to decide what to do when another connection holds a lock (`sqlite3_busy_handler`).
    ///
    /// Replaces the lock timeout, as setting that replaces the handler.
    ///
    /// - Parameter callback: receives the number of previous calls for this lock; returns whether to try again. It must
    ///   not use the connection. nil: calls fail at once.
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

    /// The number of rows that the last INSERT, UPDATE or DELETE changed (`sqlite3_changes64`), excluding triggers.
    package var changedRowCount: Int { reading { Int(truncatingIfNeeded: lv_changes($0)) } ?? 0 }

    /// The number of rows changed since the connection was opened (`sqlite3_total_changes64`), including triggers.
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

    /// Reads a property of the handle that may be read at any time, including in callbacks.
    @discardableResult
    func reading<T>(_ body: (OpaquePointer) -> T) -> T? {
        lock.lock()
        defer { leave() }
        return db.map(body)
    }
}

extension Connection {
    /// How changes are made atomic (https://sqlite.org/pragma.html#pragma_journal_mode).
    public enum JournalMode: String, CaseIterable, Sendable {
        case delete
        case truncate
        case persist
        case memory
        case wal
        case off
    }

    /// The value of a pragma that returns one number.
    ///
    /// SQLCipher implements some of SQLite's pragmas itself (page_size of an encrypted database), and returns text.
    package func integer(_ pragma: String) throws -> Int64 {
        let value = try untypedValue("PRAGMA \(pragma)")
        return value as? Int64 ?? (value as? String).flatMap { Int64($0) } ?? 0
    }

    /// The value of a pragma, or of another query for one value, by its own storage class; nil for NULL and without a row.
    package func untypedValue(_ sql: String) throws -> (any Binding)? {
        let execution = try begin(sql)
        defer { end(execution) }
        guard try execution.step() else { return nil }
        let value = untyped(sqlite3_column_value(execution.handle, 0))
        try execution.finish()
        return value
    }

    package func currentJournalMode() throws -> JournalMode {
        let mode = try untypedValue("PRAGMA journal_mode") as? String
        return mode.flatMap { JournalMode(rawValue: foldedName($0)) } ?? .delete
    }

    /// Changes the journal mode, and throws if a file keeps another one.
    func changeJournalMode(to mode: JournalMode) throws {
        let actual = try requestJournalMode(mode)
        guard actual == mode || !location.isFile else {
            throw DatabaseError(misuse: "the journal mode is still \(actual.rawValue), not \(mode.rawValue)")
        }
    }

    package func requestJournalMode(_ mode: JournalMode) throws -> JournalMode {
        let answer = try untypedValue("PRAGMA journal_mode = \(mode.rawValue)") as? String
        guard let answer, let actual = JournalMode(rawValue: foldedName(answer)) else {
            throw DatabaseError(misuse: "the engine did not accept journal mode \(mode.rawValue)")
        }
        return actual
    }

    /// Whether there is a writable file: only such a database has a choice of journal modes.
    package var canChangeJournalMode: Bool { !isReadOnly && !description.isEmpty }
}

/// A column of a table's primary key (`sqlite3_table_column_metadata`).
package struct PrimaryKeyColumn {
    /// The type in its declaration; empty without one. Only a column that is declared exactly INTEGER can be the rowid.
    package let declaredType: String

    /// - Parameter schemaName: nil to search all databases.
    /// - Returns: nil for a column that is not of the key, or does not exist.
    package init?(_ column: String, of table: String, in schemaName: String?, _ connection: Connection) {
        let type = connection.reading { db -> String? in
            var type: UnsafePointer<CChar>?
            var isKey: Int32 = 0
            let code = sqlite3_table_column_metadata(db, schemaName, table, column, &type, nil, nil, &isKey, nil)
            guard code == SQLITE_OK, isKey != 0 else { return nil }
            return type.map { String(cString: $0) } ?? ""
        }
        guard let type = type ?? nil else { return nil }
        declaredType = type
    }
}
