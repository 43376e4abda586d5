public import LiteVaultCore
public import LiteVaultPool

// Records from a SELECT that is written by hand: `Note.all(pool, sql: …)`, and `db.all(…, as: Note.self)` of a connection.

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
    ) throws -> [Self] {
        try db._withReader { try $0.all(sql, with: ArgumentsInOrder(values: values), as: Self.self) }
    }

    /// Reads the first row of a SELECT that is written by hand; nil when there is none.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - sql: one SQL statement, as for `all`.
    ///   - values: as for `all`.
    /// - Throws: as `all`.
    public static func first(
        _ db: some RecordDatabase, sql: SQL, with values: any StatementArgument...
    ) throws -> Self? {
        try db._withReader { try $0.first(sql, with: ArgumentsInOrder(values: values), as: Self.self) }
    }

    /// Throws `VaultError` `conformance` for other columns than the record's.
    public static func _requireColumns(of row: borrowing RowView) throws {
        let names = row.columnNames
        guard names.count == table.columnCount, zip(names, table.columns).allSatisfy(isSameName) else {
            throw VaultError(
                .conformance, "The statement returns the columns \(names.joined(separator: ", "))",
                remedy: "Select \(table.columns.joined(separator: ", ")), in this order.")
        }
    }

    /// Reads the record's columns.
    @inlinable
    public static func _read(_ row: borrowing RowView) throws -> Self {
        var reader = RecordReader(row)
        let record = try Self(row: &reader)
        try requireAll(reader)
        return record
    }
}

extension Record where Self: Sendable {
    /// Reads the rows of a SELECT that is written by hand, without blocking a thread: see ``all(_:sql:with:)``.
    public static func all(
        _ db: DatabaseAccess, sql: SQL, with values: any StatementArgument...
    ) async throws -> [Self] {
        try await db.read { try $0.all(sql, with: ArgumentsInOrder(values: values), as: Self.self) }
    }

    /// Reads the first row of a SELECT that is written by hand, without blocking a thread: see ``first(_:sql:with:)``.
    public static func first(
        _ db: DatabaseAccess, sql: SQL, with values: any StatementArgument...
    ) async throws -> Self? {
        try await db.read { try $0.first(sql, with: ArgumentsInOrder(values: values), as: Self.self) }
    }
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
