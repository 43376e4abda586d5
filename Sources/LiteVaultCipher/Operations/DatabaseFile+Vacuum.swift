internal import LiteVaultCore

extension DatabaseFile {
    /// Rebuilds the file without free pages (`VACUUM`), in place, with the engine's own safety.
    ///
    /// The engine may number the rows of tables without INTEGER PRIMARY KEY anew, on which external-content full-text
    /// indexes depend; ``vacuum(into:key:settings:progress:)`` keeps all rowids.
    ///
    /// - Parameters:
    ///   - key: The key; nil for a plaintext database.
    ///   - settings: What the file is encrypted with.
    /// - Throws: ``VaultError``, as by opening; `busy` when somebody else uses it. The file is as it was.
    public func vacuum(key: DatabaseKey? = nil, settings: CipherSettings = .init()) throws {
        let connection = try open(key: key, settings: settings)
        try VaultError.about(path) {
            let hasLog = connection.journalMode == .wal
            // The engine's own checkpoint would not keep others from committing in the middle of it.
            if hasLog { try connection.setWALAutoCheckpoint(0) }
            try connection.vacuum()
            // In WAL mode the rebuilt pages are in the log, and the file is as large as before until they are copied. While
            // somebody else uses the log, that is left to his checkpoints.
            if hasLog { _ = try connection.emptyLog() }
            try connection.close()
        }
    }

    /// Writes a copy without free pages into a new file, under the same key and settings. Rowids are kept.
    ///
    /// - Parameters:
    ///   - destination: The new file. Nothing may exist there, nor beside it as `-wal` or `-journal`.
    ///   - progress: Called now and then; throws to cancel.
    /// - Throws: as ``decrypt(to:key:settings:progress:)``.
    public func vacuum(
        into destination: String, key: DatabaseKey? = nil, settings: CipherSettings = .init(),
        progress: OperationProgress.Report? = nil
    ) throws {
        let source = try open(key: key, settings: settings)
        try convert(source, to: destination, key: key, settings: settings, progress)
    }
}
