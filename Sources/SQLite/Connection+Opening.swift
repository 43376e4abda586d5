public import LiteVaultCore

// Opening, and the journal mode, as SQLite.swift has them. `import LiteVault` differs in two things: errors name the file and
// what to do, and a file that is changed to write-ahead logging keeps `synchronous = FULL`.

extension Connection {
    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - location: where the database is; by default in memory, gone with the connection.
    ///   - readonly: opens an existing file for reading only.
    ///   - journalMode: set after opening as by ``setJournalMode(_:)``; skipped for connections that turn out to be
    ///     read-only and for databases without a file. An encrypted file is given its key first: leave it out there.
    /// - Throws: `Result`, for example with `SQLITE_CANTOPEN`; `EngineUnsupported` for a library without threads.
    public convenience init(
        _ location: Location = .inMemory, readonly: Bool = false, journalMode: JournalMode? = nil
    ) throws {
        do { try self.init(location, readonly: readonly, unlocker: nil) } catch let error as DatabaseError {
            throw error.withoutPath()
        }
        isDropIn = true
        guard let journalMode else { return }
        do { try setJournalMode(journalMode) } catch {
            try? close()
            throw error
        }
    }

    /// Opens a connection to a file, by its path or a `file:` URI.
    ///
    /// - Throws: as `init(_:readonly:journalMode:)`.
    public convenience init(_ filename: String, readonly: Bool = false, journalMode: JournalMode? = nil) throws {
        try self.init(.uri(filename), readonly: readonly, journalMode: journalMode)
    }

    /// `PRAGMA journal_mode` of the main database. An error in setting it is lost: ``setJournalMode(_:)`` throws.
    public var journalMode: JournalMode {
        get { (try? currentJournalMode()) ?? .delete }
        set { _ = try? setJournalMode(newValue) }
    }

    /// Changes the journal mode (`PRAGMA journal_mode`), where there is a file that may be written. With write-ahead logging
    /// `synchronous` becomes `.normal`: a power failure may undo the last commits then, and damages nothing.
    ///
    /// - Returns: the mode that holds, which may be another one than that asked for.
    /// - Throws: `Result`, for example with `SQLITE_BUSY`.
    @discardableResult
    public func setJournalMode(_ mode: JournalMode) throws -> JournalMode {
        guard canChangeJournalMode else { return try currentJournalMode() }
        let actual = try requestJournalMode(mode)
        if mode == .wal, actual == .wal { try setSynchronous(.normal) }
        return actual
    }

    private func currentJournalMode() throws -> JournalMode {
        (try scalar("PRAGMA journal_mode") as? String).flatMap { JournalMode(rawValue: $0.lowercased()) } ?? .delete
    }

    /// Changes to write-ahead logging, as ``setJournalMode(_:)`` does: readers and a writer no longer block each other.
    ///
    /// - Returns: the mode that holds.
    /// - Throws: as ``setJournalMode(_:)``.
    @discardableResult
    public func enableWAL() throws -> JournalMode { try setJournalMode(.wal) }
}
