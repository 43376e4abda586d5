public import LiteVaultCore
public import LiteVaultQuery

extension Connection {
    /// Defines an SQL function by a closure with typed arguments, for use in expressions and in SQL.
    ///
    /// - Parameters:
    ///   - function: its name in SQL.
    ///   - deterministic: whether equal arguments always give the same result.
    ///   - block: takes any number of arguments, each a `Value` or an optional one.
    /// - Returns: the function, for use in expressions.
    /// - Throws: `DatabaseError`
    public func createFunction<Z: SQLType, each A: SQLType>(
        _ function: String, deterministic: Bool = false, _ block: @escaping (repeat each A) -> Z
    ) throws -> (repeat Expression<each A>) -> Expression<Z> {
        try defineFunction(function, deterministic: deterministic, block)
    }
}
