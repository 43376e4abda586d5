internal import ArgumentParser
internal import Foundation
internal import LiteVaultSchedule

/// `litevault schedule status`: what happened, and what is next.
struct ScheduleStatus: VaultCommand {
    static let configuration = configured(
        "status", "Tell what each job did last, what failed, and when it is due.",
        "Reads the configuration and the state of this machine; no repository is asked.",
        examples: ["litevault schedule status /etc/litevault/backup.yml --json"])

    @OptionGroup var schedule: ScheduleOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let configuration = try schedule.configuration()
        let state = try schedule.stateFile(configuration)
        var report = Report()
        report.set("config", .string(configuration.path))
        var jobs: [JSONValue] = []
        for job in configuration.jobs {
            let known = state.job(job.name)
            let decision = DueDecision(job, known, host: ProcessInfo.processInfo.hostName, now: Date())
            jobs.append(Self.json(job, known, decision))
            report.say("\(job.name): \(known.map { $0.failed > 0 ? "FAILED" : "ok" } ?? "never ran here")")
            report.row("runs", Wording.visible(job.recurrenceText))
            report.row("last run", Self.text(known?.lastStart) ?? "never")
            report.row("last success", Self.text(known?.lastSuccess) ?? "never")
            report.row("due", decision.isDue ? "now" : decision.next.map(TimeArgument.text) ?? "never again")
            if let verified = Self.text(known?.lastVerification) {
                report.row("verified", verified + (known?.lastVerificationPassed == false ? ", FAILED" : ""))
            }
            for problem in known?.problems.prefix(20) ?? [] { report.say(OutcomeSummary.line(problem)) }
        }
        report.set("jobs", .array(jobs))
        return report
    }

    private static func text(_ seconds: Double?) -> String? {
        seconds.map { TimeArgument.text(Date(timeIntervalSince1970: $0)) }
    }

    private static func json(_ job: Job, _ state: JobState?, _ decision: DueDecision) -> JSONValue {
        [
            "job": .string(job.name), "schedule": .string(job.recurrenceText),
            "repository": .string(job.repository.location),
            "due": .bool(decision.isDue), "next": JSONValue(decision.next.map(TimeArgument.text)),
            "last_run": JSONValue(text(state?.lastStart)), "last_success": JSONValue(text(state?.lastSuccess)),
            "last_failures": JSONValue(state?.failed), "databases": JSONValue(state?.databases),
            "stored": JSONValue(state?.stored), "last_verification": JSONValue(text(state?.lastVerification)),
            "verification_passed": JSONValue(state?.lastVerificationPassed),
            "failures": .array((state?.problems ?? []).map(OutcomeSummary.json)),
        ]
    }
}
