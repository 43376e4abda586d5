public import LiteVaultQuery

// Ranges: 1...5 ~= column, and the half-open and one-sided ones.

/// Whether the value is in the range, in SQL.
public func ~= <T: SQLType>(lhs: ClosedRange<T.Base>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base: Comparable, T.Base.Datatype: Comparable & Value {
    SQLExpression(
        root: .words(
            rhs.root, .text("BETWEEN"), .value(lhs.lowerBound.datatypeValue), .text("AND"),
            .value(lhs.upperBound.datatypeValue)))
}

/// Whether the value is in the range, its end excluded, in SQL.
public func ~= <T: SQLType>(lhs: Range<T.Base>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base: Comparable, T.Base.Datatype: Comparable & Value {
    SQLExpression(
        root: .words(
            rhs.root, .text(">="), .value(lhs.lowerBound.datatypeValue), .text("AND"), rhs.root, .text("<"),
            .value(lhs.upperBound.datatypeValue)))
}

/// Whether the value is at most the range's end, in SQL.
public func ~= <T: SQLType>(lhs: PartialRangeThrough<T.Base>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base: Comparable, T.Base.Datatype: Comparable & Value {
    SQLExpression(root: .words(rhs.root, .text("<="), .value(lhs.upperBound.datatypeValue)))
}

/// Whether the value is below the range's end, in SQL.
public func ~= <T: SQLType>(lhs: PartialRangeUpTo<T.Base>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base: Comparable, T.Base.Datatype: Comparable & Value {
    SQLExpression(root: .words(rhs.root, .text("<"), .value(lhs.upperBound.datatypeValue)))
}

/// Whether the value is at least the range's start, in SQL.
public func ~= <T: SQLType>(lhs: PartialRangeFrom<T.Base>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base: Comparable, T.Base.Datatype: Comparable & Value {
    SQLExpression(root: .words(rhs.root, .text(">="), .value(lhs.lowerBound.datatypeValue)))
}
