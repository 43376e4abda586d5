public import LiteVaultCore
public import LiteVaultPool

// Records from a SELECT that is written by hand.

extension Connection {
    /// Reads the rows of a SELECT as records. Its columns have to be those of the record, by name and order: ``Record/columnList``.
    ///
    /// ```swift
    /// let notes = try db.all("SELECT \(Note.columnList) FROM note WHERE id IN \(ids)", as: Note.self)
    /// ```
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as a literal; `SQL(sql:)` for other text.
    ///   - type: the record.
    /// - Throws: `VaultError` `conformance` for other columns; `QueryError`; `DatabaseError`.
    public func all<R: Record>(_ sql: SQL, as type: R.Type) throws -> [R] { try R.all(self, sql, []) }

    /// Reads the first row of a SELECT as a record; nil when there is none.
    ///
    /// - Parameters:
    ///   - sql: one SQL statement, as for `all`.
    ///   - type: the record.
    /// - Throws: as `all`.
    public func first<R: Record>(_ sql: SQL, as type: R.Type) throws -> R? { try R.first(self, sql, []) }
}

extension Record {
    /// Reads the rows of a SELECT that is written by hand. Its columns have to be those of the record, by name and order:
    /// ``columnList``.
    ///
    /// ```swift
    /// try Note.all(pool, sql: "SELECT \(Note.columnList) FROM note WHERE title LIKE \(pattern) AND id IN \(ids)")
    /// ```
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - sql: one SQL statement, as a literal; `SQL(sql:)` for other text.
    ///   - values: a value for each parameter, in order, if the literal interpolates none; `Bindings` for values by name.
    /// - Throws: `VaultError` `conformance` for other columns; `QueryError`; `DatabaseError`.
    public static func all(
        _ db: some RecordDatabase, sql: SQL, with values: any StatementArgument...
    ) throws -> [Self] { try db._withReader { try all($0, sql, values) } }

    /// Reads the first row of a SELECT that is written by hand; nil when there is none.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - sql: one SQL statement, as for `all`.
    ///   - values: as for `all`.
    /// - Throws: as `all`.
    public static func first(
        _ db: some RecordDatabase, sql: SQL, with values: any StatementArgument...
    ) throws -> Self? { try db._withReader { try first($0, sql, values) } }

    fileprivate static func all(_ db: Connection, _ sql: SQL, _ values: [any StatementArgument]) throws -> [Self] {
        let execution = try begin(db, sql, values)
        defer { db.end(execution) }
        return try readAll(execution)
    }

    fileprivate static func first(_ db: Connection, _ sql: SQL, _ values: [any StatementArgument]) throws -> Self? {
        let execution = try begin(db, sql, values)
        defer { db.end(execution) }
        guard try execution.step() else { return nil }
        let record = try read(execution)
        try execution.finish()
        return record
    }

    private static func begin(_ db: Connection, _ sql: SQL, _ values: [any StatementArgument]) throws -> Execution {
        let execution = try db.begin(sql, with: ArgumentsInOrder(values: values))
        do {
            let names = execution.withPrepared { $0.rowColumns().names }
            guard names.count == table.columnCount,
                zip(names, table.columns).allSatisfy(isSameName)
            else {
                throw VaultError(
                    .conformance, "The statement returns the columns \(names.joined(separator: ", "))",
                    remedy: "Select \(table.columns.joined(separator: ", ")), in this order.")
            }
            return execution
        } catch {
            db.end(execution)
            throw error
        }
    }
}

extension Record where Self: Sendable {
    /// Reads the rows of a SELECT that is written by hand, without blocking a thread: see ``all(_:sql:with:)``.
    public static func all(
        _ db: DatabaseAccess, sql: SQL, with values: any StatementArgument...
    ) async throws -> [Self] { try await db.read { try all($0, sql, values) } }

    /// Reads the first row of a SELECT that is written by hand, without blocking a thread: see ``first(_:sql:with:)``.
    public static func first(
        _ db: DatabaseAccess, sql: SQL, with values: any StatementArgument...
    ) async throws -> Self? { try await db.read { try first($0, sql, values) } }
}

private struct ArgumentsInOrder: StatementArgument {
    let values: [any StatementArgument]

    func bind(to statement: OpaquePointer, after index: inout Int32) throws -> Int32 {
        var code: Int32 = 0
        for value in values {
            let bound = try value.bind(to: statement, after: &index)
            if code == 0 { code = bound }
        }
        return code
    }
}
