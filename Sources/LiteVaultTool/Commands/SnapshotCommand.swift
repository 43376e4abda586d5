internal import ArgumentParser
internal import LiteVault
internal import LiteVaultBackup

struct SnapshotCommand: VaultCommand {
    static let configuration = configured(
        "snapshot", "Store an incremental snapshot of a database that may be in use.",
        """
        Needs no database key. The snapshot is one committed state of SOURCE. Only blocks that changed since the last \
        snapshot are stored, but each snapshot can be restored by itself. The repository is created on first use. With \
        a --repository-secret-… option everything in it is authenticated: no one with write access to the store can change \
        it unnoticed. If another object of the repository is damaged, the snapshot is stored, and the exit status is \
        65. A plaintext database requires --allow-plaintext. The keyring beside SOURCE (SOURCE.keys; of a link, first the \
        one beside the database itself) is stored with the snapshot: it is ciphertext, and a restore then needs the secret \
        of one of its slots and nothing else.
        """,
        examples: [
            "litevault snapshot vault.db --repository /backup/vaults",
            "litevault snapshot vault.db --repository s3://bucket/vaults --json",
        ])

    @Argument(path: "The database.")
    var source: String

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(
        name: .shortAndLong,
        help: .init("Name of the database in the repository (default: the file name).", valueName: "name"))
    var database: String?

    @Option(
        path:
            "Store this keyring with the snapshot (default: the .keys beside the database, or beside the link to it).")
    var keyring: String?

    @Flag(help: "Store no keyring with the snapshot.")
    var noKeyring = false

    @Flag(help: "Allow a database that is not encrypted.")
    var allowPlaintext = false

    @Option(duration: "How long to wait for a locked database (default: 10s).")
    var wait: Duration = .seconds(10)

    @Option(duration: "Longest time to hold a lock or read mark (default: 1h).")
    var holdLimit: Duration = .seconds(3600)

    @Option(
        help: .init("Abort if the -wal file grows by more than this.", valueName: "bytes"))
    var walLimit: Int64 = 1 << 30

    @Option(
        duration:
            "Reread and compare the whole database at this interval (default: 7d). In between, read only what changed.")
    var fullRead: Duration = .seconds(7 * 86400)

    @Flag(help: "Read the whole database, whatever its log and times show.")
    var alwaysRead = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if noKeyring, keyring != nil { throw ValidationError("--keyring cannot be combined with --no-keyring") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        try Preflight.requireSource(source)
        var options = SnapshotOptions()
        options.database = database
        options.keyring = noKeyring ? .none : keyring.map { .file($0) } ?? .besideDatabase
        options.allowsPlaintext = allowPlaintext
        options.limits.lockTimeout = wait
        options.limits.maximumLockDuration = holdLimit
        options.limits.maximumWALGrowth = walLimit
        options.fullReadInterval = alwaysRead ? nil : fullRead
        options.tool = "litevault \(Version.number)"
        options.progress = session.backupProgress
        let opened = try open(session)
        let (path, chosen) = (source, options)
        let result = try runBlocking { try await opened.snapshot(of: path, options: chosen) }

        let snapshot = result.snapshot
        var report = Report([
            "source": source, "repository": repository.location, "authenticated": opened.repository.isAuthenticated,
            "snapshot": SnapshotSummary(snapshot).members, "unchanged": result.isUnchanged, "read": result.read,
            "stored_again": result.storedAgain, "unreachable_commits": result.unreachableCommits,
            "seconds": session.elapsed,
        ])
        report.appendLine(
            "Snapshot \(snapshot.id) of '\(Format.visible(snapshot.database))': \(Format.size(snapshot.size)), "
                + "\(Format.size(result.read)) read, \(Format.size(snapshot.changed)) changed, \(Format.size(snapshot.stored)) stored "
                + "in \(Format.duration(session.elapsed)).")
        if result.storedAgain > 0 {
            report.appendLine(
                "Stored again, because they are damaged or missing in the repository: \(Format.size(result.storedAgain)) of unchanged "
                    + "blocks.")
        }
        if snapshot.keyring != nil { report.appendLine("It carries the keyring of the database.") }
        if result.unreachableCommits > 0 {
            let commits = Format.count(result.unreachableCommits, "commit")
            session.reporter.warning(
                "the write-ahead log has \(commits) behind a damaged frame. They are not in the snapshot, and SQLite does "
                    + "not recover them either. This is normal after a power failure; otherwise the log was damaged.",
                path: source)
        }
        session.add(
            result.warnings, of: repository.location, after: "snapshot \(snapshot.id) is stored", to: &report)
        if snapshot.isRewritten {
            report.appendLine(
                "Nearly all blocks differ from those of the snapshot before: epoch \(snapshot.epoch). If the database's key was changed, "
                    + "older snapshots need the older key."
            )
        }
        return report
    }
    /// Opens the repository, and creates it for a database that it will take: for another one, an empty repository without a secret would
    /// be left, in which no secret can be used.
    private func open(_ session: Session) throws -> WritableRepository {
        do {
            try withErrorContext(path: source) {
                try DatabaseFile(source).kind().requireStorable(allowsPlaintext: allowPlaintext)
            }
        } catch let refusal as VaultError {
            // A sealed repository takes plaintext, too.
            do { return try session.repository(repository).writable() } catch let error as VaultError
                where error.cause is NoSnapshotError
            { throw refusal }
        }
        return try session.open(repository) { store, secret, local, accepts in
            try await WritableRepository.openOrCreate(store, secret: secret, local: local, acceptsReplacement: accepts)
        }
    }
}
