public import LiteVaultCore

// SQLite's core functions (https://sqlite.org/lang_corefunc.html). Each takes what may be NULL as well, and is NULL then.

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.Base.Datatype: Number {
    /// The number without its sign: `abs(x)`.
    public var absoluteValue: SQLExpression<UnderlyingType> { SQLExpression(root: .call("abs", [node])) }
}

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.Base == Double {
    /// The number, rounded to so many digits after the point, none by default: `round(x, 2)`.
    public func round(_ precision: Int? = nil) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("round", [node] + (precision.map { [.value($0)] } ?? [])))
    }
}

extension ExpressionType where UnderlyingType: Value, UnderlyingType.Datatype == Int64 {
    /// A random integer of 64 bits: `random()`.
    public static func random() -> SQLExpression<UnderlyingType> { SQLExpression(root: .text("random()")) }
}

extension ExpressionType where UnderlyingType: Value, UnderlyingType.Datatype == Blob {
    /// So many random bytes: `randomblob(n)`.
    public static func random(_ length: Int) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("randomblob", [.value(length)]))
    }

    /// So many bytes of zero: `zeroblob(n)`.
    public static func allZeros(_ length: Int) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("zeroblob", [.value(length)]))
    }
}

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.Base.Datatype == Blob {
    /// The number of bytes: `length(x)`.
    public var length: SQLExpression<UnderlyingType.Count> { SQLExpression(root: .call("length", [node])) }
}

extension Collection where Element: Value {
    /// Whether the value of an expression is in the collection: `x IN (1, 2, 3)`. In an empty one nothing is.
    public func contains<T: SQLType>(_ expression: SQLExpression<T>) -> SQLExpression<T.Logical>
    where T.Base == Element {
        let values = SQLNode.joined(map { .value($0.datatypeValue) }, separator: ", ")
        return SQLExpression(root: .infix(expression.root, "IN", .wrapped("", values)))
    }
}

/// The value as another type: `CAST (x AS TEXT)`.
public func cast<T: Value, U: Value>(_ expression: SQLExpression<T>) -> SQLExpression<U> {
    SQLExpression(root: castNode(expression.root, U.declaredDatatype))
}

/// The value as another type, NULL where it is NULL: `CAST (x AS TEXT)`.
public func cast<T: Value, U: Value>(_ expression: SQLExpression<T?>) -> SQLExpression<U?> {
    SQLExpression(root: castNode(expression.root, U.declaredDatatype))
}

private func castNode(_ node: SQLNode, _ type: String) -> SQLNode {
    .wrapped("CAST ", .words(node, .text("AS"), .text(type)))
}

/// The rowid of a row, in tables that have one.
public let rowid = SQLExpression<Int64>(literal: "ROWID")

extension SQLExpression where Datatype: SQLType {
    /// The value as another type, NULL where it is NULL: `CAST (x AS TEXT)`.
    ///
    /// - Parameter type: `age.cast(to: String.self)`; of an expression that may be NULL, so may be the result.
    public func cast<V: Value>(to type: V.Type) -> SQLExpression<V> where Datatype: Value {
        LiteVaultQuery.cast(self) as SQLExpression<V>
    }

    /// The value as another type, NULL where it is NULL: `CAST (x AS TEXT)`.
    public func cast<W: Value, V: Value>(to type: V.Type) -> SQLExpression<V?> where Datatype == W? {
        LiteVaultQuery.cast(self) as SQLExpression<V?>
    }
}

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
