public import LiteVaultCore

// Aggregate functions (https://sqlite.org/lang_aggfunc.html).

extension ExpressionType where UnderlyingType: SQLType {
    /// Each value once: `DISTINCT x`, for use in an aggregate.
    public var distinct: SQLExpression<UnderlyingType> { SQLExpression(root: .words(.text("DISTINCT"), node)) }

    /// How many rows have a value that is not NULL: `count(x)`.
    public var count: SQLExpression<Int> { SQLExpression(root: .call("count", [node])) }
}

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.Base.Datatype: Comparable {
    /// The greatest value; NULL where there is none: `max(x)`.
    public var max: SQLExpression<UnderlyingType.Base?> { SQLExpression(root: .call("max", [node])) }

    /// The smallest value; NULL where there is none: `min(x)`.
    public var min: SQLExpression<UnderlyingType.Base?> { SQLExpression(root: .call("min", [node])) }
}

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.Base.Datatype: Number {
    /// The mean; NULL where there are no values: `avg(x)`.
    public var average: SQLExpression<Double?> { SQLExpression(root: .call("avg", [node])) }

    /// The sum; NULL where there are no values: `sum(x)`. An integer overflow is an error.
    public var sum: SQLExpression<UnderlyingType.Base?> { SQLExpression(root: .call("sum", [node])) }

    /// The sum as a floating-point number; 0 where there are no values: `total(x)`.
    public var total: SQLExpression<Double> { SQLExpression(root: .call("total", [node])) }
}

/// How many rows there are: `count(*)`.
public func count(_ star: Star) -> SQLExpression<Int> { SQLExpression(root: .call("count", [star(nil, nil).root])) }

/// The type of `*`, which stands for all columns.
public typealias Star = (SQLExpression<any Binding>?, SQLExpression<any Binding>?) -> SQLExpression<Void>
