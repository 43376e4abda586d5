public import LiteVaultCore

// SQLite's core functions (https://sqlite.org/lang_corefunc.html) and aggregates. A core function of NULL is NULL.

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.SQLBase.Datatype: Number {
    /// The absolute value: `abs(x)`.
    public var absoluteValue: SQLExpression<UnderlyingType> { SQLExpression(root: .call("abs", [node])) }
}

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.SQLBase == Double {
    /// The number, rounded: `round(x, 2)`.
    ///
    /// - Parameter precision: the number of decimal places; nil for none.
    public func round(_ precision: Int? = nil) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("round", [node] + (precision.map { [.value($0)] } ?? [])))
    }
}

extension ExpressionType where UnderlyingType: Value, UnderlyingType.Datatype == Int64 {
    /// A random 64-bit integer: `random()`.
    public static func random() -> SQLExpression<UnderlyingType> { SQLExpression(root: .text("random()")) }
}

extension ExpressionType where UnderlyingType: Value, UnderlyingType.Datatype == Blob {
    /// A blob of random bytes: `randomblob(n)`.
    ///
    /// - Parameter length: the number of bytes.
    public static func random(_ length: Int) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("randomblob", [.value(length)]))
    }

    /// A blob of zeros: `zeroblob(n)`.
    ///
    /// - Parameter length: the number of bytes.
    public static func allZeros(_ length: Int) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("zeroblob", [.value(length)]))
    }
}

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.SQLBase.Datatype == Blob {
    /// The number of bytes: `length(x)`.
    public var length: SQLExpression<UnderlyingType.SQLCount> { SQLExpression(root: .call("length", [node])) }
}

extension Collection where Element: Value {
    /// Whether the collection contains the value of an expression: `x IN (1, 2, 3)`. False for an empty collection.
    ///
    /// Each element is a parameter, of which an engine takes 32,766 in a statement (999 before SQLite 3.32): find the rows of more
    /// by their keys with a record's `find(_:keys:)`, or in parts.
    public func contains<T: SQLType>(_ expression: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
    where T.SQLBase == Element {
        let values = SQLNode.joined(map { .value($0.datatypeValue) }, separator: ", ")
        return SQLExpression(root: .infix(expression.root, "IN", .wrapped("", values)))
    }
}

/// Converts a value to another type: `CAST (x AS TEXT)`.
public func cast<T: Value, U: Value>(_ expression: SQLExpression<T>) -> SQLExpression<U> {
    SQLExpression(root: castNode(expression.root, U.declaredDatatype))
}

/// Converts a value that may be NULL to another type: `CAST (x AS TEXT)`. NULL stays NULL.
public func cast<T: Value, U: Value>(_ expression: SQLExpression<T?>) -> SQLExpression<U?> {
    SQLExpression(root: castNode(expression.root, U.declaredDatatype))
}

private func castNode(_ node: SQLNode, _ type: String) -> SQLNode {
    .wrapped("CAST ", .words(node, .text("AS"), .text(type)))
}

/// The rowid, in tables that have one.
public let rowid = SQLExpression<Int64>(literal: "ROWID")

extension SQLExpression where Datatype: SQLType {
    /// Converts the value to another type: `age.cast(to: String.self)` is `CAST ("age" AS TEXT)`.
    public func cast<V: Value>(to type: V.Type) -> SQLExpression<V> where Datatype: Value {
        LiteVaultQuery.cast(self) as SQLExpression<V>
    }

    /// Converts a value that may be NULL to another type: `CAST (x AS TEXT)`. NULL stays NULL.
    public func cast<W: Value, V: Value>(to type: V.Type) -> SQLExpression<V?> where Datatype == W? {
        LiteVaultQuery.cast(self) as SQLExpression<V?>
    }
}

// Aggregate functions (https://sqlite.org/lang_aggfunc.html).

extension ExpressionType where UnderlyingType: SQLType {
    /// The distinct values, inside an aggregate: `DISTINCT x`.
    public var distinct: SQLExpression<UnderlyingType> { SQLExpression(root: .words(.text("DISTINCT"), node)) }

    /// The number of values that are not NULL: `count(x)`.
    public var count: SQLExpression<Int> { SQLExpression(root: .call("count", [node])) }
}

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.SQLBase.Datatype: Comparable {
    /// The greatest value: `max(x)`. NULL without values.
    public var max: SQLExpression<UnderlyingType.SQLBase?> { SQLExpression(root: .call("max", [node])) }

    /// The smallest value: `min(x)`. NULL without values.
    public var min: SQLExpression<UnderlyingType.SQLBase?> { SQLExpression(root: .call("min", [node])) }
}

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.SQLBase.Datatype: Number {
    /// The mean: `avg(x)`. NULL without values.
    public var average: SQLExpression<Double?> { SQLExpression(root: .call("avg", [node])) }

    /// The sum: `sum(x)`. NULL without values. Integer overflow is an error.
    public var sum: SQLExpression<UnderlyingType.SQLBase?> { SQLExpression(root: .call("sum", [node])) }

    /// The sum as a floating-point number: `total(x)`. 0 without values.
    public var total: SQLExpression<Double> { SQLExpression(root: .call("total", [node])) }
}

/// The number of rows: `count(*)`.
public func count(_ star: _Star) -> SQLExpression<Int> { SQLExpression(root: .call("count", [star(nil, nil).root])) }

/// The type of `*`, which stands for all columns.
public typealias _Star = (SQLExpression<any Binding>?, SQLExpression<any Binding>?) -> SQLExpression<Void>
