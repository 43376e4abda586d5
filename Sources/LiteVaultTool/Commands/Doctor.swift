internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSchedule
internal import LiteVaultScheduleFile
internal import LiteVaultSystem

struct Doctor: VaultCommand {
    static let configuration = configured(
        "doctor", "Find what would stop a backup or a restore today. Writes nothing.",
        """
        With the configuration of a schedule, examines all that its jobs need: databases, keys and their permissions, \
        repositories and their secrets, clocks, locks and leases, leftovers of interrupted operations, free space, the \
        age of the newest snapshots, followers and hooks (which are not run; commands that print a key are). With \
        --repository instead, examines that repository, and DATABASE for it. Run it as the user and in the environment \
        of the backups; as root, --as USER runs the checks with that user's rights, home directory and state. Each finding has a severity: ok, warning, or problem, and a remedy. The exit status is 1 if \
        there is a problem.
        """,
        examples: [
            "litevault doctor /etc/litevault/backup.yml",
            "litevault doctor --repository /backup/vaults vault.db --json",
            "sudo litevault doctor /etc/litevault/backup.yml --as app",
        ],
        usage: """
            litevault doctor CONFIG [options]
            litevault doctor --repository R [DATABASE] [options]
            """)

    @Argument(
        path: "The configuration of a schedule; with --repository, a database that is backed up to it.",
        valueName: "config-or-database")
    var subject: String?

    @Option(
        name: [.customLong("repository"), .customShort("r")],
        help: .init("The repository: a directory, s3://BUCKET/PREFIX, or sftp://HOST/PATH.", valueName: "r"),
        completion: .directory)
    var location: String?

    @Option(
        name: .shortAndLong,
        help: .init("Name of the database in the repository (default: the file name).", valueName: "name"))
    var database: String?

    @Flag(help: "Allow a database that is not encrypted (with --repository).")
    var allowPlaintext = false

    @Option(
        name: .customLong("as"), help: .init("Run the checks as this user, who runs the backups.", valueName: "user"))
    var user: String?

    @OptionGroup var stores: StoreOptions
    @OptionGroup(title: "Repository secret") var secret: KeyOptions<RepositorySecretRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        guard location == nil else { return }
        if subject == nil { throw ValidationError("give the configuration of a schedule, or --repository") }
        if database != nil { throw ValidationError("--database requires --repository") }
        if allowPlaintext {
            throw ValidationError("--allow-plaintext requires --repository: the configuration says it")
        }
    }

    func perform(_ session: Session) throws -> Report {
        if let user { try UserIdentity(user).assume() }
        var findings = Findings()
        for defect in Version.defects {
            findings.warning(
                .engine, "has the defect \(defect)",
                remedy: "Use a build with a newer engine, or write to a database from one "
                    + "process only.")
        }
        if let location {
            try session.reserveKeySources(secret)
            examine(location, session, into: &findings)
            return findings.report(members(repository: location, database: subject))
        }
        let path = URL(fileURLWithPath: subject ?? "").standardizedFileURL.path
        do {
            let configuration = try ScheduleConfiguration(path: path)
            // Its hooks and key commands run with the rights of the backups.
            if FileExamination.privacy(path, .configuration, forbidding: 0o022, into: &findings) {
                findings.ok(
                    .configuration, "is valid, with \(Format.count(configuration.jobs.count, "job"))", path: path)
            }
            ScheduleExamination(
                configuration: configuration, local: stores.directories.shown(for: configuration), session: session
            ).examine(into: &findings)
        } catch {
            findings.problem(.configuration, error, path: path)
        }
        return findings.report(members(config: path))
    }

    private func members(config: String? = nil, repository: String? = nil, database: String? = nil) -> Members {
        [
            "config": Nullable(config), "repository": Nullable(repository), "database": Nullable(database),
            "engine": Version.engine,
        ]
    }

    /// Examines a repository, and a database that is backed up to it.
    private func examine(_ location: String, _ session: Session, into findings: inout Findings) {
        let local = stores.directories.applied(to: .standard)
        let source = subject.flatMap { FileExamination.database($0, into: &findings) }
        if let subject, source != nil {
            FileExamination.leftovers(
                in: LocalDirectory.parent(of: subject), .leftover,
                remedy: "Remove it; a new operation on its file does, too.", into: &findings)
        }
        do {
            let store = try stores.store(location, timeLimit: RepositoryExamination.timeLimit)
            let secret = try session.repositorySecret(self.secret, for: location)
            if case .file(let path)? = try self.secret.source() {
                FileExamination.privacy(path, .secret, forbidding: 0o066, into: &findings)
            }
            let spool = local.plannedSpool(of: store)
            FileExamination.leftovers(in: spool, .spool, remedy: "The next snapshot removes it.", into: &findings)
            if let source { FileExamination.spoolSpace(source.size, in: spool, into: &findings) }
            let found = RepositoryExamination(store: store, secret: secret, local: local, mayBeAbsent: false)
                .examine(into: &findings)
            if let source, source.isStorable(allowsPlaintext: allowPlaintext || found.isSealed == true, into: &findings)
            {
                findings.ok(.database, "can be backed up, \(Format.size(source.size))", path: source.path)
            }
            if let snapshots = found.snapshots { examine(snapshots, into: &findings) }
        } catch {
            let failure = Failure(error)
            findings.problem(failure.code == .keyRejected ? .secret : .repository, failure, path: location)
        }
    }

    /// Examines the snapshots of the database, or of all.
    private func examine(_ list: SnapshotList, into findings: inout Findings) {
        let name = database ?? subject.map { $0.pathNames.last.map(String.init) ?? $0 }
        let snapshots = list.filter { one in name.map { isSameText($0, one.database) } ?? true }
        guard let newest = snapshots.byDatabase.compactMap(\.last?.taken).max(),
            let largest = snapshots.map(\.size).max()
        else {
            findings.problem(
                .snapshot, name.map { "there is no snapshot of '\($0)'" } ?? "there is no snapshot", path: location,
                remedy: "Take one with 'litevault snapshot', or name another --database.")
            return
        }
        let age = Date().timeIntervalSince(newest)
        // The age of one that is dated ahead is not known.
        if age > -300 {
            findings.ok(.snapshot, "the newest snapshot is \(Format.duration(max(0, age))) old", path: location)
        }
        FileExamination.restoreSpace(
            largest, in: subject.map(LocalDirectory.parent(of:)) ?? ".", into: &findings)
    }
}
