public import LiteVaultCore
public import LiteVaultQuery

// Comparison of columns without a type: == != < <= > >=. A comparison with NULL is NULL, as in SQL.

/// Whether both are equal, in SQL. nil stands for NULL.
public func == (lhs: Column, rhs: (any Value)?) -> SQLExpression<Bool?> {
    infix(lhs.root, rhs == nil ? "IS" : "=", rhs?.node ?? .value(nil))
}

/// Whether both are equal, in SQL.
public func == <T>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, "=", rhs.root)
}

/// Whether both are equal, in SQL.
public func == <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, "=", rhs.root)
}

/// Whether both differ, in SQL. nil stands for NULL.
public func != (lhs: Column, rhs: (any Value)?) -> SQLExpression<Bool?> {
    infix(lhs.root, rhs == nil ? "IS NOT" : "!=", rhs?.node ?? .value(nil))
}

/// Whether both differ, in SQL.
public func != <T>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, "!=", rhs.root)
}

/// Whether both differ, in SQL.
public func != <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, "!=", rhs.root)
}

/// Whether the left operand is less than the right one, in SQL.
public func < (lhs: Column, rhs: some Value) -> SQLExpression<Bool?> { infix(lhs.root, "<", rhs.node) }

/// Whether the left operand is less than the right one, in SQL.
public func < (lhs: some Value, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.node, "<", rhs.root) }

/// Whether the left operand is less than the right one, in SQL.
public func < <T>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, "<", rhs.root)
}

/// Whether the left operand is less than the right one, in SQL.
public func < <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, "<", rhs.root)
}

/// Whether the left operand is less than or equal to the right one, in SQL.
public func <= (lhs: Column, rhs: some Value) -> SQLExpression<Bool?> { infix(lhs.root, "<=", rhs.node) }

/// Whether the left operand is less than or equal to the right one, in SQL.
public func <= (lhs: some Value, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.node, "<=", rhs.root) }

/// Whether the left operand is less than or equal to the right one, in SQL.
public func <= <T>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, "<=", rhs.root)
}

/// Whether the left operand is less than or equal to the right one, in SQL.
public func <= <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, "<=", rhs.root)
}

/// Whether the left operand is greater than the right one, in SQL.
public func > (lhs: Column, rhs: some Value) -> SQLExpression<Bool?> { infix(lhs.root, ">", rhs.node) }

/// Whether the left operand is greater than the right one, in SQL.
public func > (lhs: some Value, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.node, ">", rhs.root) }

/// Whether the left operand is greater than the right one, in SQL.
public func > <T>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, ">", rhs.root)
}

/// Whether the left operand is greater than the right one, in SQL.
public func > <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, ">", rhs.root)
}

/// Whether the left operand is greater than or equal to the right one, in SQL.
public func >= (lhs: Column, rhs: some Value) -> SQLExpression<Bool?> { infix(lhs.root, ">=", rhs.node) }

/// Whether the left operand is greater than or equal to the right one, in SQL.
public func >= (lhs: some Value, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.node, ">=", rhs.root) }

/// Whether the left operand is greater than or equal to the right one, in SQL.
public func >= <T>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, ">=", rhs.root)
}

/// Whether the left operand is greater than or equal to the right one, in SQL.
public func >= <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, ">=", rhs.root)
}

private func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode) -> SQLExpression<Bool?> {
    SQLExpression(root: .infix(lhs, name, rhs))
}

// Arithmetic of columns without a type: + - * / %. With numbers, with each other and with typed expressions.

/// The sum, in SQL. NULL if an operand is NULL.
public func + <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "+", .value(rhs.datatypeValue))
}

/// The sum, in SQL. NULL if an operand is NULL.
public func + <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "+", rhs.root)
}

/// The sum, in SQL. NULL if an operand is NULL.
public func + <T>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "+", rhs.root) }

/// The sum, in SQL. NULL if an operand is NULL.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "+", rhs.root) }

/// The difference, in SQL. NULL if an operand is NULL.
public func - <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "-", .value(rhs.datatypeValue))
}

/// The difference, in SQL. NULL if an operand is NULL.
public func - <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "-", rhs.root)
}

/// The difference, in SQL. NULL if an operand is NULL.
public func - <T>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "-", rhs.root) }

/// The difference, in SQL. NULL if an operand is NULL.
public func - <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "-", rhs.root) }

/// The product, in SQL. NULL if an operand is NULL.
public func * <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "*", .value(rhs.datatypeValue))
}

/// The product, in SQL. NULL if an operand is NULL.
public func * <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "*", rhs.root)
}

/// The product, in SQL. NULL if an operand is NULL.
public func * <T>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "*", rhs.root) }

/// The product, in SQL. NULL if an operand is NULL.
public func * <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "*", rhs.root) }

/// The quotient, in SQL. NULL if an operand is NULL.
public func / <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "/", .value(rhs.datatypeValue))
}

/// The quotient, in SQL. NULL if an operand is NULL.
public func / <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "/", rhs.root)
}

/// The quotient, in SQL. NULL if an operand is NULL.
public func / <T>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "/", rhs.root) }

/// The quotient, in SQL. NULL if an operand is NULL.
public func / <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "/", rhs.root) }

/// The remainder, in SQL. NULL if an operand is NULL.
public func % <V: Value>(lhs: Column, rhs: V) -> Column where V.Datatype: Number {
    infix(lhs.root, "%", .value(rhs.datatypeValue))
}

/// The remainder, in SQL. NULL if an operand is NULL.
public func % <V: Value>(lhs: V, rhs: Column) -> Column where V.Datatype: Number {
    infix(.value(lhs.datatypeValue), "%", rhs.root)
}

/// The remainder, in SQL. NULL if an operand is NULL.
public func % <T>(lhs: Column, rhs: SQLExpression<T>) -> Column { infix(lhs.root, "%", rhs.root) }

/// The remainder, in SQL. NULL if an operand is NULL.
public func % <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> Column { infix(lhs.root, "%", rhs.root) }

private func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode) -> Column {
    SQLExpression(root: .infix(lhs, name, rhs))
}
