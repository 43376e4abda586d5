internal import Crypto
internal import LiteVaultCapture
package import LiteVaultSystem

/// A repository of database snapshots in an object store, opened for reading.
///
/// A repository can be read with or without its secret, unless it is sealed; with the secret, everything read is authenticated.
/// ``writable()`` opens it for writing as well.
public struct Repository: Sendable {
    /// The store that holds its objects. That of a sealed repository seals what is put, and opens what is read.
    public let store: any ObjectStore
    /// The local directories for the newest snapshots seen, cached block maps and temporary files.
    public let local: LocalDirectories
    let config: RepositoryConfig
    let key: RepositoryKey?
    /// The number of the slot that the given secret opened.
    let slot: Int?
    /// The 16 bytes of its identifier.
    let id: [UInt8]
    /// What this machine remembers about its location; nil if nothing is to be remembered.
    let memory: LocationMemory?
    /// What was noticed when it was opened: problems with that memory, and a change of its key that was not completed.
    package let notices: [RepositoryWarning]
    /// The clocks that make the labels of what is stored.
    package var clock = HostClock.system

    /// Whether its content is authenticated with its secret, or protected only against accidental damage, by hashes.
    public var isAuthenticated: Bool { key != nil }

    /// Whether it was created with a secret, given or not.
    public var hasSecret: Bool { config.hasSecret }

    /// Whether everything that is stored in it is compressed and encrypted, except `repository.json`.
    public var isSealed: Bool { config.isSealed }

    /// Whether it is being sealed, and objects of before may still be stored as they were: the upgrade was interrupted, or another process is
    /// at it. ``WritableRepository/seal(progress:)`` completes it.
    public var isSealingUnfinished: Bool { config.unsealed == true }

    /// The identifier of the repository: 32 lowercase hexadecimal digits.
    package var identifier: String { config.id }

    /// The identifier of a database. It is derived from the name, so that concurrent first snapshots agree.
    package func databaseID(_ name: String) -> String {
        if config.identifiers == RepositoryConfig.keyed, let sealing { return sealing.identifier(name) }
        return String(Hash256(of: id + Array(name.utf8)).hexadecimal.prefix(32))
    }

    /// The key of its objects; nil if it is not sealed.
    var sealing: SealingKey? { (store as? SealedStore)?.key }

    /// Reads a document of this repository; nil if there is none.
    ///
    /// - Parameter isOwn: whether it is the one of that name.
    /// - Throws: `VaultError` `damaged` if it is not authentic, or of another name.
    func document<T: CheckedDocument>(_ name: String, _ type: T.Type, isOwn: (T) -> Bool) async throws -> T? {
        do {
            return try await readingAgain {
                let bytes = try await store.get(name, upTo: SealedDocument.limit(type))
                let found = try SealedDocument(whole: bytes, name: name).value(type, key: key, name: name)
                guard isOwn(found) else { throw VaultError.swapped(name) }
                return found
            }
        } catch let error as VaultError where error.code == .missing {
            return nil
        }
    }
}

extension Repository {
    /// Compares the identity of this repository with that of the one in the store, for those that write there.
    ///
    /// - Throws: `VaultError` `damaged` with an ``ExchangedRepositoryError`` as its cause if it is another one, or none.
    package func requireIdentity() async throws {
        do {
            let bytes = try await store.get(RepositoryFormat.config, upTo: SealedDocument.limit(RepositoryConfig.self))
            try requireIdentity(RepositoryConfig.identifier(in: bytes))
        } catch let error as VaultError where error.code == .missing {
            throw exchanged("the repository \(config.id) was removed while it was in use", isGone: true)
        }
    }

    /// As ``requireIdentity()``. If the store's objects are files, that costs no request.
    ///
    /// - Returns: whether they are.
    func requireLocalIdentity() throws -> Bool {
        guard let path = store.unsealed.localPath(RepositoryFormat.config) else { return false }
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: SealedDocument.limit(RepositoryConfig.self))
            try requireIdentity(RepositoryConfig.identifier(in: bytes))
        } catch let error as VaultError where error.code == .missing {
            throw exchanged("the repository \(config.id) was removed while it was in use", isGone: true)
        }
        return true
    }

    private func requireIdentity(_ present: String?) throws {
        guard let present, present != config.id else { return }
        throw exchanged("the repository was exchanged while it was in use: it is \(present), and was \(config.id)")
    }

    private func exchanged(_ message: String, isGone: Bool = false) -> VaultError {
        VaultError(
            .damaged, message, path: store.location, advice: .returnOrRestart,
            cause: ExchangedRepositoryError(isGone: isGone))
    }

    /// Compares the key of this repository with the one in the store, for those who have just taken a lease (a new key is introduced while
    /// nobody has one), and for those who keep a repository open for long.
    ///
    /// - Throws: `VaultError` `busy` if the repository was given a new key since it was opened.
    package func requireCurrentKey() async throws {
        guard let key else { return }
        let name = RepositoryFormat.config
        let (bytes, document) = try await readingAgain {
            let bytes = try await store.get(name, upTo: SealedDocument.limit(RepositoryConfig.self))
            return (bytes, try SealedDocument(whole: bytes, name: name))
        }
        try requireIdentity(RepositoryConfig.identifier(in: bytes))
        guard document.isAuthentic(key.current) else { throw newKey }
        let present = try document.decode(RepositoryConfig.self, name: name)
        // The one before no longer counts once the change is completed.
        if key.previous != nil, present.previous == nil { throw newKey }
        // What is stored from now on has to be sealed.
        if present.isSealed != config.isSealed { throw newKey }
    }

    /// The error for a repository that was opened under another key.
    var newKey: VaultError {
        VaultError(
            .busy, "was given a new key or sealed meanwhile, or was replaced",
            path: "\(store.location)/\(RepositoryFormat.config)",
            remedy: "Open the repository again.")
    }
}

/// Another repository, or none, is where one was opened. It is the `VaultError.cause` of a `damaged` error; nothing was written there.
package struct ExchangedRepositoryError: Error, Sendable, Equatable {
    /// Whether there is none.
    package let isGone: Bool
}

extension VaultError {
    /// The error for a `repository.json` that does not belong to the key that it seals.
    static func changedIdentity(_ location: String) -> VaultError {
        VaultError(
            .damaged, "authentication failed: it was not written with this repository's secret",
            path: "\(location)/\(RepositoryFormat.config)", advice: .restoreIdentity)
    }
}
