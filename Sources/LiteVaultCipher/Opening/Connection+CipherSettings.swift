public import LiteVaultCore

extension Connection {
    /// The cipher settings that really hold (`PRAGMA cipher_settings`; before SQLCipher 4.1 the PRAGMAs one by one).
    ///
    /// The salt is left out: reading it from a file that is not written yet would invent and pin one.
    ///
    /// - Parameter schemaName: an attached database; the main one by default.
    /// - Throws: ``VaultError`` `noEncryption` without SQLCipher, `wrongKind` when that database has no key.
    public func cipherSettings(of schemaName: String = "main") throws -> CipherSettings {
        let engine = try CipherEngine.require(for: description)
        let prefix = "PRAGMA \(quoted(schemaName))."
        var settings = CipherSettings()
        if engine.readsSettingsBack {
            settings = CipherSettings(
                cipherSettings: try all(prefix + "cipher_settings") { try $0.get(0, as: String.self) })
        } else {
            for name in ["kdf_iter", "cipher_page_size", "cipher_use_hmac"] {
                guard let value = try scalar(prefix + name) else { continue }
                settings.apply(name: name, value: "\(value)")
            }
            if settings.pageSize != nil, !engine.hasFormat4 {
                settings.kdfAlgorithm = .sha1
                settings.hmacAlgorithm = .sha1
                settings.plaintextHeaderSize = 0
            }
        }
        // An engine answers nothing where there is no key.
        guard settings.pageSize != nil else {
            throw VaultError(.wrongKind, "The database has no key", path: description)
        }
        return settings
    }

    /// Whether a key was given for the database, be it right or wrong.
    package func hasKey(_ schemaName: String = "main") throws -> Bool {
        guard CipherEngine.version != nil else { return false }
        return try scalar("PRAGMA \(quoted(schemaName)).cipher_provider") != nil
    }
}
