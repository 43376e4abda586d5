extension SQLExpression where Datatype: SQLType {
    /// The value as another type, NULL where it is NULL: `CAST (x AS TEXT)`.
    ///
    /// - Parameter type: `age.cast(to: String.self)`; of an expression that may be NULL, so may be the result.
    public func cast<V: Value>(to type: V.Type) -> SQLExpression<V> where Datatype: Value {
        LiteVaultQuery.cast(self) as SQLExpression<V>
    }

    /// The value as another type, NULL where it is NULL: `CAST (x AS TEXT)`.
    public func cast<W: Value, V: Value>(to type: V.Type) -> SQLExpression<V?> where Datatype == W? {
        LiteVaultQuery.cast(self) as SQLExpression<V?>
    }
}
