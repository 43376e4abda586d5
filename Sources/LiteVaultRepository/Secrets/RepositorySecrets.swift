internal import Crypto
internal import LiteVaultCapture
public import LiteVaultSystem

/// One of the secrets that open a repository. It does not contain the secret.
public struct RepositorySecretSlot: Sendable, Equatable {
    /// Identifies the slot; a removed slot's number is not used again. 1 is the secret that the repository was created with.
    public let number: Int
    /// The name that was given to it, or nothing.
    public let name: String
    /// When it was added.
    public let added: Date
    /// Whether its secret is random bytes, from which nothing has to be derived at a cost.
    public let isRandom: Bool

    fileprivate init(_ slot: SecretSlot) {
        number = slot.number
        name = slot.name ?? ""
        added = Timestamp.date(slot.added) ?? .distantPast
        isRandom = slot.iterations == 1
    }

    fileprivate init(first derivation: SecretDerivation, created: String) {
        number = 1
        name = ""
        added = Timestamp.date(created) ?? .distantPast
        isRandom = derivation.iterations == 1
    }
}

extension RepositoryConfig {
    fileprivate var secretSlots: [RepositorySecretSlot] {
        let first = secret.map { [RepositorySecretSlot(first: $0, created: created)] } ?? []
        return first + slots.map(RepositorySecretSlot.init)
    }
}

/// The secrets that open a repository. Its content cannot be read by this, so that a sealed one shows it without a secret, too.
///
/// Without a secret, this is what the store says, unauthenticated.
public struct RepositorySecrets: Sendable {
    /// Those that opened the repository when this value was made, in the order in which they were added; empty if it has none.
    public let slots: [RepositorySecretSlot]
    /// The number of the slot whose secret was given; nil without one.
    public let opened: Int?
    /// Whether a secret was given, which authenticates all this.
    public let isAuthenticated: Bool
    /// Whether a new key was begun to be introduced, and both are accepted until that is completed: it was interrupted, or another process is
    /// at it. ``WritableRepository/rotateKey(secret:progress:)`` completes it.
    public let isRotationUnfinished: Bool
    /// Whether the repository is sealed.
    public let isSealed: Bool
    /// What was noticed when the repository was opened.
    package let notices: [RepositoryWarning]

    fileprivate init(_ config: RepositoryConfig, opened: Int?, notices: [RepositoryWarning]) {
        (slots, self.opened, self.notices) = (config.secretSlots, opened, notices)
        (isAuthenticated, isRotationUnfinished, isSealed) = (opened != nil, config.previous != nil, config.isSealed)
    }

    /// Reads the secrets of a repository.
    ///
    /// The parameters and errors are those of ``Repository/open(_:secret:local:acceptsReplacement:)``, but nothing needs a secret.
    public static func read(
        _ store: any ObjectStore, secret: RepositorySecret? = nil, local: LocalDirectories = .standard,
        acceptsReplacement: Bool = false
    ) async throws -> RepositorySecrets {
        let found = try await Opening(
            store: store, secret: secret, local: local, acceptsReplacement: acceptsReplacement
        ).existing()
        let notices = try found.key == nil ? found.recognised() : found.opened().notices
        return RepositorySecrets(found.config, opened: found.slot, notices: notices)
    }
}

extension Repository {
    /// The secrets that open this repository.
    public var secrets: RepositorySecrets { RepositorySecrets(config, opened: slot, notices: notices) }
}

// All of several secrets lead to the same key, so that nothing but `repository.json` changes.

extension WritableRepository {
    /// Adds a secret that opens the repository, too.
    ///
    /// One small object is replaced, on condition that it is unchanged; nothing else is. Two changes at the same time are both made.
    /// Versions of LiteVault without slots still open the repository with the secret that it was created with.
    ///
    /// - Parameters:
    ///   - secret: the new secret.
    ///   - name: a name for listings, of at most 100 bytes; empty by default.
    /// - Returns: the new slot.
    /// - Throws: `VaultError` `keyRejected` without a secret that opens the repository, `unsupported` for a repository created without one,
    ///   `usage` if the secret opens it already, there are 17 secrets, or the name cannot be shown; `busy` if others keep changing the secrets;
    ///   `io`. After an `io` error the secret may have been added: ``RepositorySecrets/slots`` of the repository, opened again, shows it.
    @discardableResult
    public func addSecret(_ secret: RepositorySecret, name: String = "") async throws -> RepositorySecretSlot {
        try SecretSlot.require(name: name)
        return try await newSlot(of: secret) { config in
            guard config.slots.count < SecretSlot.limit else {
                throw VaultError(
                    .usage, "the repository has \(config.secretSlots.count) secrets, the most there can be",
                    path: store.location, remedy: "Remove one that is not needed.")
            }
            return name
        }
    }

    /// Removes a secret: it no longer opens the repository.
    ///
    /// The repository keeps its key. Anyone who had the secret may have kept that key, or an old `repository.json` that the secret opens, and can
    /// still authenticate documents with it, but not write to the store by it.
    ///
    /// - Parameter number: the slot's number.
    /// - Throws: as ``addSecret(_:name:)``; `noInput` if there is no such slot; `usage` for the last one.
    public func removeSecret(_ number: Int) async throws {
        try await changeSecrets { config, _, _ in
            try config.requireSlot(number, store.location)
            guard config.secretSlots.count > 1 else {
                throw VaultError(
                    .usage, "slot \(number) has the only secret that opens the repository", path: store.location,
                    remedy: "Add another one first.")
            }
            config.remove(number)
        } isMade: { config, _ in
            !config.secretSlots.contains { $0.number == number }
        }
    }

    /// Replaces the secret of a slot by another one, under a new number.
    ///
    /// For what the old secret still can do, see ``removeSecret(_:)``.
    ///
    /// - Parameters:
    ///   - number: the slot's number.
    ///   - secret: its new secret.
    ///   - name: its new name; nil keeps the old one.
    /// - Returns: the slot as it is now.
    /// - Throws: as ``addSecret(_:name:)``; `noInput` if there is no such slot.
    @discardableResult
    public func changeSecret(
        _ number: Int, to secret: RepositorySecret, name: String? = nil
    ) async throws -> RepositorySecretSlot {
        try repository.config.requireSlot(number, store.location)
        if let name { try SecretSlot.require(name: name) }
        return try await newSlot(of: secret) { config in
            try config.requireSlot(number, store.location)
            let kept = config.slots.first { $0.number == number }?.name ?? ""
            config.remove(number)
            return name ?? kept
        }
    }

    /// Stores a slot for a new secret.
    ///
    /// - Parameter prepare: makes room for it, and returns its name. It is called again if another process was faster.
    /// - Throws: `VaultError` `usage` if the secret opens the repository already: it would have two slots, and survive the removal of one.
    private func newSlot(
        of secret: RepositorySecret, _ prepare: (inout RepositoryConfig) throws -> String
    ) async throws -> RepositorySecretSlot {
        let key = try await requireKey()
        if let same = try repository.config.unlock(secret, where: { $0.key == key.current }) {
            throw VaultError(
                .usage, "slot \(same.slot) has this secret already", path: store.location,
                remedy: "Give another secret.")
        }
        let derivation = SecretDerivation.new(secret)
        let sealing = try secret.key(derivation)
        let slot = try await changeSecrets { config, key, number in
            let name = try prepare(&config)
            let slot = try SecretSlot(
                number: number, name: name, derivation: derivation, sealing: sealing, key, of: repository.id)
            config.secrets = config.slots + [slot]
            return slot
        } isMade: {
            $0.slots.contains($1)
        }
        return RepositorySecretSlot(slot)
    }

    func requireKey() async throws -> RepositoryKey {
        guard let key = repository.key else {
            throw VaultError(
                .unsupported, "the repository was created without a secret", path: store.location,
                remedy: await store.remedyWithoutSecret(
                    or: "Store new snapshots in a repository that is created with one."))
        }
        return key
    }

    /// Replaces `repository.json` by a changed one.
    ///
    /// - Parameters:
    ///   - change: is called again if another process was faster. It receives the number of this change.
    ///   - isMade: whether a document has the change: it may have been made although the store reported a conflict, if an answer was
    ///     lost, and others may have changed the document since.
    ///   - newKey: the key that authenticates the changed document; nil for the present one.
    @discardableResult
    func changeSecrets<T>(
        sealedBy newKey: SymmetricKey? = nil,
        _ change: (_ config: inout RepositoryConfig, _ key: SymmetricKey, _ number: Int) throws -> T,
        isMade: (RepositoryConfig, T) -> Bool
    ) async throws -> T {
        let name = RepositoryFormat.config
        let key = try await requireKey()
        let hasConditions = try await store.supportsConditionalWrites()
        for _ in 0..<10 {
            // The tag first: if the object changes after that, the write fails.
            guard let present = try await store.attributes(name) else {
                throw VaultError(.damaged, "is missing", path: "\(store.location)/\(name)", advice: .restoreIdentity)
            }
            var config = try await currentConfig(key.current)
            try config.require(location: store.location)
            guard config.id == repository.config.id else { throw VaultError.changedIdentity(store.location) }
            let number = (config.generation ?? 1) + 1
            let result = try change(&config, key.current, number)
            config.generation = number
            let sealing = RepositoryKey(current: newKey ?? key.current, previous: nil)
            let bytes = try SealedDocument.seal(config, key: sealing, name: name).bytes
            do {
                try await store.put(name, bytes: bytes, condition: hasConditions ? .unchanged(present.tag) : .none)
                // Without conditions, another writer may have replaced it at the same moment.
                if hasConditions {
                    try? repository.memory?.remember(config.id, document: bytes, generation: number)
                    return result
                }
            } catch let error as VaultError where error.code == .conflict {}
            if let made = try? await currentConfig(sealing.current), isMade(made, result) { return result }
        }
        throw VaultError(
            .busy, "the repository's secrets are being changed by others", path: store.location,
            remedy: "Try again.")
    }

    /// The stored `repository.json`.
    ///
    /// - Throws: `VaultError` `busy` if it has a code of another key.
    private func currentConfig(_ key: SymmetricKey) async throws -> RepositoryConfig {
        let name = RepositoryFormat.config
        let bytes = try await store.get(name, upTo: SealedDocument.limit(RepositoryConfig.self))
        let document = try SealedDocument(whole: bytes, name: name)
        guard document.isAuthentic(key) else { throw repository.newKey }
        return try document.decode(RepositoryConfig.self, name: name)
    }
}

extension RepositoryConfig {
    fileprivate func requireSlot(_ number: Int, _ location: String) throws {
        guard secretSlots.contains(where: { $0.number == number }) else {
            throw VaultError(
                .noInput, "the repository has no slot \(number)", path: location,
                remedy: "It has \(secretSlots.map { String($0.number) }.joined(separator: ", ")).")
        }
    }

    /// Removes a slot. Without the first secret, older versions must not take the repository for one without any.
    fileprivate mutating func remove(_ number: Int) {
        if number == 1 {
            secret = nil
            add(feature: Self.slotsFeature)
        }
        secrets = slots.filter { $0.number != number }
    }
}
