public import LiteVaultQuery

// Setters that change the integer that a column holds.

/// Sets a column to its remainder.
public func %= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype == Int64 { column <- column % value }

/// Sets a column to its remainder.
public func %= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column % value }

/// Sets a column to its remainder.
public func %= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype == Int64 { column <- column % value }

/// Moves the bits of a column to the left.
public func <<= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype == Int64 { column <- column << value }

/// Moves the bits of a column to the left.
public func <<= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column << value }

/// Moves the bits of a column to the left.
public func <<= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype == Int64 { column <- column << value }

/// Moves the bits of a column to the right.
public func >>= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype == Int64 { column <- column >> value }

/// Moves the bits of a column to the right.
public func >>= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column >> value }

/// Moves the bits of a column to the right.
public func >>= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype == Int64 { column <- column >> value }

/// Keeps the bits of a column that the other number has.
public func &= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype == Int64 { column <- column & value }

/// Keeps the bits of a column that the other number has.
public func &= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column & value }

/// Keeps the bits of a column that the other number has.
public func &= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype == Int64 { column <- column & value }

/// Adds the bits that the other number has.
public func |= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype == Int64 { column <- column | value }

/// Adds the bits that the other number has.
public func |= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column | value }

/// Adds the bits that the other number has.
public func |= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype == Int64 { column <- column | value }

/// Turns over the bits that the other number has.
public func ^= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype == Int64 { column <- column ^ value }

/// Turns over the bits that the other number has.
public func ^= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column ^ value }

/// Turns over the bits that the other number has.
public func ^= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype == Int64 { column <- column ^ value }

postfix operator ++
postfix operator --

/// Adds 1 to a column.
public postfix func ++ <T: SQLType>(column: SQLExpression<T>) -> Setter where T.Base.Datatype == Int64 {
    Setter(column: column.root, value: .infix(column.root, "+", .value(Int64(1))))
}

/// Subtracts 1 from a column.
public postfix func -- <T: SQLType>(column: SQLExpression<T>) -> Setter where T.Base.Datatype == Int64 {
    Setter(column: column.root, value: .infix(column.root, "-", .value(Int64(1))))
}
