public import LiteVaultCore

// Pragmas as properties, as in SQLite.swift: errors in setting one are lost. `setPragma(_:to:)` throws.

/// The type of `PRAGMA user_version`.
public typealias UserVersion = Int32

extension Connection {
    /// `PRAGMA user_version`: a number of the application's own, in the header of the file. nil if it cannot be read;
    /// setting nil sets 0, as in SQLite.swift.
    public var userVersion: UserVersion? {
        get { try? pragma(.userVersion) }
        set { try? setPragma(.userVersion, to: newValue ?? 0) }
    }

    /// `PRAGMA foreign_keys`: whether foreign keys are enforced. The engine ignores the setting inside a transaction.
    public var foreignKeys: Bool {
        get { (try? pragma(.foreignKeys)) ?? false }
        set { try? setPragma(.foreignKeys, to: newValue) }
    }

    /// `PRAGMA defer_foreign_keys`: whether violations are tolerated until the current transaction commits.
    public var deferForeignKeys: Bool {
        get { (try? pragma(.deferForeignKeys)) ?? false }
        set { try? setPragma(.deferForeignKeys, to: newValue) }
    }

    /// `PRAGMA synchronous`. An error in setting it is lost: ``setSynchronous(_:)`` throws.
    public var synchronous: Synchronous {
        get { (try? pragma(.synchronous)) ?? .full }
        set { try? setSynchronous(newValue) }
    }

    /// Sets how often the engine waits for the disk (`PRAGMA synchronous`).
    ///
    /// - Throws: `Result`, also inside a transaction.
    public func setSynchronous(_ mode: Synchronous) throws { try setPragma(.synchronous, to: mode) }

    /// `PRAGMA wal_autocheckpoint`: the number of pages in the log after which a commit checkpoints; 0 or less: never.
    public var walAutoCheckpoint: Int {
        get { (try? pragma(.walAutoCheckpoint)) ?? 0 }
        set { try? setPragma(.walAutoCheckpoint, to: newValue) }
    }

    /// `PRAGMA journal_mode` of the main database. An error in setting it is lost: ``setJournalMode(_:)`` throws.
    public var journalMode: JournalMode {
        get { (try? currentJournalMode()) ?? .delete }
        set { _ = try? setJournalMode(newValue) }
    }

    /// Changes the journal mode (`PRAGMA journal_mode`), if there is a writable file. With write-ahead logging
    /// `synchronous` becomes `.normal`: a power failure may then undo the last commits, without damage.
    ///
    /// - Returns: the mode in effect, which may differ from the requested one.
    /// - Throws: `Result`, for example with `SQLITE_BUSY`.
    @discardableResult
    public func setJournalMode(_ mode: JournalMode) throws -> JournalMode {
        guard canChangeJournalMode else { return try currentJournalMode() }
        let actual = try requestJournalMode(mode)
        if mode == .wal, actual == .wal { try setPragma(.synchronous, to: .normal) }
        return actual
    }

    /// Changes to write-ahead logging, as ``setJournalMode(_:)`` does: readers and a writer no longer block each other.
    ///
    /// - Returns: the mode in effect.
    /// - Throws: as ``setJournalMode(_:)``.
    @discardableResult
    public func enableWAL() throws -> JournalMode { try setJournalMode(.wal) }
}
