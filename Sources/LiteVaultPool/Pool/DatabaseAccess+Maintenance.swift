public import LiteVaultCipher
internal import LiteVaultCore

// Each of these is there twice, as the accesses are. The asynchronous forms keep no thread of the caller waiting. Cancelled
// while they wait, or before the last step is done, they throw `CancellationError`, and the database is open and as it was;
// cancelled later, they succeed.

extension DatabaseAccess {
    /// Changes the key of the file.
    ///
    /// Waits until all accesses are over and keeps others waiting, closes every connection, has the file rewritten as by
    /// `DatabaseFile.rekey`, and opens it under the new key. No connection under the old key remains.
    ///
    /// - Parameters:
    ///   - key: the key that is to hold.
    ///   - progress: called now and then; throws to cancel.
    /// - Throws: `VaultError`: `busy` when anybody else has the file open, `wrongKind` without encryption, and others. The
    ///   old key holds then, and the database goes on being usable with it.
    public func rekey(to key: DatabaseKey, progress: OperationProgress.Report? = nil) throws {
        try core.sync(.barrier) { _ in try core.rekey(to: key, progress) }
    }

    /// Changes the key of the file, without keeping a thread of the caller waiting.
    ///
    /// - Throws: as the synchronous form; `CancellationError` when its task was cancelled before the new file took the
    ///   place of the old one: the old key holds then.
    public func rekey(
        to key: DatabaseKey, progress: (@Sendable (OperationProgress) throws -> Void)? = nil
    ) async throws {
        try await core.asyncBarrier { _, cancellation in
            try self.core.rekey(to: key, cancellation.reporting(progress))
        }
    }

    /// Rebuilds the file without free pages (`VACUUM`), while nobody else uses it, and empties the log.
    ///
    /// - Throws: as ``barrier(_:)-(_)``; the file is as it was.
    public func vacuum() throws { try core.sync(.barrier) { try core.vacuum($0) } }

    /// Rebuilds the file without free pages, without keeping a thread of the caller waiting.
    ///
    /// - Throws: as the synchronous form; `CancellationError` when its task was cancelled before it was done. The content
    ///   is the same in any case.
    public func vacuum() async throws {
        try await core.asyncBarrier { writer, cancellation in
            try cancellation.interrupting(writer) { try self.core.vacuum(writer) }
        }
    }

    /// Copies the database into one new file while it is in use: the state of one moment.
    ///
    /// - Parameters:
    ///   - destination: a file that does not exist yet, mode 0600.
    ///   - newKey: another key for the copy; by default it has that of the database.
    ///   - progress: called now and then; throws to cancel.
    /// - Throws: `VaultError` as by `DatabaseFile.backup`; ``AccessError`` `closed`. There is no destination then.
    public func backup(to destination: String, newKey: DatabaseKey? = nil, progress: OperationProgress.Report? = nil)
        throws
    {
        try core.backup(to: destination, newKey: newKey, progress)
    }

    /// Copies the database into one new file, without keeping a thread of the caller waiting.
    ///
    /// - Throws: as the synchronous form; `CancellationError` when its task was cancelled before the copy got its name.
    ///   There is no destination then.
    public func backup(
        to destination: String, newKey: DatabaseKey? = nil,
        progress: (@Sendable (OperationProgress) throws -> Void)? = nil
    ) async throws {
        try await core.onThread { cancellation in
            try self.core.backup(to: destination, newKey: newKey, cancellation.reporting(progress))
        }
    }

    /// Closes all connections. Waits until accesses are over; those that come throw ``AccessError`` `closed`.
    ///
    /// - Throws: ``AccessError`` `reentrant`; `DatabaseError` when a connection cannot be closed.
    public func close() throws { try core.close() }

    /// Closes all connections, without keeping a thread of the caller waiting.
    ///
    /// - Throws: as the synchronous form; `CancellationError` when its task was cancelled while it waited for accesses: the
    ///   database is open then.
    public func close() async throws { try await core.close() }
}

extension AccessCore {
    /// Inside a barrier.
    func rekey(to key: DatabaseKey, _ progress: OperationProgress.Report?) throws {
        guard source.isEncrypted else {
            return try source.rekey(to: key, busyTimeout: configuration.busyTimeout, progress)
        }
        try closeConnections()
        defer {
            // Should this fail, the next access tries again.
            _ = try? openedWriter()
        }
        try source.rekey(to: key, busyTimeout: configuration.busyTimeout, progress)
    }

    /// Inside a barrier.
    func vacuum(_ writer: Connection) throws {
        try writer.vacuum()
        if writer.journalMode == .wal { _ = try writer.emptyLog() }
    }

    func backup(to destination: String, newKey: DatabaseKey?, _ progress: OperationProgress.Report?) throws {
        guard !state.withLock({ $0.isClosed }) else { throw AccessError.closed(path) }
        try source.backup(to: destination, newKey: newKey, busyTimeout: configuration.busyTimeout, progress)
    }
}

extension Cancellation {
    /// A report of progress by which an operation is cancelled.
    fileprivate func reporting(_ progress: (@Sendable (OperationProgress) throws -> Void)?) -> OperationProgress.Report
    {
        { step in
            try self.check()
            try progress?(step)
        }
    }
}
