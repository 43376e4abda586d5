public import LiteVaultQuery

// Equality: == and !=.
//
// A comparison of NULL with a value is NULL, as SQL has it.

/// Whether both are equal, in SQL; with nil, whether it is NULL.
@inlinable
public func == <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "=", rhs.root))
}

/// Whether both are equal, in SQL; with nil, whether it is NULL.
@inlinable
public func == <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "=", rhs.root))
}

/// Whether both are equal, in SQL; with nil, whether it is NULL.
@inlinable
public func == <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "=", rhs.root))
}

/// Whether both are equal, in SQL; with nil, whether it is NULL.
@inlinable
public func == <V: Value>(lhs: SQLExpression<V>, rhs: V) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "=", .value(rhs.datatypeValue)))
}

/// Whether both are equal, in SQL; with nil, whether it is NULL. nil stands for NULL.
@inlinable
public func == <V: Value>(lhs: SQLExpression<V?>, rhs: V?) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, rhs.isNull ? "IS" : "=", .value(rhs?.datatypeValue)))
}

/// Whether both are equal, in SQL; with nil, whether it is NULL.
@inlinable
public func == <V: Value>(lhs: V, rhs: SQLExpression<V>) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "=", rhs.root))
}

/// Whether both are equal, in SQL; with nil, whether it is NULL. nil stands for NULL.
@inlinable
public func == <V: Value>(lhs: V?, rhs: SQLExpression<V?>) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs?.datatypeValue), lhs.isNull ? "IS" : "=", rhs.root))
}

/// Whether both differ, in SQL; with nil, whether it is not NULL.
@inlinable
public func != <T: SQLType>(lhs: SQLExpression<T>, rhs: SQLExpression<T>) -> SQLExpression<T.Logical>
where T.Base.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "!=", rhs.root))
}

/// Whether both differ, in SQL; with nil, whether it is not NULL.
@inlinable
public func != <V: Value>(lhs: SQLExpression<V>, rhs: SQLExpression<V?>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "!=", rhs.root))
}

/// Whether both differ, in SQL; with nil, whether it is not NULL.
@inlinable
public func != <V: Value>(lhs: SQLExpression<V?>, rhs: SQLExpression<V>) -> SQLExpression<Bool?>
where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "!=", rhs.root))
}

/// Whether both differ, in SQL; with nil, whether it is not NULL.
@inlinable
public func != <V: Value>(lhs: SQLExpression<V>, rhs: V) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, "!=", .value(rhs.datatypeValue)))
}

/// Whether both differ, in SQL; with nil, whether it is not NULL. nil stands for NULL.
@inlinable
public func != <V: Value>(lhs: SQLExpression<V?>, rhs: V?) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(lhs.root, rhs.isNull ? "IS NOT" : "!=", .value(rhs?.datatypeValue)))
}

/// Whether both differ, in SQL; with nil, whether it is not NULL.
@inlinable
public func != <V: Value>(lhs: V, rhs: SQLExpression<V>) -> SQLExpression<Bool> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs.datatypeValue), "!=", rhs.root))
}

/// Whether both differ, in SQL; with nil, whether it is not NULL. nil stands for NULL.
@inlinable
public func != <V: Value>(lhs: V?, rhs: SQLExpression<V?>) -> SQLExpression<Bool?> where V.Datatype: Equatable {
    SQLExpression(root: .infix(.value(lhs?.datatypeValue), lhs.isNull ? "IS NOT" : "!=", rhs.root))
}

extension Optional {
    /// `== nil`, where that operator means SQL.
    @inlinable
    var isNull: Bool { if case .none = self { true } else { false } }
}

/// The value, or another one where it is NULL: `ifnull(x, y)`.
public func ?? <V: Value>(optional: SQLExpression<V?>, defaultValue: V) -> SQLExpression<V> {
    SQLExpression(root: .call("ifnull", [optional.root, .value(defaultValue.datatypeValue)]))
}

/// The value, or that of another expression where it is NULL: `ifnull(x, y)`.
public func ?? <V: Value>(optional: SQLExpression<V?>, defaultValue: SQLExpression<V>) -> SQLExpression<V> {
    SQLExpression(root: .call("ifnull", [optional.root, defaultValue.root]))
}

/// The value, or that of another expression where it is NULL, which may be NULL too: `ifnull(x, y)`.
public func ?? <V: Value>(optional: SQLExpression<V?>, defaultValue: SQLExpression<V?>) -> SQLExpression<V> {
    SQLExpression(root: .call("ifnull", [optional.root, defaultValue.root]))
}
