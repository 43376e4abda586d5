public import LiteVaultCore

/// The value of a read, now and after each commit that changed what it read.
///
/// ```swift
/// for try await count in pool.values({ try $0.scalar("SELECT count(*) FROM note") as? Int64 }) { … }
/// ```
///
/// Only committed states are seen. Several commits while the loop is busy give one value, the latest.
public struct DatabaseValues<Value: Sendable>: AsyncSequence, Sendable {
    let access: DatabaseAccess
    let pollInterval: Duration?
    let fetch: @Sendable (Connection) throws -> Value
    let isSame: @Sendable (Value, Value) -> Bool

    /// Begins to observe with the first call of its `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(values: self) }

    /// Waits for values.
    public struct Iterator: AsyncIteratorProtocol {
        let values: DatabaseValues
        private var observer: Observer?
        private var region = DatabaseRegion.everything
        private var last: Value?

        init(values: DatabaseValues) { self.values = values }

        /// The value now, then each one that it becomes; nil when the task is cancelled.
        ///
        /// - Throws: as reading, and what the closure throws. The sequence can be iterated again.
        public mutating func next() async throws -> Value? {
            do { return try await value() } catch is CancellationError { return nil }
        }

        private mutating func value() async throws -> Value? {
            guard let observer else {
                let observer = try await Observer(
                    values.access, region: .everything, pollInterval: values.pollInterval)
                self.observer = observer
                return try await read(observer)
            }
            while try await observer.next(in: region) {
                let previous = last
                let value = try await read(observer)
                guard let previous, values.isSame(previous, value) else { return value }
            }
            return nil
        }

        /// Reads, and finds out what was read.
        private mutating func read(_ observer: Observer) async throws -> Value {
            let (value, region) = try await observer.reading {
                try await values.access.read { [fetch = values.fetch, schemaCache = values.access.coordinator.schemaCache] db in
                    let reads = ReadCollector()
                    let value = try db.trackingReads(into: reads) { try fetch(db) }
                    return (value, try DatabaseRegion(reads, on: db, schemaCache))
                }
            }
            self.region = region
            last = value
            return value
        }
    }
}

/// An element for each time that a region was changed: see `DatabaseAccess.changes(in:pollInterval:)`.
public struct DatabaseChanges: AsyncSequence, Sendable {
    let access: DatabaseAccess
    let region: DatabaseRegion
    let pollInterval: Duration?

    /// Begins to observe with the first call of its `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

    /// Waits for changes.
    public struct Iterator: AsyncIteratorProtocol {
        let changes: DatabaseChanges
        private var observer: Observer?

        init(changes: DatabaseChanges) { self.changes = changes }

        /// Waits until the region was changed; nil when the task is cancelled. The first element comes at once: from
        /// then on nothing is missed.
        ///
        /// - Throws: as reading.
        public mutating func next() async throws -> Void? {
            guard let observer else {
                do {
                    observer = try await Observer(
                        changes.access, region: changes.region, pollInterval: changes.pollInterval)
                } catch is CancellationError { return nil }
                return ()
            }
            do { return try await observer.next(in: changes.region) ? () : nil } catch is CancellationError {
                return nil
            }
        }
    }
}

extension DatabaseAccess {
    /// Tells when a region was changed by a committed transaction. Changes that come while the loop is busy are told
    /// once.
    ///
    /// The first element comes at once, when nothing can be missed any more. What the engine does not tell the table of
    /// counts for every region: views and virtual tables that come or go, other names for tables and columns, `VACUUM`.
    ///
    /// - Parameters:
    ///   - region: tables, columns or rows; everything by default.
    ///   - pollInterval: how often to look for changes of other processes; nil: only those of this object are told. Of
    ///     theirs it is not known what they changed.
    public func changes(in region: DatabaseRegion = .everything, pollInterval: Duration? = nil) -> DatabaseChanges {
        DatabaseChanges(access: self, region: region, pollInterval: pollInterval)
    }

    /// The value of a read, now and after each commit that changed what it read. See ``DatabaseValues``.
    ///
    /// - Parameters:
    ///   - pollInterval: how often to look for changes of other processes; nil: only those of this object are seen.
    ///   - fetch: reads the value. Which tables it reads is found out each time that it runs.
    public func values<Value: Sendable>(
        pollInterval: Duration? = nil, _ fetch: @escaping @Sendable (Connection) throws -> Value
    ) -> DatabaseValues<Value> {
        DatabaseValues(access: self, pollInterval: pollInterval, fetch: fetch, isSame: { _, _ in false })
    }

    /// The value of a read, now and whenever it has become another one. See ``DatabaseValues``.
    ///
    /// - Parameters: as for values that cannot be compared.
    public func values<Value: Sendable & Equatable>(
        pollInterval: Duration? = nil, _ fetch: @escaping @Sendable (Connection) throws -> Value
    ) -> DatabaseValues<Value> {
        DatabaseValues(access: self, pollInterval: pollInterval, fetch: fetch, isSame: { $0 == $1 })
    }
}

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
