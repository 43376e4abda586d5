public import LiteVaultCore

extension QueryType {
    /// Selects columns.
    public func select(_ column1: any Expressible, _ more: any Expressible...) -> Self { select([column1] + more) }

    /// Selects columns, equal rows once.
    public func select(distinct column1: any Expressible, _ more: any Expressible...) -> Self {
        select(distinct: [column1] + more)
    }

    /// Selects columns.
    public func select(_ all: [any Expressible]) -> Self { selecting(all.map(\.node), isDistinct: false) }

    /// Selects columns, equal rows once.
    public func select(distinct columns: [any Expressible]) -> Self {
        selecting(columns.map(\.node), isDistinct: true)
    }

    /// Selects all columns: `select(*)`.
    public func select(_ star: Star) -> Self { selecting([star(nil, nil).root], isDistinct: false) }

    /// Selects all columns, equal rows once: `select(distinct: *)`.
    public func select(distinct star: Star) -> Self { selecting([star(nil, nil).root], isDistinct: true) }

    /// Selects one column, whose type is then that of the query's value.
    public func select<V: Value>(_ column: SQLExpression<V>) -> ScalarQuery<V> {
        ScalarQuery(selecting([column.root], isDistinct: false).clauses)
    }

    /// Selects one column that may be NULL.
    public func select<V: Value>(_ column: SQLExpression<V?>) -> ScalarQuery<V?> {
        ScalarQuery(selecting([column.root], isDistinct: false).clauses)
    }

    /// Selects one column, equal values once.
    public func select<V: Value>(distinct column: SQLExpression<V>) -> ScalarQuery<V> {
        ScalarQuery(selecting([column.root], isDistinct: true).clauses)
    }

    /// Selects one column that may be NULL, equal values once.
    public func select<V: Value>(distinct column: SQLExpression<V?>) -> ScalarQuery<V?> {
        ScalarQuery(selecting([column.root], isDistinct: true).clauses)
    }

    /// How many rows the query has: `SELECT count(*)`.
    public var count: ScalarQuery<Int> { select(SQLExpression<Int>(root: .call("count", [.text("*")]))) }

    /// Whether the query has a row: `SELECT EXISTS (…)`.
    public var exists: Select<Bool> { Select(root: .wrapped("SELECT EXISTS ", selectNode)) }

    func selecting(_ columns: [SQLNode], isDistinct: Bool) -> Self {
        changed {
            $0.columns = columns
            $0.isDistinct = isDistinct
        }
    }
}
