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

    /// What a checkpoint waits for (https://sqlite.org/c3ref/wal_checkpoint_v2.html).
    public enum WALCheckpointMode: String, Sendable {
        case passive = "PASSIVE"
        case full = "FULL"
        case restart = "RESTART"
        case truncate = "TRUNCATE"
    }

    /// `PRAGMA journal_mode` of the main database. ``setJournalMode(_:)`` throws.
    public var journalMode: JournalMode {
        get { (try? scalar("PRAGMA journal_mode") as? String).flatMap { JournalMode(rawValue: $0) } ?? .delete }
        set { _ = try? setJournalMode(newValue) }
    }

    /// Changes the journal mode (`PRAGMA journal_mode`). On an encrypted file, only after its key.
    ///
    /// - Returns: the mode that is in force: the engine may keep another one, for a database in memory for example.
    /// - Throws: `DatabaseError`, for example `SQLITE_BUSY`; and when a file's mode is not the one asked for.
    @discardableResult
    public func setJournalMode(_ mode: JournalMode) throws -> JournalMode {
        let actual = try requestJournalMode(mode)
        if actual != mode, location.isFile {
            throw DatabaseError(misuse: "the journal mode is still \(actual.rawValue), not \(mode.rawValue)")
        }
        return actual
    }

    /// Asks for a journal mode, and returns the one that holds then.
    package func requestJournalMode(_ mode: JournalMode) throws -> JournalMode {
        let answer = try scalar("PRAGMA journal_mode = \(mode.rawValue)") as? String
        guard let answer, let actual = JournalMode(rawValue: answer.lowercased()) else {
            throw DatabaseError(misuse: "the engine did not accept journal mode \(mode.rawValue)")
        }
        return actual
    }

    /// Whether there is a file that may be written: only such a database has a journal mode to choose.
    package var canChangeJournalMode: Bool { !readonly && !description.isEmpty }

    /// Changes to write-ahead logging: readers and a writer no longer block each other. The file keeps the mode.
    ///
    /// - Throws: as ``setJournalMode(_:)``.
    @discardableResult
    public func enableWAL() throws -> JournalMode { try setJournalMode(.wal) }

    /// After how many pages in the log a commit checkpoints (`PRAGMA wal_autocheckpoint`); 0 or less: never. Setting it
    /// ends what ``setWALAutoCheckpoint(_:guardedBy:)`` began.
    public var walAutoCheckpoint: Int {
        get {
            let pages = (try? integer("wal_autocheckpoint")).map { Int($0) } ?? 0
            // The engine knows only of its own.
            return pages == 0 ? (reading { _ in hooks.checkpoints?.pages } ?? nil) ?? 0 : pages
        }
        set { try? setWALAutoCheckpoint(newValue) }
    }

    /// Sets after how many pages in the log a commit checkpoints (`PRAGMA wal_autocheckpoint`); 0 for never. Ends what
    /// ``setWALAutoCheckpoint(_:guardedBy:)`` began.
    ///
    /// - Throws: `DatabaseError`
    public func setWALAutoCheckpoint(_ pages: Int) throws {
        try run("PRAGMA wal_autocheckpoint = \(pages)")
        reading { _ in hooks.checkpoints = nil }
    }

    /// Copies the log into the database file (`PRAGMA wal_checkpoint`).
    ///
    /// On engines with ``EngineInfo/Defect/walReset``, a `passive` checkpoint, or another one that does not get the write
    /// lock within the busy timeout, is safe only while no other connection commits: see ``walCheckpoint(guardedBy:)``.
    ///
    /// - Parameters:
    ///   - mode: what to wait for.
    ///   - schema: an attached database; all of them by default.
    /// - Returns: whether it was kept from finishing, the pages in the log, and how many of them were copied; -1 for
    ///   both when the database is not in WAL mode.
    /// - Throws: `DatabaseError`
    @discardableResult
    public func walCheckpoint(
        mode: WALCheckpointMode = .passive, schema: String? = nil
    ) throws -> (busy: Bool, log: Int, checkpointed: Int) {
        let prefix = schema.map { quoted($0) + "." } ?? ""
        let answer = try first("PRAGMA \(prefix)wal_checkpoint(\(mode.rawValue))") { row in
            (
                busy: try row.get(0, as: Int.self) != 0, log: try row.get(1, as: Int.self),
                checkpointed: try row.get(2, as: Int.self)
            )
        }
        return answer ?? (busy: false, log: -1, checkpointed: -1)
    }
}
