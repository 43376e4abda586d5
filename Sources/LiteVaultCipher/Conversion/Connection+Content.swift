internal import LiteVaultCore
internal import LiteVaultEngine

// How operations on whole files read a connection.

extension Connection {
    /// Keeps temporary data in memory, because the engine would write it to plaintext files, and reads the schema, so
    /// that an unreadable one fails here.
    func prepareForOperation() throws {
        try execute("PRAGMA temp_store = MEMORY")
        _ = try value("SELECT count(*) FROM sqlite_master", as: StoredValue.self)
    }

    /// The same for a file that is to be read, in which the engine has to see a database. It counts pages by 32 bits: a file of
    /// 2^32 pages is an empty database to it, under any key, and a longer one begins again.
    ///
    /// - Throws: ``VaultError`` `damaged` if the file is longer than a database can be; `wrongKind` if the engine sees no page.
    func prepareForOperation(size: Int64) throws {
        try prepareForOperation()
        guard try size / max(512, pageSize()) <= Self.mostPages else {
            throw VaultError(
                .damaged, "The file is longer than a database can be: \(size) bytes", remedy: "Restore a backup.")
        }
        guard try integer("page_count") > 0 else {
            throw VaultError(
                .wrongKind, "The database has no page, so no key can be verified",
                remedy: "A '-journal' beside it may be of a first transaction that was not finished. Check the path.")
        }
    }

    /// The maximum number of pages (https://sqlite.org/limits.html#max_page_count).
    private static let mostPages: Int64 = 4_294_967_294

    /// Runs `body` in a read transaction with a snapshot, so that this connection sees no changes meanwhile.
    func reading<T>(_ body: () throws -> T) throws -> T {
        try transaction(.deferred) {
            _ = try value("SELECT count(*) FROM sqlite_master", as: StoredValue.self)
            return try body()
        }
    }

    /// Leaves WAL mode, as the log belongs to the name of the file, and takes the exclusive lock until ``endHold(walMode:)``.
    ///
    /// - Returns: false if another connection uses the log. Nothing has changed then.
    func holdExclusively(walMode: Bool) throws -> Bool {
        do {
            if walMode {
                guard try emptyLog() else { return false }
                try setPragma(.journalMode, to: .delete)
            }
            try execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            return true
        } catch {
            try? endHold(walMode: walMode)
            throw error
        }
    }

    /// Releases the lock, which takes an access, and restores the journal mode, whatever else fails.
    func endHold(walMode: Bool) throws {
        let release = Result<Void, any Error> {
            try execute("PRAGMA locking_mode = NORMAL")
            _ = try value("SELECT count(*) FROM sqlite_master", as: StoredValue.self)
        }
        if walMode { try setPragma(.journalMode, to: .wal) }
        try release.get()
    }

    /// The size of the database in bytes, as this connection sees it.
    func contentSize() throws -> Int64 { try integer("page_count") * pageSize() }

    /// The result of the engine's own check of the structure.
    enum Structure: Equatable {
        case sound
        case broken(String)
        /// The schema needs a collation or function that only the database's own application defines.
        case unchecked(String)
    }

    /// Runs `PRAGMA integrity_check` or `quick_check`, up to the first problem.
    func structure(_ check: String) throws -> Structure {
        do {
            let answer = try value("PRAGMA \(sql: check)", as: String?.self) ?? "no answer"
            return answer == "ok" ? .sound : .broken(answer)
        } catch let error as DatabaseError where error.needsItsApplication {
            return .unchecked(error.message)
        } catch let error as DatabaseError where error.isUnreadable {
            return .broken(error.message)
        }
    }
}

extension DatabaseError {
    /// Whether the schema refers to a collation, function or module that this process does not define. That does not
    /// depend on the state of the file.
    var needsItsApplication: Bool {
        code == 1 && (message.hasPrefix("no such ") || message.hasPrefix("unknown function"))
    }

    /// Whether a check of the structure ends with it when the engine cannot read the database.
    var isUnreadable: Bool { [1, 7, 11, 26].contains(code) && !isUnreadableDefinition }

    /// Whether a page that cannot be read may be the reason.
    ///
    /// SQLCipher 4 fails such a read with SQLITE_ERROR, and with the text that the engine has for this code. What is wrong with a
    /// statement has the same code and a text of its own.
    var mayBeDamage: Bool {
        switch resultCode.primary {
        case .corrupt: !isUnreadableDefinition
        case .notADatabase, .outOfMemory: true
        case .error:
            message.isEmpty || message == String(cString: sqlite3_errstr(SQLITE_ERROR))
                || message.hasPrefix("malformed ")
        default: false
        }
    }
}
