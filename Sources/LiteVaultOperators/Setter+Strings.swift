public import LiteVaultQuery

// Setters that append to the text that a column holds.

/// Appends to a column.
public func += <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter where T.Base == String {
    column <- column + value
}

/// Appends to a column.
public func += (column: SQLExpression<String?>, value: SQLExpression<String>) -> Setter { column <- column + value }

/// Appends to a column.
public func += <T: SQLType>(column: SQLExpression<T>, value: String) -> Setter where T.Base == String {
    column <- column + value
}
