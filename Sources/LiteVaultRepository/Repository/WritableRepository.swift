internal import LiteVaultCapture
package import LiteVaultSystem

/// A repository that may be written to. Whatever stores or removes something is a member of this type, or takes it; ``repository`` reads.
///
/// It comes from ``openOrCreate(_:secret:sealed:local:acceptsReplacement:)``, or from an open repository by ``Repository/writable()``.
public struct WritableRepository: Sendable {
    /// The same repository, for reading.
    public private(set) var repository: Repository

    fileprivate init(_ repository: Repository) { self.repository = repository }

    /// The store that holds its objects.
    package var store: any ObjectStore { repository.store }

    /// The clocks that make the labels of what is stored.
    package var clock: HostClock {
        get { repository.clock }
        set { repository.clock = newValue }
    }

    /// Seals and stores a document.
    @discardableResult
    func put(_ value: some CheckedDocument, as name: String, condition: PutCondition) async throws -> Hash256 {
        let (bytes, hash) = try SealedDocument.seal(value, key: repository.key, name: name)
        try await store.put(name, bytes: bytes, condition: condition)
        return hash
    }
}

extension Repository {
    /// This repository, for writing. That requests nothing from the store.
    ///
    /// - Throws: `VaultError` `unsupported` if only newer versions may write to it, `keyRejected` if it has a secret and none was given.
    public func writable() throws -> WritableRepository {
        guard config.minWriter <= RepositoryFormat.version else {
            throw VaultError(
                .unsupported, "only newer versions may write to the repository", path: store.location,
                advice: .update)
        }
        guard !hasSecret || key != nil else {
            throw VaultError(
                .keyRejected, "the repository has a secret, but none was given", path: store.location,
                advice: .provideSecret)
        }
        return WritableRepository(self)
    }
}
