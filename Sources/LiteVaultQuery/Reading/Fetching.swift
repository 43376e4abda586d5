public import LiteVaultCore

// How a query becomes values, in this file from top to bottom: `begin` renders SQL and values and passes both to the
// connection, which takes its lock and a cached statement; each step of the execution returns a row; `RowColumnReader`
// reads its columns in order, with the types of the query.

/// A statement whose rows have a known type: a ``TypedQuery``, a ``ScalarQuery``, or a statement with RETURNING. It is read by `all`, `first` and
/// `forEach` of a connection.
public protocol TypedStatement {
    /// The type of a row: a tuple of the columns' values, or the value of a single column.
    associatedtype RowValue

    /// Reads all rows.
    func _all(_ db: Connection) throws -> [RowValue]

    /// Reads all rows, and makes a value of each.
    func _all<T>(_ db: Connection, _ transform: (consuming RowValue) throws -> T) throws -> [T]

    /// Reads the first row.
    func _first(_ db: Connection) throws -> RowValue?

    /// Calls a closure with each row.
    func _forEach(_ db: Connection, _ body: (consuming RowValue) throws -> Void) throws
}

/// A query whose columns have known types. Its rows are Swift tuples, and those of a single column are values.
///
/// ```swift
/// for (id, email, name) in try db.all(users.select(id, email, name).filter(id > 5)) { … }
/// ```
public struct TypedQuery<RowValue>: QueryType {
    /// The clauses.
    public var clauses: QueryClauses
    /// Reads the columns of a row, in order; nil before columns with types were selected.
    private let read: (@Sendable (inout RowColumnReader) throws -> RowValue)?

    /// Creates a query of a table by name, without columns; `select` of a table makes one with columns. Reading this one throws `SQLITE_MISUSE`.
    ///
    /// - Parameters:
    ///   - name: the table.
    ///   - database: its database: `main`, `temp` or an attached one. By default SQLite searches all of them.
    public init(_ name: String, database: String? = nil) {
        clauses = QueryClauses(name, database: database)
        read = nil
    }

    @usableFromInline
    init(
        _ clauses: QueryClauses, _ columns: [SQLNode],
        _ read: @escaping @Sendable (inout RowColumnReader) throws -> RowValue
    ) {
        self.clauses = clauses
        self.clauses.columns = columns
        self.read = read
    }

    /// - Throws: `DatabaseError` `SQLITE_MISUSE` if no columns with types were selected.
    @usableFromInline
    func reader() throws -> @Sendable (inout RowColumnReader) throws -> RowValue {
        guard let read else {
            throw DatabaseError(misuse: "a typed query has no columns: make it by select of a Table")
        }
        return read
    }
}

extension QueryType {
    /// Selects columns, whose types become those of the rows.
    ///
    /// Use it directly inside `all`, `first` or `forEach`. Where the context requires no type, as in `let query =
    /// users.select(id, email)`, `select` returns the query itself, as in SQLite.swift: write `let query:
    /// TypedQuery<(Int64, String)> = …` there.
    @_disfavoredOverload
    public func select<each Column: SQLType>(
        _ columns: repeat SQLExpression<each Column>
    ) -> TypedQuery<(repeat each Column)> {
        var nodes: [SQLNode] = []
        for column in repeat each columns { nodes.append(column.root) }
        return TypedQuery(clauses, nodes) { (repeat try $0.next((each Column).self)) }
    }
}

extension TypedQuery: TypedStatement {
    /// Reads all rows. Not inlined into the caller, whose loop over the tuples then copies each as one of an unknown type (Swift 6.3).
    @inlinable
    @inline(never)
    public func _all(_ db: Connection) throws -> [RowValue] {
        let read = try reader()
        return try db.fetchAll(clauses) { try read(&$0) }
    }

    /// Reads all rows, and makes a value of each.
    @inlinable
    public func _all<T>(_ db: Connection, _ transform: (consuming RowValue) throws -> T) throws -> [T] {
        let read = try reader()
        return try db.fetchAll(clauses) { try transform(read(&$0)) }
    }

    /// Reads the first row.
    @inlinable
    public func _first(_ db: Connection) throws -> RowValue? {
        let read = try reader()
        return try db.fetchFirst(clauses) { try read(&$0) }
    }

    /// Calls a closure with each row.
    @inlinable
    public func _forEach(_ db: Connection, _ body: (consuming RowValue) throws -> Void) throws {
        let read = try reader()
        try db.fetchEach(clauses) { try body(read(&$0)) }
    }
}

extension ScalarQuery: TypedStatement where V: SQLType {
    /// The type of the column.
    public typealias RowValue = V

    /// Reads all values.
    @inlinable
    public func _all(_ db: Connection) throws -> [V] { try db.fetchAll(clauses) { try $0.next(V.self) } }

    /// Reads all values, and makes another of each.
    @inlinable
    public func _all<T>(_ db: Connection, _ transform: (consuming V) throws -> T) throws -> [T] {
        try db.fetchAll(clauses) { try transform($0.next(V.self)) }
    }

    /// Reads the first value.
    @inlinable
    public func _first(_ db: Connection) throws -> V? { try db.fetchFirst(clauses) { try $0.next(V.self) } }

    /// Calls a closure with each value.
    @inlinable
    public func _forEach(_ db: Connection, _ body: (consuming V) throws -> Void) throws {
        try db.fetchEach(clauses) { try body($0.next(V.self)) }
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

    /// Fetches all rows of a query, as tuples; of a query of one column, as values. Runs a statement with RETURNING, and returns
    /// the rows it wrote.
    ///
    /// ```swift
    /// for (id, email) in try db.all(users.select(id, email)) { … }
    /// for id in try db.all(users.filter(isExpired).delete().returning(id)) { … }
    /// ```
    ///
    /// - Parameter statement: the query or statement.
    /// - Throws: `DatabaseError`; `QueryError` when a value is NULL or of another type, with RETURNING after the rows were written; `VaultError`
    ///   `unsupported` on an engine without RETURNING, which changes nothing.
    @inlinable
    public func all<Statement: TypedStatement>(_ statement: Statement) throws -> [Statement.RowValue] {
        try statement._all(self)
    }

    /// Fetches all rows of a query or a statement with RETURNING, and makes a value of each:
    /// `all(users.select(id, email), transform: User.init)`.
    ///
    /// - Parameters:
    ///   - statement: the query or statement.
    ///   - transform: called with the columns of each row; with RETURNING, after the row was written.
    /// - Throws: as ``all(_:)``, and what the closure throws.
    @inlinable
    public func all<Statement: TypedStatement, T>(
        _ statement: Statement, transform: (consuming Statement.RowValue) throws -> T
    ) throws -> [T] { try statement._all(self, transform) }

    /// Fetches the first row of a query; nil when there is none. Runs a statement with RETURNING to its end, and returns the first
    /// row it wrote.
    ///
    /// - Parameter statement: the query or statement.
    /// - Throws: as ``all(_:)``.
    @inlinable
    public func first<Statement: TypedStatement>(_ statement: Statement) throws -> Statement.RowValue? {
        try statement._first(self)
    }

    /// Calls a closure with the columns of each row of a query, or of each row that a statement with RETURNING wrote.
    ///
    /// - Parameters:
    ///   - statement: the query or statement.
    ///   - body: called for each row. It may use the connection.
    /// - Throws: as ``all(_:)``, and what the closure throws. The query has ended then, and its lock is released. With RETURNING, what one
    ///   statement wrote stays; rows of ``QueryType/insertMany(or:_:)`` that take several statements are rolled back. A transaction around
    ///   the call is rolled back in either case.
    @inlinable
    public func forEach<Statement: TypedStatement>(
        _ statement: Statement, _ body: (consuming Statement.RowValue) throws -> Void
    ) throws { try statement._forEach(self, body) }

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

    @inlinable
    @inline(__always)
    func fetchEach(_ clauses: QueryClauses, _ body: (inout RowColumnReader) throws -> Void) throws {
        let execution = try begin(clauses)
        defer { end(execution) }
        while try execution.step() {
            var columns = RowColumnReader(execution)
            try body(&columns)
        }
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
