internal import ArgumentParser
internal import Foundation
internal import LiteVaultSchedule

/// `litevault schedule status`: what happened, and what is next.
struct ScheduleStatus: VaultCommand {
    static let configuration = configured(
        "status", "Tell what each job did last, what failed, and when it is due.",
        """
        Reads the configuration and the state of this machine; no repository is asked. With --check the exit status is 1 \
        when the last run of a job failed, or a log that is to be followed is not.
        """,
        examples: ["litevault schedule status /etc/litevault/backup.yml --json"])

    @OptionGroup var schedule: ScheduleOptions
    @Flag(help: "End with status 1 when something failed, or is not followed.")
    var check = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let configuration = try schedule.configuration()
        let state = try schedule.stateFile(configuration)
        var report = Report()
        report.set("config", .string(configuration.path))
        report.set("engine", Version.engineJSON)
        for defect in Version.defects { report.say("The engine has a defect, \(defect).") }
        var jobs: [JSONValue] = []
        var failing: [String] = []
        for job in configuration.jobs {
            let known = state.job(job.name)
            let isFailing = (known?.failed ?? 0) > 0 || !FollowingSummary.isWell(job, known?.following)
            if isFailing { failing.append(job.name) }
            let decision = DueDecision(job, known, host: ProcessInfo.processInfo.hostName, now: Date())
            jobs.append(Self.json(job, known, decision))
            report.say("\(job.name): \(isFailing ? "FAILED" : known?.lastStart == nil ? "never ran here" : "ok")")
            report.row("runs", Wording.visible(job.recurrenceText))
            report.row("last run", Self.text(known?.lastStart) ?? "never")
            report.row("last success", Self.text(known?.lastSuccess) ?? "never")
            report.row("due", decision.isDue ? "now" : decision.next.map(TimeArgument.text) ?? "never again")
            if let verified = Self.text(known?.lastVerification) {
                report.row("verified", verified + (known?.lastVerificationPassed == false ? ", FAILED" : ""))
            }
            FollowingSummary.add(job, known?.following, to: &report)
            for problem in known?.problems.prefix(20) ?? [] { report.say(OutcomeSummary.line(problem)) }
        }
        report.set("jobs", .array(jobs))
        if check, !failing.isEmpty {
            report.failure = Failure(
                .jobFailed, "\(Wording.count(failing.count, "job")) failed: \(Wording.list(failing))",
                path: configuration.path, remedy: "What failed is told above, and in the log.")
        }
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
            "follow": FollowingSummary.json(job, state?.following),
            "failures": .array((state?.problems ?? []).map(OutcomeSummary.json)),
        ]
    }
}
