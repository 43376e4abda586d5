internal import LiteVaultCore

/// Determines why a database could not be unlocked: the engine reports the same error in every case.
struct UnlockFailure {
    let key: DatabaseKey
    let settings: CipherSettings
    /// The settings in effect.
    let held: CipherSettings
    let engine: CipherVersion
    let path: String
    let cause: DatabaseError

    static func undecided(path: String, cause: any Error) -> VaultError {
        VaultError(
            .keyRejected,
            "The key does not open the file: the key or the cipher settings are wrong, or this is not a database",
            path: path, remedy: "Check the key and the settings that the file was created with.", cause: cause)
    }

    func explanation(_ file: EngineFile) throws -> VaultError {
        let size = try file.size()
        let kind = try FileKind.classify(size: size) { try file.read(at: $0, count: $1) }
        switch kind {
        case .plain:
            return VaultError(
                .wrongKind, "The database is not encrypted", path: path,
                remedy: "Open it without a key, or encrypt it first.",
                cause: cause)
        case .notADatabase:
            return VaultError(
                .wrongKind, "This is not a database", path: path, remedy: "Check the path.", cause: cause)
        case .empty:
            return VaultError(.damaged, "The file is empty", path: path, cause: cause)
        case .plaintextHeader where (held.plaintextHeaderSize ?? 0) == 0:
            return VaultError(
                .keyRejected, "The database has a plaintext header, whose size and salt were not given", path: path,
                remedy: "Give the size of the plaintext header (usually 32) and the salt.", cause: cause)
        case .plaintextHeader, .encryptedOrUnknown: break
        }
        var settings = held
        settings.salt = self.settings.salt
        if let found = try evidence(for: PageLayout(settings, defaultCompatibility: engine.defaultCompatibility), file)
        {
            return found
        }
        return try otherFormat(file) ?? Self.undecided(path: path, cause: cause)
    }

    /// Whether the authentication codes prove the key: then the file is damaged.
    private func evidence(for layout: PageLayout, _ file: EngineFile) throws -> VaultError? {
        guard let authenticator = try PageAuthenticator.ifPossible(key: key, layout, file) else { return nil }
        let size = try file.size()
        let first = try file.read(at: 0, count: layout.pageSize)
        if first.withUnsafeBytes({ authenticator.authenticates($0, number: 1) }) {
            return VaultError(
                .damaged, "The key is right, but the database is damaged after its first page", path: path,
                remedy: "Verify it, and restore a backup.", cause: cause)
        }
        guard try authenticator.authenticatesSomeLaterPage(size: size, read: { try file.read(at: $0, count: $1) })
        else { return nil }
        return VaultError(
            .damaged, "The key is right, but the first page of the database is damaged", path: path,
            remedy: "Restore a backup.",
            cause: cause)
    }

    /// Whether the key fits another format than the assumed one.
    private func otherFormat(_ file: EngineFile) throws -> VaultError? {
        guard settings == CipherSettings() else { return nil }
        for format in [4, 3, 2] where format != engine.defaultCompatibility {
            let layout = PageLayout(.init(compatibility: format), defaultCompatibility: format)
            guard let authenticator = try PageAuthenticator.ifPossible(key: key, layout, file) else { return nil }
            let first = try file.read(at: 0, count: layout.pageSize)
            guard first.withUnsafeBytes({ authenticator.authenticates($0, number: 1) }) else { continue }
            if format > engine.defaultCompatibility {
                return VaultError(
                    .unsupported, "The database has the format of SQLCipher \(format), but \(engine) is linked",
                    path: path, remedy: "SQLCipher 4.0.1 or newer is required.", cause: cause)
            }
            return VaultError(
                .wrongKind, "The key is right, but the database has the format of SQLCipher \(format)", path: path,
                typedRemedy: FormatRemedy(format: format), cause: cause)
        }
        return nil
    }
}

/// What to do about a database in an older format of SQLCipher.
package struct FormatRemedy: Sendable, CustomStringConvertible {
    package let format: Int

    package var description: String { "Open it with compatibility \(format), or migrate it." }
}
