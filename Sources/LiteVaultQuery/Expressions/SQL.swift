public import LiteVaultCore

extension SQL: ExpressionType, Equatable {
    /// A piece of SQL has no type.
    public typealias UnderlyingType = Void

    /// The SQL as an expression.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }

    package var root: SQLNode { bindings.isEmpty ? .text(template) : .template(template, bindings) }

    /// Whether both have the same text and values.
    public static func == (lhs: SQL, rhs: SQL) -> Bool {
        lhs.template == rhs.template && lhs.sql(dates: .text) == rhs.sql(dates: .text)
    }
}

extension SQL.StringInterpolation {
    /// Appends a column, an expression or another piece of SQL; a value as a parameter.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ expression: some Expressible) { append(expression.node) }

    /// Appends a value as a parameter; NULL for nil.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ value: (some Value)?) { append(.value(value?.datatypeValue)) }

    /// Appends a list of values in parentheses, for `IN`. An empty one is in no set: `IN ()` is false.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ values: some Sequence<some Value>) {
        append(.wrapped("", .joined(values.map { .value($0.datatypeValue) }, separator: ", ")))
    }

    /// Appends a query, in parentheses.
    public mutating func appendInterpolation(_ query: some QueryType) { append(.wrapped("", query.node)) }

    private mutating func append(_ node: SQLNode) {
        var builder = SQLBuilder()
        builder.append(node)
        append(builder.sql, builder.bindings)
    }
}
