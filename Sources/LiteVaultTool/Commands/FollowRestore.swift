internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSystem

struct FollowRestore: VaultCommand {
    static let configuration = configured(
        "follow-restore", "Keep a copy of a database up to date from a repository: a standby.",
        """
        Needs no database key. Restores the newest state to DEST, then applies what a follower stores, until a signal ends \
        it. SQLite readers, with the key, may have DEST open meanwhile: they see commits only, and cannot write. After a \
        restart, or a kill at any moment, it continues from DEST as it is, which DEST.standby describes; a DEST that anything else \
        has changed is refused. A newer state that segments do not lead to is restored as a whole, as one commit for \
        readers; with another salt or page size, or not in WAL mode, only while no process has DEST open. A damaged segment ends \
        it: DEST stays at the last commit before. A store that does not respond is retried. The keyring that the newest snapshot \
        carries is kept beside DEST (DEST.keys), unless one is there that this command has not written. Polling every second \
        costs 87,840 LIST requests a day, and one GET for each segment.

        --promote makes DEST the database, in seconds if it is current: the process that keeps it is asked to end; what is \
        stored is applied; the repository is fenced, so that nothing that the old primary stores from then on counts; and DEST is an \
        ordinary database. The old follower stops with the code 'promoted' (status 73) when it next renews its lease, within 200 seconds. \
        DEST.promoted shows that DEST continues the history: move it with DEST. After a kill or a lost connection repeat the \
        command. Without the repository it refuses, unless --force accepts what may be lost.
        """,
        examples: [
            "litevault follow-restore --repository /backup/vaults --database vault.db \\",
            "    standby.db",
            "litevault follow-restore --repository r --interval 10s standby.db",
            "litevault follow-restore --repository r --once standby.db",
            "litevault follow-restore --repository r --promote standby.db",
        ])

    @Argument(path: "The copy: a new file, or one that this command created.")
    var dest: String

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(name: .shortAndLong, help: .init("The database, if the repository has several.", valueName: "name"))
    var database: String?

    @Option(duration: "Polling interval (default: 1s).")
    var interval: Duration = .seconds(1)

    @Flag(help: "Apply what the repository has, then exit.")
    var once = false

    @Flag(help: "Make DEST the database, instead of a copy of it, and end the old one's line of backups.")
    var promote = false

    @Flag(
        help: .init(
            "With --promote: also if the repository does not respond, is damaged, or another standby was promoted. Commits "
                + "that are not in DEST are then lost. Without the repository the old primary is not stopped: end it, and repeat "
                + "the command when the repository responds."))
    var force = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if force, !promote { throw ValidationError("--force needs --promote") }
        if promote, once { throw ValidationError("--promote cannot be combined with --once") }
        guard interval >= .milliseconds(100) else { throw ValidationError("--interval must be at least 0.1s") }
    }

    func perform(_ session: Session) throws -> Report {
        if promote { return try promotion(session) }
        let opened = try session.repository(repository)
        var options = StandbyOptions()
        if once { options.snapshotInterval = 0 }
        options.progress = session.backupProgress
        let (dest, name, chosen, interval) = (dest, database, options, once ? nil : interval)
        let (json, quiet, terminal, reporter) = (output.json, output.quiet, session.terminal, session.reporter)
        let last = Locked<(Members, line: String)?>(nil)
        let isOurs = try runBlocking(cancelledBySignals: true) {
            try await opened.keepStandby(of: name, at: dest, options: chosen, every: interval) { event in
                switch event {
                case .updated(let update, let reached):
                    let (event, line) = Self.event(update, dest, reached)
                    last.withLock { $0 = (event, line) }
                    guard interval != nil else { return }
                    if json {
                        try terminal.printResult(Members(of: Self.name, event).json)
                    } else if !quiet {
                        try terminal.printResult(line)
                    }
                case .failed(let error, let pause):
                    let seconds = Int(pause.seconds.rounded(.up))
                    reporter.warning("\(error.message); tried again in \(seconds) s", path: error.path)
                case .warning(let warning):
                    reporter.warning("\(warning.message). \(warning.advice.commandLineText)", path: warning.path)
                }
            }
        }
        guard isOurs, let (event, line) = last.value else {
            var report = Report(["state": "handed-over", "destination": dest])
            report.appendLine("\(Format.visible(dest)) is being promoted: it is no longer kept up to date.")
            return report
        }
        var report = Report(event)
        report.appendLine(line)
        return report
    }

    /// An event, or the result of `--once`, and its line.
    private static func event(_ update: StandbyUpdate, _ dest: String, _ reached: Date) -> (Members, String) {
        let name = Format.visible(dest)
        let time = Format.exactTime(reached)
        switch update {
        case .unchanged:
            return (["state": "current", "destination": dest, "reached": time], "\(name) is current: \(time).")
        case .applied(let segments, let pages, _):
            return (
                ["state": "applied", "destination": dest, "reached": time, "segments": segments, "pages": pages],
                "\(time): \(Format.count(segments, "segment")), \(Format.count(pages, "page"))."
            )
        case .restored(let reason, _):
            return (
                ["state": "restored", "destination": dest, "reached": time, "reason": reason],
                "\(name) has the state of \(time) (\(Format.visible(reason)))."
            )
        case .waiting(let reason):
            return (
                ["state": "waiting", "destination": dest, "reached": time, "reason": reason],
                "\(name) stays at \(time): \(Format.visible(reason))."
            )
        }
    }

    // MARK: Promotion

    private func promotion(_ session: Session) throws -> Report {
        var options = PromotionOptions()
        options.isForced = force
        options.progress = session.backupProgress
        let (dest, name, chosen) = (dest, database, options)
        let opened: Repository
        do { opened = try session.repository(repository) } catch let error as VaultError
            // It may not respond, or its disk not be mounted.
            where [.io, .noInput, .missing, .damaged].contains(error.code)
        {
            return try alone(session, error)
        }
        do {
            return report(
                try runBlocking { try await opened.writable().promote(dest, database: name, options: chosen) }, session)
        } catch let error as VaultError where error.code == .io {
            return try alone(session, error)
        }
    }

    /// Promotes without the repository, if that is accepted.
    private func alone(_ session: Session, _ error: VaultError) throws -> Report {
        guard force else {
            throw VaultError(
                error.code, error.message, path: error.path,
                remedy: (error.remedy.map { $0 + " " } ?? "")
                    + "Repeat the command when the repository responds. --force "
                    + "promotes without it: commits that are not in \(dest) are then lost, and the old primary is not stopped.",
                cause: error)
        }
        session.reporter.warning(
            "\(error.message): \(Format.visible(dest)) is promoted without the repository", path: error.path)
        let path = dest
        return report(try runBlocking { try await Standby.promoteAlone(path) }, session)
    }

    private func report(_ result: PromotionResult, _ session: Session) -> Report {
        let time = Format.exactTime(result.reached)
        var report = Report([
            "state": "promoted", "destination": dest, "database": result.database, "reached": time,
            "fenced": result.isFenced, "promoted_before": result.wasPromoted, "missing": result.missing,
            "seconds": session.elapsed,
        ])
        let what = result.wasPromoted ? "was promoted before" : "is promoted"
        report.appendLine(
            "\(Format.visible(dest)) \(what): it has the state of \(time), and is the database "
                + "'\(Format.visible(result.database))'. Keep \(Format.visible(dest)).promoted beside it.")
        session.add(result.warnings, of: repository.location, after: nil, to: &report)
        if let missing = result.missing {
            session.reporter.warning("not all that is stored is in it: \(missing)", path: dest)
        }
        if !result.isFenced {
            session.reporter.warning(
                "the repository does not know of it, and the old primary is not stopped: end that one, and repeat this command when the "
                    + "repository responds; until then nothing of it is backed up", path: dest)
        }
        return report
    }
}
