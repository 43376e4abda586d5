internal import ArgumentParser
internal import Foundation
internal import LiteVaultBackup
internal import LiteVaultSchedule

/// `litevault schedule run-due`: what is due now, and no more.
struct ScheduleRunDue: VaultCommand {
    static let configuration = configured(
        "run-due", "Run the jobs that are due, then end.",
        """
        Made for timers and cron: a job that is not due is left alone, however often this is called, and runs that were \
        missed are made up for by one. A job that fails does not stop the others; the exit status is 1 then. Of a job with \
        'follow' it takes the snapshots only: following a log takes 'schedule run'.
        """,
        examples: ["litevault schedule run-due /etc/litevault/backup.yml"])

    @OptionGroup var schedule: ScheduleOptions
    @OptionGroup(title: "Log") var log: LogOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let runner = try ScheduleSession.runner(schedule, log, output, session)
        let following = runner.configuration.jobs.filter(\.follows).map(\.name)
        if !following.isEmpty {
            log.logger(output, session.terminal).warning(
                "only 'schedule run' follows logs: snapshots are taken, and nothing in between",
                metadata: ["jobs": "\(following.joined(separator: " "))"])
        }
        let outcomes = try AsyncWork.wait { try await runner.runDue() }
        try Interruption.shared.check()
        var report = Report()
        report.set("config", .string(runner.configuration.path))
        report.set("jobs", .array(outcomes.map { .object(OutcomeSummary.json($0)) }))
        report.set("next", JSONValue(runner.next().map(TimeArgument.text)))
        report.set("seconds", .number(session.elapsed))
        for outcome in outcomes {
            report.say(OutcomeSummary.line(outcome))
            for problem in outcome.problems.prefix(20) { report.say(OutcomeSummary.line(problem)) }
        }
        if outcomes.isEmpty {
            report.say("Nothing is due" + (runner.next().map { " before \(TimeArgument.text($0))." } ?? "."))
        }
        report.failure = ScheduleSession.failure(outcomes, runner.configuration.path)
        return report
    }
}

/// What the commands that run jobs share.
enum ScheduleSession {
    /// Reads the configuration, takes the lock, and makes the runner.
    static func runner(
        _ schedule: ScheduleOptions, _ log: LogOptions, _ output: OutputOptions, _ session: Session
    ) throws -> ScheduleRunner {
        let configuration = try schedule.configuration()
        try ScheduleKeys(session).claim(configuration)
        let state = try schedule.stateFile(configuration)
        try state.lock()
        return ScheduleRunner(
            configuration, state: state,
            services: ScheduleServices(session, schedule.local(configuration), quiet: output.json || output.quiet),
            log: log.logger(output, session.terminal), host: ProcessInfo.processInfo.hostName)
    }

    /// The failure that decides the exit status; nil when all went well.
    static func failure(_ outcomes: [JobOutcome], _ path: String) -> Failure? {
        let failed = outcomes.filter { !$0.isSuccess }
        guard !failed.isEmpty else { return nil }
        return Failure(
            .jobFailed, "\(Wording.count(failed.count, "job")) failed: \(Wording.list(failed.map(\.job)))", path: path,
            remedy: "'litevault schedule status' tells what failed; the job runs again after its 'retry' time.")
    }
}
