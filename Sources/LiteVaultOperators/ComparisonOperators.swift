public import LiteVaultQuery

// Comparison: > >= < <=.
//
// T stands for a type and for its optional alike; a comparison with an operand that may be NULL may be NULL.

/// Whether the left operand is greater than the right one, in SQL.
@inlinable
public func > <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">", rhs.root))
}

/// Whether the left operand is greater than the right one, in SQL.
@inlinable
public func > <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">", rhs.root))
}

/// Whether the left operand is greater than the right one, in SQL.
@inlinable
public func > <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">", rhs.root))
}

/// Whether the left operand is greater than the right one, in SQL.
@inlinable
public func > <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">", .value(rhs.datatypeValue)))
}

/// Whether the left operand is greater than the right one, in SQL.
@inlinable
public func > <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), ">", rhs.root))
}

/// Whether the left operand is greater than or equal to the right one, in SQL.
@inlinable
public func >= <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">=", rhs.root))
}

/// Whether the left operand is greater than or equal to the right one, in SQL.
@inlinable
public func >= <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">=", rhs.root))
}

/// Whether the left operand is greater than or equal to the right one, in SQL.
@inlinable
public func >= <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">=", rhs.root))
}

/// Whether the left operand is greater than or equal to the right one, in SQL.
@inlinable
public func >= <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">=", .value(rhs.datatypeValue)))
}

/// Whether the left operand is greater than or equal to the right one, in SQL.
@inlinable
public func >= <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), ">=", rhs.root))
}

/// Whether the left operand is less than the right one, in SQL.
@inlinable
public func < <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<", rhs.root))
}

/// Whether the left operand is less than the right one, in SQL.
@inlinable
public func < <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<", rhs.root))
}

/// Whether the left operand is less than the right one, in SQL.
@inlinable
public func < <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<", rhs.root))
}

/// Whether the left operand is less than the right one, in SQL.
@inlinable
public func < <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<", .value(rhs.datatypeValue)))
}

/// Whether the left operand is less than the right one, in SQL.
@inlinable
public func < <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "<", rhs.root))
}

/// Whether the left operand is less than or equal to the right one, in SQL.
@inlinable
public func <= <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<=", rhs.root))
}

/// Whether the left operand is less than or equal to the right one, in SQL.
@inlinable
public func <= <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<=", rhs.root))
}

/// Whether the left operand is less than or equal to the right one, in SQL.
@inlinable
public func <= <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<=", rhs.root))
}

/// Whether the left operand is less than or equal to the right one, in SQL.
@inlinable
public func <= <T: SQLType>(lhs: SQLExpression<T>, rhs: T.SQLBase) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<=", .value(rhs.datatypeValue)))
}

/// Whether the left operand is less than or equal to the right one, in SQL.
@inlinable
public func <= <T: SQLType>(lhs: T.SQLBase, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Comparable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "<=", rhs.root))
}

// Ranges: 1...5 ~= column, and the half-open and one-sided ones.

/// Whether the value is in the range, in SQL.
public func ~= <T: SQLType>(lhs: ClosedRange<T.SQLBase>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase: Comparable, T.SQLBase.Datatype: Comparable & Value {
    SQLExpression(
        root: .infix(
            rhs.root, "BETWEEN",
            .words(.value(lhs.lowerBound.datatypeValue), .text("AND"), .value(lhs.upperBound.datatypeValue))))
}

/// Whether the value is in the range, excluding its upper bound, in SQL.
public func ~= <T: SQLType>(lhs: Range<T.SQLBase>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase: Comparable, T.SQLBase.Datatype: Comparable & Value {
    SQLExpression(
        root: .wrapped(
            "",
            .words(
                rhs.root, .text(">="), .value(lhs.lowerBound.datatypeValue), .text("AND"), rhs.root, .text("<"),
                .value(lhs.upperBound.datatypeValue))))
}

/// Whether the value is at most the range's upper bound, in SQL.
public func ~= <T: SQLType>(lhs: PartialRangeThrough<T.SQLBase>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase: Comparable, T.SQLBase.Datatype: Comparable & Value {
    SQLExpression(root: .infix(rhs.root, "<=", .value(lhs.upperBound.datatypeValue)))
}

/// Whether the value is below the range's upper bound, in SQL.
public func ~= <T: SQLType>(lhs: PartialRangeUpTo<T.SQLBase>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase: Comparable, T.SQLBase.Datatype: Comparable & Value {
    SQLExpression(root: .infix(rhs.root, "<", .value(lhs.upperBound.datatypeValue)))
}

/// Whether the value is at least the range's lower bound, in SQL.
public func ~= <T: SQLType>(lhs: PartialRangeFrom<T.SQLBase>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase: Comparable, T.SQLBase.Datatype: Comparable & Value {
    SQLExpression(root: .infix(rhs.root, ">=", .value(lhs.lowerBound.datatypeValue)))
}
