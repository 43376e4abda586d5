internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// A snapshot that is known not to be restorable.
struct UnrestorableSummary: Encodable {
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

/// What is known of a job: its last run, its failures, and when it is due.
struct JobReport: Encodable {
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
    let unrestorable: [UnrestorableSummary]
    /// Whether the repository told what is not restorable; otherwise that is known from the last run.
    let repositoryRead: Bool
    @Nullable var follow: FollowingSummary?
    let failures: [ProblemSummary]
    let warnings: [ProblemSummary]

    /// What was found since the last run.
    private let isDamaged: Bool
    /// Whether its databases were ever followed here.
    private let hasFollowed: Bool

    private enum CodingKeys: CodingKey {
        case job, schedule, repository, due, overdueSince, next, lastRun, lastSuccess, lastFailures, databases,
            stored,
            lastVerification, verificationPassed, unrestorable, repositoryRead, follow, failures, warnings
    }

    private init(_ job: BackupJob, _ state: JobState?, _ records: Records?, configured: Date) {
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
        unrestorable = (records?.unrestorable ?? state?.unrestorable ?? []).map(UnrestorableSummary.init)
        repositoryRead = records?.unrestorable != nil
        isDamaged = !found.isEmpty
        hasFollowed = state?.following != nil
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

extension JobReport {
    /// What is known of all jobs.
    ///
    /// - Parameters:
    ///   - services: what reads the repositories; nil if they are not contacted.
    ///   - configured: when the configuration was changed.
    static func all(
        of configuration: ScheduleConfiguration, _ state: StateFile, _ services: ScheduleServices?, configured: Date
    ) throws -> [JobReport] {
        let records = try services.map { try Records.read(configuration, state, $0) } ?? [:]
        return configuration.jobs.map {
            JobReport($0, state.job($0.name), records[$0.name], configured: configured)
        }
    }

    /// Adds the text output.
    func addLines(to report: inout Report) {
        report.appendLine("\(job): \(verdict)")
        report.appendRow("runs", Format.visible(schedule))
        report.appendRow("last run", lastRun ?? "never")
        report.appendRow("last success", lastSuccess ?? "never")
        if let databases, let stored {
            report.appendRow("stored", "\(Format.count(databases, "database")), \(Format.size(stored))")
        }
        let since = overdueSince ?? (lastRun == nil ? nil : next)
        report.appendRow("due", due ? "now" + (since.map { ", since \($0)" } ?? "") : next ?? "never")
        if let verified = lastVerification {
            report.appendRow("verified", verified + (verificationPassed == false ? ", FAILED" : ""))
        }
        for one in unrestorable.prefix(20) { report.appendRow("not restorable", Format.visible(one.line)) }
        follow?.addRows(to: &report, hasState: hasFollowed)
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
