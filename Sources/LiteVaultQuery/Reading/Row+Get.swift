public import LiteVaultCore

// Disfavoured: module `SQLite` has forms of its own, which treat a value of another type as SQLite.swift does.

extension Row {
    /// ``get(_:)`` for module `SQLite`, whose own form hides it there.
    package func typedValue<V: Value>(_ column: SQLExpression<V>) throws -> V { try get(column) }

    /// ``get(_:)`` for module `SQLite`, whose own form hides it there.
    package func typedValue<V: Value>(_ column: SQLExpression<V?>) throws -> V? { try get(column) }

    /// The value of a column.
    ///
    /// - Throws: `QueryError` when the query has no such column, or several that could be meant, or the value is NULL or
    ///   cannot be read as this type; and what the type's `fromDatatypeValue` throws.
    @_disfavoredOverload
    public func get<V: Value>(_ column: SQLExpression<V>) throws -> V {
        let index = try index(of: column.root)
        guard let value: V = try value(at: index) else {
            throw QueryError.unexpectedNullValue(name: columns.keys[index])
        }
        return value
    }

    /// The value of a column that may be NULL; nil for NULL.
    ///
    /// - Throws: as ``get(_:)``.
    @_disfavoredOverload
    public func get<V: Value>(_ column: SQLExpression<V?>) throws -> V? {
        try value(at: try index(of: column.root))
    }

    /// The value of a column.
    ///
    /// It cannot throw and stops the program when ``get(_:)`` would: use it where the query and the type are your own.
    @_disfavoredOverload
    public subscript<T: Value>(column: SQLExpression<T>) -> T {
        do { return try get(column) } catch { fatalError("row[column] failed, use get(_:): \(error)") }
    }

    /// The value of a column that may be NULL; nil for NULL. As for the other subscript, `get(_:)` throws.
    @_disfavoredOverload
    public subscript<T: Value>(column: SQLExpression<T?>) -> T? {
        do { return try get(column) } catch { fatalError("row[column] failed, use get(_:): \(error)") }
    }

    private func value<V: Value>(at index: Int) throws -> V? {
        let stored = cells[index]
        if stored == .null { return nil }
        guard let datatypeValue = V.Datatype(stored: stored) else {
            throw QueryError.unexpectedType(
                name: columns.keys[index], expected: V.declaredDatatype, found: stored.kind)
        }
        return try V.fromDatatypeValue(datatypeValue) as? V
    }

    /// The position of a column. One that is named without its table is found where only one table has it.
    func index(of node: SQLNode) throws -> Int {
        let name: String
        if case .identifier(let identifier) = node {
            // The usual case, without making the quoted name.
            if let index = columns.plainPosition(of: identifier) { return index }
            name = quoted(identifier)
        } else {
            name = SQLExpression<Void>(root: node).template
        }
        if let index = columns.positions[name] { return index }
        let similar = columns.keys.indices.filter { columns.keys[$0].hasSuffix("." + name) }
        guard let index = similar.first else {
            throw QueryError.noSuchColumn(name: name, columns: columns.keys.sorted())
        }
        guard similar.count == 1 else {
            throw QueryError.ambiguousColumn(name: name, similar: similar.map { columns.keys[$0] })
        }
        return index
    }
}
