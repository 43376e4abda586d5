public import LiteVaultCore
public import LiteVaultQuery

// Arithmetic: + - * / and negation.
//
// Five forms of each operator: T stands for a type and for its optional alike, which keeps the type checker fast.

/// The sum, in SQL. NULL if an operand is NULL.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "+", rhs.root))
}

/// The sum, in SQL. NULL if the second operand is NULL.
public func + <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "+", rhs.root))
}

/// The sum, in SQL. NULL if the first operand is NULL.
public func + <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "+", rhs.root))
}

/// The sum, in SQL, with a value.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "+", .value(rhs.datatypeValue)))
}

/// The sum, in SQL, of a value.
public func + <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "+", rhs.root))
}

/// The difference, in SQL. NULL if an operand is NULL.
public func - <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "-", rhs.root))
}

/// The difference, in SQL. NULL if the second operand is NULL.
public func - <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "-", rhs.root))
}

/// The difference, in SQL. NULL if the first operand is NULL.
public func - <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "-", rhs.root))
}

/// The difference, in SQL, with a value.
public func - <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "-", .value(rhs.datatypeValue)))
}

/// The difference, in SQL, of a value.
public func - <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "-", rhs.root))
}

/// The product, in SQL. NULL if an operand is NULL.
public func * <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "*", rhs.root))
}

/// The product, in SQL. NULL if the second operand is NULL.
public func * <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "*", rhs.root))
}

/// The product, in SQL. NULL if the first operand is NULL.
public func * <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "*", rhs.root))
}

/// The product, in SQL, with a value.
public func * <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "*", .value(rhs.datatypeValue)))
}

/// The product, in SQL, of a value.
public func * <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "*", rhs.root))
}

/// The quotient, in SQL; of integers, without the fraction. NULL if an operand is NULL.
public func / <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "/", rhs.root))
}

/// The quotient, in SQL; of integers, without the fraction. NULL if the second operand is NULL.
public func / <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "/", rhs.root))
}

/// The quotient, in SQL; of integers, without the fraction. NULL if the first operand is NULL.
public func / <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<V?>
where V.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "/", rhs.root))
}

/// The quotient, in SQL; of integers, without the fraction, with a value.
public func / <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(lhs.root, "/", .value(rhs.datatypeValue)))
}

/// The quotient, in SQL; of integers, without the fraction, of a value.
public func / <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase.Datatype: Number {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "/", rhs.root))
}

/// The negated number, in SQL.
public prefix func - <T: SQLType>(rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase.Datatype: Number {
    SQLExpression(root: .wrapped("-", rhs.root))
}

/// All columns, as in `select(*)`, `count(*)` and `users[*]`.
public func * (_: SQLExpression<any Binding>?, _: SQLExpression<any Binding>?) -> SQLExpression<Void> {
    SQLExpression(root: .text("*"))
}

// Concatenation: + of texts, || in SQL.

/// The concatenation, in SQL. NULL if an operand is NULL.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase == String {
    SQLExpression(root: .infix(lhs.root, "||", rhs.root))
}

/// The concatenation, in SQL. NULL if the second operand is NULL.
public func + (lhs: SQLExpression<String>, rhs: SQLExpression<String?>) -> SQLExpression<String?> {
    SQLExpression(root: .infix(lhs.root, "||", rhs.root))
}

/// The concatenation, in SQL. NULL if the first operand is NULL.
public func + (lhs: SQLExpression<String?>, rhs: SQLExpression<String>) -> SQLExpression<String?> {
    SQLExpression(root: .infix(lhs.root, "||", rhs.root))
}

/// The concatenation, in SQL.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: String) -> SQLExpression<T> where T.SQLBase == String {
    SQLExpression(root: .infix(lhs.root, "||", .value(rhs)))
}

/// The concatenation, in SQL.
public func + <T: SQLType>(lhs: String, rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase == String {
    SQLExpression(root: .infix(.value(lhs), "||", rhs.root))
}
