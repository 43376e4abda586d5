internal import CEngineSupport
internal import LiteVaultEngine

// Closing the last connection of a database in WAL mode checkpoints: the engine copies the log into the file and
// deletes it. With a missing or wrong key it would do so with pages it cannot read, so until a key is verified, closing
// leaves file and log unchanged.

extension Connection {
    /// Closes the connection (`sqlite3_close`). Closing it again does nothing.
    ///
    /// - Throws: `SQLITE_BUSY` while a statement, an open blob, a recorder or a backup of it is alive, `SQLITE_MISUSE` from one of its callbacks or
    ///   functions. The connection stays usable then.
    public func close() throws { try close(checkpointing: true) }

    /// Closes the connection.
    ///
    /// - Parameter checkpointing: whether the last connection to a database in WAL mode copies its log into the file, and deletes
    ///   it. That may take seconds.
    /// - Throws: as ``close()``.
    package func close(checkpointing: Bool) throws {
        lock.lock()
        defer { lock.unlock() }
        guard let db else { return }
        guard callbackDepth == 0, functionDepth == 0 else {
            throw DatabaseError(misuse: "a connection cannot be closed from one of its own callbacks or functions")
        }
        guard backups == 0 else {
            throw DatabaseError.error(
                message: "a backup from or into this connection is not finished", code: SQLITE_BUSY, statement: nil)
        }
        performDeferred()
        guard sessions == 0 else {
            throw DatabaseError.error(
                message: "a recorder of this connection's changes is not closed", code: SQLITE_BUSY, statement: nil)
        }
        let guardian = prepareClose(db, checkpointing: checkpointing)
        defer { CheckpointGuard.release(guardian) }
        // Closing rolls back, and would call the hook although nobody requested a rollback.
        sqlite3_rollback_hook(db, nil, nil)
        let code = interruptible.withLock { interruptible in
            Self.forgetInterrupt(of: db)
            let code = sqlite3_close(db)
            if code == SQLITE_OK { interruptible = nil }
            return code
        }
        if code == SQLITE_OK { self.db = nil }
        if code != SQLITE_OK { installRollbackHook() }
        try check(code)
        hooks = Hooks()
        authorizer.observer = nil
    }

    /// Closes the connection in `deinit`: nothing refers to it any longer, so no lock is needed and nothing is busy.
    func closeFinally() {
        guard let db else { return }
        let guardian = prepareClose(db, checkpointing: true)
        defer { CheckpointGuard.release(guardian) }
        // Its closure must not be called with a connection that is being released.
        sqlite3_rollback_hook(db, nil, nil)
        sqlite3_set_authorizer(db, nil, nil)
        // Statements created through `handle` keep the handle alive until they are finalized.
        interruptible.withLock { $0 = nil }
        Self.forgetInterrupt(of: db)
        sqlite3_close_v2(db)
        self.db = nil
    }

    /// Ends the effect of an interrupt that came while nothing ran. The engine keeps it until the next statement is prepared, and
    /// the checkpoint on closing obeys it: the log would be left.
    private static func forgetInterrupt(of db: OpaquePointer) {
        var none: OpaquePointer?
        sqlite3_prepare_v2(db, "", -1, &none, nil)
    }

    /// `SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE` (3.16): older engines are kept from it by `CheckpointGuard`.
    func suppressCheckpointOnClose(_ suppressed: Bool) {
        guard let db else { return }
        _ = lv_db_config(db, 1006, suppressed ? 1 : 0, nil)
    }

    /// Finalizes the cached statements. Called under the lock.
    package func finalizeCache() {
        for statement in cache.removeAll() { sqlite3_finalize(statement.handle) }
    }

    private func prepareClose(_ db: OpaquePointer, checkpointing: Bool) -> CheckpointGuard? {
        performDeferred()
        finalizeCache()
        hooks.checkpoints?.letGo()
        let checkpoints = checkpointing && (isKeyVerified || hasReadSchema(db))
        suppressCheckpointOnClose(!checkpoints)
        guard !checkpoints else { return nil }
        guard !EngineInfo.linked.isAtLeast(3, 16) else { return nil }
        return CheckpointGuard(db)
    }

    /// Whether the schema was read: then the pages could be read, so the key, if any, is right.
    private func hasReadSchema(_ db: OpaquePointer) -> Bool {
        var used: Int32 = 0
        var highest: Int32 = 0
        return sqlite3_db_status(db, SQLITE_DBSTATUS_SCHEMA_USED, &used, &highest, 0) == SQLITE_OK && used > 0
    }
}

/// Keeps an engine before 3.16 from checkpointing when it closes: it does so only under an exclusive lock, and a second
/// handle that never reads a page holds a shared one meanwhile.
private struct CheckpointGuard {
    private let db: OpaquePointer

    init?(_ guarded: OpaquePointer) {
        guard let name = sqlite3_db_filename(guarded, "main"), name.pointee != 0 else { return nil }
        var opened: OpaquePointer?
        guard sqlite3_open_v2(name, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
            let opened
        else {
            sqlite3_close(opened)
            return nil
        }
        db = opened
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods, methods.pointee.xLock?(file, SQLITE_LOCK_SHARED) == SQLITE_OK
        else {
            sqlite3_close(db)
            return nil
        }
    }

    /// Closing the handle releases the lock.
    static func release(_ guardian: CheckpointGuard?) {
        guard let guardian else { return }
        sqlite3_close(guardian.db)
    }
}
