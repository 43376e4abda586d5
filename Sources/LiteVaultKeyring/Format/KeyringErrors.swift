public import LiteVaultCore
internal import LiteVaultSystem

extension VaultError.Code {
    /// A database exists, but its key is in no place where it was looked for. Nothing was created.
    public static let keyMissing = Self(rawValue: "key-missing")
    /// A key store is locked, or does not answer at the moment. The key may well be in it.
    public static let keyStoreLocked = Self(rawValue: "key-store-locked")
    /// A key or a keyring exists, but its database does not. Nothing was created.
    public static let databaseMissing = Self(rawValue: "database-missing")
    /// Nothing shows that a keyring is the one that it should be, so new data is not encrypted under its key: see
    /// ``UnlockedKeyring/proof()``.
    public static let keyringUntrusted = Self(rawValue: "keyring-untrusted")
}

extension VaultError {
    static func notAKeyring(_ path: String, _ problem: KeyringParser.Problem) -> VaultError {
        if problem.isAnotherVersion {
            return VaultError(
                .unsupported, "The keyring was written by a newer version", path: path,
                remedy: "Use a newer version of LiteVault.")
        }
        if problem.isAnotherKind {
            return VaultError(
                .damaged, "This is not a keyring: it does not begin with '\(KeyringDocument.domain)'", path: path,
                remedy: "Check the path. If it was a keyring, restore it from a copy of any age.")
        }
        return VaultError(
            .damaged, "This is not a keyring, or it is damaged: line \(problem.line) should be \(problem.expected)",
            path: path, remedy: "Restore the keyring from a copy. A copy of any age opens with the slots of its time.")
    }

    static func changedKeyring(_ path: String) -> VaultError {
        VaultError(
            .damaged, "The keyring was changed by someone who cannot open it, or it is damaged", path: path,
            remedy: "Do not use it. Restore the keyring from a copy.")
    }

    /// An error while a keyring or a key store's file was read or written.
    static func file(_ operation: String, _ path: String, code: Int32) -> VaultError {
        let error = DurableFileError(.system, operation: operation, path: path, code: code)
        let kind: Code = error.isNoSpace ? .noSpace : error.isMissing ? .noInput : .io
        return VaultError(
            kind, error.isMissing ? "The file does not exist" : "\(operation) failed: \(SystemError(code: code))",
            path: path, remedy: error.isNoSpace ? "Free space and try again." : nil, cause: error)
    }

    static let noMemory = VaultError(.internalFailure, "There is no memory for a key")
}
