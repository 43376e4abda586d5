internal import LiteVaultEngine
internal import LiteVaultSystem

// A checkpoint reads the end of the log, and then how much of it was copied already. In between, on engines with
// `EngineInfo.Defect.walReset`, a commit of another connection may reset the log: the checkpoint then records the old
// length as copied, in a log in which other commits have those frame numbers. Only a writer resets a log, and there is
// one writer at a time. So while a second connection of ours holds the write lock, without writing anything, a
// checkpoint works on a log that nobody changes: within a process, and among all processes that use the file.
//
// The connection that checkpoints cannot hold that lock itself: inside a transaction of its own the checkpoint fails
// (SQLITE_LOCKED). FULL, RESTART and TRUNCATE take the lock themselves; if they do not get it, they continue without it.

extension Connection {
    /// What a checkpoint waits for (https://sqlite.org/c3ref/wal_checkpoint_v2.html).
    public enum WALCheckpointMode: String, Sendable {
        case passive = "PASSIVE"
        case full = "FULL"
        case restart = "RESTART"
        case truncate = "TRUNCATE"
    }

    /// Copies the log into the database file (`PRAGMA wal_checkpoint`).
    ///
    /// On engines with ``EngineInfo/Defect/walReset``, a `passive` checkpoint, or another one that does not get the write
    /// lock within the lock timeout, is safe only while no other connection commits. With a guardian, another connection holds the write
    /// lock meanwhile, so that nobody can commit: commits of all processes wait until it is done. See <doc:WALReset>.
    ///
    /// - Parameters:
    ///   - mode: what to wait for. A guarded checkpoint is `passive`: it does not wait for readers, and frames they still need stay in the log.
    ///   - schema: an attached database; all of them by default. A guarded checkpoint is of `main`.
    ///   - guardian: another connection to the same file, not read-only and not in a transaction. It writes nothing. By default nil.
    /// - Returns: whether it could not finish, the number of pages in the log, and the number of copied pages; -1 for
    ///   both when the database is not in WAL mode.
    /// - Throws: `DatabaseError`: `SQLITE_BUSY` when another connection writes for longer than the guardian's lock timeout;
    ///   `SQLITE_MISUSE` for a guardian of another file, mode or schema. Nothing is copied then.
    @discardableResult
    public func walCheckpoint(
        mode: WALCheckpointMode = .passive, schema: String? = nil, guardedBy guardian: Connection? = nil
    ) throws -> (busy: Bool, log: Int, checkpointed: Int) {
        if let guardian {
            guard guardian !== self, guardian.description == description, !description.isEmpty else {
                throw DatabaseError(misuse: "a checkpoint is guarded by another connection to the same file")
            }
            guard mode == .passive, isSameName(schema ?? "main", "main") else {
                throw DatabaseError(misuse: "a guarded checkpoint is passive, and of the main database")
            }
            return try guardian.holdingWriteLock { try walCheckpoint(schema: "main") }
        }
        let prefix = schema.map { quoted($0) + "." } ?? ""
        let answer = try first("PRAGMA \(sql: prefix)wal_checkpoint(\(sql: mode.rawValue))") { row in
            (
                busy: try row.get(0, as: Int.self) != 0, log: try row.get(1, as: Int.self),
                checkpointed: try row.get(2, as: Int.self)
            )
        }
        return answer ?? (busy: false, log: -1, checkpointed: -1)
    }

    /// The number of pages after which a commit checkpoints, automatically or guarded.
    func automaticCheckpointPages() throws -> Int {
        let pages = Int(try integer("wal_autocheckpoint"))
        // The engine knows only of its own automatic checkpoints.
        return pages == 0 ? (reading { _ in hooks.checkpoints?.pages } ?? nil) ?? 0 : pages
    }

    func setAutomaticCheckpoint(pages: Int) throws {
        try execute("PRAGMA wal_autocheckpoint = \(pages)")
        reading { _ in hooks.checkpoints = nil }
    }

    /// Makes commits checkpoint after a number of pages, as the engine does, but guarded as by
    /// ``walCheckpoint(mode:schema:guardedBy:)``.
    ///
    /// While another connection is writing, the checkpoint is left to the next commit; only when the log is four times
    /// as long does it wait, up to ``lockTimeout``. Logs of attached databases are checkpointed by the engine itself.
    ///
    /// - Parameters:
    ///   - pages: the number of pages in the log; 1000 is the engine's default. 0 or less: never.
    ///   - open: opens the guardian when it is first needed, and again after a failure. Nobody else uses it, and it is
    ///     closed with this connection.
    /// - Throws: `SQLITE_MISUSE` on a closed connection.
    public func setWALAutoCheckpoint(_ pages: Int = 1000, guardedBy open: @escaping () throws -> Connection) throws {
        try withLock {
            hooks.checkpoints?.letGo()
            let checkpoints = GuardedCheckpoints(self, pages: pages, open)
            _ = sqlite3_wal_hook(
                db,
                { context, db, schema, pages in
                    guard let context, let db, let schema else { return SQLITE_OK }
                    ObjectAddress.object(context, as: GuardedCheckpoints.self).committed(db, schema, Int(pages))
                    return SQLITE_OK
                }, ObjectAddress.unretained(checkpoints))
            hooks.checkpoints = checkpoints
        }
    }

    /// Empties the log (`TRUNCATE`), and waits for writers and readers up to ``lockTimeout``.
    ///
    /// If the engine would continue without the write lock, it is interrupted and copies nothing (SQLite 3.16 and
    /// later).
    ///
    /// - Returns: whether the log is empty.
    /// - Throws: `DatabaseError`, but not when another connection uses the file.
    package func emptyLog() throws -> Bool {
        try withLock {
            // The user's busy handler decides how long it waits.
            guard hooks.busy == nil else { return try !walCheckpoint(mode: .truncate).busy }
            let patience = timeout
            let deadline = Deadline(seconds: patience)
            setBusyHandler { [unowned self] _ in
                guard !deadline.isOver else {
                    interrupt()
                    return false
                }
                SystemThread.sleep(seconds: 0.005)
                return true
            }
            defer { lockTimeoutSeconds = patience }
            do { return try !walCheckpoint(mode: .truncate).busy } catch let error as DatabaseError
                where error.resultCode.primary == .interrupt
            { return false }
        }
    }

    /// Runs a body while this connection holds the write lock of its file, and writes nothing.
    fileprivate func holdingWriteLock<T>(_ body: () throws -> T) throws -> T {
        try withLock {
            try execute("BEGIN IMMEDIATE")
            // Nothing was written, so neither statement can fail because of the file.
            defer { do { try execute("COMMIT") } catch { try? execute("ROLLBACK") } }
            return try body()
        }
    }
}

/// The checkpoints after commits of a connection. Used under the connection's lock.
private final class GuardedCheckpoints: CommitCheckpoints {
    let pages: Int
    private let open: () throws -> Connection
    private var guardian: Connection?
    // Not retained: the connection owns this.
    private unowned let connection: Connection

    init(_ connection: Connection, pages: Int, _ open: @escaping () throws -> Connection) {
        self.connection = connection
        self.pages = pages
        self.open = open
    }

    /// Called by the engine after a commit, when it no longer holds a lock. A failed checkpoint does not fail the
    /// commit: the next one tries again.
    func committed(_ db: OpaquePointer, _ schema: UnsafePointer<CChar>, _ length: Int) {
        guard pages > 0, length >= pages else { return }
        guard String(cString: schema) == "main" else {
            sqlite3_wal_checkpoint_v2(db, schema, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            return
        }
        do {
            let guardian = try self.guardian ?? open()
            self.guardian = guardian
            guardian.lockTimeoutSeconds = length / 4 >= pages ? connection.timeout : 0
            _ = try guardian.holdingWriteLock {
                sqlite3_wal_checkpoint_v2(db, schema, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            }
        } catch let error as DatabaseError where error.resultCode.primary == .busy {
            return
        } catch {
            // The key may have changed, or there were no free descriptors.
            letGo()
        }
    }

    /// Closes the guardian: this connection has to be the last one, whose closing empties the log.
    func letGo() {
        try? guardian?.close()
        guardian = nil
    }
}
