public import LiteVaultQuery

// Integer operators: % << >>.
//
// The forms are those of the arithmetic operators.

/// The remainder, in SQL. NULL where an operand is.
public func % <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "%", rhs.root))
}

/// The remainder, in SQL. NULL where the second operand is.
public func % <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "%", rhs.root))
}

/// The remainder, in SQL. NULL where the first operand is.
public func % <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "%", rhs.root))
}

/// The remainder, in SQL, with a value.
public func % <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "%", .value(rhs.datatypeValue)))
}

/// The remainder, in SQL, of a value.
public func % <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "%", rhs.root))
}

/// The bits moved to the left, in SQL. NULL where an operand is.
public func << <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "<<", rhs.root))
}

/// The bits moved to the left, in SQL. NULL where the second operand is.
public func << <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "<<", rhs.root))
}

/// The bits moved to the left, in SQL. NULL where the first operand is.
public func << <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "<<", rhs.root))
}

/// The bits moved to the left, in SQL, with a value.
public func << <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, "<<", .value(rhs.datatypeValue)))
}

/// The bits moved to the left, in SQL, of a value.
public func << <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "<<", rhs.root))
}

/// The bits moved to the right, in SQL. NULL where an operand is.
public func >> <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, ">>", rhs.root))
}

/// The bits moved to the right, in SQL. NULL where the second operand is.
public func >> <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, ">>", rhs.root))
}

/// The bits moved to the right, in SQL. NULL where the first operand is.
public func >> <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, ">>", rhs.root))
}

/// The bits moved to the right, in SQL, with a value.
public func >> <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(lhs.root, ">>", .value(rhs.datatypeValue)))
}

/// The bits moved to the right, in SQL, of a value.
public func >> <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype == Int64 {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), ">>", rhs.root))
}
