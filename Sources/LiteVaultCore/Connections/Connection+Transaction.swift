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
            // Some errors (a full disk, ROLLBACK conflict clauses) have ended the transaction already.
            for statement in rollback where isInTransaction { try? runOnce(statement) }
            throw error
        }
    }

    /// Throws when statements are refused, or the transaction of a statement has ended. Called under the lock.
    @inline(__always)
    func requireRunnable() throws {
        if refuses.isRaised, let refusal = refusal.value { throw refusal }
        guard requiresTransaction, let db, sqlite3_get_autocommit(db) != 0 else { return }
        throw DatabaseError(endedTransaction: db)
    }

    /// Whether a statement may run: they are not refused, and its transaction has not ended. Called under the lock.
    @inline(__always)
    var isRunnable: Bool {
        guard !refuses.isRaised else { return false }
        guard requiresTransaction, let db else { return true }
        return sqlite3_get_autocommit(db) == 0
    }

    /// Runs a statement of this library's own. Under the lock.
    package func runOnce(_ sql: String) throws {
        let statement = try checkOut(sql)
        defer { checkIn(statement) }
        var code = sqlite3_step(statement.handle)
        while code == SQLITE_ROW { code = sqlite3_step(statement.handle) }
        try check(code, sql: sql)
    }
}
