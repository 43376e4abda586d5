public import LiteVaultQuery

// Concatenation: + of texts, || in SQL.

/// Both texts, one after the other, in SQL. NULL where one is.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T> where T.Base == String {
    SQLExpression(root: .infix(lhs.root, "||", rhs.root))
}

/// Both texts, one after the other, in SQL. NULL where the second is.
public func + (lhs: SQLExpression<String>, rhs: SQLExpression<String?>) -> SQLExpression<String?> {
    SQLExpression(root: .infix(lhs.root, "||", rhs.root))
}

/// Both texts, one after the other, in SQL. NULL where the first is.
public func + (lhs: SQLExpression<String?>, rhs: SQLExpression<String>) -> SQLExpression<String?> {
    SQLExpression(root: .infix(lhs.root, "||", rhs.root))
}

/// Both texts, one after the other, in SQL.
public func + <T: SQLType>(lhs: SQLExpression<T>, rhs: String) -> SQLExpression<T> where T.Base == String {
    SQLExpression(root: .infix(lhs.root, "||", .value(rhs)))
}

/// Both texts, one after the other, in SQL.
public func + <T: SQLType>(lhs: String, rhs: SQLExpression<T>) -> SQLExpression<T> where T.Base == String {
    SQLExpression(root: .infix(.value(lhs), "||", rhs.root))
}
