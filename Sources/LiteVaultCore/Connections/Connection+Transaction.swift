internal import LiteVaultEngine
internal import LiteVaultSystem

extension Connection {
    /// When a transaction takes its locks (https://sqlite.org/lang_transaction.html).
    public enum TransactionMode: String, Sendable {
        /// At the first read and the first write. The write may fail with `SQLITE_BUSY` regardless of the lock timeout.
        case deferred = "DEFERRED"
        /// Takes the write lock at once.
        case immediate = "IMMEDIATE"
        /// Takes the write lock at once, and excludes readers, except in WAL mode.
        case exclusive = "EXCLUSIVE"
    }

    /// Runs a block in a transaction: commits when it returns, rolls back when it throws.
    ///
    /// Other threads wait until the block returns. Inside another transaction it is a savepoint, and `mode` has no
    /// effect.
    ///
    /// Some errors end the whole transaction (a full disk, an interrupt, `ON CONFLICT ROLLBACK`), and so do COMMIT and
    /// ROLLBACK in the block. From then on every statement of the block throws `SQLITE_ABORT_ROLLBACK`, even if the
    /// block caught the error; otherwise each would be committed separately.
    ///
    /// After an interrupt inside a loop over rows of the same connection, the engine cannot roll back before the loop has
    /// ended. The changes are rolled back then, and until then every statement throws `SQLITE_ABORT_ROLLBACK`.
    ///
    /// - Returns: the result of the block.
    /// - Throws: the error of the block, or `DatabaseError` when the transaction could not begin or commit;
    ///   `SQLITE_ABORT_ROLLBACK` when the transaction ended before the block. All changes of the block are rolled back,
    ///   except for what it committed itself. The block's error is thrown even if the rollback fails too.
    @discardableResult
    public func transaction<T>(_ mode: TransactionMode = .deferred, block: () throws -> T) throws -> T {
        try withLock {
            guard !isInTransaction else { return try withSavepoint(block) }
            return try bracket(
                begin: "BEGIN \(mode.rawValue) TRANSACTION", commit: "COMMIT TRANSACTION",
                rollback: ["ROLLBACK TRANSACTION"], block)
        }
    }

    /// Runs a block in a savepoint: releases it when the block returns, rolls back to it when it throws.
    ///
    /// Other threads wait until the block returns. Outside of a transaction, the savepoint is a transaction of its own.
    ///
    /// - Parameter name: any text; a new one by default.
    /// - Throws: as ``transaction(_:block:)``.
    @discardableResult
    package func withSavepoint<T>(named name: String = UUID().uuidString, _ block: () throws -> T) throws -> T {
        let quoted = Quoting.sqlText(name)
        return try withLock {
            try bracket(
                begin: "SAVEPOINT \(quoted)", commit: "RELEASE SAVEPOINT \(quoted)",
                // Rolling back leaves the savepoint, and with it the transaction, open: it has to be released as well.
                // In a trace, `RELEASE SAVEPOINT` stands for a block that returned, as programs for SQLite.swift
                // expect.
                rollback: ["ROLLBACK TO SAVEPOINT \(quoted)", "RELEASE \(quoted)"], block)
        }
    }

    private func bracket<T>(begin: String, commit: String, rollback: [String], _ block: () throws -> T) throws -> T {
        try requireRunnable()
        try runOnce(begin)
        let required = requiresTransaction
        requiresTransaction = true
        defer { requiresTransaction = required }
        do {
            let result = try block()
            // It is more specific than the error of a COMMIT without a transaction.
            try requireRunnable()
            try runOnce(commit)
            return result
        } catch {
            rollBack(rollback)
            throw error
        }
    }

    /// Rolls back what a block has done. Called under the lock.
    ///
    /// An interrupt stops even that, and all statements after it, until none is in the middle of its rows, such as that of a
    /// loop around the transaction. Until then statements are refused: they would be part of what has to be rolled back.
    private func rollBack(_ statements: [String]) {
        // Of a block inside this one: what it left is rolled back with the rest.
        interruptedRollback = nil
        // Some errors (a full disk, ROLLBACK conflict clauses) have ended the transaction already.
        for statement in statements where isInTransaction {
            do { try runOnce(statement) } catch let error as DatabaseError where error.resultCode == .interrupt {
                interruptedRollback = statements
                deferred.add(.rollback)
                return
            } catch {}
        }
    }

    /// Tries a rollback again that an interrupt has stopped. Called when the lock is released.
    func repeatRollback() {
        if let statements = interruptedRollback { rollBack(statements) }
    }

    /// Throws when statements are refused, or the transaction of a statement has ended, or has to be rolled back first. Called
    /// under the lock.
    @inline(__always)
    func requireRunnable() throws {
        if refuses.isRaised, let refusal = refusal.value { throw refusal }
        if interruptedRollback != nil, let db { throw DatabaseError(interruptedRollback: db) }
        guard requiresTransaction, let db, sqlite3_get_autocommit(db) != 0 else { return }
        throw DatabaseError(endedTransaction: db)
    }

    /// Whether `requireRunnable()` would not throw. Called under the lock.
    @inline(__always)
    var isRunnable: Bool {
        guard !refuses.isRaised, interruptedRollback == nil else { return false }
        guard requiresTransaction, let db else { return true }
        return sqlite3_get_autocommit(db) == 0
    }

    /// Throws as `requireRunnable()`. A rollback may wait for the end of the caller's own statement, which is reset then.
    @inline(__always)
    func requireRunnable(resetting statement: OpaquePointer) throws {
        do { try requireRunnable() } catch {
            if interruptedRollback != nil { sqlite3_reset(statement) }
            throw error
        }
    }

    /// Runs a statement of this library's own, also while statements are refused. Under the lock.
    package func runOnce(_ sql: String) throws {
        let statement = try checkOut(sql)
        defer { checkIn(statement) }
        var code = sqlite3_step(statement.handle)
        while code == SQLITE_ROW { code = sqlite3_step(statement.handle) }
        try check(code, sql: sql)
    }
}
