public import LiteVaultQuery

// Integer operators: % << >>.
//
// The forms are those of the arithmetic operators.

/// The remainder, in SQL. NULL if an operand is NULL.
public func % <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "%", rhs.root))
}

/// The remainder, in SQL. NULL if the second operand is NULL.
public func % <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "%", rhs.root))
}

/// The remainder, in SQL. NULL if the first operand is NULL.
public func % <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "%", rhs.root))
}

/// The remainder, in SQL, with a value.
public func % <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "%", .value(rhs.datatypeValue)))
}

/// The remainder, in SQL, of a value.
public func % <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "%", rhs.root))
}

/// The bits shifted left, in SQL. NULL if an operand is NULL.
public func << <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "<<", rhs.root))
}

/// The bits shifted left, in SQL. NULL if the second operand is NULL.
public func << <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "<<", rhs.root))
}

/// The bits shifted left, in SQL. NULL if the first operand is NULL.
public func << <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "<<", rhs.root))
}

/// The bits shifted left, in SQL, with a value.
public func << <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "<<", .value(rhs.datatypeValue)))
}

/// The bits shifted left, in SQL, of a value.
public func << <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "<<", rhs.root))
}

/// The bits shifted right, in SQL. NULL if an operand is NULL.
public func >> <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, ">>", rhs.root))
}

/// The bits shifted right, in SQL. NULL if the second operand is NULL.
public func >> <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, ">>", rhs.root))
}

/// The bits shifted right, in SQL. NULL if the first operand is NULL.
public func >> <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, ">>", rhs.root))
}

/// The bits shifted right, in SQL, with a value.
public func >> <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, ">>", .value(rhs.datatypeValue)))
}

/// The bits shifted right, in SQL, of a value.
public func >> <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), ">>", rhs.root))
}

// Bit operators: & | ^ ~.
//
// The forms are those of the arithmetic operators.

/// The bitwise AND, in SQL. NULL if an operand is NULL.
public func & <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "&", rhs.root))
}

/// The bitwise AND, in SQL. NULL if the second operand is NULL.
public func & <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "&", rhs.root))
}

/// The bitwise AND, in SQL. NULL if the first operand is NULL.
public func & <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "&", rhs.root))
}

/// The bitwise AND, in SQL, with a value.
public func & <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "&", .value(rhs.datatypeValue)))
}

/// The bitwise AND, in SQL, of a value.
public func & <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "&", rhs.root))
}

/// The bitwise OR, in SQL. NULL if an operand is NULL.
public func | <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "|", rhs.root))
}

/// The bitwise OR, in SQL. NULL if the second operand is NULL.
public func | <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "|", rhs.root))
}

/// The bitwise OR, in SQL. NULL if the first operand is NULL.
public func | <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "|", rhs.root))
}

/// The bitwise OR, in SQL, with a value.
public func | <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "|", .value(rhs.datatypeValue)))
}

/// The bitwise OR, in SQL, of a value.
public func | <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "|", rhs.root))
}

/// The bitwise XOR, in SQL. NULL if an operand is NULL.
public func ^ <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(lhs.root, rhs.root))
}

/// The bitwise XOR, in SQL. NULL if the second operand is NULL.
public func ^ <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(lhs.root, rhs.root))
}

/// The bitwise XOR, in SQL. NULL if the first operand is NULL.
public func ^ <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(lhs.root, rhs.root))
}

/// The bitwise XOR, in SQL, with a value.
public func ^ <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(lhs.root, .value(rhs.datatypeValue)))
}

/// The bitwise XOR, in SQL, of a value.
public func ^ <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(.value(lhs.datatypeValue), rhs.root))
}

/// The bitwise complement, in SQL.
public prefix func ~ <T: SQLType>(rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase.Datatype == Int64 {
    SQLExpression(root: .wrapped("~", rhs.root))
}

/// SQLite has no XOR operator: subtracts the common bits from those that either operand has.
private func exclusiveOr(_ lhs: SQLNode, _ rhs: SQLNode) -> SQLNode {
    .infix(.wrapped("~", .infix(lhs, "&", rhs)), "&", .infix(lhs, "|", rhs))
}
