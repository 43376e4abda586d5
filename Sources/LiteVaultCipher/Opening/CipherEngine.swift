internal import LiteVaultCore

/// The engine that encrypts, if there is one.
package enum CipherEngine {
    /// The version of SQLCipher.
    ///
    /// Called before a file is opened, because opening creates it: what was meant to be encrypted must not come into
    /// being in plaintext.
    ///
    /// - Throws: ``VaultError`` `noEncryption`.
    package static func require(for path: String? = nil) throws -> CipherVersion {
        let engine = EngineInfo.linked
        if case .sqlcipher(let text) = engine.encryption, let version = CipherVersion(text) { return version }
        if !engine.isCompiledForEncryption {
            throw VaultError(
                .noEncryption, "This program was built without encryption", path: path,
                remedy: "Build it with the package trait SQLCipher.")
        }
        throw VaultError(
            .noEncryption, "The SQLite library that was loaded does not encrypt (\(engine.sqliteVersion))", path: path,
            remedy: "Link libsqlcipher before anything that links libsqlite3.")
    }

    /// The version of SQLCipher, nil when the engine does not encrypt.
    package static var version: CipherVersion? {
        guard case .sqlcipher(let text) = EngineInfo.linked.encryption else { return nil }
        return CipherVersion(text)
    }
}
