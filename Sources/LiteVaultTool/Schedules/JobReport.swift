internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// What is known of a job: its last run, its failures, and when it is due.
struct JobReport {
    private let settings: BackupJob
    private let state: JobState?
    private let decision: DueDecision
    /// Since when the job should have run; nil if it is in time.
    let overdueSince: String?
    private let unrestorable: [JobState.Unrestorable]
    /// Whether the repository told what is not restorable; otherwise that is known from the last run.
    private let isRepositoryRead: Bool
    private let follow: FollowingSummary?
    let failures: [JobState.Problem]
    private let warnings: [JobState.Problem]
    /// Whether something was found since the last run.
    private let isDamaged: Bool

    private init(_ job: BackupJob, _ state: JobState?, _ records: Records?, configured: Date) {
        (settings, self.state) = (job, state)
        let host = ProcessInfo.processInfo.hostName
        decision = DueDecision(job, state, host: host, now: Date())
        overdueSince = decision.overdue(job, state, configured: configured, host: host, clock: .system)
            .map(Format.exactTime)
        follow = FollowingSummary(job, state?.following)
        let known = state?.problems ?? []
        let found = (records?.failures ?? []).filter { one in !known.contains { $0.message == one.message } }
        unrestorable = records?.unrestorable ?? state?.unrestorable ?? []
        isRepositoryRead = records?.unrestorable != nil
        isDamaged = !found.isEmpty
        failures = known + found
        warnings = (state?.warnings ?? []) + (records?.warnings ?? [])
    }

    var members: Members {
        [
            "job": job, "schedule": settings.recurrence.text, "repository": settings.repository.location,
            "due": decision.isDue, "overdue_since": Nullable(overdueSince), "next": Nullable(next),
            "last_run": Nullable(lastRun), "last_success": Nullable(lastSuccess),
            "last_failures": Nullable(state?.failed), "databases": Nullable(state?.databases),
            "stored": Nullable(state?.stored), "last_verification": Nullable(lastVerification),
            "verification_passed": Nullable(state?.lastVerificationPassed),
            "unrestorable": unrestorable.map(\.members), "repository_read": isRepositoryRead,
            "follow": Nullable(follow?.members), "failures": failures.map(\.members),
            "warnings": warnings.map(\.members),
        ]
    }

    var job: String { settings.name }
    private var next: String? { decision.next.map(Format.exactTime) }
    private var lastRun: String? { Format.time(state?.lastStart) }
    private var lastSuccess: String? { Format.time(state?.lastSuccess) }
    private var lastVerification: String? { Format.time(state?.lastVerification) }

    /// Whether the last run failed, or a database is not followed.
    private var hasFailed: Bool { (state?.failed ?? 0) > 0 || follow?.isWell == false }
    var isFailing: Bool { hasFailed || isDamaged || overdueSince != nil }
    /// Whether all that is wrong was found since the last run.
    var isOnlyDamaged: Bool { isDamaged && !hasFailed && overdueSince == nil }

    private var verdict: String {
        if hasFailed { return "FAILED" }
        if isDamaged { return "DAMAGED" }
        if overdueSince != nil { return lastRun == nil ? "NEVER RAN" : "OVERDUE" }
        return lastRun == nil ? "never ran here" : "ok"
    }

    /// What is known of all jobs.
    ///
    /// - Parameter services: what reads the repositories; nil if they are not contacted.
    static func all(
        of configuration: ScheduleConfiguration, _ state: StateFile, _ services: ScheduleServices?, configured: Date
    ) throws -> [JobReport] {
        let records = try services.map { try Records.read(configuration, state, $0) } ?? [:]
        return configuration.jobs.map {
            JobReport($0, state.job($0.name), records[$0.name], configured: configured)
        }
    }

    func addLines(to report: inout Report) {
        report.appendLine("\(job): \(verdict)")
        report.appendRow("runs", Format.visible(settings.recurrence.text))
        report.appendRow("last run", lastRun ?? "never")
        report.appendRow("last success", lastSuccess ?? "never")
        if let state {
            report.appendRow("stored", "\(Format.count(state.databases, "database")), \(Format.size(state.stored))")
        }
        let since = overdueSince ?? (lastRun == nil ? nil : next)
        report.appendRow("due", decision.isDue ? "now" + (since.map { ", since \($0)" } ?? "") : next ?? "never")
        if let verified = lastVerification {
            report.appendRow("verified", verified + (state?.lastVerificationPassed == false ? ", FAILED" : ""))
        }
        for one in unrestorable.prefix(20) { report.appendRow("not restorable", Format.visible(one.line)) }
        follow?.addRows(to: &report)
        for line in failures.prefix(20).flatMap({ $0.lines() }) { report.appendLine(line) }
        for line in warnings.flatMap({ $0.lines("warning") }) { report.appendLine(line) }
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
        case .snapshots(let snapshots, _):
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
