public import LiteVaultCore

// How a query becomes values, in this file from top to bottom: `begin` renders SQL and values and passes both to the
// connection, which takes its lock and a cached statement; each step of the execution returns a row; `RowColumnReader`
// reads its columns in order, with the types of the query.

/// A query whose columns have known types. Its rows are Swift tuples.
///
/// ```swift
/// for (id, email, name) in try db.all(users.select(id, email, name).filter(id > 5)) { … }
/// ```
public struct TypedQuery<each Column: SQLType>: QueryType {
    /// The clauses.
    public var clauses: QueryClauses

    /// Creates a query of a table by name, without columns; `select` adds them.
    ///
    /// - Parameters:
    ///   - name: the table.
    ///   - database: its database: `main`, `temp` or an attached one. By default SQLite searches all of them.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }

    fileprivate init(_ clauses: QueryClauses, _ columns: [SQLNode]) {
        self.clauses = clauses
        self.clauses.columns = columns
    }
}

extension QueryType {
    /// Selects columns, whose types become those of the rows.
    ///
    /// Use it directly inside `all`, `first` or `forEach`. Where the context requires no type, as in `let query =
    /// users.select(id, email)`, `select` returns the query itself, as in SQLite.swift: write `let query:
    /// TypedQuery<Int64, String> = …` there.
    @_disfavoredOverload
    public func select<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> TypedQuery<repeat each Column> {
        var nodes: [SQLNode] = []
        for column in repeat each columns { nodes.append(column.root) }
        return TypedQuery(clauses, nodes)
    }
}

extension Connection {
    // MARK: One value

    /// Returns the value of a query of one column and one row, such as `users.count` or `users.exists`.
    ///
    /// - Returns: the value. If its type is optional, nil when the value is NULL or there is no row.
    /// - Throws: `DatabaseError`; `QueryError.unexpectedNullValue` when the value is NULL or there is no row and the type is
    ///   not optional; `QueryError.unexpectedType` when the value is of another type.
    public func value<Query: ScalarStatement>(_ query: Query) throws -> Query.ScalarValue {
        let execution = try begin(query.node)
        defer { end(execution) }
        do {
            // No row reads as NULL, as it does in a subquery.
            guard try execution.step() else { return try Query.ScalarValue.value(of: .null) }
            var columns = RowColumnReader(execution)
            let value = try columns.next(Query.ScalarValue.self)
            try execution.finish()
            return value
        } catch QueryError.unexpectedNullValue {
            throw QueryError.unexpectedNullValue(name: query.expression.template)
        }
    }

    // MARK: Typed rows

    /// Fetches the values of a query of one column.
    ///
    /// - Throws: `DatabaseError`; `QueryError` when a value is NULL or of another type.
    public func all<V: SQLType>(_ query: ScalarQuery<V>) throws -> [V] {
        try fetchAll(query.clauses) { try $0.next(V.self) }
    }

    /// Fetches the first value of a query of one column; nil when there is no row.
    ///
    /// - Throws: as ``all(_:)``.
    public func first<V: SQLType>(_ query: ScalarQuery<V>) throws -> V? {
        try fetchFirst(query.clauses) { try $0.next(V.self) }
    }

    /// Fetches all rows of a query as tuples; of a query of one column, as values.
    ///
    /// - Throws: `DatabaseError`; `QueryError` when a value is NULL or of another type.
    @inlinable
    public func all<each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>
    ) throws -> [(repeat each Column)] {
        let execution = try begin(query.clauses)
        defer { end(execution) }
        var rows: [(repeat each Column)] = []
        while try execution.step() {
            var columns = RowColumnReader(execution)
            rows.append((repeat try columns.next((each Column).self)))
        }
        return rows
    }

    /// Fetches all rows of a query and makes a value of each: `all(users.select(id, email), transform: User.init)`.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - transform: called with the columns of each row.
    /// - Throws: as ``all(_:)``, and what the closure throws.
    @inlinable
    public func all<T, each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>, transform: (repeat each Column) throws -> T
    ) throws -> [T] {
        let execution = try begin(query.clauses)
        defer { end(execution) }
        var rows: [T] = []
        while try execution.step() {
            var columns = RowColumnReader(execution)
            rows.append(try transform(repeat try columns.next((each Column).self)))
        }
        return rows
    }

    /// Fetches the first row of a query as a tuple; nil when there is none.
    ///
    /// - Throws: as ``all(_:)``.
    @inlinable
    public func first<each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>
    ) throws -> (repeat each Column)? {
        let execution = try begin(query.clauses, limit: 1)
        defer { end(execution) }
        guard try execution.step() else { return nil }
        var columns = RowColumnReader(execution)
        let row = (repeat try columns.next((each Column).self))
        try execution.finish()
        return row
    }

    /// Calls a closure with the columns of each row of a query.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - body: called for each row. It may use the connection.
    /// - Throws: as ``all(_:)``, and what the closure throws. The query has ended then, and its lock is released.
    @inlinable
    public func forEach<each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>, _ body: (repeat each Column) throws -> Void
    ) throws {
        let execution = try begin(query.clauses)
        defer { end(execution) }
        while try execution.step() {
            var columns = RowColumnReader(execution)
            try body(repeat try columns.next((each Column).self))
        }
    }

    // MARK: Rows

    /// Fetches all rows of a query, to read columns from by expression: `try row.value(of: email)`.
    ///
    /// - Throws: `DatabaseError`
    public func all(_ query: any QueryType, as type: Row.Type) throws -> [Row] {
        let execution = try begin(query.clauses)
        defer { end(execution) }
        var rows: [Row] = []
        guard try execution.step() else { return rows }
        let columns = try execution.withPrepared { try self.columns(of: query, $0) }
        repeat { rows.append(execution.copyRow { _ in columns }) } while try execution.step()
        return rows
    }

    /// Fetches the first row of a query; nil when there is none.
    ///
    /// - Throws: `DatabaseError`
    public func first(_ query: any QueryType, as type: Row.Type) throws -> Row? {
        let execution = try begin(query.clauses, limit: 1)
        defer { end(execution) }
        guard try execution.step() else { return nil }
        let row = try execution.copyRow { try columns(of: query, $0) }
        try execution.finish()
        return row
    }

    // MARK: Execution

    /// Fetches all rows of a query, each read by a closure.
    @inlinable
    @inline(__always)
    func fetchAll<T>(_ clauses: QueryClauses, _ read: (inout RowColumnReader) throws -> T) throws -> [T] {
        let execution = try begin(clauses)
        defer { end(execution) }
        var rows: [T] = []
        rows.reserveCapacity(execution.expectedRowCount)
        while try execution.step() {
            var columns = RowColumnReader(execution)
            rows.append(try read(&columns))
        }
        execution.noteRowCount(rows.count)
        // Frees memory that was reserved for rows that did not come.
        let isOversized = rows.capacity > 64 && rows.count < rows.capacity / 2
        return isOversized ? rows.withUnsafeBufferPointer { Array($0) } : rows
    }

    /// Fetches the first row of a query, read by a closure; nil when there is none.
    @inlinable
    @inline(__always)
    func fetchFirst<T>(_ clauses: QueryClauses, _ read: (inout RowColumnReader) throws -> T) throws -> T? {
        let execution = try begin(clauses, limit: 1)
        defer { end(execution) }
        guard try execution.step() else { return nil }
        var columns = RowColumnReader(execution)
        let row = try read(&columns)
        try execution.finish()
        return row
    }

    /// Takes the lock and a statement for a query, and binds its values. Balance with `end(_:)`, unless this throws.
    ///
    /// - Parameter limit: the maximum number of rows, unless the query's own limit is lower.
    @usableFromInline
    package func begin(_ clauses: QueryClauses, limit: Int? = nil) throws -> Execution {
        var builder = SQLBuilder()
        builder.append(clauses, limit: limit)
        return try begin(builder)
    }

    /// Takes the lock and a statement for a tree, and binds its values. Balance with `end(_:)`, unless this throws.
    package func begin(_ node: SQLNode) throws -> Execution {
        var builder = SQLBuilder()
        builder.append(node)
        return try begin(builder)
    }

    @inline(__always)
    private func begin(_ builder: borrowing SQLBuilder) throws -> Execution {
        let execution = try begin(builder.utf8)
        do { try execution.bind(values: builder.bindings) } catch {
            end(execution)
            throw error
        }
        return execution
    }
}
