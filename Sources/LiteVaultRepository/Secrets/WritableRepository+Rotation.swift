internal import Crypto
public import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// The result of giving a repository a new key.
public struct KeyRotation: Sendable, Equatable {
    /// The one secret that opens the repository from now on.
    public let slot: RepositorySecretSlot
    /// Whether a change that had been interrupted was completed, with the key that it had made.
    public let isContinued: Bool
    /// The number of documents that got a code of the new key.
    public var documents = 0
    /// The size in bytes of the objects that were stored again for that.
    public var bytes: Int64 = 0
    /// Documents that the old key had not authenticated, and segments whose frames do not match their hash. They are as they were, and the old
    /// key is still accepted: once a repair has dealt with them, another change completes this one.
    public var warnings: [RepositoryWarning] = []
}

// A new key: for when a secret was known to somebody who must not store anything as authentic any more.

extension WritableRepository {
    /// Gives the repository a new random key, which only one secret opens, and authenticates all of its documents with it.
    ///
    /// All other secrets are removed; add those of others again, one after the other. Packs are not touched. Every manifest, segment and list
    /// is stored again with another code on its last line; their hashes stay. What authenticated under the old key is taken over
    /// as it is: check the repository before, if somebody may have forged documents.
    ///
    /// An interruption leaves a repository that the secret opens, with documents of both keys; the next call completes it, and until then
    /// the old key is still accepted. So it is if a document is not authentic or does not match its hash, also when it is read again: it stays as
    /// it is, and the result has a warning. Nothing else may write meanwhile. A repository that was opened before has to be opened again: it throws `busy`
    /// when it is to write, and reports damage when it reads.
    ///
    /// A copy in another place keeps the old key, and can no longer be continued from this repository.
    ///
    /// - Parameters:
    ///   - secret: the secret that this repository was opened with.
    ///   - progress: called with the documents done; an error that it throws ends the work.
    /// - Returns: what was done.
    /// - Throws: `VaultError` `keyRejected` if `secret` does not open the repository; `busy` if another process works in it; `unsupported`
    ///   without a secret, and in a store without conditional writes; `io`, `noSpace`.
    public func rotateKey(
        secret: RepositorySecret, progress: @escaping BackupProgress.Report = { _ in }
    ) async throws -> KeyRotation {
        let key = try await requireKey()
        guard try await store.supportsConditionalWrites() else {
            throw VaultError(
                .unsupported, "the store has no conditional writes, which a new key needs", path: store.location,
                remedy: "Store new snapshots in a new repository.")
        }
        guard let opened = try repository.config.unlock(secret, where: { $0.key == key.current }) else {
            throw VaultError(.keyRejected, "the secret is not one of the repository", path: store.location)
        }
        return try await withLease("prune", for: "giving the repository a new key") { lease in
            let isContinued = key.previous != nil
            // Before anything is changed, so that a writer at work does not leave an unfinished change.
            try await endWriters()
            let rotated = isContinued ? self : try await withNewKey(secret, opened.slot)
            // A holder of a lease taken before the change may still write under the old key. One that takes a lease later compares the key.
            try await rotated.endWriters()
            guard let slot = rotated.repository.secrets.slots.first else { throw VaultError.changedIdentity(store.location) }
            var result = KeyRotation(slot: slot, isContinued: isContinued)
            try await rotated.sealAgain(&result, lease, progress)
            // They may be authentic, and have been misread: without the old key a repair could not tell.
            guard result.warnings.isEmpty else { return result }
            try await rotated.changeSecrets { config, _, _ in
                config.previous = nil
            } isMade: { config, _ in
                config.previous == nil
            }
            return result
        }
    }

    /// The repository with a new key, stored as `repository.json`.
    private func withNewKey(_ secret: RepositorySecret, _ number: Int) async throws -> WritableRepository {
        let new = SymmetricKey(size: .bits256)
        let derivation = SecretDerivation.new(secret)
        let sealing = try secret.key(derivation)
        let stored = try await changeSecrets(sealedBy: new) { config, key, next in
            let name = config.slots.first { $0.number == number }?.name ?? ""
            config.secrets = [
                try SecretSlot(number: next, name: name, derivation: derivation, sealing: sealing, new, of: repository.id)
            ]
            config.secret = nil
            config.add(feature: RepositoryConfig.slotsFeature)
            config.sealing = try repository.sealing?.sealed(by: new)
            config.previous = try RepositoryKey.seal(key, by: new, of: repository.id)
            return (config: config, number: next)
        } isMade: { config, made in
            config.generation == made.number && config.previous == made.config.previous
        }.config
        return try Repository(
            store: store, local: repository.local, config: stored,
            key: RepositoryKey(current: new, previous: repository.key?.current), slot: stored.slots.first?.number,
            id: repository.id, memory: repository.memory, notices: repository.notices
        ).writable()
    }

    /// Takes every lease of a writer once: then none is at work that began under the old key. A follower's note is sealed again.
    ///
    /// - Throws: `VaultError` `busy` if a writer is at work.
    func endWriters() async throws {
        for object in try await store.list("leases/") {
            let short = String(object.name.dropFirst("leases/".count))
            let isFollower = short.hasPrefix(Lease.follower)
            let database = isFollower ? String(short.dropFirst(Lease.follower.count)) : short
            guard RepositoryFormat.isIdentifier(database) else { continue }
            let lease = try await Lease.take(
                short, of: self, for: "a database of the repository",
                fence: isFollower ? nil : { try await fence($0, database) })
            if let key = repository.key, let note = lease.note, let bytes = SealedDocument.sealedAgain(Array(note.utf8), key) {
                lease.note = String(decoding: bytes, as: UTF8.self)
            }
            await lease.release()
        }
    }

    /// Stores every document that has a code of the old key with one of the new key.
    private func sealAgain(
        _ result: inout KeyRotation, _ lease: Lease, _ progress: @escaping BackupProgress.Report
    ) async throws {
        let kinds = ["snapshots", "segments", "forgotten", "verified", "fences"]
        try await forEachPart(256, lease) { name in
            kinds.contains { name.hasPrefix($0 + "/") } || name == RepositoryFormat.pendingDeletions
        } body: { part, all in
            try progress(BackupProgress(.storing, Int64(part.startIndex), of: Int64(all.count)))
            for outcome in try await concurrently(Array(part), { try await sealAgain($0.name) }) {
                switch outcome {
                case .stored(let size): (result.documents, result.bytes) = (result.documents + 1, result.bytes + size)
                case .foreign(let warning): result.warnings.append(warning)
                case .present: break
                }
            }
        }
    }

    /// Passes the objects of the repository to `body`, some at a time, so that the lease is confirmed between them, until a listing has no others,
    /// at most ten times.
    ///
    /// - Parameter body: gets a part of a listing, and all of it.
    func forEachPart(
        _ size: Int, _ lease: Lease, where isWanted: (String) -> Bool,
        body: (ArraySlice<ObjectAttributes>, [ObjectAttributes]) async throws -> Void
    ) async throws {
        var seen: Set<String> = []
        // Joining segments and recording checks needs no lease: a request from before the new key, or the seal, may have been late.
        for _ in 0..<10 {
            let objects = try await store.list("").filter {
                RepositoryFormat.isObject($0.name) && isWanted($0.name) && !seen.contains($0.name)
            }
            if objects.isEmpty { return }
            for start in stride(from: 0, to: objects.count, by: size) {
                try await lease.confirmIfDue()
                try await body(objects[start..<min(start + size, objects.count)], objects)
            }
            seen.formUnion(objects.map(\.name))
        }
    }

    private enum Outcome: Sendable {
        case present
        case stored(Int64)
        case foreign(RepositoryWarning)
    }

    private func sealAgain(_ name: String) async throws -> Outcome {
        guard let key = repository.key else { return .present }
        do {
            return try await replacing(name, in: store) { present -> Outcome? in
                // Of a segment, the frames follow.
                let isSegment = name.hasPrefix("segments/")
                let head =
                    isSegment
                    ? try await store.get(
                        name, range: 0..<min(store.contentSize(present), RepositoryFormat.segmentHead))
                    : try await store.get(name, upTo: Int(ReadLimits.list))
                let document = try SealedDocument(head, name: name)
                if document.isAuthentic(key.current) { return .present }
                guard document.isAuthentic(key) else {
                    throw VaultError(.damaged, "authentication failed: it was not written with the old key", path: name)
                }
                if isSegment {
                    try await replaceHead(of: name, present, document.sealed(by: key))
                } else {
                    try await store.put(
                        name, bytes: document.sealed(by: key) + document.payload, condition: .unchanged(present.tag))
                }
                return .stored(present.size)
            } ?? .present
        } catch let error as VaultError where error.code == .damaged {
            // Of what is below fences/, only the names are read.
            if name.hasPrefix("fences/") { return .present }
            return .foreign(RepositoryWarning(.damage, path: name, message: error.message, advice: .repairThenRepeat))
        }
    }

    /// Replaces an object; tries again, up to five times in all, if it was changed meanwhile, and once if it is damaged: it may have been misread.
    ///
    /// - Parameter body: gets the object's attributes, with whose tag it is to be replaced.
    /// - Returns: what `body` returns; nil if there is no such object.
    /// - Throws: `busy` if it was changed each time; what `body` throws.
    func replacing<T>(
        _ name: String, in store: any ObjectStore, _ body: (ObjectAttributes) async throws -> T?
    ) async throws -> T? {
        var wasDamaged = false
        for attempt in 0..<5 {
            // The tag first: if the object changes after that, the write fails.
            guard let present = try await store.attributes(name) else { return nil }
            do {
                return try await body(present)
            } catch let error as VaultError where error.code == .conflict {
                continue
            } catch let error as VaultError where error.code == .damaged && !wasDamaged && attempt < 4 {
                wasDamaged = true
            }
        }
        throw VaultError.changedByOthers(name, store.location)
    }

    /// Stores a segment again with another document of the same length.
    private func replaceHead(of name: String, _ present: ObjectAttributes, _ head: [UInt8]) async throws {
        let named = try ReplacementFile.temporary("rotation", in: repository.spoolDirectory())
        defer { named.discard() }
        let path = named.path + "-journal"
        try await store.fetch(name, into: path, upTo: ReadLimits.segment)
        let file = try LocalFile(updating: path)
        try repository.verify(file, as: name)
        try file.write(head, at: 0)
        try await store.put(name, file: path, condition: .unchanged(present.tag))
    }
}

extension Repository {
    /// Compares an object that is a local file with all hashes and codes in it, before it replaces the object.
    ///
    /// - Returns: false if its kind has none that anybody relies on: leases, fences/, and what a repair has set aside.
    /// - Throws: `VaultError` `damaged` with the object's name as path.
    @discardableResult
    func verify(_ file: LocalFile, as name: String) throws -> Bool {
        let parts = name.split(separator: "/").map(String.init)
        switch parts.first {
        case "data", "tree": try PackFile.verify(file, as: name, repository: id)
        case "segments":
            guard parts.count > 2, let segment = SegmentName(name) else { return false }
            try compare(self.segment(segment, parts[1], in: file), in: file)
        case "snapshots", "forgotten", "verified", RepositoryFormat.pendingDeletions:
            let document = try SealedDocument(whole: file.contents(upTo: Int(ReadLimits.list)), name: name)
            if let key, !document.isAuthentic(key) {
                throw VaultError(
                    .damaged, "authentication failed: it was not written with this repository's secret", path: name)
            }
        default: return false
        }
        return true
    }
}

extension SealedDocument {
    /// The bytes of a note with a code of the new key; nil if it is not intact, or not authentic under either key.
    fileprivate static func sealedAgain(_ bytes: [UInt8], _ key: RepositoryKey) -> [UInt8]? {
        guard let document = try? SealedDocument(bytes, name: ""), document.isAuthentic(key) else { return nil }
        return document.sealed(by: key) + document.payload
    }
}
