internal import CEngineSupport
internal import LiteVaultEngine

// SQL as text: one function per task. The statement comes from the cache, columns are read with types known at compile time,
// and the lock is taken once for the whole statement. The functions are inlined into their callers: the compiler does not
// specialize what has a parameter pack (Swift 6.3), but what is in the caller knows all types, and closures become part of the loop.

/// The result of running a statement.
public struct RunResult: Sendable, Equatable {
    /// The number of inserted, updated or deleted rows, excluding those of triggers (`sqlite3_changes64`).
    public let changes: Int
    /// The rowid of the last row inserted on the connection (`sqlite3_last_insert_rowid`): by this statement, if it
    /// inserted one. 0 before the first.
    public let insertedRowID: Int64

    package init(changes: Int, insertedRowID: Int64) {
        self.changes = changes
        self.insertedRowID = insertedRowID
    }
}

extension Connection {
    /// Runs any number of SQL statements, without values and without reading rows (`sqlite3_exec`).
    ///
    /// - Parameter SQL: statements, separated by semicolons.
    /// - Throws: `DatabaseError` of the first statement that fails; `VaultError` `unsupported` when the linked engine is too
    ///   old for it. Earlier statements stay in effect, unless they are in a transaction.
    public func execute(_ SQL: String) throws {
        let db = try enter()
        defer { leave() }
        // sqlite3_exec stops at the first NUL: the rest would silently be ignored.
        guard !SQL.utf8.contains(0) else { throw DatabaseError(misuse: "the SQL text contains a NUL", sql: SQL) }
        try requireUntracedExport(SQL)
        try requireRunnable()
        forgetSchema(before: SQL)
        do {
            if requiresTransaction {
                try executeInTransaction(SQL, db)
            } else {
                try check(sqlite3_exec(db, SQL, nil, nil, nil), sql: SQL)
            }
        } catch let error as DatabaseError {
            // The engine counts from the start of the statement that failed.
            throw EngineRequirement.unmet(by: SQL, error) ?? error.withoutOffset()
        }
    }

    /// Works like `sqlite3_exec`, and checks before each statement that the transaction is still open.
    private func executeInTransaction(_ SQL: String, _ db: OpaquePointer) throws {
        try SQL.withCString { start in
            var next = start
            while next.pointee != 0 {
                try requireRunnable()
                var statement: OpaquePointer?
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v2(db, next, -1, &statement, &tail)
                defer { sqlite3_finalize(statement) }
                try check(code, sql: SQL)
                if let statement {
                    var code = sqlite3_step(statement)
                    while code == SQLITE_ROW { code = sqlite3_step(statement) }
                    try check(code, sql: SQL)
                }
                guard let tail, tail > next else { return }
                next = tail
            }
        }
    }

    /// Runs one statement to its end.
    ///
    /// ```swift
    /// try db.run("UPDATE note SET title = \(title) WHERE id = \(id)")
    /// try db.run("UPDATE note SET title = ? WHERE id = ?", with: title, id)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; ``SQL/init(sql:)`` for other text.
    ///   - values: a value for each parameter, in order, if the literal interpolates none; ``Bindings`` for values by name.
    /// - Returns: the number of changed rows, and the inserted rowid.
    /// - Throws: `DatabaseError`, also for the wrong number of values; `VaultError` `unsupported` for SQL that the linked engine is too
    ///   old for. Nothing is changed then.
    @discardableResult
    @_disfavoredOverload
    @inlinable
    @inline(__always)
    public func run<each A: StatementArgument>(_ sql: SQL, with values: repeat each A) throws -> RunResult {
        let execution = try begin(sql, with: repeat each values)
        defer { end(execution) }
        return try execution.runToEnd()
    }

    /// Reads the first column of the first row.
    ///
    /// ```swift
    /// let count = try db.value("SELECT count(*) FROM note WHERE author = \(name)", as: Int.self)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; ``SQL/init(sql:)`` for other text.
    ///   - values: a value for each parameter, in order, if the literal interpolates none; ``Bindings`` for values by name.
    ///   - type: the type to read it as. `Int?.self` returns nil for NULL, and if there is no row.
    /// - Throws: `QueryError` when there is no row, or the value is NULL or cannot be read as the type; `DatabaseError`.
    @inlinable
    @inline(__always)
    public func value<T: ColumnValue, each A: StatementArgument>(
        _ sql: SQL, with values: repeat each A, as type: T.Type = T.self
    ) throws -> T {
        let execution = try begin(sql, with: repeat each values)
        defer { end(execution) }
        guard try execution.step() else { return try execution.valueWithoutRow() }
        let value = try T.read(from: ColumnReader(execution, 0))
        try execution.finish()
        return value
    }

    /// Reads the first row, if there is one, as the value of its first column or as a record.
    ///
    /// ```swift
    /// let title = try db.first("SELECT title FROM note WHERE id = \(id)", as: String.self)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; ``SQL/init(sql:)`` for other text.
    ///   - values: a value for each parameter, in order, if the literal interpolates none; ``Bindings`` for values by name.
    ///   - type: the type to read it as; `Int?.self` if it may be NULL. The columns of a record have to be its own, by name and order:
    ///     `SELECT \(Note.columnList) …`.
    /// - Returns: the value; nil when there is no row.
    /// - Throws: `QueryError` when the value cannot be read as the type; `VaultError` `conformance` for other columns than the record's;
    ///   `DatabaseError`.
    @inlinable
    @inline(__always)
    public func first<T: _RowValue, each A: StatementArgument>(
        _ sql: SQL, with values: repeat each A, as type: T.Type
    ) throws -> T? {
        let execution = try begin(sql, with: repeat each values)
        defer { end(execution) }
        // Nothing is written then.
        if !execution.isReadOnly { try T._requireColumns(of: RowView(execution)) }
        let hasRow = try execution.step()
        // A cached statement has its new columns only now, after another connection has changed the schema.
        try T._requireColumns(of: RowView(execution))
        guard hasRow else { return nil }
        let value = try T._read(RowView(execution))
        try execution.finish()
        return value
    }

    /// Reads the first row.
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; ``SQL/init(sql:)`` for other text.
    ///   - values: a value for each parameter, in order, if the literal interpolates none; ``Bindings`` for values by name.
    ///   - transform: converts the row, which it must not keep, to a value.
    /// - Returns: the result of `transform`; nil when there is no row.
    /// - Throws: `DatabaseError`, and the errors of the closure; no lock of the database remains.
    @inlinable
    @inline(__always)
    public func first<T, each A: StatementArgument>(
        _ sql: SQL, with values: repeat each A, transform: (borrowing RowView) throws -> T
    ) throws -> T? {
        let execution = try begin(sql, with: repeat each values)
        defer { end(execution) }
        guard try execution.step() else { return nil }
        let first = try transform(RowView(execution))
        try execution.finish()
        return first
    }

    /// Reads every row, as the value of its first column or as a record.
    ///
    /// ```swift
    /// let titles = try db.all("SELECT title FROM note WHERE id IN \(ids)", as: String.self)
    /// let notes = try db.all("SELECT \(Note.columnList) FROM note WHERE id IN \(ids)", as: Note.self)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; ``SQL/init(sql:)`` for other text.
    ///   - values: a value for each parameter, in order, if the literal interpolates none; ``Bindings`` for values by name.
    ///   - type: the type to read it as, as for `first`.
    /// - Throws: `QueryError` when a value cannot be read as the type; `VaultError` `conformance` for other columns than the record's;
    ///   `DatabaseError`.
    @inlinable
    @inline(__always)
    public func all<T: _RowValue, each A: StatementArgument>(
        _ sql: SQL, with values: repeat each A, as type: T.Type
    ) throws -> [T] {
        let execution = try begin(sql, with: repeat each values)
        defer { end(execution) }
        if !execution.isReadOnly { try T._requireColumns(of: RowView(execution)) }
        var result: [T] = []
        result.reserveCapacity(execution.expectedRowCount)
        var hasRow = try execution.step()
        // As in `first`.
        try T._requireColumns(of: RowView(execution))
        while hasRow {
            result.append(try T._read(RowView(execution)))
            hasRow = try execution.step()
        }
        execution.noteRowCount(result.count)
        return result
    }

    /// Reads every row.
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; ``SQL/init(sql:)`` for other text.
    ///   - values: a value for each parameter, in order, if the literal interpolates none; ``Bindings`` for values by name.
    ///   - transform: converts a row, which it must not keep, to a value. It may use the connection.
    /// - Throws: `DatabaseError`, and the errors of the closure; no lock of the database remains.
    @inlinable
    @inline(__always)
    public func all<T, each A: StatementArgument>(
        _ sql: SQL, with values: repeat each A, transform: (borrowing RowView) throws -> T
    ) throws -> [T] {
        let execution = try begin(sql, with: repeat each values)
        defer { end(execution) }
        var result: [T] = []
        while try execution.step() { result.append(try transform(RowView(execution))) }
        return result
    }

    /// Calls a closure with every row.
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; ``SQL/init(sql:)`` for other text.
    ///   - values: a value for each parameter, in order, if the literal interpolates none; ``Bindings`` for values by name.
    ///   - body: called for each row, which it must not keep. It may use the connection.
    /// - Throws: `DatabaseError`, and the errors of the closure; no lock of the database remains.
    @inlinable
    @inline(__always)
    public func forEach<each A: StatementArgument>(
        _ sql: SQL, with values: repeat each A, body: (borrowing RowView) throws -> Void
    ) throws {
        let execution = try begin(sql, with: repeat each values)
        defer { end(execution) }
        while try execution.step() { try body(RowView(execution)) }
    }

    /// Takes the lock and the statement of a literal, and binds its values. Balance with `end(_:)`, unless this throws.
    ///
    /// - Throws: also `SQLITE_MISUSE` when values were both interpolated and passed: their order would not be that of the text.
    @usableFromInline
    package func begin<each A: StatementArgument>(_ sql: SQL, with values: repeat each A) throws -> Execution {
        let execution = try begin(sql.template)
        do {
            var index: Int32 = 0
            let interpolated = execution.bind(sql.bindings, after: &index)
            let passed = try execution.bind(repeat each values, after: &index)
            guard sql.bindings.isEmpty || index == sql.bindings.count else {
                throw DatabaseError(
                    misuse: "values were interpolated and passed by with: interpolate all of them", sql: sql.template)
            }
            try execution.check(binding: interpolated == SQLITE_OK ? passed : interpolated, count: index)
            return execution
        } catch {
            end(execution)
            throw error
        }
    }
}

extension Execution {
    /// Runs the statement to its end, after its values were bound.
    @usableFromInline
    package func runToEnd() throws -> RunResult {
        let db = sqlite3_db_handle(handle)
        guard let db else { throw failure(SQLITE_MISUSE) }
        let before = lv_total_changes(db)
        while try step() {}
        // For a statement that changes no rows, the engine still reports the count of the previous one.
        let changes = lv_total_changes(db) == before ? 0 : lv_changes(db)
        return RunResult(
            changes: Int(truncatingIfNeeded: changes), insertedRowID: sqlite3_last_insert_rowid(db))
    }

    /// The result of an INSERT, UPDATE or DELETE that has ended.
    package var result: RunResult { RunResult(changes: changedRowCount, insertedRowID: lastInsertRowid) }

    /// The value of a query without a row: the type's value for NULL, which the engine returns for a column then.
    @usableFromInline
    func valueWithoutRow<T: ColumnValue>() throws -> T {
        do { return try T.read(from: ColumnReader(self, 0)) } catch {
            throw QueryError.noRow(sql: SQLRedaction.redacted(prepared.object.sql))
        }
    }
}
