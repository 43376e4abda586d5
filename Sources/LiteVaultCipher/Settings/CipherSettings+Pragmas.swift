internal import LiteVaultCore
internal import LiteVaultSupport

extension CipherSettings {
    /// The PRAGMAs that put the settings into effect, in the order in which they have to follow the key.
    ///
    /// Nothing in them is secret or text from outside: numbers, names of algorithms, and the salt in hexadecimal.
    ///
    /// - Throws: ``VaultError`` `unsupported` when the engine is too old for a setting.
    package func pragmas(for engine: CipherVersion, schema: String = "main") throws -> [String] {
        try requireSupport(by: engine)
        let prefix = "PRAGMA \(quoted(schema))."
        var effective = self
        var lines: [String] = []
        if let compatibility {
            // It would turn HMAC on, if only for a moment, which a page of 512 bytes must never have: see `KeyUnlocker`.
            if engine.hasFormat4, pageSize != 512 {
                // First: it sets all the others.
                lines.append("cipher_compatibility = \(compatibility)")
            } else {
                effective = expandingCompatibility()
            }
        }
        if let pageSize = effective.pageSize { lines.append("cipher_page_size = \(pageSize)") }
        if let usesHMAC = effective.usesHMAC { lines.append("cipher_use_hmac = \(usesHMAC ? "ON" : "OFF")") }
        if engine.hasFormat4 {
            if let hmacAlgorithm = effective.hmacAlgorithm {
                lines.append("cipher_hmac_algorithm = \(hmacAlgorithm.hmacName)")
            }
            if let kdfAlgorithm = effective.kdfAlgorithm {
                lines.append("cipher_kdf_algorithm = \(kdfAlgorithm.kdfName)")
            }
            if let plaintextHeaderSize { lines.append("cipher_plaintext_header_size = \(plaintextHeaderSize)") }
            if let salt { lines.append("cipher_salt = \"x'\(salt.hexadecimal)'\"") }
        }
        if let kdfIterations = effective.kdfIterations { lines.append("kdf_iter = \(kdfIterations)") }
        return lines.map { prefix + $0 }
    }

    /// The settings with what `compatibility` stands for filled in, where the PRAGMA cannot be used.
    private func expandingCompatibility() -> CipherSettings {
        var result = self
        let digest: CipherAlgorithm = compatibility == 4 ? .sha512 : .sha1
        result.kdfAlgorithm = kdfAlgorithm ?? digest
        result.hmacAlgorithm = hmacAlgorithm ?? digest
        result.kdfIterations = kdfIterations ?? PageLayout.kdfIterations(compatibility: compatibility)
        result.usesHMAC = usesHMAC ?? (compatibility != 1)
        result.pageSize = pageSize ?? PageLayout.pageSize(compatibility: compatibility)
        return result
    }
}
