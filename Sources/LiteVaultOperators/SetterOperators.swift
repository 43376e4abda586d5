public import LiteVaultCore
public import LiteVaultQuery

// Setters that modify a column's value: += -= *= /= and their equivalents for integers; ++ and --.

/// Adds to a column.
public func += <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype: Number { column <- column + value }

/// Adds to a column.
public func += <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype: Number { column <- column + value }

/// Adds to a column.
public func += <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype: Number { column <- column + value }

/// Subtracts from a column.
public func -= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype: Number { column <- column - value }

/// Subtracts from a column.
public func -= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype: Number { column <- column - value }

/// Subtracts from a column.
public func -= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype: Number { column <- column - value }

/// Multiplies a column.
public func *= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype: Number { column <- column * value }

/// Multiplies a column.
public func *= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype: Number { column <- column * value }

/// Multiplies a column.
public func *= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype: Number { column <- column * value }

/// Divides a column.
public func /= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype: Number { column <- column / value }

/// Divides a column.
public func /= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype: Number { column <- column / value }

/// Divides a column.
public func /= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype: Number { column <- column / value }

precedencegroup ColumnAssignment {
    associativity: left
    assignment: true
    lowerThan: AssignmentPrecedence
}

infix operator <- : ColumnAssignment

/// Sets a column to the value of an expression.
public func <- <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter {
    Setter(column: column.root, value: value.root)
}

/// Sets a column to the value of an expression.
public func <- <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter {
    Setter(column: column.root, value: value.root)
}

/// Sets a column to a value.
@inlinable
public func <- <V: Value>(column: SQLExpression<V>, value: V) -> Setter {
    Setter(column.root, to: value.datatypeValue)
}

/// Sets a column to a value, or to NULL for nil.
@inlinable
public func <- <V: Value>(column: SQLExpression<V?>, value: V?) -> Setter {
    Setter(column.root, to: value?.datatypeValue)
}

// Setters that append to a column's text.

/// Appends to a column.
public func += <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter where T.SQLBase == String {
    column <- column + value
}

/// Appends to a column.
public func += (column: SQLExpression<String?>, value: SQLExpression<String>) -> Setter { column <- column + value }

/// Appends to a column.
public func += <T: SQLType>(column: SQLExpression<T>, value: String) -> Setter where T.SQLBase == String {
    column <- column + value
}

// Setters that modify a column's integer.

/// Sets a column to the remainder of a division.
public func %= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column % value }

/// Sets a column to the remainder of a division.
public func %= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column % value }

/// Sets a column to the remainder of a division.
public func %= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column % value }

/// Shifts the bits of a column left.
public func <<= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column << value }

/// Shifts the bits of a column left.
public func <<= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column << value }

/// Shifts the bits of a column left.
public func <<= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column << value }

/// Shifts the bits of a column right.
public func >>= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column >> value }

/// Shifts the bits of a column right.
public func >>= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column >> value }

/// Shifts the bits of a column right.
public func >>= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column >> value }

/// Sets a column to the bitwise AND with a number.
public func &= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column & value }

/// Sets a column to the bitwise AND with a number.
public func &= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column & value }

/// Sets a column to the bitwise AND with a number.
public func &= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column & value }

/// Sets a column to the bitwise OR with a number.
public func |= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column | value }

/// Sets a column to the bitwise OR with a number.
public func |= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column | value }

/// Sets a column to the bitwise OR with a number.
public func |= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column | value }

/// Sets a column to the bitwise XOR with a number.
public func ^= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column ^ value }

/// Sets a column to the bitwise XOR with a number.
public func ^= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype == Int64 { column <- column ^ value }

/// Sets a column to the bitwise XOR with a number.
public func ^= <T: SQLType>(column: SQLExpression<T>, value: T.SQLBase) -> Setter
where T.SQLBase.Datatype == Int64 { column <- column ^ value }

postfix operator ++
postfix operator --

/// Adds 1 to a column.
public postfix func ++ <T: SQLType>(column: SQLExpression<T>) -> Setter where T.SQLBase.Datatype == Int64 {
    Setter(column: column.root, value: .infix(column.root, "+", .value(Int64(1))))
}

/// Subtracts 1 from a column.
public postfix func -- <T: SQLType>(column: SQLExpression<T>) -> Setter where T.SQLBase.Datatype == Int64 {
    Setter(column: column.root, value: .infix(column.root, "-", .value(Int64(1))))
}
