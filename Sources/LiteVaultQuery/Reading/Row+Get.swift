public import LiteVaultCore

// Disfavoured: module `SQLite` has forms of its own, which treat a value of another type as SQLite.swift does.

extension Row {
    /// ``get(_:)`` for module `SQLite`, whose own form hides it there.
    @inlinable
    package func typedValue<V: Value>(_ column: SQLExpression<V>) throws -> V { try get(column) }

    /// ``get(_:)`` for module `SQLite`, whose own form hides it there.
    @inlinable
    package func typedValue<V: Value>(_ column: SQLExpression<V?>) throws -> V? { try get(column) }

    /// The value of a column.
    ///
    /// - Throws: `QueryError` when the query has no such column, or several that could be meant, or the value is NULL or
    ///   cannot be read as this type; and what the type's `fromDatatypeValue` throws.
    @inlinable
    @_disfavoredOverload
    public func get<V: Value>(_ column: SQLExpression<V>) throws -> V {
        let index = try position(of: column.root)
        guard let value: V = try value(at: index) else { throw nullFailure(index) }
        return value
    }

    /// The value of a column that may be NULL; nil for NULL.
    ///
    /// - Throws: as ``get(_:)``.
    @inlinable
    @_disfavoredOverload
    public func get<V: Value>(_ column: SQLExpression<V?>) throws -> V? {
        try value(at: try position(of: column.root))
    }

    /// The value of a column.
    ///
    /// It cannot throw and stops the program when ``get(_:)`` would: use it where the query and the type are your own.
    @inlinable
    @_disfavoredOverload
    public subscript<T: Value>(column: SQLExpression<T>) -> T {
        do { return try get(column) } catch { Self.failed(error) }
    }

    /// The value of a column that may be NULL; nil for NULL. As for the other subscript, `get(_:)` throws.
    @inlinable
    @_disfavoredOverload
    public subscript<T: Value>(column: SQLExpression<T?>) -> T? {
        do { return try get(column) } catch { Self.failed(error) }
    }

    @usableFromInline
    package static func failed(_ error: any Error) -> Never { fatalError("row[column] failed, use get(_:): \(error)") }

    @usableFromInline
    func nullFailure(_ index: Int) -> any Error { QueryError.unexpectedNullValue(name: columns.keys[index]) }

    /// Reads a value. The types that are stored as they are need no `StoredValue` in between: their tests are decided by
    /// the compiler wherever it knows the type.
    @inlinable
    @inline(__always)
    func value<V: Value>(at index: Int) throws -> V? {
        // Casting bits is sound here: each is done only where both types are the same.
        if V.Datatype.self == Int64.self, let number = storage.integer(index) {
            return try V.fromDatatypeValue(unsafeBitCast(number, to: V.Datatype.self)) as? V
        }
        if V.Datatype.self == Double.self, let number = storage.real(index) {
            return try V.fromDatatypeValue(unsafeBitCast(number, to: V.Datatype.self)) as? V
        }
        if V.Datatype.self == String.self, let text = storage.text(index) {
            return try V.fromDatatypeValue(unsafeBitCast(text, to: V.Datatype.self)) as? V
        }
        if storage.isNull(index) { return nil }
        return try convertedValue(at: index)
    }

    @usableFromInline
    func convertedValue<V: Value>(at index: Int) throws -> V? {
        let stored = storage.stored(index)
        guard let datatypeValue = V.Datatype(stored: stored) else {
            throw QueryError.unexpectedType(
                name: columns.keys[index], expected: V.declaredDatatype, found: stored.kind)
        }
        return try V.fromDatatypeValue(datatypeValue) as? V
    }

    /// The position of a column.
    @inlinable
    @inline(__always)
    func position(of node: SQLNode) throws -> Int {
        if let index = storage.columns.position(ofIdentity: node.identity) { return index }
        return try index(of: node)
    }

    /// The position of a column. One that is named without its table is found where only one table has it.
    @usableFromInline
    func index(of node: SQLNode) throws -> Int {
        let columns = columns
        let index = try Self.index(of: node, in: columns)
        columns.remember(node, identity: node.identity, at: index)
        return index
    }

    private static func index(of node: SQLNode, in columns: RowColumns) throws -> Int {
        if case .identifier(let name) = node.kind, let index = columns.plainPosition(of: name) { return index }
        let name = node.template
        let keys = columns.keys
        if let index = keys.lastIndex(of: name) { return index }
        let similar = keys.indices.filter { keys[$0].hasSuffix("." + name) }
        guard let index = similar.first else {
            throw QueryError.noSuchColumn(name: name, columns: keys.sorted())
        }
        guard similar.count == 1 else {
            throw QueryError.ambiguousColumn(name: name, similar: similar.map { keys[$0] })
        }
        return index
    }
}
