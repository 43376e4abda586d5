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
            hooks.update = callback
            installUpdateHook(db)
        }
    }

    /// Under the lock.
    func installUpdateHook(_ db: OpaquePointer) {
        guard hooks.update != nil || hooks.observer != nil else {
            sqlite3_update_hook(db, nil, nil)
            hooks.updating = nil
            return
        }
        let user = hooks.update
        let observer = hooks.observer
        let box = HookBox(self) { (change: RowChange) in
            observer?.didChange(change.operation, schema: change.schema, table: change.table, rowid: change.rowid)
            user?(change.operation, String(cString: change.schema), String(cString: change.table), change.rowid)
        }
        sqlite3_update_hook(
            db,
            { context, code, schema, table, rowid in
                guard let operation = Operation(code: code), let schema, let table else { return }
                HookBox<RowChange, Void>.call(
                    context, RowChange(operation: operation, schema: schema, table: table, rowid: rowid))
            }, box.pointer)
        hooks.updating = box
    }

    private struct RowChange {
        let operation: Operation
        let schema: UnsafePointer<CChar>
        let table: UnsafePointer<CChar>
        let rowid: Int64
    }

    /// Calls a closure before each commit (`sqlite3_commit_hook`). When it throws, the transaction is rolled back and the
    /// commit fails with `SQLITE_CONSTRAINT`. The connection must not be used in it.
    ///
    /// - Parameter callback: nil removes it.
    public func commitHook(_ callback: (() throws -> Void)?) {
        reading { db in
            hooks.commit = callback
            installCommitHook(db)
        }
    }

    /// Under the lock.
    func installCommitHook(_ db: OpaquePointer) {
        guard hooks.commit != nil || hooks.observer != nil else {
            sqlite3_commit_hook(db, nil, nil)
            hooks.committing = nil
            return
        }
        let user = hooks.commit
        let observer = hooks.observer
        let box = HookBox(self) { (_: Void) -> Bool in
            observer?.willCommit()
            do { try user?() } catch { return false }
            return true
        }
        sqlite3_commit_hook(db, { context in HookBox<Void, Bool>.call(context, ()) ? 0 : 1 }, box.pointer)
        hooks.committing = box
    }

    /// Calls a closure after each rollback (`sqlite3_rollback_hook`), but not when a connection closes in the middle of a
    /// transaction. The connection must not be used in it.
    ///
    /// - Parameter callback: nil removes it.
    public func rollbackHook(_ callback: (() -> Void)?) {
        reading { db in
            hooks.rollback = callback
            installRollbackHook()
        }
    }

    /// Under the lock.
    func installRollbackHook() {
        guard let db else { return }
        guard hooks.rollback != nil || hooks.observer != nil else {
            sqlite3_rollback_hook(db, nil, nil)
            hooks.rollingBack = nil
            return
        }
        let user = hooks.rollback
        let observer = hooks.observer
        let box = HookBox(self) { (_: Void) in
            observer?.didRollBack()
            user?()
        }
        sqlite3_rollback_hook(db, { context in HookBox<Void, Void>.call(context, ()) }, box.pointer)
        hooks.rollingBack = box
    }

    /// Has somebody told of changes, beside the hooks that the user installs. nil: nobody any more.
    package func setObserver(_ observer: (any ConnectionObserver)?) {
        reading { db in
            hooks.observer = observer
            authorizer.observer = observer
            installAuthorizer(db)
            installTrace(db)
            installUpdateHook(db)
            installCommitHook(db)
            installRollbackHook()
        }
    }
}
