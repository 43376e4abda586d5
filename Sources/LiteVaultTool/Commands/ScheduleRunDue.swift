internal import ArgumentParser
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// `litevault schedule run-due`: runs the jobs that are due now.
struct ScheduleRunDue: VaultCommand {
    static let configuration = configured(
        "run-due", "Run the jobs that are due, then exit.",
        """
        For timers and cron. Jobs that are not due are skipped, however often this is called, and one run makes up for \
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
