internal import ArgumentParser
internal import Foundation
internal import LiteVaultBackup
internal import LiteVaultSchedule

/// `litevault schedule run`: stays in the foreground.
struct ScheduleRun: VaultCommand {
    static let configuration = configured(
        "run", "Stay in the foreground, and run each job when it is due.",
        """
        No job waits for another. What hangs is ended when its time limit is over ('limits' of the configuration).

        Ends with SIGTERM (status 143) or SIGINT (130): a snapshot that is being taken is abandoned, which leaves nothing \
        in the repository that counts, and is taken at the next start. With --json, one object per line tells each run.

        The logs of the databases of a job with 'follow' are followed meanwhile: every commit is stored. When it is to \
        end, what was seen is stored first, for which it takes up to ten seconds.
        """,
        examples: ["litevault schedule run /etc/litevault/backup.yml --log json"])

    @OptionGroup var schedule: ScheduleOptions
    @OptionGroup(title: "Log") var log: LogOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let runner = try ScheduleSession.runner(schedule, log, output, session)
        let logger = log.logger(output, session.terminal)
        let (json, quiet, terminal) = (output.json, output.quiet, session.terminal)
        try AsyncWork.wait {
            logger.info("started", metadata: ["jobs": "\(runner.configuration.jobs.count)"])
            let supervisor = await runner.follow()
            // What followers have seen is stored before the end.
            if supervisor != nil { Interruption.shared.allow(seconds: FollowSupervisor.grace + 2) }
            do {
                try await runner.run { outcome in
                    if json {
                        let head: [JSONValue.Member] = [
                            .init(name: "schema", value: 1), .init(name: "command", value: .string(Self.name)),
                        ]
                        try terminal.result(JSONValue.object(head + OutcomeSummary.json(outcome)).text)
                    } else if !quiet {
                        try terminal.result(OutcomeSummary.line(outcome))
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
