internal import ArgumentParser
internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// The database of a command that only reads: a file, or a snapshot in a repository.
enum ReadArgument: DatabaseArgument {
    static let valueName = "database"
    static let help = "The database; with --repository, its name there."
}

/// The repository whose snapshot a command reads, in the place of a file.
struct SnapshotSource: ParsableArguments {
    @Option(
        name: [.customLong("repository"), .customShort("r")],
        help: .init(
            "Read a snapshot in this repository without restoring it: a directory, s3://BUCKET/PREFIX or sftp://HOST/PATH.",
            valueName: "r"),
        completion: .directory)
    var location: String?

    @Option(help: .init("The snapshot: the start of its ID, or 'latest' (default).", valueName: "id"))
    var snapshot: String?

    @Option(
        help: .init(
            "Read the state at this time, as 'restore' would restore it: UTC without a zone, local time with 'local' after "
                + "it, 'latest' or 'latest-reachable'.",
            valueName: "time"),
        transform: TimeArgument.selection(parsing:))
    var at: SnapshotSelection?

    @Flag(
        name: .customLong("accept-repository"),
        help: "Accept the repository even if another or a newer one was seen at this location.")
    var accepts = false

    @OptionGroup var stores: StoreOptions
    @OptionGroup(title: "Repository secret") var secret: KeyOptions<RepositorySecretRole>

    func validate() throws {
        if at != nil, snapshot != nil { throw ValidationError("--snapshot cannot be combined with --at") }
        guard location == nil else { return }
        if at != nil || snapshot != nil { throw ValidationError("--snapshot and --at require --repository") }
        if try secret.isGiven { throw ValidationError("a repository secret requires --repository") }
    }
}

extension SnapshotSelection {
    /// The meaning of `--snapshot`.
    init(id: String?) {
        if let id, id != "latest" { self = .id(id) } else { self = .latest }
    }

    /// The wanted time in results.
    ///
    /// - Parameter snapshot: the one that an ID names; nil where none can be named.
    func wanted(_ snapshot: Snapshot?) -> String {
        switch self {
        case .latestReachable: "latest-reachable"
        case .at(let time): Format.exactTime(time)
        case .id: snapshot.map { Format.exactTime($0.time) } ?? "latest"
        case .latest: "latest"
        }
    }
}

enum ReadableDatabase {
    case file(DatabaseFile, key: DatabaseKey?, settings: CipherSettings)
    case snapshot(SnapshotDatabase, SnapshotImage, Reporter)

    var size: Int64 {
        switch self {
        case .file(let file, _, _): Preflight.size(file.path) ?? 0
        case .snapshot(let database, _, _): database.size
        }
    }

    /// Runs `body` on a connection that cannot write. Blocks that it needs of a snapshot are fetched meanwhile.
    ///
    /// - Throws: as `DatabaseFile.read` and `SnapshotDatabase.read`; what `body` throws.
    func read<T>(_ body: (Connection) throws -> T) throws -> T {
        switch self {
        case .file(let file, let key, let settings): return try file.read(key: key, settings: settings, body)
        case .snapshot(let database, let image, let reporter):
            do {
                // The main thread is not one of those that fetch.
                let result = try withErrorContext(path: image.name) { try database.readOnThisThread(body) }
                reporter.progress(
                    ProgressState(phase: "fetching", done: database.statistics.bytes, total: database.size))
                return result
            } catch {
                throw try Self.explained(error, image)
            }
        }
    }

    /// The reason for an error of the engine that could not read.
    static func explained(_ error: any Error, _ image: SnapshotImage) throws -> any Error {
        try runBlocking { await image.explanation(of: error) }
    }
}

extension Session {
    /// Finds the database that a command reads, and its key. A file is opened when it is read.
    ///
    /// - Throws: `no-input` or `wrong-kind` for a file or snapshot that is missing or cannot be a database; as
    ///   ``keyIfEncrypted(_:settings:)``; as `Repository.openDatabase`.
    func open(_ database: DatabaseOptions<ReadArgument>, _ source: SnapshotSource) throws -> ReadableDatabase {
        guard let location = source.location else {
            try Preflight.requireSource(database.path)
            let settings = try database.cipher.settings()
            let key = try keyIfEncrypted(database, settings: settings)
            return .file(DatabaseFile(database.path), key: key, settings: settings)
        }
        let store = try source.stores.store(location)
        let secret = try repositorySecret(source.secret, for: location)
        let (local, accepts) = (source.stores.directories.applied(to: .standard), source.accepts)
        let selection = source.at ?? SnapshotSelection(id: source.snapshot)
        let (warnings, name) = (WarningList(), database.path)
        // Nothing is written, so a signal may end the process at any point.
        let token = Interruption.shared.onEnd(immediately: true) {}
        defer { Interruption.shared.remove(token) }
        let image = try runBlocking {
            let repository = try await Repository.open(
                store, secret: secret, local: local, acceptsReplacement: accepts)
            return try await repository.image(selection, database: name) { warnings.add($0) }
        }
        // They concern other objects.
        warn(warnings.all)
        do {
            let settings = try database.cipher.settings()
            let key = try keyIfEncrypted(database.key, for: image.name, image.kind(), settings: settings)
            let opened = try SnapshotDatabase(image, key: key, settings: settings)
            return .snapshot(opened, image, reporter)
        } catch {
            throw try ReadableDatabase.explained(error, image)
        }
    }
}
