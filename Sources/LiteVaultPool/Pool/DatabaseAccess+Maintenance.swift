public import LiteVaultCipher
internal import LiteVaultCore

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

    /// Rebuilds the file without free pages (`VACUUM`), while nobody else uses it, and empties the log.
    ///
    /// - Throws: as ``barrier(_:)-(_)``; the file is as it was.
    public func vacuum() throws {
        try core.sync(.barrier) { writer in
            try writer.vacuum()
            if writer.journalMode == .wal { try writer.walCheckpoint(mode: .truncate) }
        }
    }

    /// Copies the database into one new file while it is in use: the state of one moment.
    ///
    /// - Parameters:
    ///   - destination: a file that does not exist yet, mode 0600.
    ///   - newKey: another key for the copy; by default it has that of the database.
    ///   - progress: called now and then; throws to cancel.
    /// - Throws: `VaultError` as by `DatabaseFile.backup`. There is no destination then.
    public func backup(to destination: String, newKey: DatabaseKey? = nil, progress: OperationProgress.Report? = nil)
        throws
    {
        try core.source.backup(
            to: destination, newKey: newKey, busyTimeout: core.configuration.busyTimeout, progress)
    }
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
}
