internal import LiteVaultBackup
internal import LiteVaultObjectStore

/// From `--repository`, or a schedule's `repository`, to a store.
enum StoreFactory {
    /// - Throws: `unsupported` for a scheme that this build does not know.
    static func store(_ options: RepositoryOptions) throws -> any ObjectStore {
        guard !options.location.isEmpty else { throw Failure(.usage, "--repository is empty") }
        return try store(
            options.location, endpoint: options.endpoint, region: options.region,
            usesPathStyle: options.usesPathStyle, cache: options.local.cache)
    }

    /// - Parameters:
    ///   - cache: the folder for copies; it and what is before it are for object stores alone.
    ///   - patience: seconds for which it may be silent, answer with errors or be locked; nil: the store's own.
    static func store(
        _ location: String, endpoint: String?, region: String?, usesPathStyle: Bool, cache: String,
        patience: Double? = nil
    ) throws -> any ObjectStore {
        guard let scheme = location.range(of: "://") else {
            // A slash too few would make a folder of that name, and backups that are not where they are thought to be.
            guard !location.lowercased().hasPrefix("s3:") else {
                throw Failure(
                    .usage, "this is neither a folder nor an object store", path: location,
                    remedy: "Write s3://BUCKET/PREFIX, or ./\(location) for a folder of that name.")
            }
            return DirectoryStore(location, lockTimeout: .seconds(min(patience ?? .infinity, 60)))
        }
        guard location[..<scheme.lowerBound].lowercased() == "s3" else {
            throw Failure(
                .unsupported, "there are no repositories of the kind '\(location[..<scheme.lowerBound])'",
                path: location, remedy: "Give a folder, or s3://BUCKET/PREFIX.")
        }
        var settings = try S3Settings(url: location)
        settings.endpoint = endpoint
        settings.region = region
        settings.usesPathStyle = usesPathStyle
        settings.cacheFolder = cache
        if let patience {
            settings.patience = patience
            settings.timeout = min(settings.timeout, patience)
        }
        return try S3Store(settings)
    }
}
