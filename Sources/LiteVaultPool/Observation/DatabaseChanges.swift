public import LiteVaultCore

/// An element for each time that a region was changed: see `DatabaseAccess.changes(in:pollInterval:)`.
public struct DatabaseChanges: AsyncSequence, Sendable {
    let access: any DatabaseAccess
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
