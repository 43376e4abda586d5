public import LiteVaultCore

extension Connection {
    /// The rows of a query, for a `for` loop. An error in the middle stops the program: ``prepareRowIterator(_:)`` and
    /// `all(_:row:)` throw.
    ///
    /// - Throws: `DatabaseError` when the query is not valid.
    public func prepare(_ query: any QueryType) throws -> AnySequence<Row> {
        let statement = try prepareStatement(query)
        let columns = try columns(of: query, statement)
        return AnySequence { AnyIterator(RowIteration(RowIterator(statement, columns: columns))) }
    }

    /// The rows of a query, one after the other.
    ///
    /// - Throws: `DatabaseError` when the query is not valid.
    public func prepareRowIterator(_ query: any QueryType) throws -> RowIterator {
        let statement = try prepareStatement(query)
        return RowIterator(statement, columns: try columns(of: query, statement))
    }

    /// The first row of a query; nil when there is none.
    ///
    /// - Throws: `DatabaseError`
    public func pluck(_ query: any QueryType) throws -> Row? {
        let statement = try prepareStatement(query.limit(1, query.clauses.limit?.offset))
        defer { statement.reset() }
        return try RowIterator(statement, columns: try columns(of: query, statement)).failableNext()
    }

    /// The value of a query of one column.
    ///
    /// - Throws: `DatabaseError`; `QueryError` when there is no row, or the value is NULL or of another type.
    public func scalar<V: Value>(_ query: ScalarQuery<V>) throws -> V { try scalarValue(of: query.node) }

    /// The value of a query of one column; nil when it is NULL or there is no row.
    ///
    /// - Throws: `DatabaseError`; `QueryError` when the value is of another type.
    public func scalar<V: Value>(_ query: ScalarQuery<V?>) throws -> V.ValueType? {
        try scalarValue(of: query.node, as: V.self) as? V.ValueType
    }

    /// The value of a SELECT.
    ///
    /// - Throws: as of a query of one column.
    public func scalar<V: Value>(_ query: Select<V>) throws -> V { try scalarValue(of: query.root) }

    /// The value of a SELECT; nil when it is NULL or there is no row.
    ///
    /// - Throws: as of a query of one column.
    public func scalar<V: Value>(_ query: Select<V?>) throws -> V.ValueType? {
        try scalarValue(of: query.root, as: V.self) as? V.ValueType
    }

    private func scalarValue<V: Value>(of node: SQLNode) throws -> V {
        guard let value = try scalarValue(of: node, as: V.self) else {
            throw QueryError.unexpectedNullValue(name: SQLExpression<Void>(root: node).template)
        }
        return value
    }

    private func scalarValue<V: Value>(of node: SQLNode, as type: V.Type) throws -> V? {
        var builder = SQLBuilder()
        builder.append(node)
        return try requiring(builder.sql) {
            let statement = try prepare(builder.sql, builder.bindings)
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            return try statement.row.get(0, as: V?.self)
        }
    }

    private func prepareStatement(_ query: any QueryType) throws -> Statement {
        var builder = SQLBuilder()
        builder.append(query.selectNode)
        return try requiring(builder.sql) { try prepare(builder.sql, builder.bindings) }
    }
}

/// A `RowIterator` as an iterator that cannot throw.
private struct RowIteration: IteratorProtocol {
    private let rows: RowIterator
    init(_ rows: RowIterator) { self.rows = rows }
    mutating func next() -> Row? { rows.next() }
}

extension QueryType {
    fileprivate func limit(_ length: Int, _ offset: Int?) -> Self {
        offset.map { limit(length, offset: $0) } ?? limit(length)
    }
}
