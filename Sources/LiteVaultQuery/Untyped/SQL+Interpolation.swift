extension SQL {
    /// Collects the pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        var nodes: [SQLNode] = []

        /// Room for the pieces.
        public init(literalCapacity: Int, interpolationCount: Int) { nodes.reserveCapacity(interpolationCount * 2 + 1) }

        /// SQL text.
        public mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { nodes.append(.text(literal)) }
        }

        /// A value; also a column, an expression or another literal.
        public mutating func appendInterpolation(_ expression: some Expressible) { nodes.append(expression.node) }

        /// A value, NULL for nil.
        public mutating func appendInterpolation<V: Value>(_ value: V?) { nodes.append(.value(value?.datatypeValue)) }

        /// Values with commas between them and parentheses around, for IN.
        public mutating func appendInterpolation<V: Value>(_ values: [V]) {
            nodes.append(.wrapped("", .joined(values.map { .value($0.datatypeValue) }, separator: ", ")))
        }

        /// A query, in parentheses.
        public mutating func appendInterpolation(_ query: some QueryType) { nodes.append(.wrapped("", query.node)) }

        /// A name of a table, a column or anything else: quoted.
        public mutating func appendInterpolation(identifier: String) { nodes.append(.identifier(identifier)) }

        /// SQL text as it is: never from input.
        public mutating func appendInterpolation(sql: String) { nodes.append(.text(sql)) }
    }
}
