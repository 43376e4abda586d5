public import Foundation
public import LiteVaultCore

// `Connection` as SQLite.swift has it, where `import LiteVault` has another spelling: values without a label, results without
// a type, the state of the last statement, savepoints by name, and callbacks. Two things differ under `import LiteVault` although
// the spelling is the same: errors name the file and what to do, and a file that is changed to write-ahead logging keeps
// `synchronous = FULL`.

extension Connection {
    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - location: the location of the database; by default in memory, gone with the connection.
    ///   - readonly: opens an existing file for reading only.
    ///   - journalMode: set after opening as by ``setJournalMode(_:)``; skipped for connections that turn out to be
    ///     read-only and for databases without a file. An encrypted file is given its key first: leave it out there.
    /// - Throws: `Result`, for example with `SQLITE_CANTOPEN`; `VaultError` `unsupported` for a library without threads.
    public convenience init(
        _ location: Location = .inMemory, readonly: Bool = false, journalMode: JournalMode? = nil
    ) throws {
        do { try self.init(location, readonly: readonly, unlocker: nil) } catch let error as DatabaseError {
            throw error.withoutPath()
        }
        isDropIn = true
        dateStorage = .textWithT
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

    /// The `sqlite3` handle, for calls of the C API that this library does not have.
    ///
    /// Nothing keeps other threads from using it at the same time: prefer `withHandle(_:)`. On a closed connection this is the
    /// handle of an empty database in memory, so that C calls fail with an error instead of crashing.
    public var handle: OpaquePointer { unguardedHandle }

    /// Whether the main database cannot be written through this connection (`sqlite3_db_readonly`).
    public var readonly: Bool { isReadOnly }

    /// The version of the linked engine.
    public var sqliteVersion: SQLiteVersion { EngineInfo.linked.sqliteVersion }

    /// How long a call waits for locks of other connections, in seconds, before it fails with `SQLITE_BUSY`
    /// (`sqlite3_busy_timeout`). 0 by default: not at all. Setting it replaces a busy handler.
    public var busyTimeout: Double {
        get { lockTimeoutSeconds }
        set { lockTimeoutSeconds = newValue }
    }

    /// Calls a closure when another connection holds a lock (`sqlite3_busy_handler`).
    ///
    /// Replaces the busy timeout, as setting that replaces the handler.
    ///
    /// - Parameter callback: receives the number of previous calls for this lock; returns whether to try again. It must
    ///   not use the connection. nil: calls fail at once.
    public func busyHandler(_ callback: ((Int) -> Bool)?) { setBusyHandler(callback) }

    /// Whether errors are thrown as `Result.extendedError`. Off by default.
    public var usesExtendedErrorCodes: Bool {
        get { throwsExtendedErrors }
        set { throwsExtendedErrors = newValue }
    }

    /// Calls a closure with the text of each statement that starts, including values (`sqlite3_trace_v2`,
    /// `sqlite3_expanded_sql`).
    ///
    /// Keys are never part of it: statements that may carry one are shown with their literals replaced and without bound
    /// values. The connection must not be used in the closure.
    ///
    /// - Parameter callback: nil removes the trace.
    public func trace(_ callback: ((String) -> Void)?) { setTrace(callback) }

    /// Runs a block in a savepoint: releases it when the block returns, rolls back to it when it throws.
    ///
    /// Other threads wait until the block returns. Outside of a transaction, the savepoint is a transaction of its own.
    ///
    /// - Parameters:
    ///   - name: any text; a new one by default.
    ///   - block: what runs in the savepoint.
    /// - Returns: the result of the block.
    /// - Throws: as `transaction(_:block:)`.
    @discardableResult
    public func savepoint<T>(_ name: String = UUID().uuidString, block: () throws -> T) throws -> T {
        try withSavepoint(named: name, block)
    }

    /// Begins a copy of a database of this connection into one of another connection.
    ///
    /// - Throws: as `Backup.init`.
    public func backup(
        databaseName: Backup.DatabaseName = .main, usingConnection targetConnection: Connection,
        andDatabaseName targetDatabaseName: Backup.DatabaseName = .main
    ) throws -> Backup {
        try Backup(
            sourceConnection: self, sourceName: databaseName, targetConnection: targetConnection,
            targetName: targetDatabaseName)
    }
}

extension Connection {
    /// Prepares a statement and binds values to its parameters, in order.
    ///
    /// - Parameters:
    ///   - statement: one SQL statement. Of several the first one runs, and the others are ignored: use `execute(_:)`.
    ///   - bindings: the parameters' values; without values, nothing is bound.
    /// - Throws: `Result` when the text is not valid SQL, and for the wrong number of values.
    public func prepare(_ statement: String, _ bindings: (any Binding)?...) throws -> Statement {
        bindings.isEmpty ? try Statement(self, sql: statement) : try prepare(statement, bindings)
    }

    /// Prepares a statement and binds values to its parameters, in order.
    ///
    /// - Throws: as ``prepare(_:_:)``.
    public func prepare(_ statement: String, _ bindings: [(any Binding)?]) throws -> Statement {
        let prepared = try Statement(self, sql: statement)
        try prepared.setBindings(bindings)
        return prepared
    }

    /// Prepares a statement and binds values to its parameters, by name (with the `:`, `@` or `$`).
    ///
    /// - Throws: `Result`, also when the statement has no parameter of that name.
    public func prepare(_ statement: String, _ bindings: [String: (any Binding)?]) throws -> Statement {
        let prepared = try Statement(self, sql: statement)
        try prepared.setBindings(bindings)
        return prepared
    }

    /// The rows of a query.
    ///
    /// - Throws: `Result` when the text is not valid SQL.
    public func prepareRowIterator(_ statement: String, bindings: (any Binding)?...) throws -> RowIterator {
        try prepareRowIterator(statement, bindings: bindings)
    }

    /// The rows of a query, with values for its parameters in order.
    ///
    /// - Throws: `Result` when the text is not valid SQL.
    public func prepareRowIterator(_ statement: String, bindings: [(any Binding)?]) throws -> RowIterator {
        RowIterator(try prepare(statement, bindings))
    }

    /// Runs a statement once.
    ///
    /// - Throws: `Result`.
    @discardableResult
    public func run(_ statement: String, _ bindings: (any Binding)?...) throws -> Statement {
        bindings.isEmpty ? try Statement(self, sql: statement).run() : try run(statement, bindings)
    }

    /// Runs a statement once, with values for its parameters in order.
    ///
    /// - Throws: `Result`.
    @discardableResult
    public func run(_ statement: String, _ bindings: [(any Binding)?]) throws -> Statement {
        try prepare(statement, bindings).run()
    }

    /// Runs a statement once, with values for its parameters by name.
    ///
    /// - Throws: `Result`.
    @discardableResult
    public func run(_ statement: String, _ bindings: [String: (any Binding)?]) throws -> Statement {
        try prepare(statement, bindings).run()
    }

    /// The first column of the first row; nil when it is NULL or there is no row.
    ///
    /// - Throws: `Result`.
    public func scalar(_ statement: String, _ bindings: (any Binding)?...) throws -> (any Binding)? {
        bindings.isEmpty ? try Statement(self, sql: statement).scalar() : try scalar(statement, bindings)
    }

    /// The first column of the first row, with values for the parameters in order.
    ///
    /// - Throws: `Result`.
    public func scalar(_ statement: String, _ bindings: [(any Binding)?]) throws -> (any Binding)? {
        try Statement(self, sql: statement).scalar(bindings)
    }

    /// The first column of the first row, with values for the parameters by name.
    ///
    /// - Throws: `Result`.
    public func scalar(_ statement: String, _ bindings: [String: (any Binding)?]) throws -> (any Binding)? {
        try Statement(self, sql: statement).scalar(bindings)
    }

    /// Rebuilds the database file without free pages (`VACUUM`).
    ///
    /// - Throws: `Result`, for example inside a transaction; the database is unchanged then.
    @discardableResult
    public func vacuum() throws -> Statement {
        let statement = try Statement(self, sql: "VACUUM")
        try rebuildFile()
        return statement
    }

    /// The rowid of the last row inserted on this connection (`sqlite3_last_insert_rowid`); 0 before the first.
    public var lastInsertRowid: Int64 { lastInsertedRowID }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed (`sqlite3_changes64`), excluding triggers.
    public var changes: Int { changedRowCount }

    /// The number of rows changed since the connection was opened (`sqlite3_total_changes64`), including triggers.
    public var totalChanges: Int { totalChangedRowCount }
}
