internal import Crypto
internal import Foundation
internal import LiteVaultCapture

/// Snapshots of databases in an object store.
///
/// A repository is opened for reading with or without its secret; with it, everything is authenticated. Where it has a
/// secret, nothing is written without it.
public struct Repository: Sendable {
    /// Where it is.
    public let store: any ObjectStore
    /// Where the newest snapshots seen are remembered, and copies of block maps are kept.
    public let local: LocalFolders
    let config: RepositoryConfig
    let key: SymmetricKey?
    /// The 16 bytes of its identifier.
    let id: [UInt8]
    /// What this machine remembers of its location; nil where nothing is to be remembered.
    let memory: LocationMemory?
    /// What was wrong with that when it was opened.
    var notices: [RepositoryWarning] = []

    /// Opens a repository.
    ///
    /// - Parameters:
    ///   - store: where it is.
    ///   - secret: the repository's secret; nil for reading without authentication.
    ///   - local: folders of this machine.
    ///   - accepts: whether it is taken as it is, where this machine knew another repository or a later state of it at this
    ///     location. Both are remembered from then on.
    /// - Throws: ``BackupError`` `noInput` when there is none, `keyRejected` for a wrong secret or one that it does not
    ///   have, `unsupported` for a newer format, `damaged` when it is not whole, or not the one that this machine knew here.
    public static func open(
        _ store: any ObjectStore, secret: RepositorySecret? = nil, local: LocalFolders = .standard,
        accepts: Bool = false
    ) async throws -> Repository {
        guard let found = try await find(store, secret: secret, local: local, accepts: accepts) else {
            if !accepts { try requireUnknown(store, local) }
            throw BackupError(
                .noInput, "there is no repository", path: store.location,
                remedy: "Check the name. 'litevault snapshot' makes a repository on first use.")
        }
        return found
    }

    /// Opens a repository for writing, and makes it where there is none.
    ///
    /// - Parameter accepts: as with ``open(_:secret:local:accepts:)``; where this machine knew a repository here that is gone,
    ///   a new one is made only with it.
    /// - Throws: as ``open(_:secret:local:accepts:)``, and `keyRejected` when it has a secret and none is given.
    public static func openOrCreate(
        _ store: any ObjectStore, secret: RepositorySecret? = nil, local: LocalFolders = .standard,
        accepts: Bool = false
    ) async throws -> Repository {
        try await openOrCreate(store, secret: secret, local: local, iterations: 600_000, accepts: accepts)
    }

    /// As ``openOrCreate(_:secret:local:accepts:)``, with the effort that a passphrase is derived with.
    package static func openOrCreate(
        _ store: any ObjectStore, secret: RepositorySecret?, local: LocalFolders, iterations: Int,
        accepts: Bool = false
    ) async throws -> Repository {
        if let found = try await find(store, secret: secret, local: local, accepts: accepts) {
            try found.requireWritable()
            return found
        }
        // Without its first object it may still be one: then somebody removed that, and making another would hide it.
        guard try await store.list("snapshots/").isEmpty else {
            throw BackupError(
                .damaged, "is missing, but there are snapshots", path: RepositoryFormat.config,
                remedy: "Bring it back from a copy of the repository, or with 'litevault repair'.")
        }
        if !accepts { try requireUnknown(store, local) }
        let config = RepositoryConfig.new(secret: secret, iterations: iterations)
        let key = try config.secret.flatMap { try secret?.key($0) }
        let document = try SealedDocument.seal(config, key: key)
        do {
            let condition: PutCondition = try await store.keepsConditions() ? .absent : .none
            try await store.put(RepositoryFormat.config, bytes: document.bytes, condition: condition)
        } catch let error as BackupError where error.code == .conflict {
            // Somebody made it at the same time.
        }
        let made = try await open(store, secret: secret, local: local, accepts: accepts)
        try made.requireWritable()
        return made
    }

    private static func find(
        _ store: any ObjectStore, secret: RepositorySecret?, local: LocalFolders, accepts: Bool
    ) async throws -> Repository? {
        let bytes: [UInt8]
        do {
            bytes = try await store.get(RepositoryFormat.config, upTo: SealedDocument.limit(RepositoryConfig.self))
        } catch let error as BackupError where error.code == .missing {
            return nil
        }
        let document = try SealedDocument(whole: bytes, name: RepositoryFormat.config)
        let config = try document.decode(RepositoryConfig.self, name: RepositoryFormat.config)
        try config.require(location: store.location)
        var key: SymmetricKey?
        if let secret {
            guard let derivation = config.secret else {
                throw BackupError(
                    .keyRejected, "the repository has no secret, but one was given", path: store.location,
                    remedy: "Leave the secret out. If the repository had one, its repository.json was replaced.")
            }
            let derived = try secret.key(derivation)
            guard document.isAuthentic(derived) else {
                throw BackupError(
                    .keyRejected, "the repository's secret is wrong, or its repository.json was changed",
                    path: store.location)
            }
            key = derived
        }
        guard let id = [UInt8](hex: config.id) else {
            throw BackupError(.damaged, "has no identifier", path: store.location)
        }
        let found = Repository(
            store: store, local: local, config: config, key: key, id: id, memory: LocationMemory(store, local))
        return try found.recognised(bytes, accepts: accepts)
    }

    /// Whether what it holds is authenticated by a secret, or only guarded against accidents by hashes.
    public var isAuthenticated: Bool { key != nil }

    /// Whether it was made with a secret, given or not.
    public var hasSecret: Bool { config.secret != nil }

    /// - Throws: ``BackupError`` `keyRejected` without the secret that it has, `unsupported` for a newer format.
    func requireWritable() throws {
        guard config.minWriter <= RepositoryFormat.version else {
            throw BackupError(
                .unsupported, "the repository may be written by newer versions only", path: store.location,
                remedy: "Use a newer litevault.")
        }
        guard !hasSecret || key != nil else {
            throw BackupError(
                .keyRejected, "the repository has a secret, and none was given", path: store.location,
                remedy: "Give it with --repository-secret-file or another --repository-secret-… option.")
        }
    }

    /// The identifier of the database of a name: it follows from the name, so two that start at once agree.
    static func databaseID(_ name: String, repository: [UInt8]) -> String {
        String(Hash256(of: repository + Array(name.utf8)).hex.prefix(32))
    }

    package func databaseID(_ name: String) -> String { Self.databaseID(name, repository: id) }

    /// Reads a document of this repository.
    ///
    /// - Throws: ``BackupError`` `damaged` when it is not authentic, `missing`.
    func document<T: CheckedDocument>(
        _ name: String, _ type: T.Type
    ) async throws -> (value: T, document: SealedDocument) {
        let bytes = try await store.get(name, upTo: SealedDocument.limit(type))
        let document = try SealedDocument(whole: bytes, name: name)
        return (try document.value(type, key: key, name: name), document)
    }

    /// Seals and stores a document.
    @discardableResult
    func put(_ value: some CheckedDocument, as name: String, condition: PutCondition) async throws -> Hash256 {
        let (bytes, hash) = try SealedDocument.seal(value, key: key, name: name)
        try await store.put(name, bytes: bytes, condition: condition)
        return hash
    }
}
