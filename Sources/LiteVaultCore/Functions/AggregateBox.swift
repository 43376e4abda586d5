internal import LiteVaultEngine

/// An aggregate or window function: how its state begins, takes in rows, gives them up again and becomes a result.
final class AggregateBox {
    private unowned let connection: Connection
    private let makeState: () throws -> AnyObject
    private let step: (AnyObject, [(any Binding)?]) throws -> Void
    private let inverse: (AnyObject, [(any Binding)?]) throws -> Void
    private let value: (AnyObject) throws -> (any Binding)?

    init(
        _ connection: Connection, makeState: @escaping () throws -> AnyObject,
        step: @escaping (AnyObject, [(any Binding)?]) throws -> Void,
        inverse: @escaping (AnyObject, [(any Binding)?]) throws -> Void = { _, _ in },
        value: @escaping (AnyObject) throws -> (any Binding)?
    ) {
        self.connection = connection
        self.makeState = makeState
        self.step = step
        self.inverse = inverse
        self.value = value
    }

    func step(_ context: OpaquePointer, _ arguments: [(any Binding)?]) {
        perform(context) { try step(try state(of: context), arguments) }
    }

    func inverse(_ context: OpaquePointer, _ arguments: [(any Binding)?]) {
        perform(context) { try inverse(try state(of: context), arguments) }
    }

    /// The result so far; the state stays.
    func value(_ context: OpaquePointer) {
        perform(context) { setResult(try value(try state(of: context)), of: context) }
    }

    /// The result; the state is released. Over no rows at all there was no step, and the state begins here.
    func final(_ context: OpaquePointer) {
        value(context)
        guard let slot = slot(of: context), let pointer = slot.pointee else { return }
        Unmanaged<AnyObject>.fromOpaque(pointer).release()
        slot.pointee = nil
    }

    private func perform(_ context: OpaquePointer, _ body: () throws -> Void) {
        connection.functionDepth += 1
        defer { connection.functionDepth -= 1 }
        do { try body() } catch { setError(error, of: context) }
    }

    /// The state of this invocation, kept in the memory that the engine sets aside for it (`sqlite3_aggregate_context`).
    private func state(of context: OpaquePointer) throws -> AnyObject {
        guard let slot = slot(of: context) else { return try makeState() }
        if let pointer = slot.pointee { return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() }
        let state = try makeState()
        slot.pointee = Unmanaged.passRetained(state).toOpaque()
        return state
    }

    /// Zeroed by the engine at first. nil when there is no memory.
    private func slot(of context: OpaquePointer) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
        sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeMutableRawPointer?>.size))?
            .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    /// The box that a callback belongs to.
    static func of(_ context: OpaquePointer) -> AggregateBox? {
        sqlite3_user_data(context).map { Unmanaged<AggregateBox>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// A state that is a value, kept in an object.
final class StateBox<T> {
    var state: T
    init(_ state: T) { self.state = state }
}

let aggregateStep: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
    context, count, values in
    guard let context else { return }
    AggregateBox.of(context)?.step(context, functionArguments(count, values))
}

let aggregateFinal: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let context else { return }
    AggregateBox.of(context)?.final(context)
}
