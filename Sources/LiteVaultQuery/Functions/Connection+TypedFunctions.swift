public import LiteVaultCore

extension Connection {
    /// Defines an SQL function by a closure whose types are known, for use in expressions and in SQL.
    ///
    /// ```swift
    /// let slug = try db.createFunction("slug") { (title: String) -> String in … }
    /// db.prepare(posts.filter(slug(title) == "hello-world"))
    /// ```
    ///
    /// - Parameters:
    ///   - function: its name in SQL.
    ///   - deterministic: whether the same arguments always give the same result. Only then can it be used in an index.
    ///   - block: any number of arguments, each a `Value` or an optional one. NULL for one that is not optional, or a value
    ///     of another type, is an error of the statement that calls the function.
    /// - Returns: the function, for use in expressions.
    /// - Throws: `DatabaseError`
    public func createFunction<Z: SQLType, each A: SQLType>(
        _ function: String, deterministic: Bool = false, _ block: @escaping (repeat each A) -> Z
    ) throws -> (repeat SQLExpression<each A>) -> SQLExpression<Z> {
        var count: UInt = 0
        for _ in repeat (each A).self { count += 1 }
        try defineFunction(function, argumentCount: count, deterministic: deterministic) { arguments in
            var index = 0
            func next<T: SQLType>(_: T.Type) throws -> T {
                defer { index += 1 }
                return try T.value(of: StoredValue(arguments[index]))
            }
            return block(repeat try next((each A).self)).boundValue
        }
        return { (arguments: repeat SQLExpression<each A>) in
            var nodes: [SQLNode] = []
            for argument in repeat each arguments { nodes.append(argument.root) }
            return SQLExpression(root: .call(quoted(function), nodes))
        }
    }
}
