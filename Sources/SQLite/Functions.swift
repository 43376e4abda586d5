public import LiteVaultCore
public import LiteVaultQuery

// Functions as SQLite.swift defines them: they cannot throw, and a definition that fails shows when the function is
// used. `defineFunction` and `defineAggregation` throw, and so may their closures.

extension Connection {
    /// Defines an SQL function, or replaces it (`sqlite3_create_function_v2`).
    ///
    /// - Parameters:
    ///   - functionName: its name in SQL, at most 255 bytes.
    ///   - argumentCount: the number of arguments; nil for any number.
    ///   - deterministic: whether equal arguments always give the same result. Only then can indexes use the function.
    ///   - block: the arguments, each `Int64`, `Double`, `String`, `Blob` or nil; returns the result.
    public func createFunction(
        _ functionName: String, argumentCount: UInt? = nil, deterministic: Bool = false,
        _ block: @escaping (_ args: [(any Binding)?]) -> (any Binding)?
    ) {
        try? defineFunction(functionName, argumentCount: argumentCount, deterministic: deterministic, block)
    }

    /// Defines an aggregate function whose state lives in memory that the caller allocates.
    ///
    /// - Parameters:
    ///   - functionName: its name in SQL.
    ///   - argumentCount: the number of arguments; nil for any number.
    ///   - deterministic: whether the same rows always give the same result.
    ///   - step: called for each row.
    ///   - finish: called once, after the last row or when there is none, to return the result. It frees the state.
    ///   - state: called at the first row of each group, to create the state.
    public func createAggregation<T>(
        _ functionName: String, argumentCount: UInt? = nil, deterministic: Bool = false,
        step: @escaping ([(any Binding)?], UnsafeMutablePointer<T>) -> Void,
        final finish: @escaping (UnsafeMutablePointer<T>) -> (any Binding)?,
        state: @escaping () -> UnsafeMutablePointer<T>
    ) {
        try? defineAggregation(
            functionName, argumentCount: argumentCount, deterministic: deterministic,
            initialValue: nil as UnsafeMutablePointer<T>?,
            step: { pointer, values in
                let present = pointer ?? state()
                pointer = present
                step(values, present)
            }, result: { finish($0 ?? state()) })
    }

    /// Defines an aggregate function by folding its rows into a value or an object.
    public func createAggregation<T>(
        _ aggregate: String, argumentCount: UInt? = nil, deterministic: Bool = false, initialValue: T,
        reduce: @escaping (T, [(any Binding)?]) -> T, result: @escaping (T) -> (any Binding)?
    ) {
        try? defineAggregation(
            aggregate, argumentCount: argumentCount, deterministic: deterministic, initialValue: initialValue,
            step: { $0 = reduce($0, $1) }, result: result)
    }

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
