internal import ArgumentParser
internal import LiteVaultFoundation
internal import LiteVaultSchedule

/// `litevault schedule run`: runs jobs in the foreground.
struct ScheduleRun: VaultCommand {
    static let configuration = configured(
        "run", "Stay in the foreground, and run each job when it is due.",
        """
        Jobs do not wait for each other. A step that hangs is stopped at its time limit ('limits' in the configuration).

        Exits on SIGTERM (status 143) or SIGINT (130). A snapshot in progress is abandoned without affecting the \
        repository, and taken at the next start. With --json, each run prints one JSON object per line.

        Databases of jobs with 'follow' are followed: every commit is stored. On exit, commits already read are stored \
        first, which takes up to ten seconds.

        A database of which a standby was promoted is no longer followed. If there is nothing else to do, the command ends \
        with status 73.
        """,
        examples: ["litevault schedule run /etc/litevault/backup.yml --log json"])

    @OptionGroup var schedule: ScheduleOptions
    @OptionGroup(title: "Log") var log: LogOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let runner = try session.scheduleRunner(schedule, log, output)
        let logger = log.logger(output, session.terminal)
        let (json, quiet, terminal) = (output.json, output.quiet, session.terminal)
        try runBlocking {
            logger.info("started", metadata: ["jobs": "\(runner.configuration.jobs.count)"])
            let supervisor = await runner.follow()
            // // Followers store what they have already read before the process exits.
            if supervisor != nil { Interruption.shared.allowMoreTime(FollowSupervisor.grace + .seconds(2)) }
            do {
                try await runner.run(following: supervisor) { outcome in
                    let summary = OutcomeSummary(outcome)
                    if json {
                        try terminal.printResult(
                            ResultEncoder.line(ResultHeader(command: Self.name), summary))
                    } else if !quiet {
                        try terminal.printResult(summary.line)
                    }
                }
            } catch {
                await supervisor?.end()
                throw error
            }
        }
        return Report()
    }
}
