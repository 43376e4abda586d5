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
    public func all<each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>
    ) throws -> [(repeat each Column)] {
        var rows: [(repeat each Column)] = []
        try forEach(query) { (columns: repeat each Column) in rows.append((repeat each columns)) }
        return rows
    }

    /// All rows of a query, each made into a value: `all(users.select(id, email), as: User.init)`.
    ///
    /// - Throws: as ``all(_:)``, and what the closure throws.
    public func all<T, each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>, as make: (repeat each Column) throws -> T
    ) throws -> [T] {
        var rows: [T] = []
        try forEach(query) { (columns: repeat each Column) in rows.append(try make(repeat each columns)) }
        return rows
    }

    /// The first row of a query, as a tuple; nil when there is none.
    ///
    /// - Throws: as ``all(_:)``.
    public func first<each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>
    ) throws -> (repeat each Column)? {
        try all(query.limit(1)).first
    }

    /// Hands each row of a query to a closure, a value for each column.
    ///
    /// - Throws: as ``all(_:)``, and what the closure throws; no lock of the database remains.
    public func forEach<each Column: SQLType>(
        _ query: TypedQuery<repeat each Column>, _ body: (repeat each Column) throws -> Void
    ) throws {
        try forEachTuple(of: query.selectNode, body)
    }

    /// Hands each row of a statement to a closure, a value for each column.
    func forEachTuple<each Column: SQLType>(
        of node: SQLNode, _ body: (repeat each Column) throws -> Void
    ) throws {
        var builder = SQLBuilder()
        builder.append(node)
        try requiring(builder.sql) {
            try forEachRow(builder.sql, bindings: builder.bindings) { row in try read(row.columns, body) }
        }
    }

    private func read<each Column: SQLType>(
        _ columns: RowColumnReader, _ body: (repeat each Column) throws -> Void
    ) throws {
        var columns = columns
        try body(repeat try columns.next((each Column).self))
    }
}
