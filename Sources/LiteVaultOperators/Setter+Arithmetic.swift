public import LiteVaultCore
public import LiteVaultQuery

// Setters that change what a column holds: += -= *= /= and their like for integers; ++ and --.

/// Adds to a column.
public func += <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype: Number { column <- column + value }

/// Adds to a column.
public func += <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype: Number { column <- column + value }

/// Adds to a column.
public func += <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype: Number { column <- column + value }

/// Subtracts from a column.
public func -= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype: Number { column <- column - value }

/// Subtracts from a column.
public func -= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype: Number { column <- column - value }

/// Subtracts from a column.
public func -= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype: Number { column <- column - value }

/// Multiplies a column.
public func *= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype: Number { column <- column * value }

/// Multiplies a column.
public func *= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype: Number { column <- column * value }

/// Multiplies a column.
public func *= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype: Number { column <- column * value }

/// Divides a column.
public func /= <T: SQLType>(column: SQLExpression<T>, value: SQLExpression<T>) -> Setter
where T.Base.Datatype: Number { column <- column / value }

/// Divides a column.
public func /= <V: Value>(column: SQLExpression<V?>, value: SQLExpression<V>) -> Setter
where V.Datatype: Number { column <- column / value }

/// Divides a column.
public func /= <T: SQLType>(column: SQLExpression<T>, value: T.Base) -> Setter
where T.Base.Datatype: Number { column <- column / value }
