package import LiteVaultCore

/// A column or other expression whose type is unknown to the compiler, for schema statements, which deal in names only.
///
/// ```swift
/// t.check(Column("a") + Column("b") < 10)
/// try db.create(index: "best", on: "player", expressions: [Column("score").desc])
/// ```
///
/// Combine it freely with typed expressions; a comparison gives an `SQLExpression<Bool?>`. Types are checked only when the
/// statement runs, so prefer `SQLExpression<Int>("score")` for reading rows.
public typealias Column = SQLExpression<Void>

extension SQLExpression where Datatype == Void {
    /// Compared by a collation: `("email" COLLATE NOCASE)`.
    public func collating(_ collation: Collation) -> Column {
        SQLExpression(root: .infix(root, "COLLATE", collation.node))
    }

    /// Whether it matches a pattern, in which `%` matches any characters and `_` a single one: `x LIKE y`.
    public func like(_ pattern: String) -> SQLExpression<Bool?> {
        SQLExpression<Bool?>(root: .infix(root, "LIKE", .value(pattern)))
    }

    /// Whether it matches a shell pattern of `*`, `?` and `[…]`: `x GLOB y`.
    public func glob(_ pattern: String) -> SQLExpression<Bool?> {
        SQLExpression<Bool?>(root: .infix(root, "GLOB", .value(pattern)))
    }

    /// The absolute value: `abs(x)`.
    public var absoluteValue: Column { SQLExpression(root: .call("abs", [root])) }

    /// With the letters A to Z in lower case: `lower(x)`.
    public var lowercaseString: Column { SQLExpression(root: .call("lower", [root])) }

    /// With the letters a to z in upper case: `upper(x)`.
    public var uppercaseString: Column { SQLExpression(root: .call("upper", [root])) }
}

/// The number of characters of a text, or bytes of a blob: `LENGTH(x)`. NULL for NULL.
public func length(_ expression: Column) -> Column {
    SQLExpression(root: .call("LENGTH", [expression.root]))
}

extension Collection where Element: Value {
    /// Whether the collection contains the value of a column: `x IN (1, 2, 3)`. False for an empty collection.
    public func contains(_ expression: Column) -> SQLExpression<Bool?> {
        let values = SQLNode.joined(map { .value($0.datatypeValue) }, separator: ", ")
        return SQLExpression(root: .infix(expression.root, "IN", .wrapped("", values)))
    }
}

/// A column of JSON, for expressions on its content (https://sqlite.org/json1.html).
///
/// ```swift
/// try db.create(index: "by_country", on: "player", expressions: [JSONColumn("address")["country"]])
/// ```
///
/// Before SQLite 3.38, which added `->>`, `json_extract` is written instead. SQLite uses an index only for queries written
/// the same way, so use this type for both.
public struct JSONColumn: Expressible {
    /// The column itself.
    public let expression: SQLExpression<Void>

    private let hasArrows: Bool

    /// Creates a JSON column from its name, which is quoted.
    public init(_ name: String) { self.init(name, engine: EngineInfo.linked.sqliteVersion) }

    package init(_ name: String, engine: SQLiteVersion) {
        expression = SQLExpression(name)
        hasArrows = engine >= SQLiteVersion(major: 3, minor: 38)
    }

    /// The value of a key, as an SQL value: `"address" ->> 'country'`. NULL if the key does not exist.
    public subscript(_ key: String) -> Column {
        hasArrows ? arrow(.value(key)) : extract("$.\"\(key)\"")
    }

    /// An element of an array, from 0, as an SQL value: `"scores" ->> 0`. Negative indices count from the end. NULL if
    /// the element does not exist.
    public subscript(_ index: Int) -> Column {
        hasArrows && index >= 0 ? arrow(.value(index)) : extract(index < 0 ? "$[#\(index)]" : "$[\(index)]")
    }

    /// The element at a path, as an SQL value: `json_extract("address", '$.city.name')`.
    public func extract(_ path: String) -> Column {
        SQLExpression(root: .call("json_extract", [expression.root, .value(path)]))
    }

    private func arrow(_ operand: SQLNode) -> Column { SQLExpression(root: .infix(expression.root, "->>", operand)) }
}
