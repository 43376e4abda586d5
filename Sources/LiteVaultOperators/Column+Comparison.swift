public import LiteVaultQuery

// Comparison of columns without a type: == != < <= > >=. A comparison with NULL is NULL, as SQL has it.

/// Whether both are equal, in SQL.
public func == (lhs: Column, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.root, "=", rhs.root) }

/// Whether both are equal, in SQL. nil stands for NULL.
public func == (lhs: Column, rhs: (any Value)?) -> SQLExpression<Bool?> {
    infix(lhs.root, rhs == nil ? "IS" : "=", rhs?.node ?? .value(nil))
}

/// Whether both are equal, in SQL.
public func == <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, "=", rhs.root)
}

/// Whether both are equal, in SQL.
public func == <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, "=", rhs.root)
}

/// Whether both differ, in SQL.
public func != (lhs: Column, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.root, "!=", rhs.root) }

/// Whether both differ, in SQL. nil stands for NULL.
public func != (lhs: Column, rhs: (any Value)?) -> SQLExpression<Bool?> {
    infix(lhs.root, rhs == nil ? "IS NOT" : "!=", rhs?.node ?? .value(nil))
}

/// Whether both differ, in SQL.
public func != <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, "!=", rhs.root)
}

/// Whether both differ, in SQL.
public func != <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, "!=", rhs.root)
}

/// Whether the first is smaller, in SQL.
public func < (lhs: Column, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.root, "<", rhs.root) }

/// Whether the first is smaller, in SQL.
public func < (lhs: Column, rhs: some Value) -> SQLExpression<Bool?> { infix(lhs.root, "<", rhs.node) }

/// Whether the first is smaller, in SQL.
public func < (lhs: some Value, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.node, "<", rhs.root) }

/// Whether the first is smaller, in SQL.
public func < <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, "<", rhs.root)
}

/// Whether the first is smaller, in SQL.
public func < <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, "<", rhs.root)
}

/// Whether the first is smaller or equal, in SQL.
public func <= (lhs: Column, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.root, "<=", rhs.root) }

/// Whether the first is smaller or equal, in SQL.
public func <= (lhs: Column, rhs: some Value) -> SQLExpression<Bool?> { infix(lhs.root, "<=", rhs.node) }

/// Whether the first is smaller or equal, in SQL.
public func <= (lhs: some Value, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.node, "<=", rhs.root) }

/// Whether the first is smaller or equal, in SQL.
public func <= <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, "<=", rhs.root)
}

/// Whether the first is smaller or equal, in SQL.
public func <= <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, "<=", rhs.root)
}

/// Whether the first is greater, in SQL.
public func > (lhs: Column, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.root, ">", rhs.root) }

/// Whether the first is greater, in SQL.
public func > (lhs: Column, rhs: some Value) -> SQLExpression<Bool?> { infix(lhs.root, ">", rhs.node) }

/// Whether the first is greater, in SQL.
public func > (lhs: some Value, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.node, ">", rhs.root) }

/// Whether the first is greater, in SQL.
public func > <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, ">", rhs.root)
}

/// Whether the first is greater, in SQL.
public func > <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, ">", rhs.root)
}

/// Whether the first is greater or equal, in SQL.
public func >= (lhs: Column, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.root, ">=", rhs.root) }

/// Whether the first is greater or equal, in SQL.
public func >= (lhs: Column, rhs: some Value) -> SQLExpression<Bool?> { infix(lhs.root, ">=", rhs.node) }

/// Whether the first is greater or equal, in SQL.
public func >= (lhs: some Value, rhs: Column) -> SQLExpression<Bool?> { infix(lhs.node, ">=", rhs.root) }

/// Whether the first is greater or equal, in SQL.
public func >= <T: SQLType>(lhs: Column, rhs: SQLExpression<T>) -> SQLExpression<Bool?> {
    infix(lhs.root, ">=", rhs.root)
}

/// Whether the first is greater or equal, in SQL.
public func >= <T: SQLType>(lhs: SQLExpression<T>, rhs: Column) -> SQLExpression<Bool?> {
    infix(lhs.root, ">=", rhs.root)
}

private func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode) -> SQLExpression<Bool?> {
    SQLExpression(root: .infix(lhs, name, rhs))
}
