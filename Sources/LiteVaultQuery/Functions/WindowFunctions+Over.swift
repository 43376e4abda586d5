internal import LiteVaultCore

// Window functions that are given their window by `over`. Those that take an order are in WindowFunctions.swift.

/// The number of the row, from 1: `row_number()`, for use with `over`.
public func rowNumber() -> SQLExpression<Int> { windowed("row_number", []) }

/// The number of the first row of equal order: `rank()`, for use with `over`.
public func rank() -> SQLExpression<Int> { windowed("rank", []) }

/// The number of the group of equal order, without gaps: `dense_rank()`, for use with `over`.
public func denseRank() -> SQLExpression<Int> { windowed("dense_rank", []) }

/// The rank as a part of 1: `percent_rank()`, for use with `over`.
public func percentRank() -> SQLExpression<Double> { windowed("percent_rank", []) }

/// The part of the rows up to this one: `cume_dist()`, for use with `over`.
public func cumeDist() -> SQLExpression<Double> { windowed("cume_dist", []) }

/// The number of the row's group, of so many groups of nearly equal size: `ntile(n)`, for use with `over`.
public func ntile(_ size: Int) -> SQLExpression<Int> { windowed("ntile", [.value(size)]) }

extension ExpressionType where UnderlyingType: SQLType {
    /// The value of an earlier row; NULL where there is none: `lag(x, n)`, for use with `over`.
    public func lag(_ offset: Int = 1) -> SQLExpression<UnderlyingType.Base?> {
        windowed("lag", [node, .value(offset)])
    }

    /// The value of an earlier row, another one where there is none: `lag(x, n, y)`, for use with `over`.
    public func lag(_ offset: Int = 1, or other: UnderlyingType.Base) -> SQLExpression<UnderlyingType> {
        windowed("lag", [node, .value(offset), .value(other.datatypeValue)])
    }

    /// The value of a later row; NULL where there is none: `lead(x, n)`, for use with `over`.
    public func lead(_ offset: Int = 1) -> SQLExpression<UnderlyingType.Base?> {
        windowed("lead", [node, .value(offset)])
    }

    /// The value of a later row, another one where there is none: `lead(x, n, y)`, for use with `over`.
    public func lead(_ offset: Int = 1, or other: UnderlyingType.Base) -> SQLExpression<UnderlyingType> {
        windowed("lead", [node, .value(offset), .value(other.datatypeValue)])
    }

    /// The value of the frame's first row; NULL of an empty frame: `first_value(x)`, for use with `over`.
    public func firstValue() -> SQLExpression<UnderlyingType.Base?> { windowed("first_value", [node]) }

    /// The value of the frame's last row; NULL of an empty frame: `last_value(x)`, for use with `over`.
    public func lastValue() -> SQLExpression<UnderlyingType.Base?> { windowed("last_value", [node]) }

    /// The value of the frame's n-th row, from 1; NULL where there is none: `nth_value(x, n)`, for use with `over`.
    public func nthValue(_ index: Int) -> SQLExpression<UnderlyingType.Base?> {
        windowed("nth_value", [node, .value(index)])
    }
}

/// A function by its name, such as an aggregate of the application's own: `median("balance")`.
///
/// - Parameters:
///   - name: the function's name in SQL; it is quoted.
///   - arguments: what it is called with.
/// - Returns: the call, of the type that is asked for. Nothing checks that the function gives it until a value is read.
public func function<T: SQLType>(_ name: String, _ arguments: any Expressible...) -> SQLExpression<T> {
    SQLExpression(root: .call(quoted(name), arguments.map(\.node)))
}

private func windowed<T>(_ function: String, _ arguments: [SQLNode]) -> SQLExpression<T> {
    SQLExpression(root: .call(function, arguments))
}
