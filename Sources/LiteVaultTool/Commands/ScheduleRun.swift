internal import ArgumentParser
internal import Foundation
internal import LiteVaultSchedule

/// `litevault schedule run`: runs jobs in the foreground.
struct ScheduleRun: VaultCommand {
    static let configuration = configured(
        "run", "Stay in the foreground, and run each job when it is due.",
        """
        Jobs do not wait for each other. What hangs is ended after its time limit ('limits' of the configuration).

        Ends on SIGTERM (status 143) or SIGINT (130). A snapshot in progress is abandoned, which leaves nothing in the \
        repository that counts, and is taken at the next start. With --json, each run is one object on a line.

        The databases of jobs with 'follow' are followed meanwhile: every commit is stored. At the end, what was read is \
        stored first, which takes up to ten seconds.
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
            // Followers store what they have read before the process ends.
            if supervisor != nil { Interruption.shared.allowMoreTime(FollowSupervisor.grace + .seconds(2)) }
            do {
                try await runner.run { outcome in
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
