internal import LiteVaultCore

/// A column, or any expression, of which the compiler does not know the type: for statements of the schema, where only
/// names are at hand.
///
/// ```swift
/// t.check(Column("a") + Column("b") < 10)
/// try db.create(index: "best", on: "player", expressions: [Column("score").desc])
/// ```
///
/// It is the expression of the typed layer, and can be combined with that: a comparison is an `SQLExpression<Bool?>`.
/// What can be made of it is only known when the statement runs; prefer `SQLExpression<Int>("score")` where rows are read.
public typealias Column = SQLExpression<Void>

extension SQLExpression where Datatype == Void {
    /// Compared by a collation: `("email" COLLATE NOCASE)`.
    public func collating(_ collation: Collation) -> Column {
        SQLExpression(root: .infix(root, "COLLATE", collation.node))
    }

    /// Whether it matches a pattern in which `%` stands for any characters and `_` for one: `x LIKE y`.
    public func like(_ pattern: String) -> SQLExpression<Bool?> {
        SQLExpression<Bool?>(root: .infix(root, "LIKE", .value(pattern)))
    }

    /// Whether it matches a pattern of the shell's kind, with `*`, `?` and `[…]`: `x GLOB y`.
    public func glob(_ pattern: String) -> SQLExpression<Bool?> {
        SQLExpression<Bool?>(root: .infix(root, "GLOB", .value(pattern)))
    }

    /// The number without its sign: `abs(x)`.
    public var absoluteValue: Column { SQLExpression(root: .call("abs", [root])) }

    /// With the letters A to Z in lower case: `lower(x)`.
    public var lowercaseString: Column { SQLExpression(root: .call("lower", [root])) }

    /// With the letters a to z in upper case: `upper(x)`.
    public var uppercaseString: Column { SQLExpression(root: .call("upper", [root])) }
}

/// The number of characters of a text, or bytes of a blob: `LENGTH(x)`. NULL where it is NULL.
public func length(_ expression: Column) -> Column {
    SQLExpression(root: .call("LENGTH", [expression.root]))
}

extension Collection where Element: Value {
    /// Whether the value of a column is in the collection: `x IN (1, 2, 3)`. In an empty one nothing is.
    public func contains(_ expression: Column) -> SQLExpression<Bool?> {
        let values = SQLNode.joined(map { .value($0.datatypeValue) }, separator: ", ")
        return SQLExpression(root: .infix(expression.root, "IN", .wrapped("", values)))
    }
}
