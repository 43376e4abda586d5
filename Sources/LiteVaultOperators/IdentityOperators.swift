public import LiteVaultQuery

// Identity: === and !==, never NULL.
//
// In SQL: IS and IS NOT.

/// Whether both are equal, in SQL: NULL is equal to NULL and to nothing else.
public func === <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", rhs.root))
}

/// Whether both are equal, in SQL: NULL is equal to NULL and to nothing else.
public func === <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", rhs.root))
}

/// Whether both are equal, in SQL: NULL is equal to NULL and to nothing else.
public func === <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", rhs.root))
}

/// Whether both are equal, in SQL: NULL is equal to NULL and to nothing else.
public func === <V: Value>(lhs: SQLExpression<V>, rhs: V) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", .value(rhs.datatypeValue)))
}

/// Whether both are equal, in SQL: NULL is equal to NULL and to nothing else. nil stands for NULL.
public func === <V: Value>(lhs: SQLExpression<V?>, rhs: V?) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, rhs.isNull ? "IS" : "IS", .value(rhs?.datatypeValue)))
}

/// Whether both are equal, in SQL: NULL is equal to NULL and to nothing else.
public func === <V: Value>(lhs: V, rhs: SQLExpression<V>) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "IS", rhs.root))
}

/// Whether both are equal, in SQL: NULL is equal to NULL and to nothing else. nil stands for NULL.
public func === <V: Value>(lhs: V?, rhs: SQLExpression<V?>) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs?.datatypeValue), lhs.isNull ? "IS" : "IS", rhs.root))
}

/// Whether both differ, in SQL: NULL differs from every value.
public func !== <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", rhs.root))
}

/// Whether both differ, in SQL: NULL differs from every value.
public func !== <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", rhs.root))
}

/// Whether both differ, in SQL: NULL differs from every value.
public func !== <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", rhs.root))
}

/// Whether both differ, in SQL: NULL differs from every value.
public func !== <V: Value>(lhs: SQLExpression<V>, rhs: V) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", .value(rhs.datatypeValue)))
}

/// Whether both differ, in SQL: NULL differs from every value. nil stands for NULL.
public func !== <V: Value>(lhs: SQLExpression<V?>, rhs: V?) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, rhs.isNull ? "IS NOT" : "IS NOT", .value(rhs?.datatypeValue)))
}

/// Whether both differ, in SQL: NULL differs from every value.
public func !== <V: Value>(lhs: V, rhs: SQLExpression<V>) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "IS NOT", rhs.root))
}

/// Whether both differ, in SQL: NULL differs from every value. nil stands for NULL.
public func !== <V: Value>(lhs: V?, rhs: SQLExpression<V?>) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs?.datatypeValue), lhs.isNull ? "IS NOT" : "IS NOT", rhs.root))
}
