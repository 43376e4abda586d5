public import LiteVaultCore

extension DatabaseAccess {
    /// A sequence of the values of a read: the current one, and another after each commit that changed what it read.
    ///
    /// ```swift
    /// for try await count in pool.values({ try $0.value("SELECT count(*) FROM note", as: Int64?.self) }) { … }
    /// ```
    ///
    /// Only committed states are seen. Commits made while the consumer is busy are coalesced into one value, the latest.
    public struct Values<Value: Sendable>: AsyncSequence, Sendable {
        let access: DatabaseAccess
        let pollInterval: Duration?
        let fetch: @Sendable (Connection) throws -> Value
        let isSame: @Sendable (Value, Value) -> Bool

        /// Creates an iterator, which begins to observe with the first call of `next`.
        public func makeAsyncIterator() -> Iterator { Iterator(values: self) }

        /// The iterator of the values.
        public struct Iterator: AsyncIteratorProtocol {
            let values: Values
            private var observer: Observer?
            private var region = DatabaseRegion.everything
            private var last: Value?

            init(values: Values) { self.values = values }

            /// Returns the current value, then waits for each further one; nil when the task is cancelled.
            ///
            /// - Throws: as reading, and the errors of the closure. The sequence can be iterated again.
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

            /// Reads, and determines the region that was read.
            private mutating func read(_ observer: Observer) async throws -> Value {
                let (value, region) = try await observer.reading {
                    try await values.access.read {
                        [fetch = values.fetch, schemaCache = values.access.coordinator.schemaCache] db in
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
}

extension DatabaseAccess {
    /// A sequence with an element for each change of a region: see `DatabaseAccess.changes(in:pollInterval:)`.
    public struct Changes: AsyncSequence, Sendable {
        let access: DatabaseAccess
        let region: DatabaseRegion
        let pollInterval: Duration?

        /// Creates an iterator, which begins to observe with the first call of `next`.
        public func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

        /// The iterator of the changes.
        public struct Iterator: AsyncIteratorProtocol {
            let changes: Changes
            private var observer: Observer?

            init(changes: Changes) { self.changes = changes }

            /// Waits for a change of the region; nil when the task is cancelled. The first call returns at once: from then on no
            /// change is missed.
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
}

extension DatabaseAccess {
    /// Emits an element after each commit that changes `region`. Changes made while the consumer is busy are coalesced.
    ///
    /// The first element is emitted at once: from then on no change is missed. Changes whose table the engine does not report
    /// count for every region: created and dropped views and virtual tables, renamed tables and columns, `VACUUM`.
    ///
    /// - Parameters:
    ///   - region: tables, columns or rows; everything by default.
    ///   - pollInterval: the interval of checks for changes by other processes, which count for every region; nil, the
    ///     default, reports only changes through this object.
    public func changes(in region: DatabaseRegion = .everything, pollInterval: Duration? = nil) -> Changes {
        Changes(access: self, region: region, pollInterval: pollInterval)
    }

    /// Returns the current value of a read, and another after each commit that changed what it read. See ``DatabaseAccess/Values``.
    ///
    /// - Parameters:
    ///   - pollInterval: the interval of checks for changes by other processes; nil, the default, sees only changes through
    ///     this object.
    ///   - fetch: reads the value. The tables that it reads are determined each time it runs.
    public func values<Value: Sendable>(
        pollInterval: Duration? = nil, _ fetch: @escaping @Sendable (Connection) throws -> Value
    ) -> Values<Value> {
        Values(access: self, pollInterval: pollInterval, fetch: fetch, isSame: { _, _ in false })
    }

    /// Returns the current value of a read, and another whenever it has changed. See ``DatabaseAccess/Values``.
    ///
    /// - Parameters:
    ///   - pollInterval: the interval of checks for changes by other processes; nil, the default, sees only changes through
    ///     this object.
    ///   - fetch: reads the value. The tables that it reads are determined each time it runs.
    public func values<Value: Sendable & Equatable>(
        pollInterval: Duration? = nil, _ fetch: @escaping @Sendable (Connection) throws -> Value
    ) -> Values<Value> {
        Values(access: self, pollInterval: pollInterval, fetch: fetch, isSame: { $0 == $1 })
    }
}

/// An observation with callbacks. It ends when this object is released.
public final class DatabaseObservation: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    deinit { task.cancel() }

    /// Ends the observation. Does not wait for a running callback.
    public func cancel() { task.cancel() }
}

extension DatabaseAccess {
    /// Calls a closure with the current value of a read, and whenever it has changed. See ``DatabaseAccess/Values``.
    ///
    /// - Parameters:
    ///   - pollInterval: the interval of checks for changes by other processes; nil, the default, sees only changes through
    ///     this object.
    ///   - fetch: reads the value.
    ///   - onError: called with the error that ended the observation.
    ///   - onChange: called with each value, one after the other, outside of any access. It may use the database.
    /// - Returns: the observation. Keep it for as long as the closure should be called.
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

    /// Calls a closure after each commit that changes a region. See `changes(in:pollInterval:)`.
    ///
    /// - Parameters:
    ///   - region: tables, columns or rows; everything by default.
    ///   - pollInterval: the interval of checks for changes by other processes; nil, the default, reports only changes through
    ///     this object.
    ///   - onError: called with the error that ended the observation.
    ///   - onChange: called for the changes since its last call, and once when the observation has begun.
    /// - Returns: the observation. Keep it for as long as the closure should be called.
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
