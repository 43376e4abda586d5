public import LiteVaultCore
internal import LiteVaultSystem
public import Observation

/// A value of a database that a screen shows: it is read at once, and again after each commit that changed what it read.
///
/// ```swift
/// @MainActor final class NotesModel {
///     let notes: Observed<[Note]>
///     init(_ pool: DatabasePool) throws { notes = try Observed(pool) { try Note.order(Note.title).all($0) } }
/// }
/// ```
///
/// It is `Observable`: a view that reads ``value``, of SwiftUI or any other user of the module `Observation`, is updated when it
/// changes. Changes are made on the actor that created it, and those made while this actor is busy are coalesced into one. The
/// observation ends when the object is released.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
public final class Observed<Value: Sendable>: Observable, Sendable {
    private struct State {
        var value: Value
        var failure: (any Error)?
    }

    private let state: Locked<State>
    private let registrar = ObservationRegistrar()
    private let task = Locked<Task<Void, Never>?>(nil)
    private let isSame: @Sendable (Value, Value) -> Bool

    private init(
        _ access: DatabaseAccess, _ values: DatabaseAccess.Values<Value>, isolation: (any Actor)?,
        isSame: @escaping @Sendable (Value, Value) -> Bool
    ) throws {
        state = Locked(State(value: try access.read(values.fetch), failure: nil))
        self.isSame = isSame
        let running = Task { [weak self] in
            do {
                for try await value in values {
                    guard let self else { return }
                    await show(value, isolation: isolation)
                }
            } catch {
                await self?.end(with: error, isolation: isolation)
            }
        }
        task.withLock { $0 = running }
    }

    /// Reads the value, blocking the thread, and observes it.
    ///
    /// - Parameters:
    ///   - access: a pool or queue.
    ///   - pollInterval: the interval of checks for changes by other processes; nil, the default, sees only changes through
    ///     `access`.
    ///   - isolation: the actor on which ``value`` changes; by default the one that calls this, such as `MainActor`. With nil,
    ///     it changes on any thread.
    ///   - fetch: reads the value: records, relations, checked statements. The tables that it reads are determined each time it
    ///     runs.
    /// - Throws: as reading, and the errors of the closure; `VaultError` `reentrant` inside an access.
    public convenience init(
        _ access: DatabaseAccess, pollInterval: Duration? = nil, isolation: (any Actor)? = #isolation,
        _ fetch: @escaping @Sendable (Connection) throws -> Value
    ) throws {
        let values = access.values(pollInterval: pollInterval, fetch)
        try self.init(access, values, isolation: isolation) { _, _ in false }
    }

    /// Reads the value, blocking the thread, and observes it. An equal value does not count as a change.
    ///
    /// - Parameters:
    ///   - access: a pool or queue.
    ///   - pollInterval: the interval of checks for changes by other processes; nil, the default, sees only changes through
    ///     `access`.
    ///   - isolation: the actor on which ``value`` changes; by default the one that calls this, such as `MainActor`. With nil,
    ///     it changes on any thread.
    ///   - fetch: reads the value: records, relations, checked statements. The tables that it reads are determined each time it
    ///     runs.
    /// - Throws: as reading, and the errors of the closure; `VaultError` `reentrant` inside an access.
    public convenience init(
        _ access: DatabaseAccess, pollInterval: Duration? = nil, isolation: (any Actor)? = #isolation,
        _ fetch: @escaping @Sendable (Connection) throws -> Value
    ) throws where Value: Equatable {
        let values = access.values(pollInterval: pollInterval, fetch)
        try self.init(access, values, isolation: isolation) { $0 == $1 }
    }

    deinit { cancel() }

    /// The value as of the last change. Reading it in a view, or in `withObservationTracking`, notices the next one.
    public var value: Value {
        registrar.access(self, keyPath: \.value)
        return state.withLock { $0.value }
    }

    /// The error that ended the observation, if one did: ``value`` stays as it was. Observable like it.
    public var failure: (any Error)? {
        registrar.access(self, keyPath: \.failure)
        return state.withLock { $0.failure }
    }

    /// Ends the observation: ``value`` stays as it is.
    public func cancel() { task.withLock { $0?.cancel() } }

    private func show(_ value: Value, isolation: isolated (any Actor)?) {
        // A value that was read before `cancel` is not shown after it.
        guard !Task.isCancelled, !isSame(state.withLock { $0.value }, value) else { return }
        registrar.withMutation(of: self, keyPath: \.value) { state.withLock { $0.value = value } }
    }

    private func end(with error: any Error, isolation: isolated (any Actor)?) {
        registrar.withMutation(of: self, keyPath: \.failure) { state.withLock { $0.failure = error } }
    }
}
