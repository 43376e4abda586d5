public import LiteVaultCore

/// SQL text in which values are embedded safely, by string interpolation.
///
/// ```swift
/// let name = "O'Brien"
/// t.column(literal: "name TEXT DEFAULT \(name)")            // name TEXT DEFAULT 'O''Brien'
/// let condition: SQL = "\(Column("score")) > \(limit)"
/// ```
///
/// What stands in the literal itself is SQL. What is interpolated is a value, unless it is an expression or a query: it
/// can never become a part of the SQL. Where a statement takes parameters, values are bound; statements of the schema
/// take none, and get them as literals. A value inside quotes, `'\(name)'`, is an error there: leave the quotes out.
public struct SQL: ExpressionType, ExpressibleByStringInterpolation, Equatable {
    /// As a piece of SQL it has no type.
    public typealias UnderlyingType = Void

    package let root: SQLNode

    /// SQL text with a `?` for each value, and the values.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }

    /// SQL text of one's own. It is used as it is: never build it from input.
    public init(sql: String) { root = .text(sql) }

    /// The text of a literal without interpolations.
    public init(stringLiteral value: String) { root = .text(value) }

    /// The text and values of a literal.
    public init(stringInterpolation: StringInterpolation) { root = .joined(stringInterpolation.nodes, separator: "") }

    /// The SQL text, with a `?` for each value.
    public var template: String { expression.template }

    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { expression.bindings }

    /// It as an expression.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }

    /// One after the other, without a blank.
    public static func + (lhs: SQL, rhs: SQL) -> SQL { SQL(root: .joined([lhs.root, rhs.root], separator: "")) }

    /// Whether both are written alike, with the same values.
    public static func == (lhs: SQL, rhs: SQL) -> Bool {
        lhs.template == rhs.template && lhs.bindings.map(LiteralSQL.literal) == rhs.bindings.map(LiteralSQL.literal)
    }

    private init(root: SQLNode) { self.root = root }
}
