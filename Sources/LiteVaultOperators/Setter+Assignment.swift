internal import LiteVaultCore
public import LiteVaultQuery

precedencegroup ColumnAssignment {
    associativity: left
    assignment: true
    lowerThan: AssignmentPrecedence
}

infix operator <- : ColumnAssignment

/// Sets a column to the value of an expression.
public func <- <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter {
    Setter(column: column.root, value: value.root)
}

/// Sets a column to the value of an expression.
public func <- <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter {
    Setter(column: column.root, value: value.root)
}

/// Sets a column to a value.
@inlinable
public func <- <V: Value>(column: SQLExpression<V>, value: V) -> Setter {
    Setter(column.root, to: value.datatypeValue)
}

/// Sets a column to a value, or to NULL for nil.
@inlinable
public func <- <V: Value>(column: SQLExpression<V?>, value: V?) -> Setter {
    Setter(column.root, to: value?.datatypeValue)
}
