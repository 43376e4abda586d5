extension QueryType {
    /// Whether the value of an expression is among those of the query, which has one column: `x IN (SELECT …)`.
    public func contains<T: SQLType>(_ expression: SQLExpression<T>) -> SQLExpression<T.Logical> {
        SQLExpression(root: .infix(expression.root, "IN", .wrapped("", selectNode)))
    }
}

extension ScalarQuery {
    /// The query as a value in another one, NULL where it has no row: `(SELECT …)`.
    public func asExpression() -> SQLExpression<V.Base?> where V: SQLType {
        SQLExpression(root: .wrapped("", selectNode))
    }
}

/// Whether a query has a row, as a condition: `EXISTS (SELECT …)`. The query may use columns of the one it stands in.
public func exists(_ query: any QueryType) -> SQLExpression<Bool> {
    SQLExpression(root: .wrapped("EXISTS ", query.selectNode))
}
