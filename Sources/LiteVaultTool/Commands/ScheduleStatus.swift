internal import ArgumentParser
internal import LiteVaultFoundation
internal import LiteVaultSchedule
internal import LiteVaultSupport

/// `litevault schedule status`: shows past runs, failures and the next runs.
struct ScheduleStatus: VaultCommand {
    static let configuration = configured(
        "status", "Show the last run and failures of each job, and when it is due.",
        """
        Reads the configuration and the local state; no repository is contacted. With --check, the exit status is 1 if \
        the last run of a job failed, or a database with 'follow' is not followed. --watch shows it until Ctrl-C: redrawn \
        in place on a terminal, elsewhere whenever it has changed.
        """,
        examples: [
            "litevault schedule status /etc/litevault/backup.yml --json",
            "litevault schedule status /etc/litevault/backup.yml --watch",
        ])

    @OptionGroup var schedule: ScheduleOptions

    @Flag(help: "Exit with status 1 if a job failed or a log is not being followed.")
    var check = false

    @Flag(help: "Show the state again whenever it changes, until Ctrl-C.")
    var watch = false

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let config: String
        let engine = Version.Engine()
        let jobs: [JobResult]
    }

    /// A snapshot that is known not to be restorable.
    private struct Unrestorable: Encodable {
        let database: String
        let snapshot: String
        let state: String
        let level: String
        let since: String
        let lostBlocks: Int?

        init(_ found: JobState.Unrestorable) {
            (database, snapshot, state, level) = (found.database, found.snapshot, found.state, found.level)
            (since, lostBlocks) = (Format.time(Date(timeIntervalSince1970: found.since)), found.lostBlocks)
        }

        var line: String {
            let what = lostBlocks.map { "lost \(Format.count($0, "block")), known" } ?? "fails '\(level)'"
            return "\(database) \(snapshot): \(what) since \(since)"
                + (state == "superseded" ? ", newer ones pass" : "")
        }
    }

    private struct JobResult: Encodable {
        let job: String
        let schedule: String
        let repository: String
        let due: Bool
        @Nullable var next: String?
        @Nullable var lastRun: String?
        @Nullable var lastSuccess: String?
        @Nullable var lastFailures: Int?
        @Nullable var databases: Int?
        @Nullable var stored: Int64?
        @Nullable var lastVerification: String?
        @Nullable var verificationPassed: Bool?
        let unrestorable: [Unrestorable]
        @Nullable var follow: FollowingSummary?
        let failures: [ProblemSummary]

        init(_ job: BackupJob, _ state: JobState?) {
            let decision = DueDecision(job, state, host: ProcessInfo.processInfo.hostName, now: Date())
            self.job = job.name
            schedule = job.recurrence.text
            repository = job.repository.location
            due = decision.isDue
            next = decision.next.map(Format.time)
            lastRun = Format.time(state?.lastStart)
            lastSuccess = Format.time(state?.lastSuccess)
            lastFailures = state?.failed
            databases = state?.databases
            stored = state?.stored
            lastVerification = Format.time(state?.lastVerification)
            verificationPassed = state?.lastVerificationPassed
            unrestorable = (state?.unrestorable ?? []).map(Unrestorable.init)
            follow = FollowingSummary(job, state?.following)
            failures = (state?.problems ?? []).map(ProblemSummary.init)
        }

        var isFailing: Bool { (lastFailures ?? 0) > 0 || follow?.well == false }
    }

    func validate() throws {
        if watch, check { throw ValidationError("--watch cannot be combined with --check") }
    }

    func perform(_ session: Session) throws -> Report {
        let configuration = try schedule.configuration()
        guard watch else { return try report(configuration) }
        var shown: [String] = []
        while true {
            var report = try report(configuration)
            let lines = output.json ? [try report.jsonLine(of: Self.name)] : report.takeLines()
            if lines != shown, !output.quiet || output.json {
                if !output.json, session.terminal.redraws {
                    try session.terminal.redraw(lines)
                } else {
                    for line in lines { try session.terminal.printResult(line) }
                }
                shown = lines
            }
            for _ in 0..<10 {
                try Interruption.shared.check()
                SystemThread.sleep(seconds: 0.1)
            }
        }
    }

    private func report(_ configuration: ScheduleConfiguration) throws -> Report {
        let state = try schedule.stateFile(configuration)
        let jobs = configuration.jobs.map { JobResult($0, state.job($0.name)) }
        var report = Report(Result(config: configuration.name, jobs: jobs))
        for defect in Version.defects { report.appendLine("Known defect of the engine: \(defect).") }
        for job in jobs {
            let verdict = job.isFailing ? "FAILED" : job.lastRun == nil ? "never ran here" : "ok"
            report.appendLine("\(job.job): \(verdict)")
            report.appendRow("runs", Format.visible(job.schedule))
            report.appendRow("last run", job.lastRun ?? "never")
            report.appendRow("last success", job.lastSuccess ?? "never")
            report.appendRow("due", job.due ? "now" : job.next ?? "never")
            if let verified = job.lastVerification {
                report.appendRow("verified", verified + (job.verificationPassed == false ? ", FAILED" : ""))
            }
            for one in job.unrestorable.prefix(20) { report.appendRow("not restorable", Format.visible(one.line)) }
            job.follow?.addRows(to: &report, hasState: state.job(job.job)?.following != nil)
            for failure in job.failures.prefix(20) { report.appendLine(failure.line) }
        }
        let failing = jobs.filter(\.isFailing).map(\.job)
        if check, !failing.isEmpty {
            report.failure = Failure(
                .jobFailed, "\(Format.count(failing.count, "job")) failed: \(Format.list(failing))",
                path: configuration.name, remedy: "The failures are listed above and in the log.")
        }
        return report
    }
}
