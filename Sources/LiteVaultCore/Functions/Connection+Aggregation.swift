internal import LiteVaultEngine

extension Connection {
    /// Defines an aggregate function whose state lives in memory that the caller allocates.
    ///
    /// It cannot throw: when the definition fails, using the function does.
    /// ``defineAggregation(_:argumentCount:deterministic:initialValue:step:result:)`` throws, and owns the state.
    ///
    /// - Parameters:
    ///   - functionName: its name in SQL.
    ///   - argumentCount: how many arguments it takes; nil: any number.
    ///   - deterministic: whether the same rows always give the same result.
    ///   - step: called for each row.
    ///   - final: called once, after the last row or when there is none, to give the result. It frees the state.
    ///   - state: called at the first row of each group, to make the state.
    public func createAggregation<T>(
        _ functionName: String, argumentCount: UInt? = nil, deterministic: Bool = false,
        step: @escaping ([(any Binding)?], UnsafeMutablePointer<T>) -> Void,
        final: @escaping (UnsafeMutablePointer<T>) -> (any Binding)?,
        state: @escaping () -> UnsafeMutablePointer<T>
    ) {
        let box = AggregateBox(
            self, makeState: { StateBox(state()) },
            step: { object, arguments in
                if let object = object as? StateBox<UnsafeMutablePointer<T>> { step(arguments, object.state) }
            },
            value: { object in (object as? StateBox<UnsafeMutablePointer<T>>).flatMap { final($0.state) } })
        try? register(functionName, argumentCount, deterministic, box)
    }

    /// Defines an aggregate function by folding its rows into an object. It cannot throw: see
    /// ``createAggregation(_:argumentCount:deterministic:step:final:state:)``.
    public func createAggregation<T: AnyObject>(
        _ aggregate: String, argumentCount: UInt? = nil, deterministic: Bool = false, initialValue: T,
        reduce: @escaping (T, [(any Binding)?]) -> T, result: @escaping (T) -> (any Binding)?
    ) {
        try? defineAggregation(
            aggregate, argumentCount: argumentCount, deterministic: deterministic, initialValue: initialValue,
            step: { $0 = reduce($0, $1) }, result: result)
    }

    /// Defines an aggregate function by folding its rows into a value. It cannot throw: see
    /// ``createAggregation(_:argumentCount:deterministic:step:final:state:)``.
    public func createAggregation<T>(
        _ aggregate: String, argumentCount: UInt? = nil, deterministic: Bool = false, initialValue: T,
        reduce: @escaping (T, [(any Binding)?]) -> T, result: @escaping (T) -> (any Binding)?
    ) {
        try? defineAggregation(
            aggregate, argumentCount: argumentCount, deterministic: deterministic, initialValue: initialValue,
            step: { $0 = reduce($0, $1) }, result: result)
    }

    /// Defines an aggregate function (`sqlite3_create_function_v2`).
    ///
    /// - Parameters:
    ///   - name: its name in SQL.
    ///   - argumentCount: how many arguments it takes; nil: any number.
    ///   - deterministic: whether the same rows always give the same result.
    ///   - initialValue: the state of a group before its first row.
    ///   - step: takes a row into the state.
    ///   - result: the result for the state, also when there was no row.
    /// - Throws: `DatabaseError`. What the closures throw becomes the error of the statement.
    public func defineAggregation<T>(
        _ name: String, argumentCount: UInt? = nil, deterministic: Bool = false, initialValue: T,
        step: @escaping (inout T, [(any Binding)?]) throws -> Void,
        result: @escaping (T) throws -> (any Binding)?
    ) throws {
        let box = AggregateBox(
            self, makeState: { StateBox(initialValue) },
            step: { object, arguments in
                if let object = object as? StateBox<T> { try step(&object.state, arguments) }
            },
            value: { object in try (object as? StateBox<T>).flatMap { try result($0.state) } })
        try register(name, argumentCount, deterministic, box)
    }

    private func register(_ name: String, _ count: UInt?, _ deterministic: Bool, _ box: AggregateBox) throws {
        try withHandle { db in
            try check(
                sqlite3_create_function_v2(
                    db, name, Self.argumentCount(count), Self.flags(deterministic),
                    Unmanaged.passRetained(box).toOpaque(), nil, aggregateStep, aggregateFinal, releaseBox))
        }
    }
}
