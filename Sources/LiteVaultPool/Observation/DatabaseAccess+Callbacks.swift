public import LiteVaultCore

/// An observation by a callback. It ends when this object goes away.
public final class DatabaseObservation: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }

    /// Ends it. A callback that runs at the moment is not waited for.
    public func cancel() { task.cancel() }
}

extension DatabaseAccess {
    /// Calls a closure with the value of a read, now and whenever it has become another one. See ``DatabaseValues``.
    ///
    /// - Parameters:
    ///   - pollInterval: how often to look for changes of other processes; nil: only those of this object are seen.
    ///   - fetch: reads the value.
    ///   - onError: called with the error that ended the observation.
    ///   - onChange: called with each value, one after the other, outside of any access. It may use the database.
    /// - Returns: what has to be kept as long as the closure is to be called.
    public func observe<Value: Sendable & Equatable>(
        pollInterval: Duration? = nil, _ fetch: @escaping @Sendable (Connection) throws -> Value,
        onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable (Value) async -> Void
    ) -> DatabaseObservation {
        let values = values(pollInterval: pollInterval, fetch)
        return DatabaseObservation(
            Task {
                do { for try await value in values { await onChange(value) } } catch { onError(error) }
            })
    }

    /// Calls a closure whenever a region was changed by a committed transaction. See `changes(in:pollInterval:)`.
    ///
    /// - Parameters:
    ///   - region: tables or rows; everything by default.
    ///   - pollInterval: how often to look for changes of other processes; nil: only those of this object are told.
    ///   - onError: called with the error that ended the observation.
    ///   - onChange: called for the changes since it was called last, first when the observation has begun.
    /// - Returns: what has to be kept as long as the closure is to be called.
    public func observe(
        _ region: DatabaseRegion = .everything, pollInterval: Duration? = nil,
        onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable () async -> Void
    ) -> DatabaseObservation {
        let changes = changes(in: region, pollInterval: pollInterval)
        return DatabaseObservation(
            Task {
                do { for try await _ in changes { await onChange() } } catch { onError(error) }
            })
    }
}
