public import LiteVaultCore

extension Connection {
    /// Writes an encrypted copy of the main database into a new file.
    ///
    /// The name is the engine's; what is done is what ``DatabaseFile/encrypt(to:key:settings:progress:)`` does, with
    /// the open database as the source: `user_version`, rowids and everything else come over, and the file appears
    /// complete or not at all.
    ///
    /// - Parameters:
    ///   - location: the path of the new file. URIs and databases in memory are refused.
    ///   - key: a passphrase, or a raw key literal `x'…'`. An empty one is refused.
    /// - Throws: ``VaultError``. There is no new file then.
    public func sqlcipher_export(_ location: Location, key: String) throws {
        try sqlcipher_export(location, key: .literalOrPassphrase(key))
    }

    /// Writes an encrypted copy of the main database into a new file, under a key that says what it is.
    ///
    /// - Throws: as ``sqlcipher_export(_:key:)-(_,String)``.
    public func sqlcipher_export(_ location: Location, key: DatabaseKey, settings: CipherSettings = .init()) throws {
        _ = try CipherEngine.require(for: location.path)
        guard case .uri(let path, let parameters) = location, parameters.isEmpty, !path.isURI,
            location.isFile
        else {
            throw VaultError(.usage, "An export goes into a file that is named by its path", path: location.path)
        }
        let new = try NewDatabase(at: path, key: key, settings: settings)
        try withErrorContext(path: description) {
            try reading { try new.fill(from: self, walMode: journalMode == .wal) { _ in } }
        }
        try new.publish()
    }
}
