public import LiteVaultCapture
internal import LiteVaultSystem

/// The result of sealing a repository that was not.
public struct SealingResult: Sendable, Equatable {
    /// Whether all of it was sealed already.
    public var isSealed = false
    /// Whether it continued what had been interrupted.
    public var isContinued = false
    /// The number of objects that were stored again.
    public var objects = 0
    /// Their size in bytes before.
    public var before: Int64 = 0
    /// Their size in bytes as they are stored now.
    public var after: Int64 = 0
}

// Format 2 for a repository of format 1, where it is.

extension WritableRepository {
    /// Compresses and encrypts all of a repository that was created without, and seals what is stored from now on.
    ///
    /// From its first step on, older versions of LiteVault refuse the repository. Every object but `repository.json` is stored again, one
    /// by one, so the store needs little more space than before. An interruption leaves a repository that works, with objects of both
    /// kinds; the next call completes it. Nothing else may write meanwhile. A repository that was opened before has to be opened
    /// again: it throws `busy` when it is to write, and reports damage when it reads.
    ///
    /// An object that does not match its hashes, also when it is read again, stays as it is and ends the work: what was misread is not stored. A
    /// repair that reads all data tells what is damaged, and after it the next call continues.
    ///
    /// The identifiers of databases in names of objects stay hashes of their names, so that anybody with access to the store can try names. What the
    /// store itself keeps of replaced objects, such as old versions in a bucket, is as readable as before.
    ///
    /// - Parameter progress: called with the bytes done; an error that it throws ends the work.
    /// - Returns: what was done.
    /// - Throws: `VaultError` `unsupported` for a repository without a secret, and in a store without conditional writes; `keyRejected` without the
    ///   secret; `busy` if another process works in it, or a new key was not completed; `damaged` for an object that does not match its hashes;
    ///   `io`, `noSpace`.
    public func seal(progress: @escaping BackupProgress.Report = { _ in }) async throws -> SealingResult {
        let key = try await requireKey()
        if repository.isSealed, !repository.isSealingUnfinished { return SealingResult(isSealed: true) }
        guard try await store.supportsConditionalWrites() else {
            throw VaultError(
                .unsupported, "the store has no conditional writes, which an upgrade needs", path: store.location,
                remedy: "Create a sealed repository in another place, and store new snapshots there.")
        }
        guard key.previous == nil else {
            throw VaultError(
                .busy, "a new key was not completed", path: store.location, advice: .completeRotation)
        }
        var result = SealingResult(isContinued: repository.isSealed)
        let sealed =
            repository.isSealed
            ? self
            : try await withLease("prune", for: "upgrading the repository") { _ in
                // Before anything is changed, so that a writer at work does not leave an unfinished change.
                try await endWriters()
                return try await beginSealing(key)
            }
        // A lease of its own: the one before was stored in clear.
        try await sealed.withLease("prune", for: "upgrading the repository") { lease in
            // A holder of a lease taken before the change may still store in clear. One that takes a lease later compares the format.
            try await sealed.endWriters()
            try await sealed.sealObjects(&result, lease, progress)
            try await sealed.changeSecrets { config, _, _ in
                config.unsealed = nil
            } isMade: { config, _ in
                config.unsealed == nil
            }
        }
        return result
    }

    /// The repository as a sealed one with objects that are not sealed yet, stored as `repository.json`.
    private func beginSealing(_ key: RepositoryKey) async throws -> WritableRepository {
        let sealing = SealingKey(of: repository.id)
        let stored = try await changeSecrets { config, current, _ in
            try config.seal(with: sealing, under: current)
            config.unsealed = true
            return config
        } isMade: { config, made in
            config.sealing == made.sealing
        }
        let (local, id) = (repository.local, repository.id)
        return try Repository(
            store: stored.opening(store, key: key, of: id, spool: local.spool), local: local, config: stored,
            key: key, slot: repository.slot, id: id, memory: repository.memory, notices: repository.notices
        ).writable()
    }

    private func sealObjects(
        _ result: inout SealingResult, _ lease: Lease, _ progress: @escaping BackupProgress.Report
    ) async throws {
        // Stores write the object of conditions themselves, to try these. It says nothing.
        let others = [RepositoryFormat.config, RepositoryFormat.lease("conditions")]
        let damaged = Set(try await repository.pendingDeletions().damaged ?? [])
        var (done, total) = (Int64(0), Int64(0))
        try await forEachPart(32, lease) {
            !others.contains($0)
        } body: { part, all in
            if part.startIndex == 0 { (done, total) = (0, all.lazy.map(\.size).sum) }
            try progress(BackupProgress(.storing, done, of: total))
            for sizes in try await concurrently(Array(part), { try await sealObject($0.name, damaged: damaged) }) {
                guard let (before, after) = sizes else { continue }
                result.objects += 1
                (result.before, result.after) = ([result.before, before].sum, [result.after, after].sum)
            }
            done = [done, part.lazy.map(\.size).sum].sum
        }
    }

    /// Stores an object again, sealed.
    ///
    /// - Parameter damaged: the packs that a repair has found damaged. They keep what is intact in them.
    /// - Returns: its size before and after; nil if it is sealed, or does not exist.
    private func sealObject(_ name: String, damaged: Set<String>) async throws -> (before: Int64, after: Int64)? {
        let base = store.unsealed
        return try await replacing(name, in: base) { present -> (before: Int64, after: Int64)? in
            let start = try await base.get(name, range: 0..<min(present.size, Int64(SealedObject.headBytes)))
            if SealedObject.isSealed(start) { return nil }
            // Before any of it is read: a sparse file is as large as somebody wants.
            let limit = ReadLimits.bytes(of: name)
            guard present.size <= limit else {
                throw VaultError.tooLarge(Int(limit), path: "\(store.location)/\(name)")
            }
            let named = try ReplacementFile.temporary("upgrade", in: repository.spoolDirectory())
            defer { named.discard() }
            let local = base.localPath(name)
            let path = local ?? named.path + "-journal"
            if local == nil { try await base.fetch(name, into: path, upTo: limit) }
            let file = try LocalFile(reading: path)
            // What was read first may have been misread.
            if SealedObject.isSealed(try file.read(at: 0, count: start.count)) { return nil }
            do {
                // Where no hash says so, a second reading tells whether it was read as it is.
                if try damaged.contains(name) || !repository.verify(file, as: name),
                    try await base.hash(name, 0..<present.size) != file.hash()
                {
                    throw VaultError(.damaged, "has other content each time that it is read", path: name)
                }
            } catch let error as VaultError where error.code == .damaged {
                throw VaultError(
                    .damaged, error.message, path: "\(store.location)/\(name)", advice: .repairThenRepeat)
            }
            try await store.put(name, file: path, condition: .unchanged(present.tag))
            return (present.size, try await base.attributes(name)?.size ?? 0)
        }
    }
}
