internal import LiteVaultSystem
internal import LiteVaultCore

// Operations that write a new file and leave the source as it is.

extension DatabaseFile {
    /// Writes an encrypted copy of a plaintext database into a new file.
    ///
    /// The copy is a consistent snapshot with everything in the source, including rowids and header fields. It is
    /// compared with the source before it appears under its name. Writers of a source in WAL mode are not blocked.
    ///
    /// - Parameters:
    ///   - destination: the new file, mode 0600. Neither it nor a `-wal` or `-journal` beside it may exist.
    ///   - key: the key of the new file.
    ///   - settings: the settings that the new file will be encrypted with. The file does not record them.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: ``VaultError``: `noEncryption` before anything is touched; `wrongKind` when the source is not a
    ///   plaintext database, `cannotCreate`, `noSpace`, `damaged` and others. The destination does not exist then.
    public func encrypt(
        to destination: String, key: DatabaseKey, settings: CipherSettings = .init(),
        progress: Progress.Report? = nil
    ) throws {
        _ = try CipherEngine.require(for: path)
        try convert(open(key: nil), to: destination, key: key, settings: settings, progress)
    }

    /// Writes a plaintext copy of an encrypted database into a new file.
    ///
    /// - Parameters:
    ///   - destination: the new file, mode 0600. Neither it nor a `-wal` or `-journal` beside it may exist.
    ///   - key: the key of the source.
    ///   - settings: the settings that the source is encrypted with.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: ``VaultError``, as for opening and ``encrypt(to:key:settings:progress:)``. The destination does not
    ///   exist then.
    public func decrypt(
        to destination: String, key: DatabaseKey, settings: CipherSettings = .init(),
        progress: Progress.Report? = nil
    ) throws {
        try convert(open(key: key, settings: settings), to: destination, key: nil, settings: .init(), progress)
    }

    /// Writes a copy under another key or other cipher settings into a new file.
    ///
    /// - Parameters:
    ///   - destination: the new file, mode 0600. Neither it nor a `-wal` or `-journal` beside it may exist.
    ///   - key: the key of the source.
    ///   - settings: the settings that the source is encrypted with.
    ///   - newKey: the key of the new file.
    ///   - newSettings: the settings that the new file will be encrypted with; nil values use the engine's defaults, not the
    ///     source's settings.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: as ``decrypt(to:key:settings:progress:)``.
    public func export(
        to destination: String, key: DatabaseKey, settings: CipherSettings = .init(), newKey: DatabaseKey,
        newSettings: CipherSettings = .init(), progress: Progress.Report? = nil
    ) throws {
        try convert(open(key: key, settings: settings), to: destination, key: newKey, settings: newSettings, progress)
    }

    /// Writes a copy without free pages into a new file, under the same key and settings. Rowids are kept.
    ///
    /// - Parameters:
    ///   - destination: the new file, mode 0600. Neither it nor a `-wal` or `-journal` beside it may exist.
    ///   - key: the key; nil for a plaintext database.
    ///   - settings: the settings that the source is, and the copy will be, encrypted with.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: as ``decrypt(to:key:settings:progress:)``.
    public func vacuum(
        into destination: String, key: DatabaseKey? = nil, settings: CipherSettings = .init(),
        progress: Progress.Report? = nil
    ) throws {
        try convert(open(key: key, settings: settings), to: destination, key: key, settings: settings, progress)
    }

    /// Copies a database that may be in use to a new file.
    ///
    /// The copy is a snapshot of one moment of the call. In WAL mode writers continue while it is made, in rollback-journal
    /// mode they wait. Journal mode, page size and cipher settings are those of the source. Under the same key the bytes are
    /// copied as they are, encrypted, and the copy is verified afterwards; under another the pages are written by the engine,
    /// and compared.
    ///
    /// - Parameters:
    ///   - destination: the new file, mode 0600. Neither it nor a `-wal` or `-journal` beside it may exist.
    ///   - key: the key of the source; nil for a plaintext database.
    ///   - settings: the settings that the source is, and the copy will be, encrypted with.
    ///   - newKey: another key for the copy; by default the key of the source.
    ///   - progress: called periodically; throws to cancel.
    /// - Returns: whether structure and indexes of the copy were checked. They cannot be where the schema needs a collation or
    ///   function that only the database's application defines; the bytes of the copy were compared then.
    /// - Throws: ``VaultError``, as for opening; `cannotCreate`, `noSpace`; `damaged` when the source is not sound, its indexes
    ///   included. The destination does not exist then.
    @discardableResult
    public func backup(
        to destination: String, key: DatabaseKey? = nil, settings: CipherSettings = .init(),
        newKey: DatabaseKey? = nil, progress: Progress.Report? = nil
    ) throws -> Bool {
        if key == nil, let newKey {
            try encrypt(to: destination, key: newKey, settings: settings, progress: progress)
            return true
        }
        // The same file under another name would be rejected as existing; this gives the reason.
        if try withErrorContext(path: destination, { try FileMetadata.isSameFile(path, destination) }) {
            throw VaultError(.cannotCreate, "The destination is the source itself", path: destination)
        }
        let source = try open(key: key, settings: settings)
        let new = try NewDatabase(at: destination, key: newKey ?? key, settings: settings)
        let isChecked = try withErrorContext(path: path) {
            if let key, let newKey, !key.equals(newKey) {
                return try new.fillByPages(
                    from: source, unlocker(key, settings), walMode: false, provesIndexes: true, progress ?? { _ in })
            }
            return try new.fillByBytes(of: resolved(), source, progress ?? { _ in })
        }
        try new.publish()
        return isChecked
    }

    /// Copies the content of an open database to a new file of another format. This file is for errors about the source.
    func convert(
        _ source: Connection, to destination: String, key: DatabaseKey?, settings: CipherSettings,
        _ progress: Progress.Report?
    ) throws {
        let new = try NewDatabase(at: destination, key: key, settings: settings)
        try withErrorContext(path: path) {
            try new.fill(from: source, walMode: source.pragma(.journalMode) == .wal, progress ?? { _ in })
        }
        try new.publish()
    }
}
