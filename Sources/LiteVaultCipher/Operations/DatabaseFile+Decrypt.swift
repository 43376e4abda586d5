internal import LiteVaultCore

extension DatabaseFile {
    /// Writes a plaintext copy of an encrypted database into a new file, mode 0600.
    ///
    /// - Parameters:
    ///   - destination: The new file. Nothing may exist there, nor beside it as `-wal` or `-journal`.
    ///   - settings: What the source is encrypted with.
    ///   - progress: Called now and then; throws to cancel.
    /// - Throws: ``VaultError``, as by opening and ``encrypt(to:key:settings:progress:)``. There is no destination
    ///   then.
    public func decrypt(
        to destination: String, key: DatabaseKey, settings: CipherSettings = .init(),
        progress: OperationProgress.Report? = nil
    ) throws {
        let source = try open(key: key, settings: settings)
        try convert(source, to: destination, key: nil, settings: .init(), progress)
    }

    /// Writes a copy under another key, other cipher settings or both into a new file.
    ///
    /// - Parameters:
    ///   - destination: The new file. Nothing may exist there, nor beside it as `-wal` or `-journal`.
    ///   - key: The source's key.
    ///   - settings: What the source is encrypted with.
    ///   - newKey: The new file's key.
    ///   - newSettings: What the new file is to be encrypted with; what is nil is the engine's default, not the
    ///     source's.
    ///   - progress: Called now and then; throws to cancel.
    /// - Throws: as ``decrypt(to:key:settings:progress:)``.
    public func export(
        to destination: String, key: DatabaseKey, settings: CipherSettings = .init(), newKey: DatabaseKey,
        newSettings: CipherSettings = .init(), progress: OperationProgress.Report? = nil
    ) throws {
        let source = try open(key: key, settings: settings)
        try convert(source, to: destination, key: newKey, settings: newSettings, progress)
    }
}
