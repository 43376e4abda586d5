public import LiteVaultCore
public import LiteVaultQuery

// Logic: && || ! and their forms for many terms.

/// Whether all terms are true, in SQL.
public func and(_ terms: SQLExpression<Bool>...) -> SQLExpression<Bool> { and(terms) }

/// Whether all terms are true, in SQL. True without terms.
public func and(_ terms: [SQLExpression<Bool>]) -> SQLExpression<Bool> { connected(terms, by: " AND ", none: "1") }

/// Whether any of the terms is true, in SQL.
public func or(_ terms: SQLExpression<Bool>...) -> SQLExpression<Bool> { or(terms) }

/// Whether any of the terms is true, in SQL. False without terms.
public func or(_ terms: [SQLExpression<Bool>]) -> SQLExpression<Bool> { connected(terms, by: " OR ", none: "0") }

private func connected(_ terms: [SQLExpression<Bool>], by separator: String, none: String) -> SQLExpression<Bool> {
    // An empty pair of parentheses would be a syntax error.
    guard !terms.isEmpty else { return SQLExpression(root: .wrapped("", .text(none))) }
    return SQLExpression(root: .wrapped("", .joined(terms.map(\.root), separator: separator)))
}

/// Whether both are true, in SQL.
@inlinable
public func && <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase == Bool {
    SQLExpression(root: .infix(lhs.root, "AND", rhs.root))
}

/// Whether both are true, in SQL.
@inlinable
public func && (lhs: SQLExpression<Bool>, rhs: SQLExpression<Bool?>) -> SQLExpression<Bool?> {
    SQLExpression(root: .infix(lhs.root, "AND", rhs.root))
}

/// Whether both are true, in SQL.
@inlinable
public func && (lhs: SQLExpression<Bool?>, rhs: SQLExpression<Bool>) -> SQLExpression<Bool?> {
    SQLExpression(root: .infix(lhs.root, "AND", rhs.root))
}

/// Whether both are true, in SQL, with a value.
@inlinable
public func && <T: SQLType>(lhs: SQLExpression<T>, rhs: Bool) -> SQLExpression<T> where T.SQLBase == Bool {
    SQLExpression(root: .infix(lhs.root, "AND", .value(rhs.datatypeValue)))
}

/// Whether both are true, in SQL, with a value.
@inlinable
public func && <T: SQLType>(lhs: Bool, rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase == Bool {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "AND", rhs.root))
}

/// Whether either is true, in SQL.
@inlinable
public func || <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase == Bool {
    SQLExpression(root: .infix(lhs.root, "OR", rhs.root))
}

/// Whether either is true, in SQL.
@inlinable
public func || (lhs: SQLExpression<Bool>, rhs: SQLExpression<Bool?>) -> SQLExpression<Bool?> {
    SQLExpression(root: .infix(lhs.root, "OR", rhs.root))
}

/// Whether either is true, in SQL.
@inlinable
public func || (lhs: SQLExpression<Bool?>, rhs: SQLExpression<Bool>) -> SQLExpression<Bool?> {
    SQLExpression(root: .infix(lhs.root, "OR", rhs.root))
}

/// Whether either is true, in SQL, with a value.
@inlinable
public func || <T: SQLType>(lhs: SQLExpression<T>, rhs: Bool) -> SQLExpression<T> where T.SQLBase == Bool {
    SQLExpression(root: .infix(lhs.root, "OR", .value(rhs.datatypeValue)))
}

/// Whether either is true, in SQL, with a value.
@inlinable
public func || <T: SQLType>(lhs: Bool, rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase == Bool {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "OR", rhs.root))
}

/// Whether the condition is false, in SQL.
public prefix func ! <T: SQLType>(rhs: SQLExpression<T>) -> SQLExpression<T> where T.SQLBase == Bool {
    SQLExpression(root: .wrapped("NOT ", rhs.root))
}
