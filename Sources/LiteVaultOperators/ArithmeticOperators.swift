public import LiteVaultCore
public import LiteVaultQuery

// Arithmetic: + - * / and negation.
//
// Five forms of each operator: T stands for a type and for its optional alike, which keeps the type checker fast.

/// The sum, in SQL. NULL where an operand is.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "+", rhs.root))
}

/// The sum, in SQL. NULL where the second operand is.
public func + <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "+", rhs.root))
}

/// The sum, in SQL. NULL where the first operand is.
public func + <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "+", rhs.root))
}

/// The sum, in SQL, with a value.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "+", .value(rhs.datatypeValue)))
}

/// The sum, in SQL, of a value.
public func + <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "+", rhs.root))
}

/// The difference, in SQL. NULL where an operand is.
public func - <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "-", rhs.root))
}

/// The difference, in SQL. NULL where the second operand is.
public func - <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "-", rhs.root))
}

/// The difference, in SQL. NULL where the first operand is.
public func - <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "-", rhs.root))
}

/// The difference, in SQL, with a value.
public func - <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "-", .value(rhs.datatypeValue)))
}

/// The difference, in SQL, of a value.
public func - <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "-", rhs.root))
}

/// The product, in SQL. NULL where an operand is.
public func * <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "*", rhs.root))
}

/// The product, in SQL. NULL where the second operand is.
public func * <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "*", rhs.root))
}

/// The product, in SQL. NULL where the first operand is.
public func * <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "*", rhs.root))
}

/// The product, in SQL, with a value.
public func * <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "*", .value(rhs.datatypeValue)))
}

/// The product, in SQL, of a value.
public func * <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "*", rhs.root))
}

/// The quotient, of integers without its fraction, in SQL. NULL where an operand is.
public func / <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "/", rhs.root))
}

/// The quotient, of integers without its fraction, in SQL. NULL where the second operand is.
public func / <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "/", rhs.root))
}

/// The quotient, of integers without its fraction, in SQL. NULL where the first operand is.
public func / <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "/", rhs.root))
}

/// The quotient, of integers without its fraction, in SQL, with a value.
public func / <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "/", .value(rhs.datatypeValue)))
}

/// The quotient, of integers without its fraction, in SQL, of a value.
public func / <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.Base.Datatype: Number {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "/", rhs.root))
}

/// The number with the opposite sign, in SQL.
public prefix func - <T: SQLType>(rhs: SQLExpression<T>) -> SQLExpression<T> where T.Base.Datatype: Number {
    SQLExpression(root: .wrapped("-", rhs.root))
}

/// All columns, as in `select(*)`, `count(*)` and `users[*]`.
public func * (_: SQLExpression<any Binding>?, _: SQLExpression<any Binding>?) -> SQLExpression<Void> {
    SQLExpression(root: .text("*"))
}
