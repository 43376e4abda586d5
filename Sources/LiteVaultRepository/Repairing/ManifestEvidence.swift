internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

/// What the manifests in a store say about a `repository.json`: whether they are those of the repository that it describes.
///
/// A machine remembers the `repository.json` of its last use. Since then the repository may have got a new key, or been sealed, by another
/// machine; or another repository is at that place now, such as on another disk. By such a document all manifests would count as damaged.
struct ManifestEvidence {
    /// Whether there is neither a manifest nor a fence.
    private(set) var isEmpty = true
    /// Whether a manifest or a fence is of this repository, and authentic.
    private(set) var hasOwn = false
    /// The first that is intact, and of another repository or key, or sealed as this repository is not.
    private(set) var foreign: String?
    /// The first that is sealed and cannot be opened: it is damaged, or of another repository.
    private(set) var unopened: String?
    /// How many of these there are.
    private var unopenedCount = 0
    /// Why the first of those could not be read that the store has: this says nothing about their content.
    private(set) var failure: VaultError?

    fileprivate mutating func add(_ verdict: ManifestVerdict, _ name: String) {
        isEmpty = false
        switch verdict {
        case .own: hasOwn = true
        case .foreign: foreign = foreign ?? name
        case .unopened:
            unopened = unopened ?? name
            unopenedCount += 1
        case .unread(let error): failure = failure ?? error
        case .damaged: break
        }
    }

    /// Why the document must not be stored as `repository.json`; nil if nothing contradicts it.
    var refusal: VaultError? {
        if let other = foreign ?? (hasOwn ? nil : unopened) {
            let name = RepositoryFormat.config
            return VaultError(
                .damaged,
                "cannot be restored: what this machine remembers of it is older than the repository, or of another "
                    + "one; \(other) does not belong to it", path: name,
                remedy: "Nothing was changed. Repair the repository on the machine that changed its secrets or "
                    + "upgraded it last, or restore \(name) from a copy of the repository. If \(other) was forged, move it "
                    + "away before that.")
        }
        // Those that are its own do not tell about one that was not read: a change of the key may have been interrupted.
        return failure
    }

    /// Why a repository that was opened by the document must not be repaired; nil if a manifest is its own, or none contradicts it.
    ///
    /// A sealed manifest that cannot be opened contradicts it only with another such one: a single one is damaged, and can be repaired.
    ///
    /// - Parameter location: the store's.
    func mismatch(_ location: String) -> VaultError? {
        guard !hasOwn, let other = foreign ?? (unopenedCount > 1 ? unopened : nil) else { return nil }
        let name = RepositoryFormat.config
        let observed =
            foreign == nil
            ? "none of \(unopenedCount) sealed snapshots can be opened by it, such as \(other)"
            : "no snapshot belongs to it, although \(other) is intact"
        return VaultError(
            .damaged, "is older than the repository, or of another one: \(observed)", path: "\(location)/\(name)",
            remedy: "Nothing was set aside. Move \(name) away, and repair the repository on the machine that changed "
                + "its secrets or upgraded it last; or restore \(name) from a copy of the repository. If the snapshots "
                + "were forged, or all of them are damaged, move them away.")
    }

    /// Why a repository must not be repaired that has no manifest, while those in `damaged/` are its own; nil if they are not. They are evidence
    /// of these.
    ///
    /// - Parameter location: the store's.
    func setAside(_ location: String) -> VaultError? {
        hasOwn ? .setAside(location) : nil
    }
}

/// What one object in the place of a manifest says.
private enum ManifestVerdict: Sendable {
    case own
    case foreign
    case unopened
    case damaged
    case unread(VaultError)
}

/// Compares manifests with a `repository.json`.
struct ManifestJudge: Sendable {
    /// What every manifest and every fence has.
    private struct Owner: CheckedDocument {
        var repository: String

        func check() throws(OutOfLimits) {}
    }

    /// How many manifests are compared before the next ones are begun.
    private static let part = 256

    private let config: RepositoryConfig
    private let key: RepositoryKey?
    private let sealing: SealingKey?

    /// - Parameters:
    ///   - key: what the repository's secret leads to; nil for a repository without one.
    ///   - id: the 16 bytes of the repository's identifier.
    /// - Throws: `VaultError` `damaged` if the key of sealed objects cannot be read.
    init(_ config: RepositoryConfig, _ key: RepositoryKey?, of id: [UInt8]) throws {
        (self.config, self.key) = (config, key)
        if let sealed = config.sealing, let key {
            sealing = try SealingKey(opening: sealed, by: key.current, of: id)
        } else {
            sealing = nil
        }
    }

    /// Reads the manifests in a store.
    ///
    /// - Parameters:
    ///   - place: what precedes their names: nothing, or `damaged/` for those that a repair has set aside.
    ///   - untilOwn: whether one that is of this repository is enough. False reads all.
    /// - Throws: what the store throws when they are listed.
    func evidence(
        in store: any ObjectStore, below place: String = "", untilOwn: Bool = false
    ) async throws -> ManifestEvidence {
        let base = store.unsealed
        let objects = try await base.list(place + "snapshots/").filter {
            RepositoryFormat.isObject(Self.name($0.name, below: place))
        }
        var found = ManifestEvidence()
        let step = untilOwn ? 1 : Self.part
        for start in stride(from: 0, to: objects.count, by: step) {
            let part = Array(objects[start..<min(start + step, objects.count)])
            let verdicts = try await concurrently(part, { try await self.verdict($0.name, below: place, in: base) })
            for (object, verdict) in zip(part, verdicts) { found.add(verdict, object.name) }
            if untilOwn, found.hasOwn { break }
        }
        return found
    }

    /// The name that an object had before it was set aside. Further copies of one have a number behind it.
    private static func name(_ stored: String, below place: String) -> String {
        let name = stored.dropFirst(place.count)
        return String(place.isEmpty ? name : name.prefix { $0 != "." })
    }

    private func verdict(
        _ stored: String, below place: String, in base: any ObjectStore
    ) async throws -> ManifestVerdict {
        let limit = SealedDocument.limit(Manifest.self)
        var verdict = ManifestVerdict.damaged
        // Twice, if it was damaged on the way.
        for _ in 0..<2 {
            do {
                let bytes = try await base.get(stored, upTo: Int(SealedObject.limit(Int64(limit))))
                verdict = self.verdict(bytes, Self.name(stored, below: place), limit)
            } catch let error as VaultError where error.code == .missing {
                verdict = .unread(.notReturned(stored))
            } catch let error as VaultError {
                verdict = error.isDamage ? .damaged : .unread(error)
            }
            if case .own = verdict { break }
        }
        return verdict
    }

    private func verdict(_ stored: [UInt8], _ name: String, _ limit: Int) -> ManifestVerdict {
        var bytes = stored
        // While a repository is upgraded, it has objects of both kinds.
        var isOfKind = !config.isSealed || config.unsealed == true
        if SealedObject.isSealed(stored) {
            guard let sealing else { return .foreign }
            guard let content = try? SealedObject.content(stored, name, sealing, upTo: limit) else { return .unopened }
            (bytes, isOfKind) = (content, true)
        }
        guard let document = try? SealedDocument(whole: bytes, name: name),
            let owner = try? document.decode(Owner.self, name: name)
        else { return .damaged }
        guard isOfKind, owner.repository == config.id else { return .foreign }
        guard let key, !document.isAuthentic(key) else { return .own }
        // A code with a wrong digit is damaged, and can be restored.
        let keys: [SymmetricKey?] = [key.current, key.previous]
        let isNear = keys.compactMap(\.self).contains { DocumentSalvage.document(bytes, key: $0) != nil }
        return isNear ? .own : .foreign
    }
}
