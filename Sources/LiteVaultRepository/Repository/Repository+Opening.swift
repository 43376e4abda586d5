internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

extension Repository {
    /// Opens a repository.
    ///
    /// - Parameters:
    ///   - store: the store that holds it.
    ///   - secret: the repository's secret; nil reads without authentication. A sealed repository needs it.
    ///   - local: local directories of this machine.
    ///   - acceptsReplacement: whether to accept the repository as it is even if this machine has used another one, or a
    ///     newer state of this one, at this location. It is remembered from then on. False by default.
    /// - Throws: `VaultError` `noInput` if there is none, `keyRejected` for a wrong or unexpected secret, `unsupported` for a
    ///   newer format, `damaged` if it is incomplete or not the one that this machine used here.
    public static func open(
        _ store: any ObjectStore, secret: RepositorySecret? = nil, local: LocalDirectories = .standard,
        acceptsReplacement: Bool = false
    ) async throws -> Repository {
        try await Opening(store: store, secret: secret, local: local, acceptsReplacement: acceptsReplacement)
            .existing().opened()
    }

    /// Checks that a place without `repository.json` is not a repository from which that object was deleted: a new one would hide its snapshots.
    ///
    /// - Throws: `VaultError` `damaged` if there are snapshots.
    static func requireNoSnapshots(_ store: any ObjectStore) async throws {
        guard try await store.list("snapshots/").isEmpty else {
            throw VaultError(
                .damaged, "is missing, although there are snapshots",
                path: "\(store.location)/\(RepositoryFormat.config)", advice: .restoreIdentity)
        }
    }
}

extension WritableRepository {
    /// Opens a repository for writing, and creates it if there is none.
    ///
    /// The parameters are those of ``Repository/open(_:secret:local:acceptsReplacement:)``. If this machine has used a repository here that
    /// is gone, a new one is created only with `acceptsReplacement`.
    ///
    /// - Parameter sealed: whether a new repository compresses and encrypts what is stored; an existing one stays as it is.
    /// - Throws: as ``Repository/open(_:secret:local:acceptsReplacement:)`` and ``Repository/writable()``.
    public static func openOrCreate(
        _ store: any ObjectStore, secret: RepositorySecret? = nil, sealed: Bool = false,
        local: LocalDirectories = .standard, acceptsReplacement: Bool = false
    ) async throws -> WritableRepository {
        guard secret != nil || !sealed else { throw VaultError.sealedWithoutSecret(store.location) }
        let opening = Opening(store: store, secret: secret, local: local, acceptsReplacement: acceptsReplacement)
        if let found = try await opening.find(orCreate: true) { return try found.opened().writable() }
        var config = RepositoryConfig(
            id: PackID().hexadecimal, created: Timestamp.text(Date()),
            secret: secret.map { SecretDerivation.new($0) })
        let key = try config.secret.flatMap { try secret?.key($0) }.map { RepositoryKey(current: $0, previous: nil) }
        if sealed, let key {
            try config.seal(with: SealingKey(of: [UInt8](hexadecimal: config.id) ?? []), under: key.current)
            config.identifiers = RepositoryConfig.keyed
        }
        let document = try SealedDocument.seal(config, key: key)
        do {
            try await store.put(RepositoryFormat.config, bytes: document.bytes, condition: store.whereAbsent())
        } catch let error as VaultError where error.code == .conflict {
            // Another process created it at the same time.
        }
        return try await opening.existing().opened().writable()
    }

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
    ) async throws -> WritableRepository {
        guard try await store.attributes(RepositoryFormat.config) == nil else {
            let remedy = "Use it, or choose another place."
            throw VaultError(
                .conflict, "there is a repository already", path: store.location,
                remedy: await secret == nil ? remedy : store.remedyWithoutSecret(or: remedy))
        }
        let made = try await openOrCreate(
            store, secret: secret, sealed: sealed, local: local, acceptsReplacement: acceptsReplacement)
        // Another process may have been first.
        guard made.repository.isSealed == sealed else {
            throw VaultError(
                .conflict, "another process has just created a repository", path: store.location,
                remedy: "Use it, or choose another place.")
        }
        return made
    }
}

/// What is needed to open a repository.
struct Opening: Sendable {
    let store: any ObjectStore
    let secret: RepositorySecret?
    let local: LocalDirectories
    /// Whether to accept the repository as it is, even if this machine knew another one here.
    let acceptsReplacement: Bool

    /// What this machine remembers about the place; nil if nothing is to be remembered.
    var memory: LocationMemory? { LocationMemory(store.unsealed, local) }

    /// - Throws: `VaultError` `noInput` if there is no repository.
    func existing() async throws -> RepositoryIdentity {
        guard let found = try await find() else {
            throw VaultError(
                .noInput, "there is no repository", path: store.location,
                advice: .createRepository, cause: NoSnapshotError())
        }
        return found
    }

    /// Looks for a repository, and where there is none, checks that there never was one.
    ///
    /// - Parameter creates: whether one is created then: the place must not contain snapshots either.
    /// - Returns: its identity; nil if there is none.
    /// - Throws: `VaultError` `damaged` if there was one.
    func find(orCreate creates: Bool = false) async throws -> RepositoryIdentity? {
        if let found = try await readIdentity() { return found }
        do {
            if creates { try await Repository.requireNoSnapshots(store) }
            if !acceptsReplacement { try await Repository.requireUnknown(store, local) }
            return nil
        } catch let error as VaultError where error.code == .damaged {
            // Another process may have created the repository, and stored a snapshot, since `repository.json` was looked for.
            guard let found = try await readIdentity() else { throw error }
            return found
        }
    }

    /// Reads `repository.json`; nil if there is none.
    private func readIdentity() async throws -> RepositoryIdentity? {
        let store = store.unsealed
        let before = memory?.secrets()
        let (bytes, document): ([UInt8], SealedDocument)
        do {
            (bytes, document) = try await readingAgain {
                let name = RepositoryFormat.config
                let bytes = try await store.get(name, upTo: SealedDocument.limit(RepositoryConfig.self))
                return (bytes, try SealedDocument(whole: bytes, name: name))
            }
        } catch let error as VaultError where error.code == .missing {
            return nil
        }
        return try await identity(bytes, document, before: before)
    }

    /// What a `repository.json` says that is not necessarily in the store, and what the secret opens of it.
    ///
    /// - Throws: `VaultError` `damaged` if it is not valid, `keyRejected` for a wrong or unexpected secret, `unsupported` for a newer format.
    func identity(_ bytes: [UInt8]) async throws -> RepositoryIdentity {
        let document = try SealedDocument(whole: bytes, name: RepositoryFormat.config)
        return try await identity(bytes, document, before: memory?.secrets())
    }

    private func identity(
        _ bytes: [UInt8], _ document: SealedDocument, before: (repository: String, generation: Int)?
    ) async throws -> RepositoryIdentity {
        let config = try document.decode(RepositoryConfig.self, name: RepositoryFormat.config)
        try config.require(location: store.location)
        var opened: RepositoryConfig.Candidate?
        if let secret {
            guard config.hasSecret else {
                throw VaultError(
                    .keyRejected, "the repository has no secret, but one was given", path: store.location,
                    remedy: await store.remedyWithoutSecret(
                        or: "Omit the secret. If the repository had one, its repository.json was replaced."))
            }
            opened = try config.unlock(secret) { candidate in
                if document.isAuthentic(candidate.key) { return true }
                // What a slot seals is the right key: so it is the document that is not.
                guard candidate.slot == 1 else { throw VaultError.changedIdentity(store.location) }
                return false
            }
            guard opened != nil else {
                throw VaultError(
                    .keyRejected, "the repository's secret is wrong, or repository.json was changed",
                    path: store.location, advice: .listSecrets)
            }
        }
        guard let id = [UInt8](hexadecimal: config.id) else {
            throw VaultError(.damaged, "has no identifier", path: store.location)
        }
        let key = try opened.map { try RepositoryKey(current: $0.key, sealed: config.previous, of: id) }
        return RepositoryIdentity(
            opening: self, config: config, document: bytes, key: key, slot: opened?.slot, id: id, before: before,
            notices: config.previous != nil ? [.unfinishedRotation] : [])
    }
}

/// What `repository.json` says, and what a secret opened of it. This machine has not compared it with what it remembers yet.
struct RepositoryIdentity: Sendable {
    let opening: Opening
    let config: RepositoryConfig
    /// The bytes of `repository.json`.
    let document: [UInt8]
    let key: RepositoryKey?
    let slot: Int?
    let id: [UInt8]
    /// The secrets remembered before the document was read: meanwhile another process may change them, and remember that.
    let before: (repository: String, generation: Int)?
    var notices: [RepositoryWarning] = []

    /// The repository, once it is compared with the one that this machine used here.
    ///
    /// - Throws: `VaultError` `keyRejected` if it is sealed and the secret was not given; as ``recognised()``.
    func opened() throws -> Repository {
        let (store, local) = (opening.store.unsealed, opening.local)
        return try Repository(
            store: config.opening(store, key: key, of: id, spool: local.spool), local: local, config: config,
            key: key, slot: slot, id: id, memory: opening.memory, notices: recognised())
    }
}

extension ObjectStore {
    /// What to do about a repository that stands in the way of one with a secret: an empty one can be made again.
    func remedyWithoutSecret(or other: String) async -> String {
        let isNew = { (object: ObjectAttributes) in
            object.name == RepositoryFormat.config || object.name.starts(withText: "leases/")
        }
        // Everything is listed only where there is little: what is left of one whose manifests were lost may come back from a copy.
        guard (try? await list("snapshots/").isEmpty) == true, (try? await list("").allSatisfy(isNew)) == true else {
            return other
        }
        return "The repository has no snapshots: remove it, and create it with the secret."
    }
}
