internal import ArgumentParser
internal import LiteVaultSchedule
internal import LiteVaultSystem
internal import Logging

struct ScheduleRun: VaultCommand {
    static let configuration = configured(
        "run", "Stay in the foreground, and run each job when it is due.",
        """
        Jobs do not wait for each other. A step that hangs is stopped at its time limit ('limits' in the configuration).

        Exits on SIGTERM (status 143) or SIGINT (130). A snapshot in progress is abandoned without affecting the \
        repository, and taken at the next start. With --json, each run prints one JSON object per line.

        Databases of jobs with 'follow' are followed: every commit is stored. On exit, commits already read are stored \
        first, which takes up to ten seconds.

        SIGHUP, unless the command runs on a terminal, reads the configuration again, and logs which jobs were added, removed \
        and changed; runs and followers in progress start over. An invalid configuration is logged, and the previous one kept.

        With --listen, or 'listen' in the configuration, the current state is served by HTTP: /health (200 if every job \
        ran and every followed database is stored up to its limit, otherwise 503 with the reasons as JSON) and /metrics for \
        Prometheus. A port alone serves this machine only. There is no encryption and no password: bind to another \
        address only on a network whose users may see database names.

        A database whose standby was promoted is no longer followed. If there is nothing else to do, the command ends \
        with status 73.
        """,
        examples: [
            "litevault schedule run /etc/litevault/backup.yml --log json",
            "litevault schedule run /etc/litevault/backup.yml --listen 9464",
        ])

    @OptionGroup var schedule: ScheduleOptions

    @Option(
        help: .init(
            "Serve /health and /metrics at this port, or ADDRESS:PORT, in place of 'listen' in the configuration.",
            valueName: "port"),
        transform: ListenAddress.argument)
    var listen: ListenAddress?

    @OptionGroup(title: "Log") var log: LogOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var logsJSON: Bool { log.form == .json }

    func perform(_ session: Session) throws -> Report {
        let logger = log.logger(output, session.terminal)
        // On a terminal, the signal says that it is gone.
        if !session.terminal.errorIsTerminal, !session.terminal.inputIsTerminal { Interruption.shared.acceptReloads() }
        var (runner, state) = try session.scheduleRunner(schedule, log, output)
        var server = try serve(runner, in: nil, logger)
        defer { server?.end() }
        logger.info("started", metadata: ["jobs": "\(runner.configuration.jobs.count)"])
        while true {
            do { try state.noteLoaded(runner.configuration) } catch {
                // Only 'status' needs it; a full disk must not stop the backups.
                let failure = Failure(error)
                logger.warning(
                    "cannot store which configuration was read: \(failure.message)",
                    metadata: ["path": "\(failure.path ?? state.path)"])
            }
            do {
                try run(runner, session)
                return Report()
            } catch is CancellationError where Interruption.shared.beginReload() {
                let before = runner.configuration
                do {
                    let (next, nextState) = try session.scheduleRunner(schedule, log, output, state: state)
                    server = try serve(next, in: server, logger)
                    (runner, state) = (next, nextState)
                    logger.info(
                        "configuration read again", metadata: Self.changes(from: before, to: runner.configuration))
                } catch {
                    let failure = Failure(error)
                    logger.error(
                        "the configuration is kept as it was: \(failure.message)",
                        metadata: ["path": "\(failure.path ?? before.name)"])
                }
            }
        }
    }

    /// Serves health and metrics of a runner, if an address is given for it.
    ///
    /// - Parameter current: the server of the configuration before. It stays where its address does, and if there is an error.
    private func serve(
        _ runner: ScheduleRunner, in current: MonitoringServer?, _ logger: Logger
    ) throws -> MonitoringServer? {
        let answer: @Sendable (HTTPRequest) -> HTTPResponse = { MonitoringAnswers.answer($0, about: runner) }
        guard let address = listen ?? runner.configuration.listen else {
            current?.end()
            return nil
        }
        if let current, current.address == address {
            current.set(answer: answer)
            return current
        }
        let server = try MonitoringServer(address, answer: answer)
        current?.end()
        logger.info("serving health and metrics", metadata: ["address": "\(address)"])
        return server
    }

    /// Runs the jobs until the program is asked to end or to read its configuration.
    private func run(_ runner: ScheduleRunner, _ session: Session) throws {
        let (json, quiet, terminal) = (output.json, output.quiet, session.terminal)
        // Followers store what they have already read before the process exits.
        if runner.configuration.jobs.contains(where: \.follows) {
            Interruption.shared.allowMoreTime(FollowSupervisor.grace + .seconds(2))
        }
        try runBlocking(cancelledBySignals: true) {
            try await runner.run { outcome in
                if json {
                    try terminal.printResult(Members(of: Self.name, outcome.members).json)
                } else if !quiet {
                    try terminal.printResult(outcome.line)
                }
            }
        }
    }

    /// What a reload has changed, for the log.
    private static func changes(
        from old: ScheduleConfiguration, to new: ScheduleConfiguration
    ) -> Logger.Metadata {
        let (before, after) = (
            Dictionary(old.jobs.map { ($0.name, $0) }) { $1 }, Dictionary(new.jobs.map { ($0.name, $0) }) { $1 }
        )
        let added = after.keys.filter { before[$0] == nil }.sorted()
        let removed = before.keys.filter { after[$0] == nil }.sorted()
        let changed = after.keys.filter { before[$0] != nil && before[$0] != after[$0] }.sorted()
        var metadata: Logger.Metadata = ["jobs": "\(new.jobs.count)"]
        for (name, jobs) in [("added", added), ("removed", removed), ("changed", changed)] where !jobs.isEmpty {
            metadata[name] = "\(jobs.joined(separator: " "))"
        }
        return metadata
    }
}

extension ListenAddress {
    fileprivate static func argument(_ text: String) throws -> ListenAddress {
        do throws(InvalidSetting) { return try ListenAddress(text) } catch {
            throw ValidationError("\(error.message). \(error.remedy ?? "")")
        }
    }
}

struct ScheduleRunDue: VaultCommand {
    static let configuration = configured(
        "run-due", "Run the jobs that are due, then exit.",
        """
        For timers and cron. Jobs that are not due are skipped, so it can be called at any time, and one run makes up for \
        all missed ones. A failed job does not stop the others; the exit status is then 1. For a job with 'follow', \
        only snapshots are taken: following requires 'schedule run'.
        """,
        examples: ["litevault schedule run-due /etc/litevault/backup.yml"])

    @OptionGroup var schedule: ScheduleOptions
    @OptionGroup(title: "Log") var log: LogOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    var logsJSON: Bool { log.form == .json }

    func perform(_ session: Session) throws -> Report {
        let runner = try session.scheduleRunner(schedule, log, output).runner
        let following = runner.configuration.jobs.filter(\.follows).map(\.name)
        if !following.isEmpty {
            log.logger(output, session.terminal).warning(
                "only 'schedule run' follows logs; this command takes snapshots only",
                metadata: ["jobs": "\(following.joined(separator: " "))"])
        }
        let outcomes = try runBlocking(cancelledBySignals: true) { try await runner.runDue() }
        try Interruption.shared.check()

        let path = runner.configuration.name
        let next = runner.next().map(Format.exactTime)
        var report = Report([
            "config": path, "jobs": outcomes.map(\.members), "next": Nullable(next), "seconds": session.elapsed,
        ])
        for outcome in outcomes {
            report.appendLine(outcome.line)
            for line in outcome.problems.prefix(20).flatMap({ $0.lines() }) { report.appendLine(line) }
            for line in outcome.warnings.flatMap({ $0.lines("warning") }) { report.appendLine(line) }
        }
        if outcomes.isEmpty { report.appendLine("No job is due" + (next.map { " before \($0)." } ?? ".")) }
        let failed = outcomes.filter { !$0.isSuccess }.map(\.job)
        if !failed.isEmpty {
            report.failure = Failure(
                .jobFailed, "\(Format.count(failed.count, "job")) failed: \(Format.list(failed))", path: path,
                remedy: "'litevault schedule status' shows the failures. The job runs again after its 'retry' time.")
        }
        return report
    }
}
