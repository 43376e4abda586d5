internal import CEngineSupport
internal import LiteVaultEngine

extension Connection {
    /// Defines an aggregate that can also be used as a window function (`sqlite3_create_window_function`, SQLite 3.25).
    ///
    /// - Parameters:
    ///   - name: its name in SQL.
    ///   - argumentCount: how many arguments it takes; nil: any number.
    ///   - deterministic: whether the same rows always give the same result.
    ///   - initialValue: the state before the first row.
    ///   - step: takes a row that enters the window into the state.
    ///   - inverse: takes a row that leaves the window, the oldest one, out of the state.
    ///   - value: the result for the rows that are in the window now.
    /// - Throws: `EngineUnsupported` before 3.25; `DatabaseError`. What the closures throw becomes the error of the
    ///   statement.
    public func defineWindowFunction<T>(
        _ name: String, argumentCount: UInt? = nil, deterministic: Bool = false, initialValue: T,
        step: @escaping (inout T, [(any Binding)?]) throws -> Void,
        inverse: @escaping (inout T, [(any Binding)?]) throws -> Void,
        value: @escaping (T) throws -> (any Binding)?
    ) throws {
        let box = AggregateBox(
            self, makeState: { StateBox(initialValue) },
            step: { object, arguments in
                if let object = object as? StateBox<T> { try step(&object.state, arguments) }
            },
            inverse: { object, arguments in
                if let object = object as? StateBox<T> { try inverse(&object.state, arguments) }
            },
            value: { object in try (object as? StateBox<T>).flatMap { try value($0.state) } })
        try withHandle { db in
            let context = Unmanaged.passRetained(box)
            let code = lv_create_window_function(
                db, name, Self.argumentCount(argumentCount), Self.flags(deterministic), context.toOpaque(),
                { context, count, values in aggregateStep(context, count, values) },
                { context in aggregateFinal(context) },
                { context in AggregateBox.of(context)?.value(context) },
                { context, count, values in
                    AggregateBox.of(context)?.inverse(context, functionArguments(count, values))
                },
                { pointer in releaseBox(pointer) })
            guard code >= 0 else {
                context.release()
                throw EngineUnsupported(
                    feature: "A window function of one's own", requiredVersion: SQLiteVersion(major: 3, minor: 25))
            }
            try check(code)
        }
    }
}
