internal import LiteVaultCore

/// The value of a read, now and after each commit that changed what it read.
///
/// ```swift
/// for try await count in pool.values({ try $0.scalar("SELECT count(*) FROM note") as? Int64 }) { … }
/// ```
///
/// Only committed states are seen. Several commits while the loop is busy give one value, the latest.
public struct DatabaseValues<Value: Sendable>: AsyncSequence, Sendable {
    let access: any DatabaseAccess
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
                try await values.access.read { [fetch = values.fetch, knowledge = values.access.core.knowledge] db in
                    let reads = ReadCollector()
                    let value = try db.trackingReads(into: reads) { try fetch(db) }
                    return (value, try DatabaseRegion(reads, on: db, knowledge))
                }
            }
            self.region = region
            last = value
            return value
        }
    }
}
