internal import LiteVaultEngine

extension Connection {
    /// The operation that a hook reports.
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

    /// Calls a closure for every inserted, changed or deleted row (`sqlite3_update_hook`).
    ///
    /// It is not called for tables WITHOUT ROWID, nor for rows deleted by a REPLACE conflict clause or by a DELETE
    /// without WHERE (https://sqlite.org/c3ref/update_hook.html). The connection must not be used in the closure.
    ///
    /// - Parameter callback: receives the operation, the names of the schema and the table, and the rowid. nil removes
    ///   the hook.
    public func updateHook(
        _ callback: ((_ operation: Operation, _ db: String, _ table: String, _ rowid: Int64) -> Void)?
    ) {
        reading { db in
            hooks.update = callback
            installUpdateHook(db)
        }
    }

    /// Called under the lock.
    private func installUpdateHook(_ db: OpaquePointer) {
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

    /// Calls a closure before each commit (`sqlite3_commit_hook`). If it throws, the transaction is rolled back and the
    /// commit fails with `SQLITE_CONSTRAINT`. The connection must not be used in the closure.
    ///
    /// - Parameter callback: nil removes the hook.
    public func commitHook(_ callback: (() throws -> Void)?) {
        reading { db in
            hooks.commit = callback
            installCommitHook(db)
        }
    }

    /// Called under the lock.
    private func installCommitHook(_ db: OpaquePointer) {
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

    /// Calls a closure after each rollback (`sqlite3_rollback_hook`), but not when a connection is closed inside a
    /// transaction. The connection must not be used in the closure.
    ///
    /// - Parameter callback: nil removes the hook.
    public func rollbackHook(_ callback: (() -> Void)?) {
        reading { db in
            hooks.rollback = callback
            installRollbackHook()
        }
    }

    /// Called under the lock.
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

    /// Notifies an observer of changes, in addition to the user's hooks. nil removes it.
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

/// A closure that the engine calls through a pointer. The connection retains it for as long as the engine may call it.
final class HookBox<Argument, Result> {
    // Not retained: the connection owns the box.
    private unowned let connection: Connection
    private let body: (Argument) -> Result

    init(_ connection: Connection, _ body: @escaping (Argument) -> Result) {
        self.connection = connection
        self.body = body
    }

    /// The pointer that the engine passes to the callback.
    var pointer: UnsafeMutableRawPointer { ObjectAddress.unretained(self) }

    /// Runs the closure of a pointer; the connection must not be used meanwhile.
    static func call(_ pointer: UnsafeMutableRawPointer?, _ argument: Argument) -> Result {
        // The engine passes only the pointer registered with this callback, which is never null.
        let box = ObjectAddress.object(pointer.unsafelyUnwrapped, as: HookBox.self)
        return box.connection.insideCallback { box.body(argument) }
    }
}

struct Hooks {
    var busy: AnyObject?
    var trace: ((String) -> Void)?
    fileprivate var update: ((Connection.Operation, String, String, Int64) -> Void)?
    fileprivate var commit: (() throws -> Void)?
    fileprivate var rollback: (() -> Void)?
    /// The boxes passed to the engine, retained for as long as it may call them.
    var tracing: AnyObject?
    fileprivate var updating: AnyObject?
    fileprivate var committing: AnyObject?
    fileprivate var rollingBack: HookBox<Void, Void>?
    /// Checkpoints after commits, instead of the engine.
    var checkpoints: (any CommitCheckpoints)?
    /// Notified before the user's closures above.
    var observer: (any ConnectionObserver)?
}

/// Checkpoints after commits, instead of the engine.
protocol CommitCheckpoints: AnyObject {
    /// The number of pages in the log after which to checkpoint.
    var pages: Int { get }
    /// Closes the guardian. The connection is about to close, or to drop it.
    func letGo()
}

/// Is notified of changes on a connection, inside callbacks of the engine, on the thread that runs the statement and
/// under the connection's lock: the connection must not be used.
package protocol ConnectionObserver: AnyObject {
    /// A statement starts (`SQLITE_TRACE_STMT`), excluding those of triggers.
    ///
    /// - Parameter isNested: returns whether another writing statement is in progress.
    func willRun(_ sql: UnsafePointer<CChar>, isNested: () -> Bool)
    /// A statement that changes the schema is prepared (`sqlite3_set_authorizer`).
    func willChangeSchema(_ change: SchemaChange)
    /// A row was changed (`sqlite3_update_hook`, with its omissions).
    func didChange(
        _ operation: Connection.Operation, schema: UnsafePointer<CChar>, table: UnsafePointer<CChar>, rowid: Int64)
    /// Bytes of a row were written through an open blob, which no hook reports.
    func didWriteBlob(schema: String, table: String, rowid: Int64)
    /// The transaction is about to be committed, which may still fail.
    func willCommit()
    func didRollBack()
}
