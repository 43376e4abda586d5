/// Begins a CASE: the value of the first condition that holds.
///
/// ```swift
/// when(balance < 0, then: "debt").when(balance == 0, then: "even").else("credit")
/// // CASE WHEN ("balance" < 0.0) THEN 'debt' WHEN ("balance" = 0.0) THEN 'even' ELSE 'credit' END
/// ```
public func when<V: Value>(_ condition: SQLExpression<Bool>, then value: V) -> Case<V> {
    Case().when(condition, then: value)
}

/// Begins a CASE, with the value of an expression.
public func when<V: Value>(_ condition: SQLExpression<Bool>, then value: SQLExpression<V>) -> Case<V> {
    Case().when(condition, then: value)
}

/// Begins a CASE; a condition that is NULL does not hold.
public func when<V: Value>(_ condition: SQLExpression<Bool?>, then value: V) -> Case<V> {
    Case().when(condition, then: value)
}

/// Begins a CASE, with the value of an expression; a condition that is NULL does not hold.
public func when<V: Value>(_ condition: SQLExpression<Bool?>, then value: SQLExpression<V>) -> Case<V> {
    Case().when(condition, then: value)
}

/// A CASE in the making: `else` or `end` makes it an expression.
public struct Case<V: Value>: Sendable {
    private var branches: [SQLNode] = []

    init() {}

    /// Another condition, for where none before holds.
    public func when(_ condition: SQLExpression<Bool>, then value: V) -> Case {
        adding(condition.root, .value(value.datatypeValue))
    }

    /// Another condition, for where none before holds.
    public func when(_ condition: SQLExpression<Bool>, then value: SQLExpression<V>) -> Case {
        adding(condition.root, value.root)
    }

    /// Another condition, for where none before holds.
    public func when(_ condition: SQLExpression<Bool?>, then value: V) -> Case {
        adding(condition.root, .value(value.datatypeValue))
    }

    /// Another condition, for where none before holds.
    public func when(_ condition: SQLExpression<Bool?>, then value: SQLExpression<V>) -> Case {
        adding(condition.root, value.root)
    }

    /// The CASE with a value for where no condition holds.
    public func `else`(_ value: V) -> SQLExpression<V> { SQLExpression(root: ended(.value(value.datatypeValue))) }

    /// The CASE with the value of an expression for where no condition holds.
    public func `else`(_ value: SQLExpression<V>) -> SQLExpression<V> { SQLExpression(root: ended(value.root)) }

    /// The CASE with the value of an expression, which may be NULL, for where no condition holds.
    public func `else`(_ value: SQLExpression<V?>) -> SQLExpression<V?> { SQLExpression(root: ended(value.root)) }

    /// The CASE; NULL where no condition holds.
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
