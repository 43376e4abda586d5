public import LiteVaultCore

/// SQL text with safely interpolated values.
///
/// ```swift
/// let name = "O'Brien"
/// t.column(literal: "name TEXT DEFAULT \(name)")            // name TEXT DEFAULT 'O''Brien'
/// let condition: SQL = "\(Column("score")) > \(limit)"
/// ```
///
/// The literal itself is SQL. Interpolated values are never parsed as SQL; interpolated expressions and queries are inserted
/// as such. Statements that take parameters bind the values. Statements of the schema take none and contain them as literals;
/// do not write quotes around an interpolation (`'\(name)'`) there.
public struct SQL: ExpressionType, ExpressibleByStringInterpolation, Equatable {
    /// A piece of SQL has no type.
    public typealias UnderlyingType = Void

    package let root: SQLNode

    /// Creates SQL from text with a `?` for each value, and the values.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }

    /// Creates SQL from text, which is used verbatim: never build it from untrusted input.
    public init(sql: String) { root = .text(sql) }

    /// Creates SQL from a literal without interpolations.
    public init(stringLiteral value: String) { root = .text(value) }

    /// Creates SQL from a literal with interpolations.
    public init(stringInterpolation: StringInterpolation) { root = .joined(stringInterpolation.nodes, separator: "") }

    /// The SQL text, with a `?` for each value.
    public var template: String { expression.template }

    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { expression.bindings }

    /// The SQL as an expression.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }

    /// Concatenates two pieces, without a space between them.
    public static func + (lhs: SQL, rhs: SQL) -> SQL { SQL(root: .joined([lhs.root, rhs.root], separator: "")) }

    /// Whether both have the same text and values.
    public static func == (lhs: SQL, rhs: SQL) -> Bool {
        lhs.template == rhs.template && lhs.sql(dates: .text) == rhs.sql(dates: .text)
    }

    private init(root: SQLNode) { self.root = root }
}

extension SQL {
    /// Collects the pieces of an SQL literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        var nodes: [SQLNode] = []

        /// Reserves memory for the pieces.
        public init(literalCapacity: Int, interpolationCount: Int) { nodes.reserveCapacity(interpolationCount * 2 + 1) }

        /// Appends SQL text.
        public mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { nodes.append(.text(literal)) }
        }

        /// Appends a value, column, expression or other piece of SQL.
        public mutating func appendInterpolation(_ expression: some Expressible) { nodes.append(expression.node) }

        /// Appends a value, or NULL for nil.
        public mutating func appendInterpolation<V: Value>(_ value: V?) { nodes.append(.value(value?.datatypeValue)) }

        /// Appends a list of values in parentheses, for IN.
        public mutating func appendInterpolation<V: Value>(_ values: [V]) {
            nodes.append(.wrapped("", .joined(values.map { .value($0.datatypeValue) }, separator: ", ")))
        }

        /// Appends the quoted name of a table, column or other object.
        public mutating func appendInterpolation(identifier: String) { nodes.append(.identifier(identifier)) }

        /// Appends SQL text verbatim. Never pass untrusted input.
        public mutating func appendInterpolation(sql: String) { nodes.append(.text(sql)) }
    }
}
