public import LiteVaultCore

extension Connection {
    /// The version of SQLCipher, such as "4.6.1 community" (`PRAGMA cipher_version`); nil without SQLCipher.
    public var cipherVersion: String? { cipherPragma("cipher_version") }

    /// Whether the crypto provider is in FIPS mode, "0" or "1" (`PRAGMA cipher_fips_status`); nil without a key.
    public var cipherFipsStatus: String? { cipherPragma("cipher_fips_status") }

    /// The name of the crypto provider, such as "openssl" (`PRAGMA cipher_provider`); nil without a key.
    public var cipherProvider: String? { cipherPragma("cipher_provider") }

    /// The version of the crypto provider (`PRAGMA cipher_provider_version`); nil without a key.
    public var cipherProviderVersion: String? { cipherPragma("cipher_provider_version") }

    private func cipherPragma(_ name: String) -> String? {
        (try? scalar("PRAGMA \(name)")).flatMap { $0 }.map { "\($0)" }
    }

    /// Sets the license code of a commercial edition of SQLCipher (`PRAGMA cipher_license`).
    ///
    /// - Throws: ``VaultError`` `noEncryption`; `unsupported` when the engine did not accept it, as the community
    ///   edition does, which knows no licenses.
    public func applyLicense(_ license: String) throws {
        let engine = try CipherEngine.require(for: description)
        // By bytes: a quote with a combining accent is one `Character`, and no quote among those.
        let escaped = license.utf8.flatMap { $0 == UInt8(ascii: "'") ? [$0, $0] : [$0] }
        let literal = String(decoding: escaped, as: UTF8.self)
        guard !license.utf8.contains(0), let answer = try scalar("PRAGMA cipher_license = '\(literal)'") else {
            // No row means that there is no such pragma.
            throw VaultError(.unsupported, "SQLCipher \(engine), which is linked, knows no licenses")
        }
        guard "\(answer)".uppercased() == "OK" else { throw VaultError(.unsupported, "The license was not accepted") }
    }
}
