internal import LiteVaultCapture
internal import LiteVaultSystem

/// An object in place of a manifest, so that no writer can store one there.
///
/// A process that ends the lease of a writer that may only be suspended stores a fence under the name that the writer
/// would publish. Confirming a lease and storing a manifest are two requests, between which a process may sleep for
/// hours: then the condition that the name is free stops it. A fence is permanent, as nobody can tell when the last
/// such writer has ended.
struct Fence: CheckedDocument {
    var type = "fence"
    var repository: String
    var database: String
    var sequence: Int
    /// The promotion that it records; absent if it only ends a writer's lease.
    var promotion: Promotion?

    func check() throws(OutOfLimits) {
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try promotion?.check()
    }
}

extension WritableRepository {
    /// Makes sure that a writer publishes nothing under a lease that is about to be ended.
    ///
    /// If its snapshot is stored already, a mark keeps the name from becoming free: the writer may store it again, as
    /// it may not know that it succeeded.
    ///
    /// - Parameters:
    ///   - held: the content of the lease; without a sequence, its writer updates the lease before it stores anything,
    ///     and so
    ///     learns that it was ended.
    ///   - database: the database of the lease.
    func fence(_ held: Lease.Record, _ database: String) async throws {
        // Ignore an impossible number: leases are not authenticated.
        guard let sequence = held.sequence, try await 1...(repository.newestSequence(database) + 1000) ~= sequence
        else { return }
        let fence = Fence(repository: repository.config.id, database: database, sequence: sequence)
        let name = RepositoryFormat.snapshot(database, sequence)
        do {
            try await put(fence, as: name, condition: .absent)
        } catch let error as VaultError where error.code == .conflict {
            // An object that cannot be read is a damaged snapshot.
            if (try? await repository.isFence(name, database)) == true { return }
            try await put(
                fence, as: RepositoryFormat.fences(database) + RepositoryFormat.padded(sequence), condition: .none)
        }
    }

    /// Removes a manifest, and keeps its name from being reused if its writer may still be running.
    ///
    /// - Parameter marked: ``Repository/marks(_:)``, listed after the manifest.
    func remove(_ snapshot: Snapshot, marked: Set<String>) async throws {
        let (database, sequence) = (snapshot.manifest.database, snapshot.sequence)
        guard marked.contains(snapshot.object) else { return try await store.remove(snapshot.object) }
        let fence = Fence(repository: repository.config.id, database: database, sequence: sequence)
        try await put(fence, as: snapshot.object, condition: .none)
    }
}

extension Repository {
    /// The names of the manifests that are replaced instead of removed.
    func marks(_ database: String) async throws -> Set<String> {
        let prefix = RepositoryFormat.fences(database)
        return Set(
            try await store.list(prefix).map { RepositoryFormat.snapshots(database) + $0.name.dropFirst(prefix.count) })
    }

    /// Whether the object with a manifest's name is a fence.
    func isFence(_ name: String, _ database: String) async throws -> Bool {
        let bytes = try await store.get(name, upTo: SealedDocument.limit(Manifest.self))
        let document = try SealedDocument(whole: bytes, name: name)
        return try fence(document, name, database) != nil
    }

    /// Whether a snapshot that was read before is still stored. Retention removes its manifest, or puts a fence in its place, before it removes the
    /// segments that continue it: while this is true, no listing made before lacks one of them for that reason.
    ///
    /// - Throws: what the store throws.
    func isStored(_ snapshot: Snapshot) async throws -> Bool {
        do {
            if case .snapshot = try await object(snapshot.object, snapshot.manifest.database) { return true }
            return false
        } catch let error as VaultError where error.isDamage {
            // What is damaged now was not removed.
            return error.code != .missing
        }
    }

    /// The fence in a document; nil if it is something else.
    func fence(_ document: SealedDocument, _ name: String, _ database: String) throws -> Fence? {
        struct Kind: CheckedDocument {
            var type: String
            func check() throws(OutOfLimits) {}
        }
        guard try document.value(Kind.self, key: key, name: name).type == "fence" else { return nil }
        let fence = try document.value(Fence.self, key: key, name: name)
        guard fence.repository == config.id, fence.database == database,
            RepositoryFormat.snapshot(database, fence.sequence) == name
        else { throw VaultError.swapped(name) }
        return fence
    }
}
