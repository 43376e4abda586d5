internal import LiteVaultCore

extension DatabaseFile {
    /// Changes the key.
    ///
    /// A new file is written beside the old one under the new key, compared with it, and takes its place in one step,
    /// with the same mode and owner. The engine's own rekey works inside the file, reports success when it failed, and
    /// destroys the database when somebody writes meanwhile.
    ///
    /// - Parameters:
    ///   - old: The key that holds.
    ///   - new: The key that is to hold.
    ///   - settings: What the file is, and stays, encrypted with.
    ///   - progress: Called now and then; throws to cancel.
    /// - Throws: ``VaultError``: `keyRejected` for a wrong old key, `busy` when anybody else has the file open,
    ///   `noSpace` and others. The file is as it was, except with `io` after the new one is in place.
    public func rekey(
        from old: DatabaseKey, to new: DatabaseKey, settings: CipherSettings = .init(),
        progress: OperationProgress.Report? = nil
    ) throws {
        let file = try resolved()
        let source = try file.open(key: old, settings: settings)
        // The salt of the old key or file says nothing about the new one; only a plaintext header needs it kept.
        let hasHeader = (settings.plaintextHeaderSize ?? 0) > 0
        var newSettings = settings
        newSettings.salt = hasHeader && new.salt == nil ? settings.salt ?? old.salt : nil
        let target = try NewDatabase(replacing: file.path, key: new, settings: newSettings)
        let replacement = try InPlaceReplacement(of: file.path, source: source)
        try replacement.replace(with: target) {
            try source.reading {
                try target.fillByPages(
                    from: source, walMode: replacement.walMode, comparing: true, progress ?? { _ in })
            }
        }
    }

    /// Brings a database of SQLCipher 1, 2 or 3 into the engine's current format, in one step and in place.
    ///
    /// - Parameters:
    ///   - settings: What the file is encrypted with; nil finds out by trying the formats that there were.
    ///   - newSettings: What it is to be encrypted with.
    ///   - progress: Called now and then; throws to cancel.
    /// - Returns: The settings under which the old file opened.
    /// - Throws: as ``rekey(from:to:settings:progress:)``; `usage` when the file has the new settings already.
    @discardableResult
    public func migrate(
        key: DatabaseKey, settings: CipherSettings? = nil, newSettings: CipherSettings = .init(),
        progress: OperationProgress.Report? = nil
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
            try source.reading { try new.fill(from: source, walMode: replacement.walMode, progress ?? { _ in }) }
        }
        return found
    }
}
