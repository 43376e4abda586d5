internal import DurableFile
internal import LiteVaultCore

extension DatabaseFile {
    /// Copies a database that may be in use into one new file.
    ///
    /// The copy is of one moment: the one at which it began. In WAL mode writers go on meanwhile, in rollback-journal
    /// mode they wait until it is done. Journal mode, page size and cipher settings are the source's.
    ///
    /// - Parameters:
    ///   - destination: The new file, mode 0600. Nothing may exist there, nor beside it as `-wal` or `-journal`.
    ///   - key: The source's key; nil for a plaintext database.
    ///   - settings: What the source is, and the copy will be, encrypted with.
    ///   - newKey: Another key for the copy.
    ///   - progress: Called now and then; throws to cancel.
    /// - Throws: ``VaultError``, as by opening; `cannotCreate`, `noSpace`. There is no destination then.
    public func backup(
        to destination: String, key: DatabaseKey? = nil, settings: CipherSettings = .init(),
        newKey: DatabaseKey? = nil, progress: OperationProgress.Report? = nil
    ) throws {
        if key == nil, let newKey {
            return try encrypt(to: destination, key: newKey, settings: settings, progress: progress)
        }
        try refuseItself(destination)
        let source = try open(key: key, settings: settings)
        let new = try NewDatabase(at: destination, key: newKey ?? key, settings: settings)
        try VaultError.about(path) {
            try source.reading { try new.fillByPages(from: source, walMode: false, progress ?? { _ in }) }
        }
        try new.publish()
    }

    /// The same file by another name exists, so it would be refused anyway; this says why.
    private func refuseItself(_ destination: String) throws {
        if try VaultError.about(destination, { try FileMetadata.isSameFile(path, destination) }) {
            throw VaultError(.cannotCreate, "The destination is the source itself", path: destination)
        }
    }
}
