internal import CEngineSupport
internal import LiteVaultEngine

extension Connection {
    /// Defines an aggregate function (`sqlite3_create_function_v2`), which with `inverse` is a window function, too
    /// (`sqlite3_create_window_function`, SQLite 3.25).
    ///
    /// ```swift
    /// try db.defineAggregation(
    ///     "total_length", argumentCount: 1, initialValue: 0,
    ///     step: { length, values in length += (values[0] as? String)?.count ?? 0 }, result: { $0 })
    /// ```
    ///
    /// - Parameters:
    ///   - name: its name in SQL.
    ///   - argumentCount: the number of arguments; nil for any number.
    ///   - deterministic: whether the same rows always give the same result.
    ///   - initialValue: the state of a group or window before its first row.
    ///   - step: adds a row to the state.
    ///   - inverse: removes the oldest row, which leaves the window, from the state. By default nil: the function cannot be used with OVER.
    ///   - result: returns the result for the state, also when there was no row; of a window function, for the current rows of the window.
    /// - Throws: `DatabaseError`; with `inverse`, `VaultError` `unsupported` before 3.25. Errors of the closures become the error of the
    ///   statement.
    public func defineAggregation<T>(
        _ name: String, argumentCount: UInt? = nil, deterministic: Bool = false, initialValue: T,
        step: @escaping (inout T, [(any Binding)?]) throws -> Void,
        inverse: ((inout T, [(any Binding)?]) throws -> Void)? = nil,
        result: @escaping (T) throws -> (any Binding)?
    ) throws {
        let box = AggregateBox(self, initial: initialValue, step: step, inverse: inverse ?? { _, _ in }, value: result)
        try (inverse == nil ? register : registerWindow)(name, argumentCount, deterministic, box)
    }

    private func registerWindow(_ name: String, _ count: UInt?, _ deterministic: Bool, _ box: AggregateBox) throws {
        try withHandle { db in
            let context = ObjectAddress.retained(box)
            let code = lv_create_window_function(
                db, name, Self.argumentCount(count), Self.flags(deterministic), context,
                { context, count, values in aggregateStep(context, count, values) },
                { context in aggregateFinal(context) },
                { context in AggregateBox.of(context)?.value(context) },
                { context, count, values in
                    AggregateBox.of(context)?.inverse(context, functionArguments(count, values))
                },
                ObjectAddress.release)
            guard code >= 0 else {
                ObjectAddress.release(context)
                throw VaultError.unsupported(
                    "A window function of one's own", requiredVersion: SQLiteVersion(major: 3, minor: 25))
            }
            try check(code)
        }
    }

    private func register(_ name: String, _ count: UInt?, _ deterministic: Bool, _ box: AggregateBox) throws {
        try withHandle { db in
            try check(
                sqlite3_create_function_v2(
                    db, name, Self.argumentCount(count), Self.flags(deterministic),
                    ObjectAddress.retained(box), nil, aggregateStep, aggregateFinal, ObjectAddress.release))
        }
    }
}

/// An aggregate or window function: how its state starts, adds and removes rows, and yields a result.
private final class AggregateBox {
    private unowned let connection: Connection
    private let makeState: () -> AnyObject
    private let step: (AnyObject, [(any Binding)?]) throws -> Void
    private let inverse: (AnyObject, [(any Binding)?]) throws -> Void
    private let value: (AnyObject) throws -> (any Binding)?

    init<T>(
        _ connection: Connection, initial: T,
        step: @escaping (inout T, [(any Binding)?]) throws -> Void,
        inverse: @escaping (inout T, [(any Binding)?]) throws -> Void,
        value: @escaping (T) throws -> (any Binding)?
    ) {
        self.connection = connection
        makeState = { StateBox(initial) }
        self.step = { object, arguments in
            if let object = object as? StateBox<T> { try step(&object.state, arguments) }
        }
        self.inverse = { object, arguments in
            if let object = object as? StateBox<T> { try inverse(&object.state, arguments) }
        }
        self.value = { object in try (object as? StateBox<T>).flatMap { try value($0.state) } }
    }

    func step(_ context: OpaquePointer, _ arguments: [(any Binding)?]) {
        connection.insideFunction(context) { try step(state(of: context), arguments) }
    }

    func inverse(_ context: OpaquePointer, _ arguments: [(any Binding)?]) {
        connection.insideFunction(context) { try inverse(state(of: context), arguments) }
    }

    /// The result so far; the state stays.
    func value(_ context: OpaquePointer) {
        connection.insideFunction(context) { setResult(try value(state(of: context)), of: context) }
    }

    /// The result; the state is released. Without rows there was no step, and the state starts here.
    func final(_ context: OpaquePointer) {
        value(context)
        guard let slot = slot(of: context), let pointer = slot.pointee else { return }
        ObjectAddress.release(pointer)
        slot.pointee = nil
    }

    /// The state of this invocation, in the memory that the engine provides for it (`sqlite3_aggregate_context`).
    private func state(of context: OpaquePointer) -> AnyObject {
        guard let slot = slot(of: context) else { return makeState() }
        if let pointer = slot.pointee { return ObjectAddress.object(pointer) }
        let state = makeState()
        slot.pointee = ObjectAddress.retained(state)
        return state
    }

    /// Initially zeroed by the engine. Nil when memory is exhausted.
    private func slot(of context: OpaquePointer) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
        sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeMutableRawPointer?>.size))?
            .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    static func of(_ context: OpaquePointer) -> AggregateBox? {
        sqlite3_user_data(context).map { ObjectAddress.object($0) }
    }
}

private final class StateBox<T> {
    var state: T
    init(_ state: T) { self.state = state }
}

private let aggregateStep: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    guard let context else { return }
    AggregateBox.of(context)?.step(context, functionArguments(count, values))
}

private let aggregateFinal: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let context else { return }
    AggregateBox.of(context)?.final(context)
}
