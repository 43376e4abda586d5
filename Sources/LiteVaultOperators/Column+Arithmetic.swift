public import LiteVaultCore
public import LiteVaultQuery

// Arithmetic of columns without a type: + - * / %. With numbers, with each other and with typed expressions.

/// The sum, in SQL. NULL where an operand is.
public func + (lhs: Column, rhs: Column) -> Column { infix(lhs.root, "+", rhs.root) }

/// The sum, in SQL. NULL where an operand is.
public func + <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "+", .value(rhs.datatypeValue))
}

/// The sum, in SQL. NULL where an operand is.
public func + <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "+", rhs.root)
}

/// The sum, in SQL. NULL where an operand is.
public func + <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "+", rhs.root) }

/// The sum, in SQL. NULL where an operand is.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "+", rhs.root) }

/// The difference, in SQL. NULL where an operand is.
public func - (lhs: Column, rhs: Column) -> Column { infix(lhs.root, "-", rhs.root) }

/// The difference, in SQL. NULL where an operand is.
public func - <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "-", .value(rhs.datatypeValue))
}

/// The difference, in SQL. NULL where an operand is.
public func - <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "-", rhs.root)
}

/// The difference, in SQL. NULL where an operand is.
public func - <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "-", rhs.root) }

/// The difference, in SQL. NULL where an operand is.
public func - <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "-", rhs.root) }

/// The product, in SQL. NULL where an operand is.
public func * (lhs: Column, rhs: Column) -> Column { infix(lhs.root, "*", rhs.root) }

/// The product, in SQL. NULL where an operand is.
public func * <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "*", .value(rhs.datatypeValue))
}

/// The product, in SQL. NULL where an operand is.
public func * <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "*", rhs.root)
}

/// The product, in SQL. NULL where an operand is.
public func * <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "*", rhs.root) }

/// The product, in SQL. NULL where an operand is.
public func * <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "*", rhs.root) }

/// The quotient, in SQL. NULL where an operand is.
public func / (lhs: Column, rhs: Column) -> Column { infix(lhs.root, "/", rhs.root) }

/// The quotient, in SQL. NULL where an operand is.
public func / <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "/", .value(rhs.datatypeValue))
}

/// The quotient, in SQL. NULL where an operand is.
public func / <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "/", rhs.root)
}

/// The quotient, in SQL. NULL where an operand is.
public func / <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "/", rhs.root) }

/// The quotient, in SQL. NULL where an operand is.
public func / <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "/", rhs.root) }

/// The remainder, in SQL. NULL where an operand is.
public func % (lhs: Column, rhs: Column) -> Column { infix(lhs.root, "%", rhs.root) }

/// The remainder, in SQL. NULL where an operand is.
public func % <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "%", .value(rhs.datatypeValue))
}

/// The remainder, in SQL. NULL where an operand is.
public func % <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "%", rhs.root)
}

/// The remainder, in SQL. NULL where an operand is.
public func % <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "%", rhs.root) }

/// The remainder, in SQL. NULL where an operand is.
public func % <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "%", rhs.root) }

private func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode) -> Column {
    SQLExpression(root: .infix(lhs, name, rhs))
}
