public import LiteVaultCapture
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The result of copying a repository.
public struct CopyResult: Sendable, Equatable {
    /// The number of snapshots that were copied.
    public var snapshots = 0
    /// The number of snapshots that the copy had already.
    public var present = 0
    /// The number of snapshots left out because retention removed them from the copy.
    public var forgotten = 0
    /// The number of snapshots left out because blocks of them are lost, as a repair has recorded. The copy records them as removed.
    public var lost = 0
    /// The number of snapshots of which the copy knows more now from verifications here. Those of objects are not taken over.
    public var verifications = 0
    /// The number of segments of followed logs that were copied.
    public var segments = 0
    /// The number of packs that were copied.
    public var packs = 0
    /// The size in bytes of the packs and segments that were copied.
    public var bytes: Int64 = 0
    /// What could not be copied, and other problems found in either repository.
    public var warnings: [RepositoryWarning] = []
    /// Those of them about databases of which the copy lacks the newest snapshot, although it can be read here.
    package var incomplete: [RepositoryWarning] = []
}

extension WritableRepository {
    /// Copies snapshots and followed logs to another store, which then holds a second copy of this repository.
    ///
    /// The copy is a repository of its own with the same identifier and secret: every command works on it, and it can have a
    /// retention of its own. Copying adds what it lacks: snapshots that this repository no longer has stay, and those that
    /// retention removed from the copy are not copied again. Packs are compared with their hashes on the way; those that
    /// the copy has are not read. Packs that went missing from the copy are copied again. What verifications have found out about the
    /// content of snapshots is recorded in the copy, as found of the original.
    ///
    /// Manifests are stored last, oldest first, so a copy that is interrupted at any time is intact, and the next one continues. Nobody can
    /// remove snapshots or packs from the copy meanwhile. Packs that a pruning of the copy has scheduled for deletion are taken off its list.
    ///
    /// - Parameters:
    ///   - store: an empty place, or one that holds a copy of this repository.
    ///   - database: a database's name; nil for all databases.
    ///   - acceptsReplacement: whether to accept the copy even if this machine has used another repository, or a newer state
    ///     of this one, in that place. False by default.
    ///   - dryRun: whether to count only, without storing anything.
    ///   - progress: called with the bytes stored; the total is known.
    /// - Returns: what was copied. Damage is part of it: snapshots that need a damaged object are left out, the others are copied, and so
    ///   are the other databases if the copy of one is damaged or differs.
    /// - Throws: `VaultError` `config` if `store` is the place of this repository, or one inside the other; `conflict` if it holds another
    ///   repository, or other snapshots under the same numbers; `busy` if another process copies or removes there, or took
    ///   the lease meanwhile, as it was not renewed in time, or if a pruning of the copy that was killed or suspended may still delete a pack that is needed;
    ///   `keyRejected` without the secret of a repository that has one.
    public func copy(
        to store: any ObjectStore, database: String? = nil, acceptsReplacement: Bool = false, dryRun: Bool = false,
        progress: @escaping BackupProgress.Report = { _ in }
    ) async throws -> CopyResult {
        try requireApart(store)
        let databases = try await repository.databaseIDs(database)
        let target = try await copyTarget(store, acceptsReplacement: acceptsReplacement, creating: !dryRun)
        let run = CopyRun(from: repository, to: target, progress: progress)
        guard let target, !dryRun else { return try await run.copy(databases, holding: nil) }
        return try await target.withLease("prune", for: "the copy") { lease in
            try await run.copy(databases, holding: lease)
        }
    }

    /// - Throws: `config` if one of the places is in the other: a copy in its own repository goes with it, and each would take the
    ///   objects of the other for stray ones.
    private func requireApart(_ other: any ObjectStore) throws {
        func path(_ store: any ObjectStore) -> String {
            let path = store.identity.starts(withText: "/") ? LocalDirectory.resolved(store.identity) : store.identity
            return path.ends(withText: "/") ? path : path + "/"
        }
        let (source, target) = (path(repository.store), path(other))
        let problem: String
        if isSameText(source, target) {
            problem = "is the repository itself"
        } else if target.utf8.starts(with: source.utf8) {
            problem = "is inside the repository"
        } else if source.utf8.starts(with: target.utf8) {
            problem = "contains the repository"
        } else {
            return
        }
        throw VaultError(.config, problem, path: other.location, remedy: "Copy it to a place of its own.")
    }

    /// The copy of this repository in a store; nil if there is none and none is to be created.
    private func copyTarget(
        _ store: any ObjectStore, acceptsReplacement: Bool, creating: Bool
    ) async throws -> WritableRepository? {
        let store = store.unsealed
        let name = RepositoryFormat.config
        let opening = Opening(
            store: store, secret: nil, local: repository.local, acceptsReplacement: acceptsReplacement)
        let before = opening.memory?.secrets()
        guard
            let bytes = try await copyIdentity(
                store, acceptsReplacement: acceptsReplacement, creating: creating)
        else { return nil }
        let document = try SealedDocument(whole: bytes, name: name)
        let found = try document.decode(RepositoryConfig.self, name: name)
        try found.require(location: store.location)
        guard found.id == repository.config.id else {
            throw VaultError(
                .conflict, "holds another repository, not a copy of \(repository.store.location)", path: store.location,
                remedy: "Copy to an empty place, or to a copy made before.")
        }
        // Only the key tells a copy from a forgery.
        if let key = repository.key, !document.isAuthentic(key) {
            throw VaultError(
                .damaged,
                "the copy has another key than \(repository.store.location): that was given a new one ('secret rotate') since the copy was "
                    + "made, or somebody else wrote here", path: store.location,
                remedy: "Copy to an empty place. Until that is done, keep this copy: the secret of its time opens it.")
        }
        guard found.isSealed || !repository.isSealed else {
            throw VaultError(
                .config, "is a copy that is not sealed, of a repository that is", path: store.location,
                remedy: "Upgrade the copy, or copy to an empty place.")
        }
        return try RepositoryIdentity(
            opening: opening, config: found, document: bytes, key: repository.key, slot: repository.slot,
            id: repository.id, before: before
        ).opened().writable()
    }

    /// Reads the `repository.json` of a copy, and stores that of this repository where there is none.
    ///
    /// - Returns: the content; nil if there is none and none is to be stored.
    private func copyIdentity(
        _ store: any ObjectStore, acceptsReplacement: Bool, creating: Bool
    ) async throws -> [UInt8]? {
        let name = RepositoryFormat.config
        func read(_ store: any ObjectStore) async throws -> [UInt8] {
            try await store.get(name, upTo: SealedDocument.limit(RepositoryConfig.self))
        }
        do {
            return try await read(store)
        } catch let error as VaultError where error.code == .missing {
            do {
                try await Repository.requireNoSnapshots(store)
                if !acceptsReplacement { try await Repository.requireUnknown(store, repository.local) }
                guard creating else { return nil }
                let bytes = try await read(repository.store)
                try await store.put(name, bytes: bytes, condition: store.whereAbsent())
                return bytes
            } catch let problem as VaultError where [.damaged, .conflict].contains(problem.code) {
                // Another process may have begun the copy since `repository.json` was looked for.
                do { return try await read(store) } catch let again as VaultError where again.code == .missing {
                    throw problem
                }
            }
        }
    }
}
