internal import LiteVaultCore

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
            if engine.hasFormat4 {
                // First: it sets all the others.
                lines.append("cipher_compatibility = \(compatibility)")
            } else {
                effective = expandingCompatibility()
            }
        }
        if let pageSize = effective.pageSize { lines.append("cipher_page_size = \(pageSize)") }
        if let usesHMAC = effective.usesHMAC { lines.append("cipher_use_hmac = \(usesHMAC ? "ON" : "OFF")") }
        if engine.hasFormat4 {
            if let hmacAlgorithm { lines.append("cipher_hmac_algorithm = \(hmacAlgorithm.hmacName)") }
            if let kdfAlgorithm { lines.append("cipher_kdf_algorithm = \(kdfAlgorithm.kdfName)") }
            if let plaintextHeaderSize { lines.append("cipher_plaintext_header_size = \(plaintextHeaderSize)") }
            if let salt { lines.append("cipher_salt = \"x'\(Hexadecimal.text(salt))'\"") }
        }
        if let kdfIterations = effective.kdfIterations { lines.append("kdf_iter = \(kdfIterations)") }
        return lines.map { prefix + $0 }
    }

    /// The settings with what `compatibility` stands for filled in, for an engine that does not know the PRAGMA.
    private func expandingCompatibility() -> CipherSettings {
        var result = self
        result.kdfIterations = kdfIterations ?? PageLayout.kdfIterations(compatibility: compatibility)
        result.usesHMAC = usesHMAC ?? (compatibility != 1)
        result.pageSize = pageSize ?? PageLayout.pageSize(compatibility: compatibility)
        return result
    }
}
