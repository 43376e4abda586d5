internal import LiteVaultEngine

extension Connection {
    /// What a hook tells of a row.
    public enum Operation: Sendable {
        /// The row was inserted.
        case insert
        /// The row was changed.
        case update
        /// The row was deleted.
        case delete

        init?(code: Int32) {
            switch code {
            case SQLITE_INSERT: self = .insert
            case SQLITE_UPDATE: self = .update
            case SQLITE_DELETE: self = .delete
            default: return nil
            }
        }
    }

    /// Calls a closure for every row that is inserted, changed or deleted (`sqlite3_update_hook`).
    ///
    /// Not called for tables WITHOUT ROWID, and for rows deleted by a REPLACE conflict clause or by a DELETE without
    /// WHERE (https://sqlite.org/c3ref/update_hook.html). The connection must not be used in it.
    ///
    /// - Parameter callback: given the operation, the schema's and the table's name, and the rowid. nil removes it.
    public func updateHook(
        _ callback: ((_ operation: Operation, _ db: String, _ table: String, _ rowid: Int64) -> Void)?
    ) {
        reading { db in
            guard let callback else {
                sqlite3_update_hook(db, nil, nil)
                hooks.update = nil
                return
            }
            let box = HookBox(self) { (change: RowChange) in
                callback(change.operation, change.schema, change.table, change.rowid)
            }
            sqlite3_update_hook(
                db,
                { context, code, schema, table, rowid in
                    guard let operation = Operation(code: code), let schema, let table else { return }
                    HookBox<RowChange, Void>.call(
                        context,
                        RowChange(
                            operation: operation, schema: String(cString: schema), table: String(cString: table),
                            rowid: rowid))
                }, box.pointer)
            hooks.update = box
        }
    }

    private struct RowChange {
        let operation: Operation
        let schema: String
        let table: String
        let rowid: Int64
    }

    /// Calls a closure before each commit (`sqlite3_commit_hook`). When it throws, the transaction is rolled back and the
    /// commit fails with `SQLITE_CONSTRAINT`. The connection must not be used in it.
    ///
    /// - Parameter callback: nil removes it.
    public func commitHook(_ callback: (() throws -> Void)?) {
        reading { db in
            guard let callback else {
                sqlite3_commit_hook(db, nil, nil)
                hooks.commit = nil
                return
            }
            let box = HookBox(self) { (_: Void) -> Bool in
                do { try callback() } catch { return false }
                return true
            }
            sqlite3_commit_hook(
                db, { context in HookBox<Void, Bool>.call(context, ()) ? 0 : 1 }, box.pointer)
            hooks.commit = box
        }
    }

    /// Calls a closure after each rollback (`sqlite3_rollback_hook`), but not when a connection closes in the middle of a
    /// transaction. The connection must not be used in it.
    ///
    /// - Parameter callback: nil removes it.
    public func rollbackHook(_ callback: (() -> Void)?) {
        reading { db in
            sqlite3_rollback_hook(db, nil, nil)
            hooks.rollback = callback.map { callback in HookBox(self) { (_: Void) in callback() } }
            installRollbackHook()
        }
    }

    /// Under the lock.
    func installRollbackHook() {
        guard let db, let box = hooks.rollback else { return }
        sqlite3_rollback_hook(db, { context in HookBox<Void, Void>.call(context, ()) }, box.pointer)
    }
}
