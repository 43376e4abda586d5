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
/// Before SQLite 3.38, which added `->>`, and for keys that it would take for a path or an index, `json_extract` is written
/// instead. SQLite uses an index only for queries written the same way, so use this type for both.
public struct JSONColumn: Expressible {
    /// The column itself.
    public let expression: SQLExpression<Void>

    private let hasArrows: Bool
    /// Whether the engine finds a key that contains a quotation mark or NUL.
    private let findsQuotes: Bool

    /// Creates a JSON column from its name, which is quoted.
    public init(_ name: String) { self.init(name, engine: EngineInfo.linked.sqliteVersion) }

    package init(_ name: String, engine: SQLiteVersion) {
        expression = SQLExpression(name)
        hasArrows = engine >= SQLiteVersion(major: 3, minor: 38)
        findsQuotes = engine >= SQLiteVersion(major: 3, minor: 45)
    }

    /// The value of a key, as an SQL value: `"address" ->> 'country'`. NULL if the key does not exist.
    ///
    /// A key with characters besides ASCII letters, digits and `_`, or a digit at its start, is written as a path:
    /// `json_extract("address", '$."zip code"')`. The statement throws `VaultError` `unsupported` for a key that contains a
    /// quotation mark or NUL, before SQLite 3.45.
    public subscript(_ key: String) -> Column {
        if hasArrows, Self.isLabel(key) { return arrow(.value(key)) }
        guard findsQuotes || !key.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == 0 }) else {
            return SQLExpression(root: .call(EngineRequirement.unwritableJSONKey, [expression.root]))
        }
        return extract("$" + Quoting.jsonPathStep(key))
    }

    /// Whether `->>` takes a text for a key, in all versions: others are paths (`a.b`), indices (`7`) or errors (`1a`).
    private static func isLabel(_ key: String) -> Bool {
        guard let first = key.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
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
