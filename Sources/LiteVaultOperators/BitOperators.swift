public import LiteVaultQuery

// Bit operators: & | ^ ~.
//
// The forms are those of the arithmetic operators.

/// The bits that both have, in SQL. NULL where an operand is.
public func & <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "&", rhs.root))
}

/// The bits that both have, in SQL. NULL where the second operand is.
public func & <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "&", rhs.root))
}

/// The bits that both have, in SQL. NULL where the first operand is.
public func & <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "&", rhs.root))
}

/// The bits that both have, in SQL, with a value.
public func & <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "&", .value(rhs.datatypeValue)))
}

/// The bits that both have, in SQL, of a value.
public func & <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "&", rhs.root))
}

/// The bits that either has, in SQL. NULL where an operand is.
public func | <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "|", rhs.root))
}

/// The bits that either has, in SQL. NULL where the second operand is.
public func | <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "|", rhs.root))
}

/// The bits that either has, in SQL. NULL where the first operand is.
public func | <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "|", rhs.root))
}

/// The bits that either has, in SQL, with a value.
public func | <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "|", .value(rhs.datatypeValue)))
}

/// The bits that either has, in SQL, of a value.
public func | <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "|", rhs.root))
}

/// The bits that exactly one has, in SQL. NULL where an operand is.
public func ^ <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(lhs.root, rhs.root))
}

/// The bits that exactly one has, in SQL. NULL where the second operand is.
public func ^ <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(lhs.root, rhs.root))
}

/// The bits that exactly one has, in SQL. NULL where the first operand is.
public func ^ <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(lhs.root, rhs.root))
}

/// The bits that exactly one has, in SQL, with a value.
public func ^ <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(lhs.root, .value(rhs.datatypeValue)))
}

/// The bits that exactly one has, in SQL, of a value.
public func ^ <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: exclusiveOr(.value(lhs.datatypeValue), rhs.root))
}

/// The bits that the number does not have, in SQL.
public prefix func ~ <T: SQLType>(rhs: SQLExpression<T>) -> SQLExpression<T> where T.Base.Datatype == Int64 {
    SQLExpression(root: .wrapped("~", rhs.root))
}

/// SQLite has no operator for it: what both have is taken away from what either has.
private func exclusiveOr(_ lhs: SQLNode, _ rhs: SQLNode) -> SQLNode {
    .infix(.wrapped("~", .infix(lhs, "&", rhs)), "&", .infix(lhs, "|", rhs))
}
