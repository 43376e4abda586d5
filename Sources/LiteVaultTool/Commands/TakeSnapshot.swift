internal import ArgumentParser
internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultSupport

/// `litevault snapshot`: what changed of a database, into a repository.
struct TakeSnapshot: VaultCommand {
    static let configuration = configured(
        "snapshot", "Store a snapshot of a database that may be in use; needs no database key.",
        """
        The snapshot is one committed state of SOURCE. Only blocks that changed since the one before are stored; \
        it can be restored by itself all the same. The repository is made on first use. With a secret \
        (--repository-secret-…) everything in it is authenticated: whoever can write to the store can then not \
        change it unnoticed. Where something else in the repository is damaged, the snapshot is stored, and the exit \
        status is 65. A database without encryption is refused without --allow-plaintext.
        """,
        examples: [
            "litevault snapshot vault.db --repository /backup/vaults",
            "litevault snapshot vault.db --repository /backup/vaults --repository-secret-file ~/.backup-secret --json",
        ])

    @Argument(help: "The database.", completion: .file(), transform: PathArgument.literal)
    var source: String

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(help: .init("The database's name in the repository (default: the file's).", valueName: "name"))
    var database: String?

    @Flag(help: "Store a database that is not encrypted.")
    var allowPlaintext = false

    @Option(
        help: .init("How long to try while the database is locked (default 10s).", valueName: "time"),
        transform: Duration.seconds(parsing:))
    var wait: Double = 10

    @Option(
        help: .init(
            "Give up a snapshot that would hold a lock or read mark for longer (default 1h).", valueName: "time"),
        transform: Duration.seconds(parsing:))
    var holdLimit: Double = 3600

    @Option(
        help: .init(
            "Give up a snapshot while which the -wal file grows by more (default 1073741824).", valueName: "bytes"))
    var walLimit: Int64 = 1 << 30

    @OptionGroup(title: "Secret of the repository") var secret: KeyOptions<RepositorySecretRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(secret)
        try Preflight.requireSource(source)
        var options = SnapshotOptions()
        options.database = database
        options.allowsPlaintext = allowPlaintext
        options.limits.lockTimeout = Duration(seconds: wait)
        options.limits.maximumLockDuration = Duration(seconds: holdLimit)
        options.limits.maximumWALGrowth = walLimit
        options.tool = "litevault \(Version.number)"
        options.progress = session.backupProgress
        let opened = try session.repository(repository, secret, creating: true)
        let (path, chosen) = (source, options)
        let result = try AsyncWork.wait { try await opened.snapshot(of: path, options: chosen) }

        var report = Report()
        report.set("source", .string(source))
        report.set("repository", .string(repository.location))
        report.set("authenticated", .bool(opened.isAuthenticated))
        report.set("snapshot", SnapshotSummary.json(result.snapshot))
        report.set("unchanged", .bool(result.isUnchanged))
        report.set("unreachable_commits", JSONValue(result.unreachableCommits))
        report.set("seconds", .number(session.elapsed))
        let snapshot = result.snapshot
        report.say(
            "Snapshot \(snapshot.id) of '\(Wording.visible(snapshot.database))': \(Wording.size(snapshot.size)), "
                + "\(Wording.size(snapshot.changed)) changed, \(Wording.size(snapshot.stored)) stored "
                + "in \(Wording.duration(session.elapsed)).")
        if result.unreachableCommits > 0 {
            let commits = Wording.count(result.unreachableCommits, "commit")
            session.reporter.warning(
                "its write-ahead log has \(commits) behind a damaged frame, not in the snapshot; SQLite does not "
                    + "recover them either. After a loss of power that happens, else the log was damaged.",
                path: source)
        }
        report.add(result.warnings, after: "snapshot \(snapshot.id) is stored", session, repository.location)
        if snapshot.isRewritten {
            report.say(
                "Nearly all blocks changed (a rekey or VACUUM): epoch \(snapshot.epoch). Older snapshots may need an older key."
            )
        }
        return report
    }
}
