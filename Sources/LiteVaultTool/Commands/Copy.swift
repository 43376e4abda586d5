internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSchedule

struct Copy: VaultCommand {
    static let configuration = configured(
        "copy", "Copy a repository's snapshots and followed logs to another place.",
        """
        The copy is a repository of its own with the same secret: every command works on it, and it can have its own \
        retention. Copying adds what the copy lacks and removes nothing from it; snapshots that 'forget' removed from the \
        copy are not copied again. Every pack is compared with its hashes on the way. Snapshots that need a damaged \
        object are left out, and the exit status is 65; the next copy adds them if they are whole again. Those whose losses \
        'repair' has recorded are left out for good, and the copy is intact without them; if one of them is the newest of its \
        database, the status is 65 as well. The results of 'check' about the databases in the snapshots are recorded in \
        the copy, marked as those of the original. An interrupted copy is continued by the next one.
        """,
        examples: [
            "litevault copy /backup/vaults s3://bucket/vaults",
            "litevault copy s3://near/v s3://far/v --to-s3-region eu-west-3",
            "litevault copy /backup/v s3://far/v --to-s3-storage-class STANDARD_IA",
            "litevault copy /backup/vaults sftp://backup@nas.lan/srv/vaults",
        ])

    @Argument(help: "The repository: a directory, s3://BUCKET/PREFIX, or sftp://HOST/PATH.", completion: .directory)
    var repository: String

    @Argument(
        help: "Where the copy is or will be: a directory, s3://BUCKET/PREFIX, or sftp://HOST/PATH.",
        completion: .directory)
    var destination: String

    @Option(name: .shortAndLong, help: .init("Only the snapshots of this database.", valueName: "name"))
    var database: String?

    @Flag(help: "Store nothing; show what would be copied.")
    var dryRun = false

    @Flag(
        name: .customLong("accept-repository"),
        help: "Accept either repository even if another or a newer one was seen there.")
    var accepts = false

    @OptionGroup(title: "Object stores") var stores: CopyStoreOptions

    @OptionGroup(title: "Local directories") var directories: LocalDirectoryOptions

    @OptionGroup(title: "Repository secret") var secret: KeyOptions<RepositorySecretRole>

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(secret)
        let local = directories.applied(to: .standard)
        let references = try stores.references(from: repository, to: destination)
        let from = try StoreOptions.store(references.from, cache: local.cache)
        let to = try StoreOptions.store(references.to, cache: local.cache)
        let key = try session.repositorySecret(secret, for: repository)
        let (name, accepts, dryRun) = (database, accepts, dryRun)
        let progress = session.backupProgress
        let copied = try runBlocking {
            let opened = try await Repository.open(from, secret: key, local: local, acceptsReplacement: accepts)
            try await opened.requireDatabase(name)
            return try await opened.writable().copy(
                to: to, database: name, acceptsReplacement: accepts, dryRun: dryRun, progress: progress)
        }
        var report = Report([
            "repository": repository, "destination": destination, "dry_run": dryRun, "snapshots": copied.snapshots,
            "present": copied.present, "forgotten": copied.forgotten, "lost": copied.lost,
            "verifications": copied.verifications, "segments": copied.segments, "packs": copied.packs,
            "bytes": copied.bytes, "seconds": session.elapsed,
        ])
        report.appendLine(
            "\(dryRun ? "Would copy" : "Copied") \(Format.count(copied.snapshots, "snapshot")) and "
                + "\(Format.count(copied.segments, "segment")) of followed logs: "
                + "\(Format.count(copied.packs, "pack")), \(Format.size(copied.bytes)).")
        if copied.present > 0 {
            report.appendLine(
                "\(Format.count(copied.present, "snapshot")) \(copied.present == 1 ? "was" : "were") there already.")
        }
        if copied.forgotten > 0 {
            report.appendLine(
                "\(Format.count(copied.forgotten, "snapshot")) left out: retention removed them from the copy.")
        }
        if copied.lost > 0 {
            report.appendLine(
                "\(Format.count(copied.lost, "snapshot")) left out: blocks of them are lost, as 'litevault repair' has recorded."
            )
        }
        if copied.verifications > 0 {
            report.appendLine(
                "Verifications of \(Format.count(copied.verifications, "snapshot")) \(dryRun ? "would be" : "were") recorded in the copy, "
                    + "as found of the original.")
        }
        if let first = copied.incomplete.first {
            report.failure = Failure(
                .damaged, first.message, path: destination, remedy: first.advice.commandLineText)
        }
        session.add(copied.warnings, of: repository, after: "what is intact was copied", to: &report)
        return report
    }
}

/// How the stores of both places are reached.
struct CopyStoreOptions: ParsableArguments {
    @OptionGroup var both: PlaceOptions<BothPlaces>
    @OptionGroup var copy: PlaceOptions<CopyPlace>

    /// Both repositories, the second with the options of the first where it has none of its own.
    func references(
        from source: String, to destination: String
    ) throws -> (from: RepositoryReference, to: RepositoryReference) {
        var from = RepositoryReference(source)
        try both.apply(to: &from)
        var to = from
        to.location = destination
        try copy.apply(to: &to)
        return (from, to)
    }
}
