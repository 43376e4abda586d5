public import LiteVaultCore

extension Connection {
    /// Opens an encrypted database, or creates one.
    ///
    /// The key is given before anything else happens, the settings right after it, and then the first page is read:
    /// when this returns, the key is proven, unless the file is new. A file that was missing or empty accepts any key;
    /// its first write makes it a database under this one. Read-only, where no key could be proven, such a file is
    /// refused.
    ///
    /// - Parameters:
    ///   - location: where the database is. Keys in the parameters of a URI and shared caches are refused.
    ///   - key: the key (`sqlite3_key_v2`).
    ///   - settings: what the file was, or is to be, encrypted with.
    ///   - readonly: opens an existing file for reading only.
    ///   - journalMode: set after the key, as by `setJournalMode(_:)`.
    /// - Throws: ``VaultError``: `noEncryption` before the file is touched; `keyRejected`, `wrongKind`, `damaged` for a
    ///   file that the key does not open, which is then closed as it was, its log included; `usage`, `unsupported` for
    ///   the settings; `noInput`, `busy`, `io`.
    public convenience init(
        _ location: Location, key: DatabaseKey, settings: CipherSettings = .init(), readonly: Bool = false,
        journalMode: JournalMode? = nil
    ) throws {
        try self.init(
            location, key: key, settings: settings, readonly: readonly, journalMode: journalMode, busyTimeout: 0)
    }

    /// Opens an encrypted database, by its path or a `file:` URI.
    ///
    /// - Throws: as ``init(_:key:settings:readonly:journalMode:)-(Location,_,_,_,_)``.
    public convenience init(
        _ filename: String, key: DatabaseKey, settings: CipherSettings = .init(), readonly: Bool = false,
        journalMode: JournalMode? = nil
    ) throws {
        try self.init(
            .uri(filename), key: key, settings: settings, readonly: readonly, journalMode: journalMode)
    }

    package convenience init(
        _ location: Location, key: DatabaseKey, settings: CipherSettings, readonly: Bool,
        journalMode: JournalMode? = nil, busyTimeout: Double, explainsFailure: Bool = true
    ) throws {
        let path = location.path
        let engine = try CipherEngine.require(for: path)
        try location.refuseKeysAndSharing()
        try VaultError.about(path) {
            try settings.validate(with: key)
            try settings.requireSupport(by: engine)
        }
        let unlocker = KeyUnlocker(
            key: key, settings: settings, path: path, busyTimeout: busyTimeout, explainsFailure: explainsFailure)
        do {
            try self.init(location, readonly: readonly, unlocker: unlocker, journalMode: journalMode)
        } catch let error as DatabaseError {
            throw VaultError(error, path: path, creating: !readonly)
        }
        if readonly, location.isFile { try refuseEmptyFile(path) }
    }

    /// Any key "opens" a file of no bytes, so nothing would be known about the key.
    private func refuseEmptyFile(_ path: String) throws {
        let isEmpty = try withHandle { try EngineFile(connection: $0, path: path).size() == 0 }
        if isEmpty {
            try close()
            throw VaultError(.wrongKind, "The file is empty, so no key can be verified", path: path)
        }
    }
}
