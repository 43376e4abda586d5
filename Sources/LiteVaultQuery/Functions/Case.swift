/// Begins a CASE expression, which has the value of the first condition that is true.
///
/// ```swift
/// when(balance < 0, then: "debt").when(balance == 0, then: "even").else("credit")
/// // CASE WHEN ("balance" < 0.0) THEN 'debt' WHEN ("balance" = 0.0) THEN 'even' ELSE 'credit' END
/// ```
public func when<V: Value>(_ condition: SQLExpression<Bool>, then value: V) -> Case<V> {
    Case().when(condition, then: value)
}

/// Begins a CASE expression, with an expression as the value.
public func when<V: Value>(_ condition: SQLExpression<Bool>, then value: SQLExpression<V>) -> Case<V> {
    Case().when(condition, then: value)
}

/// Begins a CASE expression with a condition that may be NULL, which counts as false.
public func when<V: Value>(_ condition: SQLExpression<Bool?>, then value: V) -> Case<V> {
    Case().when(condition, then: value)
}

/// Begins a CASE expression with a condition that may be NULL, which counts as false, and an expression as the value.
public func when<V: Value>(_ condition: SQLExpression<Bool?>, then value: SQLExpression<V>) -> Case<V> {
    Case().when(condition, then: value)
}

/// An unfinished CASE expression. End it by `else` or `end`.
public struct Case<V: Value>: Sendable {
    private var branches: [SQLNode] = []

    init() {}

    /// Adds a condition, tested if none before is true.
    public func when(_ condition: SQLExpression<Bool>, then value: V) -> Case {
        adding(condition.root, .value(value.datatypeValue))
    }

    /// Adds a condition, tested if none before is true.
    public func when(_ condition: SQLExpression<Bool>, then value: SQLExpression<V>) -> Case {
        adding(condition.root, value.root)
    }

    /// Adds a condition, tested if none before is true.
    public func when(_ condition: SQLExpression<Bool?>, then value: V) -> Case {
        adding(condition.root, .value(value.datatypeValue))
    }

    /// Adds a condition, tested if none before is true.
    public func when(_ condition: SQLExpression<Bool?>, then value: SQLExpression<V>) -> Case {
        adding(condition.root, value.root)
    }

    /// Ends the CASE with a value for when no condition is true.
    public func `else`(_ value: V) -> SQLExpression<V> { SQLExpression(root: ended(.value(value.datatypeValue))) }

    /// Ends the CASE with an expression for when no condition is true.
    public func `else`(_ value: SQLExpression<V>) -> SQLExpression<V> { SQLExpression(root: ended(value.root)) }

    /// Ends the CASE with an expression that may be NULL for when no condition is true.
    public func `else`(_ value: SQLExpression<V?>) -> SQLExpression<V?> { SQLExpression(root: ended(value.root)) }

    /// The finished CASE; NULL when no condition is true.
    public var end: SQLExpression<V?> { SQLExpression(root: ended(nil)) }

    private func adding(_ condition: SQLNode, _ value: SQLNode) -> Case {
        var copy = self
        copy.branches.append(.words(.text("WHEN"), condition, .text("THEN"), value))
        return copy
    }

    private func ended(_ other: SQLNode?) -> SQLNode {
        .words(
            .text("CASE"), .joined(branches, separator: " "), other.map { .words(.text("ELSE"), $0) }, .text("END"))
    }
}
