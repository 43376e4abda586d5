public import LiteVaultCore

extension Connection {
    /// Defines an SQL function by a closure with typed arguments, for use in expressions and in SQL.
    ///
    /// ```swift
    /// let slug = try db.defineFunction("slug") { (title: String) -> String in … }
    /// let post = try db.first(posts.filter(slug(title) == "hello-world"), as: Post.self)
    /// ```
    ///
    /// A function of that name and number of arguments is replaced.
    ///
    /// - Parameters:
    ///   - function: its name in SQL.
    ///   - deterministic: whether equal arguments always give the same result. Only then can indexes use the function.
    ///   - block: takes any number of arguments, each a `Value` or an optional one. NULL for an argument that is not optional,
    ///     and a value of another type, are errors of the statement that calls the function.
    /// - Returns: the function, for use in expressions.
    /// - Throws: `DatabaseError`
    public func defineFunction<Z: SQLType, each A: SQLType>(
        _ function: String, deterministic: Bool = false, _ block: @escaping (repeat each A) -> Z
    ) throws -> (repeat SQLExpression<each A>) -> SQLExpression<Z> {
        var count: UInt = 0
        for _ in repeat (each A).self { count += 1 }
        // The connection keeps the function.
        try defineFunction(function, argumentCount: count, deterministic: deterministic) { [unowned self] arguments in
            var index = 0
            func next<T: SQLType>(_: T.Type) throws -> T {
                defer { index += 1 }
                do {
                    return try T.value(of: StoredValue(arguments[index]), dates: self.dateStorage)
                } catch let problem as QueryError {
                    throw ArgumentError(function: function, number: index + 1, problem: problem)
                }
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

/// A value that an argument of a typed function cannot take. The statement fails with this text.
private struct ArgumentError: Error, CustomStringConvertible {
    let function: String
    let number: Int
    let problem: QueryError

    var description: String {
        let place = "argument \(number) of \(function)()"
        return switch problem {
        case .unexpectedNullValue: "\(place) is NULL, and its type is not optional"
        case .unexpectedType(_, let expected, let found): "\(place) is \(found), which cannot be read as \(expected)"
        case .malformedValue(_, let expected): "\(place) is not a valid \(expected)"
        default: "\(place): \(problem)"
        }
    }
}

/// Calls a function by its name, such as an aggregate function that the application has defined: `function("median",
/// balance)`.
///
/// - Parameters:
///   - name: the function's name in SQL. It is quoted.
///   - arguments: the arguments.
/// - Returns: the call, with the type that the context requires. The type is not checked before a value is read.
public func function<T: SQLType>(_ name: String, _ arguments: any Expressible...) -> SQLExpression<T> {
    SQLExpression(root: .call(quoted(name), arguments.map(\.node)))
}
