internal import DurableFile
internal import LiteVaultCore

extension DatabaseFile {
    /// Writes an encrypted copy of a plaintext database into a new file.
    ///
    /// The copy is of one moment, holds everything that the source does, rowids and header fields included, and is
    /// compared with the source before it gets its name. Writers of a source in WAL mode are not kept waiting.
    ///
    /// - Parameters:
    ///   - destination: The new file, mode 0600. Nothing may exist there, nor beside it as `-wal` or `-journal`.
    ///   - key: The key of the new file.
    ///   - settings: How it is to be encrypted. They are not recorded in it.
    ///   - progress: Called now and then; throws to cancel.
    /// - Throws: ``VaultError``: `noEncryption` before anything is touched; `wrongKind` when the source is not a plain
    ///   database, `cannotCreate`, `noSpace`, `damaged` and others. There is no destination then.
    public func encrypt(
        to destination: String, key: DatabaseKey, settings: CipherSettings = .init(),
        progress: OperationProgress.Report? = nil
    ) throws {
        _ = try CipherEngine.require(for: path)
        let source = try open(key: nil)
        try convert(source, to: destination, key: key, settings: settings, progress)
    }

    /// Replaces a plaintext database by its encrypted form.
    ///
    /// The encrypted file is made beside it, as by ``encrypt(to:key:settings:progress:)``, gets mode and owner of the
    /// old one, and takes its place in one step: at any moment the old or the new one is there, whole. The old file's
    /// bytes are overwritten afterwards as far as the file system lets that mean anything; flash storage, snapshots and
    /// backups may still hold them.
    ///
    /// - Parameters:
    ///   - copy: Where a plaintext copy of the original is to be kept, if anywhere: a new file.
    ///   - progress: Called now and then; throws to cancel.
    /// - Throws: ``VaultError``: `busy` when anybody else has the file open; as ``encrypt(to:key:settings:progress:)``.
    ///   The file is as it was, except with `io` after the new one is in place: then a power failure may bring back the
    ///   old.
    public func encryptInPlace(
        key: DatabaseKey, settings: CipherSettings = .init(), keepingOriginalAt copy: String? = nil,
        progress: OperationProgress.Report? = nil
    ) throws {
        _ = try CipherEngine.require(for: path)
        let file = try resolved()
        let source = try file.open(key: nil)
        let new = try NewDatabase(replacing: file.path, key: key, settings: settings)
        let replacement = try InPlaceReplacement(of: file.path, source: source)
        let kept = try copy.map { try NewDatabase(at: $0, key: nil, settings: .init()) }
        try replacement.replace(with: new, erasingOld: true, beforeRename: { try kept?.publish() }) {
            try source.reading {
                try kept?.fillByPages(from: source, walMode: replacement.walMode, progress ?? { _ in })
                try new.fill(from: source, walMode: replacement.walMode, progress ?? { _ in })
            }
        }
    }

    /// The file behind symbolic links: replacing a link would leave the file that it leads to.
    func resolved() throws -> DatabaseFile {
        try EngineFile.requireRegularFile(path)
        let target = try VaultError.about(path) { try FileMetadata.resolvedPath(path) }
        return DatabaseFile(target, busyTimeout: busyTimeout)
    }

    /// Copies the content of an open database into a new file of another format.
    func convert(
        _ source: Connection, to destination: String, key: DatabaseKey?, settings: CipherSettings,
        _ progress: OperationProgress.Report?
    ) throws {
        let new = try NewDatabase(at: destination, key: key, settings: settings)
        try VaultError.about(path) {
            try source.reading { try new.fill(from: source, walMode: source.journalMode == .wal, progress ?? { _ in }) }
        }
        try new.publish()
    }
}
