public import LiteVaultQuery

// Comparison: > >= < <=.
//
// T stands for a type and for its optional alike; a comparison with what may be NULL may be NULL.

/// Whether the first is greater, in SQL.
@inlinable
public func > <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">", rhs.root))
}

/// Whether the first is greater, in SQL.
@inlinable
public func > <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">", rhs.root))
}

/// Whether the first is greater, in SQL.
@inlinable
public func > <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">", rhs.root))
}

/// Whether the first is greater, in SQL.
@inlinable
public func > <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">", .value(rhs.datatypeValue)))
}

/// Whether the first is greater, in SQL.
@inlinable
public func > <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), ">", rhs.root))
}

/// Whether the first is greater or equal, in SQL.
@inlinable
public func >= <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">=", rhs.root))
}

/// Whether the first is greater or equal, in SQL.
@inlinable
public func >= <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">=", rhs.root))
}

/// Whether the first is greater or equal, in SQL.
@inlinable
public func >= <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">=", rhs.root))
}

/// Whether the first is greater or equal, in SQL.
@inlinable
public func >= <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, ">=", .value(rhs.datatypeValue)))
}

/// Whether the first is greater or equal, in SQL.
@inlinable
public func >= <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), ">=", rhs.root))
}

/// Whether the first is smaller, in SQL.
@inlinable
public func < <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<", rhs.root))
}

/// Whether the first is smaller, in SQL.
@inlinable
public func < <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<", rhs.root))
}

/// Whether the first is smaller, in SQL.
@inlinable
public func < <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<", rhs.root))
}

/// Whether the first is smaller, in SQL.
@inlinable
public func < <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<", .value(rhs.datatypeValue)))
}

/// Whether the first is smaller, in SQL.
@inlinable
public func < <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "<", rhs.root))
}

/// Whether the first is smaller or equal, in SQL.
@inlinable
public func <= <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<=", rhs.root))
}

/// Whether the first is smaller or equal, in SQL.
@inlinable
public func <= <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<=", rhs.root))
}

/// Whether the first is smaller or equal, in SQL.
@inlinable
public func <= <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<=", rhs.root))
}

/// Whether the first is smaller or equal, in SQL.
@inlinable
public func <= <T: SQLType>(lhs: SQLExpression<T>, rhs: T.Base) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(lhs.root, "<=", .value(rhs.datatypeValue)))
}

/// Whether the first is smaller or equal, in SQL.
@inlinable
public func <= <T: SQLType>(lhs: T.Base, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Comparable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "<=", rhs.root))
}
