internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

extension Repository {
    /// Restores `repository.json`, without which a repository cannot be opened, if it is damaged or missing. Its
    /// content is recovered from the damaged object if a single byte changed, from this machine's memory, or, without a
    /// secret, from manifests. What this machine remembers is compared with all manifests: the repository may have got a new key since.
    ///
    /// - Parameters:
    ///   - store: the store that holds the repository.
    ///   - secret: its secret; required if it has one.
    ///   - local: local directories of this machine.
    ///   - dryRun: whether to report only, without changing anything.
    /// - Returns: the action taken; nil if the object is intact, or if there is no repository.
    /// - Throws: `VaultError` `damaged` if its content cannot be determined, or what this machine remembers is not of the repository in the
    ///   store, or is older; `keyRejected`, `io`. Then nothing was changed.
    public static func restoreIdentity(
        _ store: any ObjectStore, secret: RepositorySecret? = nil, local: LocalDirectories = .standard,
        dryRun: Bool = false
    ) async throws -> RepairReport.Action? {
        let store = store.unsealed
        let opening = Opening(store: store, secret: secret, local: local, acceptsReplacement: false)
        guard let found = try await restorable(opening) else { return nil }
        if !dryRun {
            if let bytes = found.damaged { try await keep(bytes, of: RepositoryFormat.config, store) }
            try await replaceIdentity(found.damaged, with: found.whole, store)
        }
        return found.action
    }

    /// Opens a repository as it would be after ``restoreIdentity(_:secret:local:dryRun:)``, for a repair that only reports. Nothing is stored.
    ///
    /// - Parameter acceptsReplacement: as that of ``open(_:secret:local:acceptsReplacement:)``.
    /// - Returns: the action that would be taken, nil for none, and the repository.
    /// - Throws: as these two.
    package static func openAsRestored(
        _ store: any ObjectStore, secret: RepositorySecret?, local: LocalDirectories, acceptsReplacement: Bool
    ) async throws -> (action: RepairReport.Action?, repository: Repository) {
        let opening = Opening(store: store, secret: secret, local: local, acceptsReplacement: acceptsReplacement)
        guard let found = try await restorable(opening) else { return (nil, try await opening.existing().opened()) }
        var unwritten = local
        unwritten.remembers = false
        let preview = Opening(
            store: store.unsealed, secret: secret, local: unwritten, acceptsReplacement: acceptsReplacement)
        return (found.action, try await preview.identity(found.whole).opened())
    }

    /// A `repository.json` to be stored.
    private struct Restorable {
        /// What it replaces; nil if there is none.
        let damaged: [UInt8]?
        let whole: [UInt8]
        /// Whether it is as this machine used it last, with secrets.
        var hasRememberedSecrets = false

        var action: RepairReport.Action {
            let reason = damaged == nil ? "is missing" : "is damaged"
            return RepairReport.Action(
                .restored, RepositoryFormat.config,
                hasRememberedSecrets
                    ? "\(reason); what this machine used last takes its place, with the secrets of that time" : reason,
                damaged.map { _ in "damaged/" + RepositoryFormat.config })
        }
    }

    /// What `repository.json` has to be; nil if it is intact, or there is no repository.
    private static func restorable(_ opening: Opening) async throws -> Restorable? {
        let (store, secret) = (opening.store.unsealed, opening.secret)
        let name = RepositoryFormat.config
        var bytes: [UInt8]?
        var place = ""
        do {
            var found: [UInt8] = []
            // Twice, if it was damaged on the way.
            for _ in 0..<2 where RepositoryConfig.identifier(in: found) == nil {
                found = try await store.get(name, upTo: SealedDocument.limit(RepositoryConfig.self))
            }
            if RepositoryConfig.identifier(in: found) != nil {
                // The damage may be in its code. If that is far from the right one, the secret is wrong, which opening
                // reports.
                guard secret != nil, let right = try sealed(found, secret), right != found else { return nil }
            }
            bytes = found
        } catch let error as VaultError where error.code == .missing {
            if try await store.list("snapshots/").isEmpty {
                // A repair by a `repository.json` that was not theirs may have set all of them aside.
                place = "damaged/"
                if try await store.list(place + "snapshots/").isEmpty { return nil }
            }
        }
        if let line = bytes.flatMap(DocumentSalvage.line), let whole = try sealed(line, secret) {
            return Restorable(damaged: bytes, whole: whole)
        }
        var refusal: VaultError?
        if let document = opening.memory?.document(), let whole = try sealed(document, secret) {
            let identity = try await opening.identity(whole)
            let evidence = try await ManifestJudge(identity.config, identity.key, of: identity.id)
                .evidence(in: store, below: place)
            refusal = evidence.refusal
            if refusal == nil, place.isEmpty || evidence.hasOwn {
                return Restorable(damaged: bytes, whole: whole, hasRememberedSecrets: identity.key != nil)
            }
        }
        if place.isEmpty, secret == nil, let whole = try await rebuilt(store) {
            return Restorable(damaged: bytes, whole: whole)
        }
        if let refusal { throw refusal }
        // What is left of other times does not make it a repository.
        if !place.isEmpty { return nil }
        throw VaultError(
            .damaged, "its content can no longer be determined", path: name,
            remedy: "Restore it from a copy of the repository, or repair it on a machine that has used it.")
    }

    /// Stores `repository.json` in the place of what was read, unless another process has restored or changed it since.
    ///
    /// - Parameter damaged: what was read; nil if it was missing.
    private static func replaceIdentity(
        _ damaged: [UInt8]?, with whole: [UInt8], _ store: any ObjectStore
    ) async throws {
        let name = RepositoryFormat.config
        try await store.changing(name) { version in
            var present: [UInt8]?
            do {
                present = try await store.get(name, upTo: SealedDocument.limit(RepositoryConfig.self))
            } catch let error as VaultError where error.code == .missing {}
            if present == whole { return }
            guard present == damaged else { throw VaultError.changedByOthers(name, store.location) }
            try await store.put(name, bytes: whole, condition: version.condition)
        }
    }

    /// The document of a line, sealed again; nil if the line does not describe a repository, or the seal after it does
    /// not prove it.
    ///
    /// - Parameter bytes: the line and its seal. The line matches the hash, or the code except for a few digits.
    private static func sealed(_ bytes: [UInt8], _ secret: RepositorySecret?) throws -> [UInt8]? {
        // The bytes after the line may be a damaged code.
        guard let document = try? SealedDocument(bytes, name: RepositoryFormat.config),
            let config = try? document.decode(RepositoryConfig.self, name: RepositoryFormat.config),
            (try? config.require(location: "")) != nil
        else { return nil }
        guard config.hasSecret else {
            return secret == nil && RepositoryConfig.identifier(in: bytes) != nil ? bytes : nil
        }
        guard let secret else {
            throw VaultError(
                .keyRejected, "the repository has a secret, but none was given", path: RepositoryFormat.config,
                advice: .provideSecret)
        }
        var whole: [UInt8]?
        _ = try config.unlock(secret) { candidate in
            whole = DocumentSalvage.document(bytes, key: candidate.key)
            return whole != nil
        }
        return whole
    }

    /// The identity according to the manifests, if all belong to one repository and none has an authentication code.
    private static func rebuilt(_ store: any ObjectStore) async throws -> [UInt8]? {
        var ids: Set<String> = []
        var created: String?
        for object in try await store.list("snapshots/").prefix(1000) where RepositoryFormat.isObject(object.name) {
            guard let bytes = try? await store.get(object.name, upTo: SealedDocument.limit(Manifest.self)),
                let document = try? SealedDocument(whole: bytes, name: object.name),
                let manifest = try? document.decode(Manifest.self, name: object.name)
            else { continue }
            if document.isAuthenticated { return nil }
            ids.insert(manifest.repository)
            created = min(created ?? manifest.time, manifest.time)
        }
        guard ids.count == 1, let id = ids.first, RepositoryFormat.isIdentifier(id), let created else { return nil }
        return try SealedDocument.seal(RepositoryConfig(id: id, created: created, secret: nil), key: nil).bytes
    }

    private static func keep(_ bytes: [UInt8], of name: String, _ store: any ObjectStore) async throws {
        for number in 1...100 {
            let target = "damaged/" + name + (number == 1 ? "" : ".\(number)")
            if try await store.attributes(target) == nil {
                try await store.put(target, bytes: bytes, condition: .none)
                return
            }
            if try await store.get(target) == bytes { return }
        }
        throw VaultError(.cannotCreate, "there are too many objects of that name", path: "damaged/" + name)
    }
}

/// Recovers a damaged document if its hash or authentication code still identifies it: after a single byte changed, or
/// after the seal was damaged.
enum DocumentSalvage {
    /// The maximum length in bytes of a line to try: the values of every byte are tried.
    private static let limit = 16 << 10
    /// The number of wrong digits that one code of a seal may have if the other proves the line.
    private static let tolerance = 2

    /// The document as it was sealed; nil if that cannot be determined.
    ///
    /// - Parameter key: the repository's, if it has a secret: only an authentic document is accepted then.
    static func document(_ bytes: [UInt8], key: SymmetricKey?) -> [UInt8]? {
        guard let (body, seal) = split(bytes, hasCode: key != nil) else { return nil }
        if isNear(seal, self.seal(body, key), key) { return body + self.seal(body, key) }
        guard let found = repaired(body, hash: hash(seal)) else { return nil }
        return isNear(seal, self.seal(found, key), key) ? found + self.seal(found, key) : nil
    }

    /// A document whose line was recovered by its hash, or its hash by its line, with its code unchanged: for the
    /// document that has to be read before the key is known.
    static func line(_ bytes: [UInt8]) -> [UInt8]? {
        for hasCode in [false, true] {
            guard let (body, seal) = split(bytes, hasCode: hasCode) else { continue }
            let code = seal[("sha256 ".utf8.count + 65)...]
            if isNear(Array(seal.dropLast(code.count)), self.seal(body, nil), nil) {
                return body + self.seal(body, nil) + code
            }
            if let found = repaired(body, hash: hash(seal)) { return found + self.seal(found, nil) + code }
        }
        return nil
    }

    /// The line with its known end, and what follows it.
    private static func split(_ bytes: [UInt8], hasCode: Bool) -> (body: [UInt8], seal: [UInt8])? {
        let ending = "sha256 ".utf8.count + 65 + (hasCode ? "hmac-sha256 ".utf8.count + 65 : 0)
        let length = bytes.count - ending
        guard length > 1, length <= limit else { return nil }
        return (Array(bytes[..<(length - 1)]) + [UInt8(ascii: "\n")], Array(bytes[length...]))
    }

    /// The line with that hash, recovered from one in which a single byte differs.
    private static func repaired(_ line: [UInt8], hash: [UInt8]?) -> [UInt8]? {
        guard let hash else { return nil }
        var body = line
        var before = SHA256()
        for place in 0..<(body.count - 1) {
            let original = body[place]
            for value in candidates(body, place) {
                body[place] = value
                var digest = before
                body.withUnsafeBytes { digest.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[place...])) }
                // Most differ in their first byte: there may be millions of them.
                let isRight = digest.finalize().withUnsafeBytes { $0[0] == hash[0] && $0.elementsEqual(hash) }
                if isRight { return body }
            }
            body[place] = original
            withUnsafeBytes(of: original) { before.update(bufferPointer: $0) }
        }
        return nil
    }

    /// The values that the byte at a place may have had. JSON has no control characters, and a byte beyond ASCII belongs to a sequence of at
    /// most four: where no other byte of one is near, there are 96 instead of 256.
    private static func candidates(_ line: [UInt8], _ place: Int) -> ClosedRange<UInt8> {
        let near = max(0, place - 3)...min(place + 3, line.count - 1)
        return near.contains { $0 != place && line[$0] >= 0x80 } ? 0...0xFF : 0x20...0x7F
    }

    private static func seal(_ body: [UInt8], _ key: SymmetricKey?) -> [UInt8] {
        var text = "sha256 \(Hash256(of: body).hexadecimal)\n"
        if let key { text += "hmac-sha256 \(HMAC<SHA256>.authenticationCode(for: body, using: key).hexadecimal)\n" }
        return Array(text.utf8)
    }

    /// Whether a seal differs from the right one in a few bytes only. With a key the code decides; anybody can compute
    /// the hash.
    private static func isNear(_ seal: [UInt8], _ right: [UInt8], _ key: SymmetricKey?) -> Bool {
        guard seal.count == right.count else { return false }
        let counted = key == nil ? 0..<seal.count : ("sha256 ".utf8.count + 65)..<seal.count
        return counted.count { seal[$0] != right[$0] } <= tolerance
    }

    private static func hash(_ seal: [UInt8]) -> [UInt8]? {
        [UInt8](hexadecimal: String(decoding: seal["sha256 ".utf8.count..<("sha256 ".utf8.count + 64)], as: UTF8.self))
    }
}
