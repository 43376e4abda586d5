internal import LiteVaultBackup

/// From `--repository` to a store.
enum StoreFactory {
    /// - Throws: `unsupported` for a scheme that this build does not know.
    static func store(_ options: RepositoryOptions) throws -> any ObjectStore {
        let location = options.location
        guard let scheme = location.range(of: "://") else {
            guard !location.isEmpty else { throw Failure(.usage, "--repository is empty") }
            return DirectoryStore(location)
        }
        throw Failure(
            .unsupported, "this build knows no repositories of the kind '\(location[..<scheme.lowerBound])'",
            path: location)
    }
}
