public import LiteVaultCore
public import LiteVaultQuery

// Reading by an expression, where a value is not of the expression's type: SQLite.swift takes it for NULL, and projects
// rely on it. Numbers are converted. `import LiteVault` throws `QueryError.unexpectedType` instead.

extension Row {
    /// The value of a column.
    ///
    /// - Throws: `QueryError`, with the names that are there when the column is not: a value that is NULL or of another
    ///   type is `unexpectedNullValue`. What the type's own conversion throws.
    public func get<V: Value>(_ column: Expression<V>) throws -> V {
        do { return try typedValue(column) } catch QueryError.unexpectedType(let name, _, _) {
            throw QueryError.unexpectedNullValue(name: name)
        }
    }

    /// The value of a column, or nil where it is NULL or of another type.
    ///
    /// - Throws: `QueryError` when there is no such column; what the type's own conversion throws.
    public func get<V: Value>(_ column: Expression<V?>) throws -> V? {
        do { return try typedValue(column) } catch QueryError.unexpectedType { return nil }
    }

    /// The value of a column. Ends the program where ``get(_:)`` throws.
    public subscript<T: Value>(column: Expression<T>) -> T {
        do { return try get(column) } catch { fatalError("row[column] failed, use get(_:): \(error)") }
    }

    /// The value of a column, or nil where it is NULL or of another type. Ends the program where ``get(_:)`` throws.
    public subscript<T: Value>(column: Expression<T?>) -> T? {
        do { return try get(column) } catch { fatalError("row[column] failed, use get(_:): \(error)") }
    }
}
