internal import LiteVaultCore

// Window functions (https://sqlite.org/windowfunctions.html), SQLite 3.25 and later. First those that take an order and
// write OVER themselves, as in SQLite.swift; then those that do both; then those that get their window by `over`.

extension ExpressionType where UnderlyingType: Value {
    /// The value of an earlier row: `lag(x, offset, default) OVER (ORDER BY …)`.
    ///
    /// - Parameters:
    ///   - offset: the number of rows between the two. 0, the default, is the row itself.
    ///   - default: the value if there is no such row; by default NULL.
    ///   - orderBy: the order of the window.
    public func lag(
        offset: Int = 0, default: (any Expressible)? = nil, _ orderBy: any Expressible
    ) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: overOrder("lag", [node, .value(offset)] + (`default`.map { [$0.node] } ?? []), orderBy))
    }

    /// The value of a later row: `lead(x, offset, default) OVER (ORDER BY …)`.
    ///
    /// - Parameters:
    ///   - offset: the number of rows between the two. 0, the default, is the row itself.
    ///   - default: the value if there is no such row; by default NULL.
    ///   - orderBy: the order of the window.
    public func lead(
        offset: Int = 0, default: (any Expressible)? = nil, _ orderBy: any Expressible
    ) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: overOrder("lead", [node, .value(offset)] + (`default`.map { [$0.node] } ?? []), orderBy))
    }

    /// The value of the window's first row: `first_value(x) OVER (ORDER BY …)`.
    public func firstValue(_ orderBy: any Expressible) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: overOrder("first_value", [node], orderBy))
    }

    /// The value of the window's last row: `last_value(x) OVER (ORDER BY …)`.
    public func lastValue(_ orderBy: any Expressible) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: overOrder("last_value", [node], orderBy))
    }

    /// The value of the window's n-th row, from 1: `nth_value(x, n) OVER (ORDER BY …)`.
    public func value(_ index: Int, _ orderBy: any Expressible) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: overOrder("nth_value", [node, .value(index)], orderBy))
    }
}

private func overOrder(_ function: String, _ arguments: [SQLNode], _ orderBy: any Expressible) -> SQLNode {
    .words(.call(function, arguments), .wrapped("OVER ", .words(.text("ORDER BY"), orderBy.node)))
}

/// The number of the row, from 1: `row_number() OVER (ORDER BY …)`;
/// without an order `row_number()`, for use with `over`.
public func rowNumber(_ orderBy: (any Expressible)? = nil) -> SQLExpression<Int> { windowed("row_number", [], orderBy) }

/// The rank of the row, with gaps after peers: `rank() OVER (ORDER BY …)`;
/// without an order `rank()`, for use with `over`.
public func rank(_ orderBy: (any Expressible)? = nil) -> SQLExpression<Int> { windowed("rank", [], orderBy) }

/// The rank of the row, without gaps: `dense_rank() OVER (ORDER BY …)`;
/// without an order `dense_rank()`, for use with `over`.
public func denseRank(_ orderBy: (any Expressible)? = nil) -> SQLExpression<Int> { windowed("dense_rank", [], orderBy) }

/// The relative rank of the row, from 0 to 1: `percent_rank() OVER (ORDER BY …)`;
/// without an order `percent_rank()`, for use with `over`.
public func percentRank(_ orderBy: (any Expressible)? = nil) -> SQLExpression<Double> {
    windowed("percent_rank", [], orderBy)
}

/// The fraction of rows up to this one, from 0 to 1: `cume_dist() OVER (ORDER BY …)`;
/// without an order `cume_dist()`, for use with `over`.
public func cumeDist(_ orderBy: (any Expressible)? = nil) -> SQLExpression<Double> {
    windowed("cume_dist", [], orderBy)
}

/// The number of the row's bucket, from 1, when rows are split into `size` equal buckets: `ntile(n) OVER (ORDER BY …)`;
/// without an order `ntile(n)`, for use with `over`.
public func ntile(_ size: Int, _ orderBy: (any Expressible)? = nil) -> SQLExpression<Int> {
    windowed("ntile", [.value(size)], orderBy)
}

extension ExpressionType where UnderlyingType: SQLType {
    /// The value of the row `offset` rows earlier; NULL if there is none: `lag(x, n)`, for use with `over`.
    public func lag(_ offset: Int = 1) -> SQLExpression<UnderlyingType.SQLBase?> {
        windowed("lag", [node, .value(offset)])
    }

    /// The value of the row `offset` rows earlier; `other` if there is none: `lag(x, n, y)`, for use with `over`.
    public func lag(_ offset: Int = 1, or other: UnderlyingType.SQLBase) -> SQLExpression<UnderlyingType> {
        windowed("lag", [node, .value(offset), .value(other.datatypeValue)])
    }

    /// The value of the row `offset` rows later; NULL if there is none: `lead(x, n)`, for use with `over`.
    public func lead(_ offset: Int = 1) -> SQLExpression<UnderlyingType.SQLBase?> {
        windowed("lead", [node, .value(offset)])
    }

    /// The value of the row `offset` rows later; `other` if there is none: `lead(x, n, y)`, for use with `over`.
    public func lead(_ offset: Int = 1, or other: UnderlyingType.SQLBase) -> SQLExpression<UnderlyingType> {
        windowed("lead", [node, .value(offset), .value(other.datatypeValue)])
    }

    /// The value of the frame's first row; NULL if the frame is empty: `first_value(x)`, for use with `over`.
    public func firstValue() -> SQLExpression<UnderlyingType.SQLBase?> { windowed("first_value", [node]) }

    /// The value of the frame's last row; NULL if the frame is empty: `last_value(x)`, for use with `over`.
    public func lastValue() -> SQLExpression<UnderlyingType.SQLBase?> { windowed("last_value", [node]) }

    /// The value of the frame's n-th row, from 1; NULL if there is none: `nth_value(x, n)`, for use with `over`.
    public func nthValue(_ index: Int) -> SQLExpression<UnderlyingType.SQLBase?> {
        windowed("nth_value", [node, .value(index)])
    }
}

private func windowed<T>(
    _ function: String, _ arguments: [SQLNode], _ orderBy: (any Expressible)? = nil
) -> SQLExpression<T> {
    SQLExpression(root: orderBy.map { overOrder(function, arguments, $0) } ?? .call(function, arguments))
}
