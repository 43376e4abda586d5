internal import LiteVaultCore
internal import LiteVaultSystem

// Operations that replace the file under its name.

extension DatabaseFile {
    /// Replaces a plaintext database with its encrypted form.
    ///
    /// The encrypted file is written beside it, as by ``encrypt(to:key:settings:progress:)``, gets the mode and owner
    /// of the old one, and replaces it atomically: at any moment one of the two exists, complete. The old file's bytes
    /// are overwritten afterwards, as far as the file system makes that effective; flash storage, snapshots and backups
    /// may still contain them. A `-wal` or hot `-journal` beside it is taken in and removed by the engine, not overwritten: what
    /// it held can remain in free blocks of the disk. A database in WAL mode is in DELETE mode meanwhile, and stays in it if the process is
    /// killed.
    ///
    /// - Parameters:
    ///   - key: the new key.
    ///   - settings: the settings that the file will be encrypted with.
    ///   - copy: a new file for a plaintext copy of the original; nil keeps none. A file with the same content is accepted as that
    ///     copy: a run that was killed before the replacement leaves one.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: ``VaultError``: `busy` when another connection has the file open, `cannotCreate` when `copy` is another file; as
    ///   ``encrypt(to:key:settings:progress:)``. The file is unchanged and there is no new copy, except with `io` after the
    ///   replacement: a power failure may then bring back the old file. The error names what is left otherwise.
    public func encryptInPlace(
        key: DatabaseKey, settings: CipherSettings = .init(), keepingOriginalAt copy: String? = nil,
        progress: Progress.Report? = nil
    ) throws {
        _ = try CipherEngine.require(for: path)
        let file = try resolved()
        let source = try file.open(key: nil)
        let new = try NewDatabase(replacing: file.path, key: key, settings: settings)
        let earlier = try copy.flatMap { try file.isAnother($0) ? $0 : nil }
        let kept = try earlier == nil ? copy.map { try NewDatabase(at: $0, key: nil, settings: .init()) } : nil
        let replacement = try InPlaceReplacement(of: file.path, source: source)
        try replacement.replace(with: new, erasingOld: true, keeping: kept) {
            if let earlier { try Self.requireCopy(earlier, of: source, progress ?? { _ in }) }
            try kept?.fillByPages(
                from: source, nil, walMode: replacement.walMode, isSourceSound: true, progress ?? { _ in })
            try new.fill(from: source, walMode: replacement.walMode, progress ?? { _ in })
        }
    }

    /// Whether a path names a regular file other than this one.
    private func isAnother(_ other: String) throws -> Bool {
        try EngineFile.requirePath(other)
        return try withErrorContext(path: other) {
            guard let present = try FileMetadata.ifExists(path: other) else { return false }
            return try present.kind == .regular && !present.isSameFile(as: FileMetadata(path: path))
        }
    }

    /// Requires that a plaintext database has the content of another one, and makes its name durable. What cannot be read of the
    /// other one is an error about that.
    private static func requireCopy(_ path: String, of source: Connection, _ report: Progress.Report) throws {
        do {
            try withErrorContext(path: path) { try Leftovers.refuse(beside: path) }
            let copy = try DatabaseFile(path).open(key: nil)
            try copy.reading {
                do {
                    try ContentComparator(source, copy).compare { try report(.init(.comparing, $0, of: nil, .rows)) }
                } catch let error as DatabaseError where error.path != source.description {
                    throw VaultError(error, path: path)
                }
            }
            try copy.close()
        } catch let error as VaultError
            where [.internalFailure, .wrongKind, .damaged, .cannotCreate].contains(error.code)
        {
            throw VaultError(
                .cannotCreate, "The file already exists, and is not a copy of the database", path: path,
                remedy: "Choose another name. Compare it with \(source.description) before you remove it: if that was "
                    + "damaged since it was copied, this may be the only sound copy.", cause: error)
        }
        try withErrorContext(path: path) { try DurableName.sync(path) }
    }

    /// Changes the key.
    ///
    /// A new file is written beside the old one under the new key, compared with it, and replaces it atomically, with
    /// the same mode and owner. The engine's own rekey rewrites the file in place, may report success after a failure,
    /// and destroys the database if another connection writes meanwhile. A database in WAL mode is in DELETE mode meanwhile, and
    /// stays in it if the process is killed.
    ///
    /// - Parameters:
    ///   - old: the current key.
    ///   - new: the new key.
    ///   - settings: the settings that the file is, and will be, encrypted with.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: ``VaultError``: `keyRejected` for a wrong old key, `usage` when both are the same, or the same raw key with
    ///   another salt, `busy` when another connection has the file open, `noSpace` and others. The file is unchanged, except with
    ///   `io` after the replacement.
    public func rekey(
        from old: DatabaseKey, to new: DatabaseKey, settings: CipherSettings = .init(),
        progress: Progress.Report? = nil
    ) throws {
        _ = try CipherEngine.require(for: path)
        try new.requireChange(from: old, path: path)
        let file = try resolved()
        let source = try file.open(key: old, settings: settings)
        let target = try NewDatabase(
            replacing: file.path, key: new, settings: settings.afterRekey(from: old, to: new))
        let unlocker = try file.unlocker(old, settings)
        let replacement = try InPlaceReplacement(of: file.path, source: source)
        try replacement.replace(with: target, checkingOld: false) {
            try target.fillByPages(from: source, unlocker, walMode: replacement.walMode, progress ?? { _ in })
        }
    }

    /// Converts a database of SQLCipher 1, 2 or 3 to the engine's current format, atomically and in place.
    ///
    /// - Parameters:
    ///   - key: the key, which does not change.
    ///   - settings: the settings that the file is encrypted with; nil finds them by trying the known formats.
    ///   - newSettings: the settings that the file will be encrypted with.
    ///   - progress: called periodically; throws to cancel.
    /// - Returns: the settings under which the old file opened.
    /// - Throws: as ``rekey(from:to:settings:progress:)``; `usage` when the file already has the new settings.
    @discardableResult
    public func migrate(
        key: DatabaseKey, settings: CipherSettings? = nil, newSettings: CipherSettings = .init(),
        progress: Progress.Report? = nil
    ) throws -> CipherSettings {
        let engine = try CipherEngine.require(for: path)
        let file = try resolved()
        let found = try settings ?? file.probe(key: key)
        let layouts = [found, newSettings].map { PageLayout($0, defaultCompatibility: engine.defaultCompatibility) }
        guard layouts[0] != layouts[1] else {
            throw VaultError(.usage, "The database already has the current format", path: path)
        }
        let source = try file.open(key: key, settings: found)
        let new = try NewDatabase(replacing: file.path, key: key, settings: newSettings)
        let replacement = try InPlaceReplacement(of: file.path, source: source)
        try replacement.replace(with: new) {
            try new.fill(from: source, walMode: replacement.walMode, progress ?? { _ in })
        }
        return found
    }

    /// Replaces the file with a copy without free pages, in place. All rowids are kept.
    ///
    /// A new file is written beside the old one, compared with it, and replaces it atomically, with the same mode and owner. The
    /// engine's own VACUUM holds the whole content in memory, as it must not write it to a plaintext file, and may
    /// change the rowids of tables without INTEGER PRIMARY KEY.
    ///
    /// - Parameters:
    ///   - key: the key; nil for a plaintext database.
    ///   - settings: the settings that the file is, and will be, encrypted with.
    ///   - progress: called periodically; throws to cancel.
    /// - Throws: as ``rekey(from:to:settings:progress:)``: `busy` when another connection has the file open. The file is
    ///   unchanged, except with `io` after the replacement.
    public func vacuum(
        key: DatabaseKey? = nil, settings: CipherSettings = .init(), progress: Progress.Report? = nil
    ) throws {
        let file = try resolved()
        let source = try file.open(key: key, settings: settings)
        let new = try NewDatabase(replacing: file.path, key: key, settings: settings)
        let replacement = try InPlaceReplacement(of: file.path, source: source)
        try replacement.replace(with: new) {
            try new.fill(from: source, walMode: replacement.walMode, progress ?? { _ in })
        }
    }
}
