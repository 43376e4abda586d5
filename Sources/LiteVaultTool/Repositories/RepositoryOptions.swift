internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

#if S3
    internal import LiteVaultObjectStore
#endif

/// A repository, its secret, and the local directories that belong to it.
struct RepositoryOptions: ParsableArguments {
    @Option(
        name: [.customLong("repository"), .customShort("r")],
        help: .init(
            "The repository: a directory, s3://BUCKET/PREFIX, or sftp://HOST/PATH (default: LITEVAULT_REPOSITORY).",
            valueName: "r"),
        completion: .directory)
    var named: String?

    /// The location that was given, or that the environment names.
    var location: String { named ?? Self.inherited ?? "" }

    private static var inherited: String? {
        ProcessInfo.processInfo.environment["LITEVAULT_REPOSITORY"].flatMap { $0.isEmpty ? nil : $0 }
    }

    func validate() throws {
        guard named != nil || Self.inherited != nil else {
            throw ValidationError("Missing expected argument '--repository <r>', and LITEVAULT_REPOSITORY is not set")
        }
    }

    @Flag(
        name: .customLong("accept-repository"),
        help: "Accept the repository even if another or a newer one was seen at this location.")
    var accepts = false

    @OptionGroup var stores: StoreOptions

    @OptionGroup(title: "Repository secret") var secret: KeyOptions<RepositorySecretRole>

    var local: LocalDirectories { stores.directories.applied(to: .standard) }
}

/// How a store is reached, and the local directories that belong to what is in it.
struct StoreOptions: ParsableArguments {
    @OptionGroup var directories: LocalDirectoryOptions

    @OptionGroup var place: PlaceOptions<BothPlaces>

    /// Creates the store at a location.
    ///
    /// - Parameter timeLimit: how long it may be silent, return errors or be locked; nil for its default.
    /// - Throws: `usage` or `unsupported` for a location of another kind, `config` for invalid settings of an object store.
    func store(_ location: String, timeLimit: Duration? = nil) throws -> any ObjectStore {
        var reference = RepositoryReference(location)
        try place.apply(to: &reference)
        return try Self.store(reference, cache: directories.applied(to: .standard).cache, timeLimit: timeLimit)
    }

    /// Creates the store of a repository.
    ///
    /// - Parameters:
    ///   - reference: where the repository is. Its time limit does not count.
    ///   - timeLimit: how long the store may be silent, return errors or be locked; nil for its default.
    static func store(
        _ reference: RepositoryReference, cache: String, timeLimit: Duration? = nil
    ) throws -> any ObjectStore {
        let location = reference.location
        let kind: StoreLocation
        do { kind = try StoreLocation(location) } catch {
            throw Failure(
                location.firstRange(ofText: "://") == nil ? .usage : .unsupported, error.message,
                path: location.isEmpty ? nil : location.withoutPassword, remedy: error.remedy)
        }
        if kind == .directory {
            return DirectoryStore(location, lockTimeout: min(timeLimit ?? .seconds(60), .seconds(60)))
        }
        if kind == .sftp {
            var settings = try SFTPSettings(url: location)
            settings.command = reference.sftpCommand
            if let timeLimit { settings.limit(to: timeLimit) }
            return SFTPStore(settings)
        }
        guard reference.proxy?.contains("@") != true else {
            // Not shown: it may contain a password.
            throw Failure(
                .usage, "--s3-proxy contains a user or a password, which other users of this machine would see",
                remedy: "Set HTTPS_PROXY or HTTP_PROXY to it, and leave out --s3-proxy.")
        }
        #if S3
            var settings = try S3Settings(url: location)
            settings.endpoint = reference.endpoint
            settings.region = reference.region
            settings.usesPathStyle = reference.usesPathStyle
            settings.proxy = reference.proxy
            settings.uploads = reference.uploads
            settings.cacheDirectory = cache
            if let timeLimit {
                settings.retryTimeLimit = timeLimit
                settings.timeout = min(settings.timeout, timeLimit)
            }
            return try S3Store(settings)
        #else
            throw Failure(
                .unsupported, "this litevault was built without S3", path: location.withoutPassword,
                remedy: "Give a directory or sftp://HOST/PATH, or build with the package trait ObjectStore.")
        #endif
    }
}

/// How a store is reached, and how an object store keeps what is uploaded.
struct PlaceOptions<Place: StorePlace>: ParsableArguments {
    @Option(
        of: Place.self, "s3-endpoint", "url",
        "Object-store endpoint (default: AWS_ENDPOINT_URL_S3, the profile's, Amazon's).")
    var endpoint: String?

    @Option(of: Place.self, "s3-region", "name", "Object-store region (default: AWS_REGION, the profile's, us-east-1).")
    var region: String?

    @Flag(
        name: .customLong(Place.prefix + "s3-path-style"),
        help: .init(
            Place.help(
                "s3-path-style", "Put the bucket in the path of URLs, not in the host name.", resettable: false)))
    var usesPathStyle = false

    @Option(of: Place.self, "s3-proxy", "url", "Proxy of the object store, or none (default: HTTPS_PROXY, HTTP_PROXY).")
    var proxy: String?

    @Option(
        of: Place.self, "s3-storage-class", "name",
        "Storage class of packs, such as STANDARD_IA (default: the bucket's).")
    var storageClass: String?

    @Option(
        of: Place.self, "s3-encryption", "name",
        "Encryption at rest by the store: AES256 or aws:kms (default: the bucket's).", resettable: true)
    var encryption: String?

    @Option(of: Place.self, "s3-kms-key", "id", "Key for the encryption aws:kms (default: the account's).")
    var key: String?

    @Option(
        of: Place.self, "s3-lock-mode", "mode",
        "Object lock of packs, manifests and segments: governance or compliance.", resettable: true)
    var lockMode: String?

    @Option(of: Place.self, "s3-lock-days", "days", "Days of the object lock, from the upload of each object.")
    var lockDays: Int?

    @Option(of: Place.self, "sftp-command", "command", "Shell command that connects to an SFTP server, instead of ssh.")
    var sftpCommand: String?

    /// Puts the given options in place of those that a reference has.
    ///
    /// - Throws: `VaultError` `config` for invalid or incomplete ones.
    func apply(to reference: inout RepositoryReference) throws {
        reference.endpoint = endpoint ?? reference.endpoint
        reference.region = region ?? reference.region
        reference.usesPathStyle = usesPathStyle || reference.usesPathStyle
        reference.proxy = proxy ?? reference.proxy
        reference.sftpCommand = sftpCommand ?? reference.sftpCommand
        try reference.uploads.apply(
            storageClass: storageClass, encryption: encryption, key: key, lockMode: lockMode, lockDays: lockDays)
    }
}

/// The repositories that a group of options is about. It decides the prefix of their names.
protocol StorePlace {
    static var prefix: String { get }
    /// The help of an option.
    ///
    /// - Parameter resettable: whether its value may be `none`, for the copy only.
    static func help(_ option: String, _ text: String, resettable: Bool) -> String
}

extension Option {
    /// An option about the repositories of a group.
    init<T: ExpressibleByArgument, Place: StorePlace>(
        of place: Place.Type, _ name: String, _ valueName: String, _ text: String, resettable: Bool = false
    ) where Value == T? {
        self.init(long: place.prefix + name, valueName, place.help(name, text, resettable: resettable))
    }
}

/// The repository of a command, or both of them.
enum BothPlaces: StorePlace {
    static let prefix = ""
    static func help(_: String, _ text: String, resettable: Bool) -> String { text }
}

enum CopyPlace: StorePlace {
    static let prefix = "to-"
    static func help(_ option: String, _: String, resettable: Bool) -> String {
        "As --\(option), for the copy only" + (resettable ? "; none leaves it to the bucket." : ".")
    }
}

struct LocalDirectoryOptions: ParsableArguments {
    @Option(
        name: .customLong("state-directory"),
        help: .init("Directory of the local state: the newest snapshots seen, and past runs.", valueName: "path"),
        completion: .directory)
    var state: String?

    @Option(
        name: .customLong("cache-directory"),
        help: .init("Directory of cached block maps.", valueName: "path"), completion: .directory)
    var cache: String?

    @Option(
        name: .customLong("spool-directory"),
        help: .init("Spool directory: data waiting to be stored, and test restores.", valueName: "path"),
        completion: .directory)
    var spool: String?

    /// The directories, with the given ones in place of the standard ones.
    func applied(to standard: LocalDirectories) -> LocalDirectories {
        var directories = standard
        if let state { directories.state = state }
        if let cache { directories.cache = cache }
        if let spool { directories.spool = spool }
        return directories
    }
}
