public import LiteVaultQuery

// Equality: == and !=.
//
// A comparison of NULL with a value is NULL, as in SQL.

/// Whether both are equal, in SQL. Comparing with nil tests for NULL.
@inlinable
public func == <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "=", rhs.root))
}

/// Whether both are equal, in SQL. Comparing with nil tests for NULL.
@inlinable
public func == <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "=", rhs.root))
}

/// Whether both are equal, in SQL. Comparing with nil tests for NULL.
@inlinable
public func == <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "=", rhs.root))
}

/// Whether both are equal, in SQL. Comparing with nil tests for NULL.
@inlinable
public func == <V: Value>(lhs: SQLExpression<V>, rhs: V) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "=", .value(rhs.datatypeValue)))
}

/// Whether both are equal, in SQL. Comparing with nil tests for NULL.
@inlinable
public func == <V: Value>(lhs: SQLExpression<V?>, rhs: V?) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, rhs.isNull ? "IS" : "=", .value(rhs?.datatypeValue)))
}

/// Whether both are equal, in SQL. Comparing with nil tests for NULL.
@inlinable
public func == <V: Value>(lhs: V, rhs: SQLExpression<V>) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "=", rhs.root))
}

/// Whether both are equal, in SQL. Comparing with nil tests for NULL.
@inlinable
public func == <V: Value>(lhs: V?, rhs: SQLExpression<V?>) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs?.datatypeValue), lhs.isNull ? "IS" : "=", rhs.root))
}

/// Whether both differ, in SQL. Comparing with nil tests for NULL.
@inlinable
public func != <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "!=", rhs.root))
}

/// Whether both differ, in SQL. Comparing with nil tests for NULL.
@inlinable
public func != <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "!=", rhs.root))
}

/// Whether both differ, in SQL. Comparing with nil tests for NULL.
@inlinable
public func != <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "!=", rhs.root))
}

/// Whether both differ, in SQL. Comparing with nil tests for NULL.
@inlinable
public func != <V: Value>(lhs: SQLExpression<V>, rhs: V) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "!=", .value(rhs.datatypeValue)))
}

/// Whether both differ, in SQL. Comparing with nil tests for NULL.
@inlinable
public func != <V: Value>(lhs: SQLExpression<V?>, rhs: V?) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, rhs.isNull ? "IS NOT" : "!=", .value(rhs?.datatypeValue)))
}

/// Whether both differ, in SQL. Comparing with nil tests for NULL.
@inlinable
public func != <V: Value>(lhs: V, rhs: SQLExpression<V>) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "!=", rhs.root))
}

/// Whether both differ, in SQL. Comparing with nil tests for NULL.
@inlinable
public func != <V: Value>(lhs: V?, rhs: SQLExpression<V?>) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs?.datatypeValue), lhs.isNull ? "IS NOT" : "!=", rhs.root))
}

extension Optional {
    /// `== nil`, where that operator is SQL's.
    @inlinable
    var isNull: Bool { if case .none = self { true } else { false } }
}

/// The value, or another one if it is NULL: `ifnull(x, y)`.
public func ?? <V: Value>(optional: SQLExpression<V?>, defaultValue: V) -> SQLExpression<V> {
    SQLExpression(root: .call("ifnull", [optional.root, .value(defaultValue.datatypeValue)]))
}

/// The value, or that of another expression if it is NULL: `ifnull(x, y)`.
public func ?? <V: Value>(optional: SQLExpression<V?>, defaultValue: SQLExpression<V>) -> SQLExpression<V> {
    SQLExpression(root: .call("ifnull", [optional.root, defaultValue.root]))
}

/// The value, or that of another expression, which may be NULL, if it is NULL: `ifnull(x, y)`.
public func ?? <V: Value>(optional: SQLExpression<V?>, defaultValue: SQLExpression<V?>) -> SQLExpression<V> {
    SQLExpression(root: .call("ifnull", [optional.root, defaultValue.root]))
}

// Identity: === and !==, never NULL.
//
// In SQL: IS and IS NOT.

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only.
public func === <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", rhs.root))
}

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only.
public func === <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", rhs.root))
}

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only.
public func === <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", rhs.root))
}

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only.
public func === <V: Value>(lhs: SQLExpression<V>, rhs: V) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", .value(rhs.datatypeValue)))
}

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only. nil stands for NULL.
public func === <V: Value>(lhs: SQLExpression<V?>, rhs: V?) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", .value(rhs?.datatypeValue)))
}

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only.
public func === <V: Value>(lhs: V, rhs: SQLExpression<V>) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "IS", rhs.root))
}

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only. nil stands for NULL.
public func === <V: Value>(lhs: V?, rhs: SQLExpression<V?>) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs?.datatypeValue), "IS", rhs.root))
}

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value.
public func !== <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", rhs.root))
}

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value.
public func !== <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", rhs.root))
}

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value.
public func !== <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", rhs.root))
}

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value.
public func !== <V: Value>(lhs: SQLExpression<V>, rhs: V) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", .value(rhs.datatypeValue)))
}

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value. nil stands for NULL.
public func !== <V: Value>(lhs: SQLExpression<V?>, rhs: V?) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", .value(rhs?.datatypeValue)))
}

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value.
public func !== <V: Value>(lhs: V, rhs: SQLExpression<V>) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "IS NOT", rhs.root))
}

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value. nil stands for NULL.
public func !== <V: Value>(lhs: V?, rhs: SQLExpression<V?>) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs?.datatypeValue), "IS NOT", rhs.root))
}
