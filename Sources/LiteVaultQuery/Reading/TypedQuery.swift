public import LiteVaultCore

/// A query whose columns have known types: its rows are Swift tuples.
///
/// ```swift
/// for (id, email, name) in try db.all(users.select(id, email, name).filter(id > 5)) { … }
/// ```
public struct TypedQuery<each Column: SQLType>: QueryType {
    /// The clauses.
    public var clauses: QueryClauses

    /// A query of a table, by its name and that of its database. It has no columns until they are selected.
    public init(_ name: String, database: String? = nil) { clauses = QueryClauses(name, database: database) }

    init(_ clauses: QueryClauses, _ columns: [SQLNode]) {
        self.clauses = clauses
        self.clauses.columns = columns
    }
}

extension QueryType {
    /// Selects columns, whose types are then those of the rows.
    ///
    /// It is meant where the rows are read by `all`, `first` or `forEach` of a connection. Where nothing asks for it, as in
    /// `let query = users.select(id, email)`, `select` gives the query itself with its columns, as in SQLite.swift: write
    /// `let query: TypedQuery<Int64, String> = …` there.
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
    /// All values of a query of one column.
    ///
    /// - Throws: as ``all(_:)``.
    public func all<V: SQLType>(_ query: ScalarQuery<V>) throws -> [V] {
        var values: [V] = []
        try forEachTuple(of: query.selectNode) { (value: V) in values.append(value) }
        return values
    }

    /// The first value of a query of one column; nil when there is none.
    ///
    /// - Throws: as ``all(_:)``.
    public func first<V: SQLType>(_ query: ScalarQuery<V>) throws -> V? { try all(query.limit(1)).first }

    /// All rows of a query, as tuples; of a query of one column, as its values.
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

    /// All rows of a query, each made into a value: `all(users.select(id, email), as: User.init)`.
    ///
    /// - Throws: as ``all(_:)``, and what the closure throws.
    @inlinable
    public func all<T, each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>, as make: (repeat each Column) throws -> T
    ) throws -> [T] {
        let execution = try begin(query.clauses)
        defer { end(execution) }
        var rows: [T] = []
        while try execution.step() {
            var columns = RowColumnReader(execution)
            rows.append(try make(repeat try columns.next((each Column).self)))
        }
        return rows
    }

    /// The first row of a query, as a tuple; nil when there is none.
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

    /// Hands each row of a query to a closure, a value for each column.
    ///
    /// - Throws: as ``all(_:)``, and what the closure throws; no lock of the database remains.
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

    /// Hands each row of a statement to a closure, a value for each column.
    func forEachTuple<each Column: SQLType>(
        of node: SQLNode, _ body: (repeat each Column) throws -> Void
    ) throws {
        var builder = SQLBuilder()
        builder.append(node)
        let execution = try begin(builder)
        defer { end(execution) }
        while try execution.step() {
            var columns = RowColumnReader(execution)
            try body(repeat try columns.next((each Column).self))
        }
    }

    /// Takes the lock and the statement of a query, and binds its values. Balanced by `end(_:)`, unless it throws.
    @usableFromInline
    func begin(_ clauses: QueryClauses, limit: Int? = nil) throws -> Execution {
        var builder = SQLBuilder()
        builder.append(clauses, limit: limit)
        return try begin(builder)
    }
}
