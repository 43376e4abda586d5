internal import LiteVaultEngine

/// A prepared SQL statement.
///
/// It can be run any number of times with different values for its parameters. Every call waits for the connection's
/// lock; a statement must be used by one thread at a time.
public final class Statement {
    @usableFromInline package let connection: Connection
    /// Nil when the text contains no statement, only white space and comments.
    @usableFromInline let prepared: PreparedStatement?
    private let text: String
    /// The statement that this one iterates over: see `init(iterating:)`.
    private let base: Statement?
    private var iteration: UInt64 = 0
    /// The error of a call that cannot throw; the next call that can throws it.
    private var pendingError: (any Error)?
    /// The names of the columns of an iteration's rows, once there was a row.
    private var rowColumns: RowColumns?
    /// Whether the last step of an iteration reached the end.
    private var isExhausted = false

    /// Prepares a statement (`sqlite3_prepare_v3`).
    ///
    /// - Throws: `DatabaseError` when the text is not valid SQL or contains a second statement, which module `SQLite` ignores.
    package init(_ connection: Connection, sql SQL: String) throws {
        self.connection = connection
        text = SQL
        base = nil
        _ = try connection.enter()
        defer { connection.leave() }
        prepared = try connection.cache.remove(SQL) ?? connection.compile(SQL)
    }

    /// Begins an iteration over the rows of a statement, from the first one. It shares the prepared statement, and
    /// resets it when it is released: otherwise a loop that was left early would hold its locks for as long as the
    /// statement exists.
    package init(iterating statement: Statement) {
        connection = statement.connection
        prepared = statement.prepared
        text = statement.text
        base = statement
        pendingError = statement.pendingError.take()
        statement.isExhausted = false
        guard let prepared else { return }
        try? connection.withLock {
            sqlite3_reset(prepared.handle)
            prepared.execution &+= 1
            iteration = prepared.execution
        }
    }

    deinit {
        guard let prepared else { return }
        guard base != nil else { return connection.deferring(.finalization(prepared)) }
        if !isExhausted { connection.deferring(.endOfIteration(prepared, iteration)) }
    }

    /// The number of columns of a row (`sqlite3_column_count`): 0 for a statement that returns none.
    public var columnCount: Int { columnNames.count }

    /// The names of the columns (`sqlite3_column_name`).
    public var columnNames: [String] {
        guard let prepared else { return [] }
        return (try? connection.withLock { prepared.columnNames }) ?? []
    }

    /// The number of parameters (`sqlite3_bind_parameter_count`).
    public var parameterCount: Int { Int(prepared?.parameterCount ?? 0) }

    /// Whether running it changes nothing in the database file (`sqlite3_stmt_readonly`).
    public var isReadOnly: Bool { prepared.map { sqlite3_stmt_readonly($0.handle) != 0 } ?? true }

    /// Runs a block with the prepared statement, under the connection's lock.
    ///
    /// - Throws: an error deferred by an earlier call, and `SQLITE_MISUSE` for a text without a statement.
    @inlinable
    package func withPrepared<T>(_ body: (PreparedStatement) throws -> T) throws -> T {
        _ = try connection.enter()
        defer { connection.leave() }
        guard let prepared, !hasPendingError else { throw unusable() }
        return try body(prepared)
    }

    /// A function, as the compiler checks accesses to a variable at run time if other modules' code has them.
    @usableFromInline
    var hasPendingError: Bool { pendingError != nil }

    @usableFromInline
    func unusable() -> any Error {
        defer { pendingError = nil }
        return pendingError ?? DatabaseError(misuse: "the SQL text is empty", sql: text)
    }
}

/// Statements are not Sendable: one thread could step a statement while another reads it.
@available(*, unavailable)
extension Statement: @unchecked Sendable {}

extension Connection {
    /// Prepares a statement (`sqlite3_prepare_v3`) to run it many times. For occasional statements this is not needed:
    /// the connection caches the ones it used last.
    ///
    /// - Parameter sql: one SQL statement. Use ``execute(_:)`` for several.
    /// - Throws: `DatabaseError` when the text is not valid SQL or contains a second statement; `VaultError` `unsupported`,
    ///   which names the required version, when the linked engine is too old for it.
    public func prepare(_ sql: String) throws -> Statement { try Statement(self, sql: sql) }

    /// The name for the rowid of a table that no column hides; nil for a table WITHOUT ROWID.
    ///
    /// - Parameter table: its name as SQL text.
    package func rowidAlias(of table: String, hiddenBy columns: Set<SQLName>) throws -> String? {
        guard let alias = SQLName.ofRowid.first(where: { !columns.contains($0) })?.text else { return nil }
        do {
            _ = try prepare("SELECT \(alias) FROM \(table)")
            return alias
        } catch let error as DatabaseError where error.resultCode.primary == .error {
            // "no such column": the table is WITHOUT ROWID.
            return nil
        }
    }
}

extension Statement: CustomStringConvertible {
    /// The SQL text, as it was prepared. Keys written into the text are replaced.
    public var description: String { SQLRedaction.redacted(text) }
}

// Binding

extension Statement {
    /// Resets the statement and binds a value to each parameter, in order.
    ///
    /// - Throws: `SQLITE_RANGE` when the number of values is not that of the parameters; nothing is bound then.
    package func setBindings(_ values: [(any Binding)?]) throws {
        // An earlier failed bind no longer matters.
        pendingError = nil
        try withPrepared { prepared in
            rewind(prepared)
            guard values.count == Int(prepared.parameterCount) else {
                throw DatabaseError(
                    wrongCount: values.count, expected: Int(prepared.parameterCount), sql: prepared.sql)
            }
            for (index, value) in values.enumerated() {
                try bind(value, at: Int32(index + 1), of: prepared)
            }
        }
    }

    /// Resets the statement and binds values to parameters by name, with the `:`, `@` or `$`. Parameters that are not
    /// named are NULL.
    ///
    /// - Throws: `SQLITE_RANGE` when the statement has no parameter of that name.
    package func setBindings(_ values: [String: (any Binding)?]) throws {
        pendingError = nil
        try withPrepared { prepared in
            rewind(prepared)
            for (name, value) in values {
                // A name ends at a NUL in C, and the part before it could be a parameter.
                let index = name.utf8.contains(0) ? 0 : sqlite3_bind_parameter_index(prepared.handle, name)
                guard index > 0 else { throw DatabaseError(unknownParameter: name, sql: prepared.sql) }
                try bind(value, at: index, of: prepared)
            }
        }
    }

    /// Binds, and defers an error to the next call that can throw.
    package func deferringError(_ body: () throws -> Void) -> Statement {
        do { try body() } catch { pendingError = error }
        return self
    }

    private func rewind(_ prepared: PreparedStatement) {
        noteExecution(prepared)
        prepared.reset()
        isExhausted = false
    }

    private func bind(_ value: (any Binding)?, at index: Int32, of prepared: PreparedStatement) throws {
        let code = value?.bind(to: prepared.handle, at: index) ?? sqlite3_bind_null(prepared.handle, index)
        if code & 0xff == SQLITE_MISMATCH {
            throw DatabaseError(unstorableValue: code, in: prepared.handle, sql: prepared.sql)
        }
        try connection.check(code, sql: prepared.sql)
    }
}

// Execution with the bound values

extension Statement {
    /// Runs the statement to its end.
    ///
    /// - Throws: `DatabaseError`; the statement is reset and holds no lock.
    package func runBound() throws -> Statement {
        try withPrepared { prepared in
            sqlite3_reset(prepared.handle)
            defer { sqlite3_reset(prepared.handle) }
            while try step(prepared) {}
        }
        isExhausted = false
        return self
    }

    /// The first column of the first row; nil when it is NULL or there is no row.
    ///
    /// - Throws: `DatabaseError`; the statement is reset and holds no lock.
    package func valueOfBound() throws -> (any Binding)? {
        try withPrepared { prepared in
            sqlite3_reset(prepared.handle)
            defer { sqlite3_reset(prepared.handle) }
            guard try step(prepared) else { return nil }
            let value = untyped(sqlite3_column_value(prepared.handle, 0))
            // A writing statement commits only when it ends, which can fail.
            try connection.check(sqlite3_reset(prepared.handle), sql: prepared.sql)
            return value
        }
    }

    /// Advances to the next row (`sqlite3_step`). After the last row the next call starts from the beginning.
    ///
    /// - Returns: false when there are no more rows.
    /// - Throws: `DatabaseError`; the statement is reset.
    package func advance() throws -> Bool {
        try withPrepared {
            noteExecution($0)
            return try step($0)
        }
    }

    /// Ends the execution: the statement releases its locks and forgets its bound values (`sqlite3_reset`,
    /// `sqlite3_clear_bindings`).
    package func clear() {
        try? withPrepared { $0.reset() }
        isExhausted = false
    }

    /// Ends the execution, and keeps the bound values.
    package func endExecution() {
        try? withPrepared { _ = sqlite3_reset($0.handle) }
        isExhausted = false
    }

    /// The next row of untyped values, or nil after the last one. The call after that begins with the
    /// first row again, as ``advance()`` does; an iteration stays at its end.
    ///
    /// - Throws: `DatabaseError`; the statement is reset.
    package func nextValues() throws -> [(any Binding)?]? {
        try withPrepared { prepared in
            noteExecution(prepared)
            guard !isExhausted else { return nil }
            guard try step(prepared) else {
                isExhausted = base != nil
                sqlite3_reset(prepared.handle)
                return nil
            }
            return (0..<sqlite3_column_count(prepared.handle)).map {
                untyped(sqlite3_column_value(prepared.handle, $0))
            }
        }
    }

    /// The next row of an iteration, copied; nil after the last one.
    package func nextRow(_ columns: (PreparedStatement) throws -> RowColumns) throws -> Row? {
        try withPrepared { prepared in
            guard !isExhausted else { return nil }
            guard try step(prepared) else {
                isExhausted = true
                sqlite3_reset(prepared.handle)
                return nil
            }
            // The names stay valid until another execution begins.
            if let rowColumns, base != nil, prepared.execution == iteration { return prepared.copyRow(rowColumns) }
            let found = try columns(prepared)
            rowColumns = found
            return prepared.copyRow(found)
        }
    }

    private func step(_ prepared: PreparedStatement) throws -> Bool {
        try connection.requireRunnable(resetting: prepared.handle)
        prepared.isRunning = true
        let code = sqlite3_step(prepared.handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        do { try connection.check(code, sql: prepared.sql) } catch {
            sqlite3_reset(prepared.handle)
            throw error
        }
        return false
    }

    /// Records that the statement itself is being executed.
    private func noteExecution(_ prepared: PreparedStatement) {
        if base == nil { prepared.execution &+= 1 }
    }
}

// Execution with typed values: the parts of `run(with:)` and `forEach(with:)`

extension Statement {
    /// Takes the connection's lock, and resets the statement.
    @usableFromInline
    func begin() throws -> Execution {
        _ = try connection.enter()
        guard let execution, pendingError == nil else {
            defer { connection.leave() }
            throw unusable()
        }
        do { try connection.requireRunnable(resetting: execution.handle) } catch {
            connection.leave()
            throw error
        }
        isExhausted = false
        execution.prepared.withObject { prepared in
            if prepared.isRunning { sqlite3_reset(execution.handle) }
            prepared.isRunning = true
            prepared.mayHaveNewNames = true
            noteExecution(prepared)
        }
        return execution
    }

    /// Resets the statement, and releases the connection's lock.
    @usableFromInline
    func end(_ execution: Execution) {
        sqlite3_reset(execution.handle)
        execution.prepared.withObject { $0.isRunning = false }
        connection.leave()
    }

    /// Nil for a text without a statement.
    private var execution: Execution? {
        // Created before any call, so that no reference is counted.
        guard let prepared else { return nil }
        return Execution(prepared, of: connection)
    }
}

// Comparing rows of two connections

extension Statement {
    /// Whether the current row is equal to a row of another statement, in storage classes and content.
    ///
    /// - Parameter textAsStored: see ``RowView/isEqual(to:textAsStored:)``.
    package func isCurrentRowEqual(to row: borrowing RowView, textAsStored: Bool) -> Bool {
        guard let prepared else { return false }
        return RowView(prepared).isEqual(to: row, textAsStored: textAsStored)
    }
}
