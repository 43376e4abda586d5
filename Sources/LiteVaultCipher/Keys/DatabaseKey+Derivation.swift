internal import CEngineSupport
internal import LiteVaultCore
internal import LiteVaultSupport

extension DatabaseKey {
    /// Whether the engine derives a key from this one each time it is given it.
    package var needsDerivation: Bool { form == .passphrase }

    /// The raw key and salt that the passphrase stands for in a file with this salt: nothing is derived from it again.
    ///
    /// The file can be opened with either. Takes as long as the engine's own derivation.
    ///
    /// - Parameter salt: that of the file, 16 bytes.
    /// - Returns: nil where the engine has to do it itself: no digest library is loaded.
    /// - Throws: ``VaultError`` when there is no memory for a key, or no encryption.
    package func derived(salt: [UInt8], settings: CipherSettings) throws -> DatabaseKey? {
        guard needsDerivation else { return self }
        guard lv_digests_available(), salt.count == 16 else { return nil }
        let layout = PageLayout(settings, defaultCompatibility: try CipherEngine.require().defaultCompatibility)
        let key = try PageAuthenticator.encryptionKey(of: self, layout: layout, salt: salt)
        let secret = try SecretBytes.secret(count: 48) { bytes in
            key.withBytes { bytes.copyBytes(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: bytes[32...]).copyBytes(from: salt)
        }
        return DatabaseKey(form: .rawWithSalt, secret: secret)
    }
}
