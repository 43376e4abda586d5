public import LiteVaultCore

extension Connection {
    /// The rows of a query, for a `for` loop. An error in the middle stops the program: ``prepareRowIterator(_:)`` and
    /// `all(_:row:)` throw.
    ///
    /// - Throws: `DatabaseError` when the query is not valid.
    public func prepare(_ query: any QueryType) throws -> AnySequence<Row> {
        let statement = try prepareStatement(query)
        return AnySequence { AnyIterator(RowIteration(self.rows(of: query, statement))) }
    }

    /// The rows of a query, one after the other.
    ///
    /// - Throws: `DatabaseError` when the query is not valid.
    public func prepareRowIterator(_ query: any QueryType) throws -> RowIterator {
        rows(of: query, try prepareStatement(query))
    }

    private func rows(of query: any QueryType, _ statement: Statement) -> RowIterator {
        RowIterator(statement) { try self.columns(of: query, $0) }
    }

    /// The first row of a query; nil when there is none.
    ///
    /// - Throws: `DatabaseError`
    public func pluck(_ query: any QueryType) throws -> Row? {
        var builder = SQLBuilder()
        builder.append(query.clauses, limit: 1)
        let execution = try begin(builder)
        defer { end(execution) }
        guard try execution.step() else { return nil }
        let row = try execution.copyRow { try columns(of: query, $0) }
        try execution.finish()
        return row
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
        let execution = try begin(builder)
        defer { end(execution) }
        guard try execution.step() else { return nil }
        var columns = RowColumnReader(execution)
        let value = try columns.next(V?.self)
        try execution.finish()
        return value
    }

    private func prepareStatement(_ query: any QueryType) throws -> Statement {
        var builder = SQLBuilder()
        builder.append(query.selectNode)
        return try prepare(builder.sql, builder.bindings)
    }
}

/// A `RowIterator` as an iterator that cannot throw.
private struct RowIteration: IteratorProtocol {
    private let rows: RowIterator
    init(_ rows: RowIterator) { self.rows = rows }
    mutating func next() -> Row? { rows.next() }
}

extension Connection {
    /// Takes the lock and the statement of a text, and binds its values. Balanced by `end(_:)`, unless it throws.
    package func begin(_ builder: borrowing SQLBuilder) throws -> Execution {
        let execution = try begin(builder.utf8)
        do { try execution.bind(values: builder.bindings) } catch {
            end(execution)
            throw error
        }
        return execution
    }
}
