public import LiteVaultCore

extension QueryType {
    /// Selects columns.
    public func select(_ column1: any Expressible, _ more: any Expressible...) -> Self { select([column1] + more) }

    /// Selects columns, without duplicate rows (`SELECT DISTINCT …`).
    public func select(distinct column1: any Expressible, _ more: any Expressible...) -> Self {
        select(distinct: [column1] + more)
    }

    /// Selects columns.
    public func select(_ all: [any Expressible]) -> Self { selecting(all.map(\.node), isDistinct: false) }

    /// Selects columns, without duplicate rows (`SELECT DISTINCT …`).
    public func select(distinct columns: [any Expressible]) -> Self {
        selecting(columns.map(\.node), isDistinct: true)
    }

    /// Selects all columns: `select(*)`.
    public func select(_ star: _Star) -> Self { selecting([star(nil, nil).root], isDistinct: false) }

    /// Selects all columns, without duplicate rows: `select(distinct: *)`.
    public func select(distinct star: _Star) -> Self { selecting([star(nil, nil).root], isDistinct: true) }

    /// Selects one column, whose type becomes that of the query's values.
    public func select<T: SQLType>(_ column: SQLExpression<T>) -> ScalarQuery<T> {
        ScalarQuery(selecting([column.root], isDistinct: false).clauses)
    }

    /// Selects one column, without duplicates.
    public func select<T: SQLType>(distinct column: SQLExpression<T>) -> ScalarQuery<T> {
        ScalarQuery(selecting([column.root], isDistinct: true).clauses)
    }

    /// The number of rows: `SELECT count(*)`. Read it by `value`.
    ///
    /// Of a query that is limited, grouped, distinct or a compound, these are the rows that it returns:
    /// `SELECT count(*) FROM (SELECT …)`.
    public var count: ScalarQuery<Int> {
        let number = SQLNode.call("count", [.text("*")])
        let isWhole =
            clauses.limit == nil && !clauses.isDistinct && clauses.others.grouping.isEmpty
            && clauses.others.compounds.isEmpty
        guard !isWhole else { return ScalarQuery(selecting([number], isDistinct: false).clauses) }
        var all = QueryClauses("rows")
        all.others.source = .wrapped("", selectNode)
        all.columns = [number]
        return ScalarQuery(all)
    }

    /// Whether the query has any row: `SELECT EXISTS (…)`. Read it by `value`.
    public var exists: Select<Bool> { Select(root: .wrapped("SELECT EXISTS ", selectNode)) }

    func selecting(_ columns: [SQLNode], isDistinct: Bool) -> Self {
        changed {
            $0.columns = columns
            $0.isDistinct = isDistinct
        }
    }
}

extension QueryType {
    /// Whether the query, which selects one column, contains the value of an expression: `x IN (SELECT …)`.
    public func contains<T: SQLType>(_ expression: SQLExpression<T>) -> SQLExpression<T.SQLLogical> {
        SQLExpression(root: .infix(expression.root, "IN", .wrapped("", selectNode)))
    }
}

extension ScalarQuery {
    /// The query as a value inside another query; NULL if it has no row: `(SELECT …)`.
    public func asExpression() -> SQLExpression<V.SQLBase?> where V: SQLType {
        SQLExpression(root: .wrapped("", selectNode))
    }
}

/// Whether a query has any row, as a condition: `EXISTS (SELECT …)`. It may refer to columns of the enclosing query.
public func exists(_ query: any QueryType) -> SQLExpression<Bool> {
    SQLExpression(root: .wrapped("EXISTS ", query.selectNode))
}

extension SQL.StringInterpolation {
    /// Appends a query, in parentheses.
    public mutating func appendInterpolation(_ query: some QueryType) { append(.wrapped("", query.node)) }
}

/// A statement that is a tree until it runs.
package protocol RenderedStatement: ExpressionType {
    var root: SQLNode { get }
}

extension RenderedStatement {
    /// The SQL text, with a `?` for each value.
    public var template: String { root.template }
    /// The values, in the order of the text.
    public var bindings: [(any Binding)?] { root.bindings }
    /// The statement without a type.
    public var expression: SQLExpression<Void> { SQLExpression(root: root) }
}

/// A SELECT of one value whose type is known.
public struct Select<T>: RenderedStatement {
    /// The type of the value.
    public typealias UnderlyingType = T
    package let root: SQLNode
    package init(root: SQLNode) { self.root = root }
    /// Creates a SELECT from SQL text and the values of its parameters.
    public init(_ template: String, _ bindings: [(any Binding)?]) { root = .template(template, bindings) }
}

extension Select: ScalarStatement where T: SQLType {
    /// The type of the value.
    public typealias ScalarValue = T
}
