public import LiteVaultQuery

// Equality: == and !=.
//
// A comparison of NULL with a value is NULL, as in SQL. Five forms of each operator: T stands for a type and for its optional alike.

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
public func == <T: SQLType>(lhs: SQLExpression<T>, rhs: T) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    let value = SQLNode.value(rhs.boundValue)
    return SQLExpression(root: .infix(lhs.root, value.isNull ? "IS" : "=", value))
}

/// Whether both are equal, in SQL. Comparing with nil tests for NULL.
@inlinable
public func == <T: SQLType>(lhs: T, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    let value = SQLNode.value(lhs.boundValue)
    return SQLExpression(root: .infix(value, value.isNull ? "IS" : "=", rhs.root))
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
public func != <T: SQLType>(lhs: SQLExpression<T>, rhs: T) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    let value = SQLNode.value(rhs.boundValue)
    return SQLExpression(root: .infix(lhs.root, value.isNull ? "IS NOT" : "!=", value))
}

/// Whether both differ, in SQL. Comparing with nil tests for NULL.
@inlinable
public func != <T: SQLType>(lhs: T, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    let value = SQLNode.value(lhs.boundValue)
    return SQLExpression(root: .infix(value, value.isNull ? "IS NOT" : "!=", rhs.root))
}

/// The value, or another one if it is NULL: `ifnull(x, y)`.
public func ?? <V: Value>(optional: SQLExpression<V?>, defaultValue: V) -> SQLExpression<V> {
    SQLExpression(root: .call("ifnull", [optional.root, .value(defaultValue.datatypeValue)]))
}

/// The value, or that of another expression, which may be NULL, if it is NULL: `ifnull(x, y)`.
public func ?? <V: Value>(optional: SQLExpression<V?>, defaultValue: SQLExpression<some SQLType<V>>) -> SQLExpression<V>
{
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

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only. nil stands for NULL.
public func === <T: SQLType>(lhs: SQLExpression<T>, rhs: T) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS", .value(rhs.boundValue)))
}

/// Whether both are equal, in SQL (`IS`): NULL equals NULL only. nil stands for NULL.
public func === <T: SQLType>(lhs: T, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.boundValue), "IS", rhs.root))
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

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value. nil stands for NULL.
public func !== <T: SQLType>(lhs: SQLExpression<T>, rhs: T) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "IS NOT", .value(rhs.boundValue)))
}

/// Whether both differ, in SQL (`IS NOT`): NULL differs from every value. nil stands for NULL.
public func !== <T: SQLType>(lhs: T, rhs: SQLExpression<T>) -> SQLExpression<T.SQLLogical>
where T.SQLBase.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.boundValue), "IS NOT", rhs.root))
}
