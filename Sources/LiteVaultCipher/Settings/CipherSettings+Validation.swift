extension CipherSettings {
    /// Refuses settings that no engine takes, or takes silently for something else.
    ///
    /// - Parameters:
    ///   - key: The key they are used with: it may bring the salt that a plaintext header needs.
    package func validate(with key: DatabaseKey?) throws {
        if let pageSize, !(512...65536).contains(pageSize) || pageSize & (pageSize - 1) != 0 {
            throw VaultError(
                .usage, "A page size of \(pageSize) bytes is not possible",
                remedy: "It must be a power of two from 512 to 65536.")
        }
        // The engine accepts it, and writes a file that nothing opens again.
        if pageSize == 512, PageLayout(self, defaultCompatibility: 4).reservedBytes > 32 {
            throw VaultError(
                .usage, "A page of 512 bytes is too small to be authenticated",
                remedy: "Use pages of 1024 bytes or more, or turn HMAC off.")
        }
        // SQLCipher 3.4.1 takes 0 and negative numbers and then encrypts under a key of zeros.
        if let kdfIterations, !(1...Int(Int32.max)).contains(kdfIterations) {
            throw VaultError(
                .usage, "\(kdfIterations) key derivation iterations are not possible",
                remedy: "Give a number from 1 to \(Int32.max).")
        }
        // The engine takes any other number silently for 4.
        if let compatibility, !(1...4).contains(compatibility) {
            throw VaultError(
                .usage, "There is no cipher compatibility \(compatibility)", remedy: "Give a number from 1 to 4.")
        }
        if let salt, salt.count != 16 {
            throw VaultError(.usage, "A salt has 16 bytes, not \(salt.count)")
        }
        if let salt, let ofKey = key?.salt, salt != ofKey {
            throw VaultError(
                .usage, "The key and the cipher settings name different salts", remedy: "Give the salt once.")
        }
        if let plaintextHeaderSize, plaintextHeaderSize != 0 {
            let room = (pageSize ?? 1024) / 2
            guard plaintextHeaderSize > 0, plaintextHeaderSize % 16 == 0, plaintextHeaderSize <= room else {
                throw VaultError(
                    .usage, "A plaintext header of \(plaintextHeaderSize) bytes is not possible",
                    remedy: "Give a multiple of 16 that leaves half of the page encrypted; 32 is what SQLite needs.")
            }
            guard salt != nil || key?.salt != nil else {
                throw VaultError(
                    .usage, "A plaintext header needs the salt: it is then not in the file",
                    remedy: "Give 16 bytes of salt and keep them with the key.")
            }
        }
    }

    /// Refuses what the engine is too old for; it would ignore it without a word.
    package func requireSupport(by engine: CipherVersion) throws {
        guard !engine.hasFormat4 else { return }
        func refuse(_ what: String) -> VaultError {
            VaultError(
                .unsupported, "SQLCipher \(engine), which is linked, has no \(what)",
                remedy: "It takes SQLCipher 4.0.1 or newer.")
        }
        if compatibility == 4 { throw refuse("format 4") }
        if let kdfAlgorithm, kdfAlgorithm != .sha1 { throw refuse("key derivation with \(kdfAlgorithm.kdfName)") }
        if let hmacAlgorithm, hmacAlgorithm != .sha1 { throw refuse("authentication with \(hmacAlgorithm.hmacName)") }
        if let plaintextHeaderSize, plaintextHeaderSize != 0 { throw refuse("plaintext header") }
        if salt != nil { throw refuse("setting for the salt (a raw key can bring it)") }
    }
}
