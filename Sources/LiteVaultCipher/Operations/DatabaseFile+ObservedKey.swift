internal import LiteVaultCore
internal import LiteVaultSystem

// What a key does with a file, observed: nothing that was meant or returned counts here, only what the file answers.

extension DatabaseFile {
    /// Whether a key opens the file. Nothing is written, recovered or created.
    ///
    /// - Throws: ``VaultError`` when the file does not tell: `busy` while others change it, `noInput`, `wrongKind`,
    ///   `damaged` when it is the right key and the file is broken, `io`.
    package func opens(with key: DatabaseKey, settings: CipherSettings = .init()) throws -> Bool {
        do {
            return try info(key: key, settings: settings).content != nil
        } catch let error as VaultError where error.code == .keyRejected {
            return false
        }
    }

    /// Verifies that the key was changed: the file opens with the new one, and with no other of those that are named. That is durable
    /// afterwards, also if an earlier call changed it and was killed before it synced the directory.
    ///
    /// - Parameters:
    ///   - old: the key of before, whose salt a file with a plaintext header keeps if the new one has none.
    ///   - others: further keys that must not open it.
    /// - Throws: ``VaultError`` `keyRejected` when it does not open with the new key, or does with another one; `io` when the directory
    ///   cannot be synced; otherwise as ``opens(with:settings:)``.
    package func requireChanged(
        from old: DatabaseKey, to new: DatabaseKey, refusing others: [DatabaseKey] = [],
        settings: CipherSettings = .init()
    ) throws {
        guard try opens(with: new, settings: settings.afterRekey(from: old, to: new)) else {
            throw VaultError(
                .keyRejected, "The database does not open with the new key", path: path,
                remedy: "Its key was not changed by this call. Find out which key opens it, and repeat it.")
        }
        for key in [old] + others where !key.equals(new) {
            guard try !admits(key, settings) else {
                throw VaultError(
                    .keyRejected, "The database still opens with an old key", path: path,
                    remedy: "Use a new key that is another one.")
            }
        }
        try withErrorContext(path: path) { try DurableName.sync(path) }
    }

    /// As ``requireChanged(from:to:refusing:settings:)``, for a caller that has just changed the key and cannot repeat that: the old key no
    /// longer opens the file.
    ///
    /// - Throws: ``VaultError`` as that; `io`, which says that the key was changed, instead of `busy`.
    package func confirmChange(from old: DatabaseKey, to new: DatabaseKey, settings: CipherSettings) throws {
        do { try requireChanged(from: old, to: new, settings: settings) } catch let error as VaultError
            where error.code == .busy || error.code == .io
        {
            throw VaultError(
                .io, "The key was changed, and the file could not be read back: \(error.message)", path: error.path,
                remedy: "Keep the new key, and verify the database with it. The old one does not open it any more.",
                cause: error)
        }
    }

    /// As ``opens(with:settings:)``; the file is known to be sound, so what an old key makes of it says nothing more.
    private func admits(_ key: DatabaseKey, _ settings: CipherSettings) throws -> Bool {
        do {
            return try opens(with: key, settings: settings)
        } catch let error as VaultError where [.damaged, .wrongKind].contains(error.code) {
            return false
        }
    }
}

extension CipherSettings {
    /// The settings of a file after its key was changed. The salt of the old key or file does not apply to the new one;
    /// only a plaintext header needs it kept.
    package func afterRekey(from old: DatabaseKey, to new: DatabaseKey) -> CipherSettings {
        var settings = self
        let hasHeader = (plaintextHeaderSize ?? 0) > 0
        settings.salt = hasHeader && new.salt == nil ? salt ?? old.salt : nil
        return settings
    }
}
