public import LiteVaultCipher
public import LiteVaultCore
public import LiteVaultSchema

/// Access to a database from threads and tasks: reads and writes are closures that receive a connection.
///
/// A closure is synchronous and has exclusive use of its connection until it returns, so no transaction waits for other code.
/// Neither the connection nor its statements may be kept. Each call has a synchronous form, which blocks the thread, and an
/// asynchronous form, which does not. Cancelling the task of an asynchronous call interrupts the running statement, rolls
/// everything back and throws `CancellationError`.
///
/// An access inside another access of the same database would deadlock: it throws `VaultError` `reentrant`. While the database is
/// suspended (``suspend(waiting:)``), every access throws `suspended`.
///
/// ``DatabasePool`` reads while it writes; ``DatabaseQueue`` has the same API over one connection.
public class DatabaseAccess: @unchecked Sendable {  // immutable, and the coordinator is Sendable
    /// Schedules the accesses.
    package let coordinator: ConnectionCoordinator

    init(_ coordinator: ConnectionCoordinator) { self.coordinator = coordinator }
}

extension DatabaseAccess {
    /// Reads in a read transaction: all statements of the closure see the same state. Nothing can be written.
    ///
    /// - Returns: the result of the closure.
    /// - Throws: the errors of the closure; `VaultError` or `DatabaseError` when no connection can
    ///   be opened.
    public func read<T>(_ body: (Connection) throws -> T) throws -> T {
        try coordinator.sync(.read, body)
    }

    /// Writes in a transaction, which is committed when the closure returns, and rolled back when it throws.
    ///
    /// Writes are serialized. The transaction begins in the configured mode, `IMMEDIATE` by default.
    ///
    /// Once an error rolls it back, such as a full disk or `ON CONFLICT ROLLBACK`, all further statements of the closure throw
    /// `SQLITE_ABORT_ROLLBACK`, even if it catches the error.
    ///
    /// - Returns: the result of the closure, once it is committed.
    /// - Throws: as ``read(_:)``; `VaultError` `transactionEnded`; `SQLITE_BUSY` when another process held its lock
    ///   for longer than the lock timeout.
    @discardableResult
    public func write<T>(_ body: (Connection) throws -> T) throws -> T {
        try coordinator.sync(.write, body)
    }

    /// Writes without an enclosing transaction: for several transactions, or for statements that cannot be part of one.
    ///
    /// - Throws: as ``write(_:)``; `VaultError` `transactionLeftOpen`.
    @discardableResult
    public func writeWithoutTransaction<T>(_ body: (Connection) throws -> T) throws -> T {
        try coordinator.sync(.writeWithoutTransaction, body)
    }

    /// Writes without an enclosing transaction while there are no reads: waits for running reads, and blocks new ones.
    ///
    /// - Throws: as ``writeWithoutTransaction(_:)``.
    @discardableResult
    public func barrier<T>(_ body: (Connection) throws -> T) throws -> T {
        try coordinator.sync(.barrier, body)
    }

    /// Commits changes, and then reads from a snapshot of exactly that state, while others may write again.
    ///
    /// - Parameters:
    ///   - changes: writes, as in ``write(_:)``.
    ///   - body: reads; receives the result of `changes`. Its snapshot is taken before any other write.
    /// - Throws: as ``write(_:)``. An error of `body` does not undo the changes.
    public func readSnapshot<C, T>(
        after changes: (Connection) throws -> C, _ body: (Connection, C) throws -> T
    ) throws -> T {
        try coordinator.readSnapshot(after: changes, body)
    }
}

extension DatabaseAccess {
    /// Reads in a read transaction, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`.
    public func read<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await coordinator.async(.read, body)
    }

    /// Writes in a transaction, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`; nothing is changed then.
    @discardableResult
    public func write<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await coordinator.async(.write, body)
    }

    /// Writes without an enclosing transaction, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`; commits made before stay.
    @discardableResult
    public func writeWithoutTransaction<T: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws -> T {
        try await coordinator.async(.writeWithoutTransaction, body)
    }

    /// Writes without an enclosing transaction while there are no reads, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`; commits made before stay.
    @discardableResult
    public func barrier<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await coordinator.async(.barrier, body)
    }

    /// Commits changes, and then reads from a snapshot of exactly that state, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`; the changes may be committed then.
    public func readSnapshot<C, T: Sendable>(
        after changes: @escaping @Sendable (Connection) throws -> C,
        _ body: @escaping @Sendable (Connection, C) throws -> T
    ) async throws -> T {
        try await coordinator.readSnapshot(after: changes, body)
    }
}

extension DatabaseAccess {
    /// Runs a closure on every connection, open or opened later: for functions, collations, trace.
    ///
    /// - Parameter setup: may run on several threads at once, on different connections. Readers are read-only.
    /// - Throws: the error of the closure on an open connection. The closure is not registered then.
    public func onEveryConnection(_ setup: @escaping @Sendable (Connection) throws -> Void) throws {
        try coordinator.register(setup)
    }

    /// Releases memory: closes idle readers, and empties the writer's page cache (`PRAGMA shrink_memory`) if it is idle. It
    /// does not block.
    ///
    /// Called automatically when the system is short of memory: on Darwin, and on Linux with pressure stall information, when
    /// tasks waited for memory during a tenth of the last ten seconds.
    public func releaseMemory() { coordinator.releaseMemory() }

    /// The path of the database's file; empty for one in memory.
    public var path: String { coordinator.path }
}

// MARK: Maintenance

// Each operation has a synchronous and an asynchronous form, like the accesses. When cancelled before the last step is done, the
// asynchronous forms throw `CancellationError`, and the database is open and unchanged; when cancelled later, they succeed.

extension DatabaseAccess {
    /// Changes the key of the file.
    ///
    /// Waits for running accesses and blocks new ones, closes every connection, rewrites the file as
    /// `DatabaseFile.rekey` does, and reopens it under the new key. No connection under the old key remains.
    ///
    /// - Parameters:
    ///   - key: the new key.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: `VaultError`: `busy` when another process has the file open, `wrongKind` without encryption, and others. The
    ///   database then remains usable under the old key.
    public func rekey(to key: DatabaseKey, progress: DatabaseFile.Progress.Report? = nil) throws {
        try coordinator.sync(.barrier) { _ in try coordinator.rekey(to: key, progress) }
    }

    /// Changes the key of the file, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form; `CancellationError` when the task was cancelled before the new file replaced the old
    ///   one: the old key stays in effect.
    public func rekey(
        to key: DatabaseKey, progress: (@Sendable (DatabaseFile.Progress) throws -> Void)? = nil
    ) async throws {
        try await coordinator.asyncBarrier { _, cancellation in
            try self.coordinator.rekey(to: key, cancellation.reporting(progress))
        }
    }

    /// Rebuilds the file without free pages (`VACUUM`) in a barrier, and empties the log.
    ///
    /// - Throws: as ``barrier(_:)``; the file is unchanged.
    public func vacuum() throws { try coordinator.sync(.barrier) { try coordinator.vacuum($0) } }

    /// Rebuilds the file without free pages, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form; `CancellationError` when the task was cancelled before the end. The content is the
    ///   same in any case.
    public func vacuum() async throws {
        try await coordinator.asyncBarrier { writer, cancellation in
            try cancellation.interrupting(writer) { try self.coordinator.vacuum(writer) }
        }
    }

    /// Copies the database, while it is in use, into a new file: a consistent snapshot.
    ///
    /// - Parameters:
    ///   - destination: the new file, mode 0600. It must not exist.
    ///   - newKey: another key for the copy; by default the key of the database.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: `VaultError` as `DatabaseFile.backup`, and `closed`. The destination does not
    ///   exist then.
    public func backup(
        to destination: String, newKey: DatabaseKey? = nil, progress: DatabaseFile.Progress.Report? = nil
    ) throws {
        try coordinator.backup(to: destination, newKey: newKey, progress)
    }

    /// Copies the database into a new file, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form; `CancellationError` when the task was cancelled before the copy got its name.
    ///   The destination does not exist then.
    public func backup(
        to destination: String, newKey: DatabaseKey? = nil,
        progress: (@Sendable (DatabaseFile.Progress) throws -> Void)? = nil
    ) async throws {
        try await coordinator.onThread { cancellation in
            try self.coordinator.backup(to: destination, newKey: newKey, cancellation.reporting(progress))
        }
    }

    /// Closes all connections. Waits for running accesses; later ones throw `VaultError` `closed`. The log of a database in
    /// WAL mode is removed, unless another process or a ``DatabaseAccess/BlobStream`` that is being read still has the database open.
    ///
    /// - Throws: `VaultError` `reentrant`; `DatabaseError` when a connection cannot be closed.
    public func close() throws { try coordinator.close() }

    /// Closes all connections, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form; `CancellationError` when the task was cancelled while it waited for accesses: the
    ///   database stays open.
    public func close() async throws { try await coordinator.close() }
}

extension Migrator {
    /// Applies the pending migrations, in order, on the connection that writes.
    ///
    /// - Parameters:
    ///   - database: a pool or a queue. Its other writes wait until the migrations are applied; reads of a pool continue, and see each
    ///     migration when it is committed.
    ///   - target: the name of the last migration to apply; by default all are applied.
    /// - Throws: `VaultError`, or `DatabaseError` when the database cannot be read or stays locked; `VaultError` `closed`
    ///   or `reentrant` on a closed database, or inside one of its own writes; also when a migration after `target` is already applied.
    ///   The database is at the last migration that succeeded.
    public func migrate(_ database: DatabaseAccess, upTo target: String? = nil) throws {
        try database.writeWithoutTransaction { try migrate($0, upTo: target) }
    }

    /// Applies the pending migrations, without blocking a thread of the caller.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`: committed migrations stay, and the running one is rolled
    ///   back.
    public func migrate(_ database: DatabaseAccess, upTo target: String? = nil) async throws {
        try await database.writeWithoutTransaction { try migrate($0, upTo: target) }
    }
}
