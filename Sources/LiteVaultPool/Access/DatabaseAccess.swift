public import LiteVaultCore

/// Access to a database for threads and tasks: reads and writes are closures that are given a connection.
///
/// A closure is synchronous and has the connection for itself until it returns: no transaction waits for code elsewhere.
/// Neither the connection nor statements of it may be kept. Each call has a synchronous form, which waits on the thread, and
/// an asynchronous one, which waits without one and is ended by cancelling its task: the statement that runs is
/// interrupted, everything is rolled back, and `CancellationError` is thrown.
///
/// An access inside another access of the same database would wait for itself: it throws ``AccessError`` `reentrant`.
///
/// ``DatabasePool`` reads while it writes; ``DatabaseQueue`` is the same over one connection.
public protocol DatabaseAccess: AnyObject, Sendable {
    /// Who may use which connection when. It has no members for other modules.
    var core: AccessCore { get }
}

extension DatabaseAccess {
    /// Reads, in a read transaction: all statements of the closure see the same state. Nothing can be written.
    ///
    /// - Returns: what the closure returns.
    /// - Throws: what the closure throws; ``AccessError``; `VaultError` or `DatabaseError` when no connection can be opened.
    public func read<T>(_ body: (Connection) throws -> T) throws -> T {
        try core.sync(.read, body)
    }

    /// Writes, in a transaction: it is committed when the closure returns, and rolled back when it throws.
    ///
    /// Writes follow one another. The transaction begins as the configuration says, `IMMEDIATE` by default.
    ///
    /// When an error rolls it back, as a full disk or `ON CONFLICT ROLLBACK` does, nothing more can be done in the closure,
    /// also if it catches the error: further statements throw `SQLITE_ABORT_ROLLBACK`.
    ///
    /// - Returns: what the closure returns, once it is committed.
    /// - Throws: as ``read(_:)-(_)``; ``AccessError`` `transactionEnded`; `SQLITE_BUSY` when another process held its lock for
    ///   longer than the busy timeout.
    @discardableResult
    public func write<T>(_ body: (Connection) throws -> T) throws -> T {
        try core.sync(.write, body)
    }

    /// Writes without a transaction around it: for several transactions, or for what cannot be part of one.
    ///
    /// - Throws: as ``write(_:)-(_)``; ``AccessError`` `transactionLeftOpen`.
    @discardableResult
    public func writeWithoutTransaction<T>(_ body: (Connection) throws -> T) throws -> T {
        try core.sync(.writeWithoutTransaction, body)
    }

    /// Writes without a transaction, while nobody reads either. It waits until all reads are over; those that come wait.
    ///
    /// - Throws: as ``writeWithoutTransaction(_:)-(_)``.
    @discardableResult
    public func barrier<T>(_ body: (Connection) throws -> T) throws -> T {
        try core.sync(.barrier, body)
    }

    /// Writes in a transaction, and then reads exactly what it left, while others may write again.
    ///
    /// - Parameters:
    ///   - changes: as by ``write(_:)-(_)``.
    ///   - body: given what `changes` returned. Its snapshot is taken before anybody else can write.
    /// - Throws: as ``write(_:)-(_)``. What `body` throws does not undo the changes.
    public func readSnapshot<C, T>(
        after changes: (Connection) throws -> C, _ body: (Connection, C) throws -> T
    ) throws -> T {
        try core.readSnapshot(after: changes, body)
    }
}

extension DatabaseAccess {
    /// Reads, in a read transaction, without keeping a thread of the caller waiting.
    ///
    /// - Throws: as ``read(_:)-(_)``, and `CancellationError`.
    public func read<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await core.async(.read, body)
    }

    /// Writes, in a transaction, without keeping a thread of the caller waiting.
    ///
    /// - Throws: as ``write(_:)-(_)``, and `CancellationError`; nothing is changed then.
    @discardableResult
    public func write<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await core.async(.write, body)
    }

    /// Writes without a transaction around it, without keeping a thread of the caller waiting.
    ///
    /// - Throws: as ``writeWithoutTransaction(_:)-(_)``, and `CancellationError`; what was committed stays.
    @discardableResult
    public func writeWithoutTransaction<T: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try await core.async(.writeWithoutTransaction, body)
    }

    /// Writes without a transaction, while nobody reads either.
    ///
    /// - Throws: as ``barrier(_:)-(_)``, and `CancellationError`; what was committed stays.
    @discardableResult
    public func barrier<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await core.async(.barrier, body)
    }

    /// Writes in a transaction, and then reads exactly what it left.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`; the changes may be committed then.
    public func readSnapshot<C, T: Sendable>(
        after changes: @escaping @Sendable (Connection) throws -> C,
        _ body: @escaping @Sendable (Connection, C) throws -> T
    ) async throws -> T {
        try await core.readSnapshot(after: changes, body)
    }
}

extension DatabaseAccess {
    /// Runs a closure on every connection, those that are open and those that will be: for functions, collations, trace.
    ///
    /// - Parameter setup: may run on several threads at once, on different connections. Readers are `readonly`.
    /// - Throws: what the closure throws for a connection that is open. It is not kept then.
    public func onEveryConnection(_ setup: @escaping @Sendable (Connection) throws -> Void) throws {
        try core.register(setup)
    }

    /// Gives memory back: closes the readers that nobody uses, and empties the writer's page cache
    /// (`PRAGMA shrink_memory`) if it is idle. Waits for nobody. Called by itself when the system is short of memory, where
    /// it says so: on Darwin, and on Linux with pressure stall information, when tasks waited for memory in a tenth of the
    /// last ten seconds.
    public func releaseMemory() { core.releaseMemory() }

    /// The path of the database's file; empty for one in memory.
    public var path: String { core.path }
}
