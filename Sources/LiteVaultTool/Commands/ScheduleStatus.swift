internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultSchedule
internal import LiteVaultSupport

/// `litevault schedule status`: shows past runs, failures and the next runs.
struct ScheduleStatus: VaultCommand {
    static let configuration = configured(
        "status", "Show the last run and failures of each job, and when it is due.",
        """
        Reads the configuration, the local state, and from the repositories what verifications have found since the last \
        run; one that does not respond within 10 seconds is a warning. With --check, the exit status is 1 if \
        the last run of a job failed, if a verification by anybody has found that a snapshot cannot be restored, if a job \
        is overdue by more than an hour or has not run in the hour since the \
        configuration was changed, or if a database with 'follow' is not followed. --watch shows the local state until \
        Ctrl-C, without contacting repositories: redrawn in place on a terminal, elsewhere whenever it has changed.
        """,
        examples: [
            "litevault schedule status /etc/litevault/backup.yml --json",
            "litevault schedule status /etc/litevault/backup.yml --watch",
        ])

    @OptionGroup var schedule: ScheduleOptions

    @Flag(
        help:
            "Exit with status 1 if a job failed, is overdue, or has damaged snapshots, or a log is not being followed.")
    var check = false

    @Flag(help: "Show the state again whenever it changes, until Ctrl-C.")
    var watch = false

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let config: String
        let state: String
        /// Whether a service runs that has read an older configuration.
        let outdatedService: Bool
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
        /// Since when the job should have run; nil if it is in time.
        @Nullable var overdueSince: String?
        @Nullable var next: String?
        @Nullable var lastRun: String?
        @Nullable var lastSuccess: String?
        @Nullable var lastFailures: Int?
        @Nullable var databases: Int?
        @Nullable var stored: Int64?
        @Nullable var lastVerification: String?
        @Nullable var verificationPassed: Bool?
        let unrestorable: [Unrestorable]
        /// Whether the repository told what is not restorable; otherwise that is known from the last run.
        let repositoryRead: Bool
        @Nullable var follow: FollowingSummary?
        let failures: [ProblemSummary]
        let warnings: [ProblemSummary]

        /// What was found since the last run.
        private let isDamaged: Bool

        private enum CodingKeys: CodingKey {
            case job, schedule, repository, due, overdueSince, next, lastRun, lastSuccess, lastFailures, databases,
                stored,
                lastVerification, verificationPassed, unrestorable, repositoryRead, follow, failures, warnings
        }

        init(_ job: BackupJob, _ state: JobState?, _ records: Records?, configured: Date) {
            let now = Date()
            let decision = DueDecision(job, state, host: ProcessInfo.processInfo.hostName, now: now)
            self.job = job.name
            schedule = job.recurrence.text
            repository = job.repository.location
            due = decision.isDue
            overdueSince = decision.overdue(state, configured: configured, now: now).map(Format.exactTime)
            next = decision.next.map(Format.exactTime)
            lastRun = Format.time(state?.lastStart)
            lastSuccess = Format.time(state?.lastSuccess)
            lastFailures = state?.failed
            databases = state?.databases
            stored = state?.stored
            lastVerification = Format.time(state?.lastVerification)
            verificationPassed = state?.lastVerificationPassed
            follow = FollowingSummary(job, state?.following)
            let known = state?.problems ?? []
            let found = (records?.failures ?? []).filter { one in !known.contains { $0.message == one.message } }
            unrestorable = (records?.unrestorable ?? state?.unrestorable ?? []).map(Unrestorable.init)
            repositoryRead = records?.unrestorable != nil
            isDamaged = !found.isEmpty
            failures = (known + found).map(ProblemSummary.init)
            warnings = ((state?.warnings ?? []) + (records?.warnings ?? [])).map(ProblemSummary.init)
        }

        var isFailing: Bool { (lastFailures ?? 0) > 0 || isDamaged || overdueSince != nil || follow?.well == false }
        /// Whether all that is wrong was found since the last run.
        var isOnlyDamaged: Bool {
            isDamaged && (lastFailures ?? 0) == 0 && overdueSince == nil && follow?.well != false
        }

        var verdict: String {
            if (lastFailures ?? 0) > 0 || follow?.well == false { return "FAILED" }
            if isDamaged { return "DAMAGED" }
            if overdueSince != nil { return lastRun == nil ? "NEVER RAN" : "OVERDUE" }
            return lastRun == nil ? "never ran here" : "ok"
        }
    }

    func validate() throws {
        if watch, check { throw ValidationError("--watch cannot be combined with --check") }
    }

    func perform(_ session: Session) throws -> Report {
        let configuration = try schedule.configuration()
        guard watch else {
            return try report(
                configuration, try session.scheduleServices(configuration, schedule, output, onlyReading: true))
        }
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

    /// - Parameter services: what reads the repositories; nil if they are not contacted.
    private func report(_ configuration: ScheduleConfiguration, _ services: ScheduleServices? = nil) throws -> Report {
        let state = try schedule.stateFile(configuration, onlyReading: true)
        var file = stat()
        let configured = stat(configuration.name, &file) == 0 ? Date(timeIntervalSince1970: file.modified) : Date()
        let records = try services.map { try Records.read(configuration, state, $0) } ?? [:]
        let jobs = configuration.jobs.map {
            JobResult($0, state.job($0.name), records[$0.name], configured: configured)
        }
        let isOutdated = try state.isOutdated(configured: configured)
        var report = Report(
            Result(config: configuration.name, state: state.path, outdatedService: isOutdated, jobs: jobs))
        if isOutdated {
            report.appendLine(
                "The running service has an older configuration: restart it, or send it SIGHUP (systemctl reload).")
        }
        for defect in Version.defects { report.appendLine("Known defect of the engine: \(defect).") }
        for job in jobs {
            report.appendLine("\(job.job): \(job.verdict)")
            report.appendRow("runs", Format.visible(job.schedule))
            report.appendRow("last run", job.lastRun ?? "never")
            report.appendRow("last success", job.lastSuccess ?? "never")
            let since = job.overdueSince ?? (job.lastRun == nil ? nil : job.next)
            report.appendRow("due", job.due ? "now" + (since.map { ", since \($0)" } ?? "") : job.next ?? "never")
            if let verified = job.lastVerification {
                report.appendRow("verified", verified + (job.verificationPassed == false ? ", FAILED" : ""))
            }
            for one in job.unrestorable.prefix(20) { report.appendRow("not restorable", Format.visible(one.line)) }
            job.follow?.addRows(to: &report, hasState: state.job(job.job)?.following != nil)
            for line in job.failures.prefix(20).flatMap({ $0.lines() }) { report.appendLine(line) }
            for line in job.warnings.flatMap({ $0.lines("warning") }) { report.appendLine(line) }
        }
        report.appendLine("The state is in \(Format.visible(state.path)).")
        let late = jobs.filter { $0.overdueSince != nil }.map(\.job)
        let failing = jobs.filter { $0.isFailing && $0.overdueSince == nil }.map(\.job)
        let damaged = jobs.filter(\.isOnlyDamaged).map(\.job)
        if check, !failing.isEmpty, failing == damaged {
            report.failure = Failure(
                .jobFailed,
                "backups of \(Format.count(damaged.count, "job")) are damaged since the last run: \(Format.list(damaged))",
                path: configuration.name, remedy: "What cannot be restored, since when, and what to do is listed above."
            )
        } else if check, !failing.isEmpty {
            report.failure = Failure(
                .jobFailed, "\(Format.count(failing.count, "job")) failed: \(Format.list(failing))",
                path: configuration.name, remedy: "The failures are listed above and in the log.")
        } else if check, !late.isEmpty {
            report.failure = Failure(
                .jobFailed, "\(Format.count(late.count, "job")) did not run in time: \(Format.list(late))",
                path: configuration.name,
                remedy:
                    "Check that the timer or service is enabled and runs, and as which user: each has its own state, here "
                    + "\(state.path). 'litevault schedule run-due \(configuration.name)' runs what is due now.")
        }
        return report
    }
}

/// What the repository of a job tells about verifications since its last run.
private struct Records {
    /// Nil if it could not be asked.
    var unrestorable: [JobState.Unrestorable]?
    var failures: [JobState.Problem] = []
    var warnings: [JobState.Problem] = []

    /// Asks the repositories of the jobs that have run.
    static func read(
        _ configuration: ScheduleConfiguration, _ state: StateFile, _ services: ScheduleServices
    ) throws -> [String: Records] {
        let jobs = configuration.jobs.map { (job: $0, state: state.job($0.name)) }.filter { $0.state?.lastStart != nil }
        let found = try runBlocking { await RecordedDamage(jobs, services, within: .seconds(10)) }
        return Dictionary(
            uniqueKeysWithValues: jobs.compactMap { job, state in
                found.answers[job.name].map { (job.name, Records($0, job, state, services)) }
            })
    }

    private init(_ answer: RecordedDamage.Answer, _ job: BackupJob, _ state: JobState?, _ services: ScheduleServices) {
        switch answer {
        case .snapshots(let snapshots):
            unrestorable = JobState.unrestorable(snapshots)
            failures = snapshots.compactMap(\.warning).map { JobState.Problem($0, job.repository, services) }
        case .nothing(let error):
            var problem = JobState.Problem(
                source: error.path ?? job.repository.location, step: "repository", code: error.code.rawValue,
                message: error.message, remedy: services.remedy(error, job.repository))
            // What is known to be gone or replaced is as bad as damage; one that cannot be asked now says nothing.
            if error.isDamage || (error.code == .noInput && state?.lastSuccess != nil) {
                failures = [problem]
            } else {
                problem.message = "what was found since the last run cannot be read: \(error.message)"
                warnings = [problem]
            }
        }
    }
}
