internal import Crypto
internal import LiteVaultCapture

extension Repository {
    /// Whether everything that is stored in it is compressed and encrypted, except `repository.json`.
    public var isSealed: Bool { config.isSealed }

    /// Whether it is being sealed, and objects of before may still be stored as they were: the upgrade was interrupted, or another process is
    /// at it. ``seal(progress:)`` completes it.
    public var isSealingUnfinished: Bool { config.unsealed == true }

    /// Creates a repository where there is none.
    ///
    /// In a sealed repository, everything that is stored is compressed and encrypted with a key that only the secret leads to: pages of
    /// plaintext databases, and the names, paths and hosts in manifests. It cannot be read at all without the secret. Older versions of
    /// LiteVault refuse it.
    ///
    /// - Parameters:
    ///   - store: an empty place.
    ///   - secret: the repository's secret; nil for one without.
    ///   - sealed: whether to compress and encrypt what is stored.
    ///   - local: local directories of this machine.
    ///   - acceptsReplacement: whether to create it even if this machine has used a repository here that is gone.
    /// - Returns: the repository, open.
    /// - Throws: `VaultError` `conflict` if there is a repository, `keyRejected` if it is to be sealed without a secret; `damaged`
    ///   if there are snapshots without a repository, or this machine has used one here.
    public static func create(
        _ store: any ObjectStore, secret: RepositorySecret?, sealed: Bool, local: LocalDirectories = .standard,
        acceptsReplacement: Bool = false
    ) async throws -> Repository {
        try await create(
            store, secret: secret, sealed: sealed, local: local, iterations: 600_000,
            acceptsReplacement: acceptsReplacement)
    }

    /// As ``create(_:secret:sealed:local:acceptsReplacement:)``, with the number of iterations of the key derivation.
    package static func create(
        _ store: any ObjectStore, secret: RepositorySecret?, sealed: Bool, local: LocalDirectories, iterations: Int,
        acceptsReplacement: Bool = false
    ) async throws -> Repository {
        guard try await store.attributes(RepositoryFormat.config) == nil else {
            throw VaultError(
                .conflict, "there is a repository already", path: store.location,
                remedy: "Use it, or choose another place.")
        }
        guard secret != nil || !sealed else { throw VaultError.sealedWithoutSecret(store.location) }
        let made = try await openOrCreate(
            store, secret: secret, local: local, iterations: iterations, acceptsReplacement: acceptsReplacement,
            sealed: sealed)
        // Another process may have been first.
        guard made.isSealed == sealed else {
            throw VaultError(
                .conflict, "another process has just created a repository", path: store.location,
                remedy: "Use it, or choose another place.")
        }
        return made
    }
}

extension RepositoryConfig {
    /// Makes a new repository a sealed one.
    mutating func seal(under current: SymmetricKey) throws {
        try seal(with: SealingKey(of: [UInt8](hexadecimal: id) ?? []), under: current)
        identifiers = Self.keyed
    }
}
