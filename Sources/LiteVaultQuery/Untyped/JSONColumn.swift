package import LiteVaultCore

/// A column that holds JSON, for expressions on what is in it (https://sqlite.org/json1.html).
///
/// ```swift
/// try db.create(index: "by_country", on: "player", expressions: [JSONColumn("address")["country"]])
/// ```
///
/// An engine before SQLite 3.38 has no `->>`: there the same is written as `json_extract`. An index is used by queries
/// that are written in the same way, so both should be made by this type.
public struct JSONColumn: Expressible {
    /// The column itself.
    public let expression: SQLExpression<Void>

    private let hasArrows: Bool

    /// A column by its name, which is quoted.
    public init(_ name: String) { self.init(name, engine: EngineInfo.linked.sqliteVersion) }

    package init(_ name: String, engine: SQLiteVersion) {
        expression = SQLExpression(name)
        hasArrows = engine >= SQLiteVersion(major: 3, minor: 38)
    }

    /// The value of a key as an SQL value: `"address" ->> 'country'`. NULL where there is none.
    public subscript(_ key: String) -> Column {
        hasArrows ? arrow(.value(key)) : extract("$.\"\(key)\"")
    }

    /// An element of an array as an SQL value, from 0: `"scores" ->> 0`. NULL where there is none.
    public subscript(_ index: Int) -> Column {
        hasArrows && index >= 0 ? arrow(.value(index)) : extract(index < 0 ? "$[#\(index)]" : "$[\(index)]")
    }

    /// What a path leads to, as an SQL value: `json_extract("address", '$.city.name')`.
    public func extract(_ path: String) -> Column {
        SQLExpression(root: .call("json_extract", [expression.root, .value(path)]))
    }

    private func arrow(_ operand: SQLNode) -> Column { SQLExpression(root: .infix(expression.root, "->>", operand)) }
}
