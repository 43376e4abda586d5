internal import ArgumentParser
internal import LiteVaultBackup

/// Which repository, and where this machine keeps what belongs to it.
struct RepositoryOptions: ParsableArguments {
    @Option(
        name: .customLong("repository"),
        help: .init("The repository: a folder, or s3://BUCKET/PREFIX.", valueName: "r"), completion: .directory)
    var location: String

    @Flag(
        name: .customLong("accept-repository"),
        help: "Take the repository as it is, where this machine knew another or a later one at this place.")
    var accepts = false

    @Option(
        name: .customLong("state-folder"),
        help: .init("Where the newest snapshots seen are remembered.", valueName: "path"), completion: .directory)
    var state: String?

    @Option(
        name: .customLong("cache-folder"),
        help: .init("Where copies of block maps are kept.", valueName: "path"), completion: .directory)
    var cache: String?

    @Option(
        name: .customLong("spool-folder"),
        help: .init("Where data waits to be stored, and databases are restored for tests.", valueName: "path"),
        completion: .directory)
    var spool: String?

    @Option(
        name: .customLong("s3-endpoint"),
        help: .init(
            "The object store's server (default: AWS_ENDPOINT_URL_S3, the profile's, Amazon's).", valueName: "url"))
    var endpoint: String?

    @Option(
        name: .customLong("s3-region"),
        help: .init("The object store's region (default: AWS_REGION, the profile's, us-east-1).", valueName: "name"))
    var region: String?

    @Flag(name: .customLong("s3-path-style"), help: "Name the bucket in the path instead of the host's name.")
    var usesPathStyle = false

    /// The folders of this machine.
    var local: LocalDirectories {
        var folders = LocalDirectories.standard
        if let state { folders.state = state }
        if let cache { folders.cache = cache }
        if let spool { folders.spool = spool }
        return folders
    }
}
