internal import LiteVaultSchedule
internal import LiteVaultSystem

/// The outcome of a job's run in results.
struct OutcomeSummary: Encodable {
    let job: String
    let succeeded: Bool
    let interrupted: Bool
    let start: String
    let end: String
    @Nullable var next: String?
    let stored: Int64
    let unchanged: Int
    let removed: Int
    @Nullable var verified: Bool?
    let snapshots: [JobOutcome.Stored]
    let failures: [ProblemSummary]
    let warnings: [ProblemSummary]
    /// `hourly: 12 databases, 3.4 MB stored in 2.1 s; 1 failure`.
    let line: String

    private enum CodingKeys: CodingKey {
        case job, succeeded, interrupted, start, end, next, stored, unchanged, removed, verified, snapshots, failures,
            warnings
    }

    init(_ outcome: JobOutcome) {
        job = outcome.job
        succeeded = outcome.isSuccess
        interrupted = outcome.isInterrupted
        start = Format.exactTime(outcome.start)
        end = Format.exactTime(outcome.end)
        next = outcome.next.map(Format.exactTime)
        stored = outcome.storedBytes
        unchanged = outcome.unchanged
        removed = outcome.removed
        verified = outcome.verified
        snapshots = outcome.stored
        failures = outcome.problems.map(ProblemSummary.init)
        warnings = outcome.warnings.map(ProblemSummary.init)
        let seconds = outcome.end.timeIntervalSince(outcome.start)
        var line =
            "\(outcome.job): \(Format.count(outcome.stored.count, "database")), "
            + "\(Format.size(outcome.storedBytes)) stored in \(Format.duration(seconds))"
        if outcome.unchanged > 0 { line += ", \(outcome.unchanged) unchanged" }
        if outcome.removed > 0 { line += ", \(Format.count(outcome.removed, "old snapshot")) removed" }
        if let verified = outcome.verified { line += verified ? ", verified" : ", verification FAILED" }
        if !outcome.problems.isEmpty { line += "; \(Format.count(outcome.problems.count, "failure"))" }
        self.line = line
    }
}

/// A failure of a job in results.
struct ProblemSummary: Encodable {
    let step: String
    let code: String
    let message: String
    let path: String?
    let limit: String?
    let remedy: String?

    init(_ problem: JobState.Problem) {
        step = problem.step
        code = problem.code
        message = problem.message
        path = problem.source
        limit = problem.limit
        remedy = problem.remedy
    }

    /// The text output.
    func lines(_ verdict: String = "FAILED") -> [String] {
        // A path inside a message is named once.
        let subject = path.map { message.contains($0) ? "" : "\($0): " } ?? ""
        return ["  \(verdict) \(step): \(subject)\(message)"].map(Format.visible)
            + (remedy.map { ["    hint: " + Format.visible($0)] } ?? [])
    }
}

/// What `schedule status` shows about following the databases of a job.
struct FollowingSummary: Encodable {
    struct Database: Encodable {
        let source: String
        let database: String
        let state: String
        @Nullable var since: String?
        @Nullable var reason: String?
        @Nullable var code: String?
        @Nullable var lastLook: String?
        @Nullable var lastSegment: String?
        let segments: Int64
        let bytes: Int64
        @Nullable var base: String?
        let gaps: Int64
        @Nullable var lastGap: String?
        @Nullable var lastGapReason: String?
        @Nullable var lost: Int?

        fileprivate init(_ database: FollowingState.Database) {
            source = database.source
            self.database = database.database
            state = database.phase.rawValue
            since = Format.time(database.since)
            reason = database.reason ?? database.trouble
            code = database.code
            lastLook = Format.time(database.looked)
            lastSegment = Format.time(database.stored)
            segments = Int64(database.segments)
            bytes = database.bytes
            base = database.base
            gaps = Int64(database.gaps)
            lastGap = Format.time(database.lastGap)
            lastGapReason = database.lastGapReason
            lost = database.lost
        }

        fileprivate var line: String {
            var line = "\(database): \(state)"
            if let reason { line += " (\(reason))" }
            if let lastSegment { line += ", stored until \(lastSegment)" }
            if let lastGap { line += ", last gap from \(lastGap)" + (lastGapReason.map { ": \($0)" } ?? "") }
            return line
        }
    }

    let interval: Double
    let logLimit: Int64
    let spoolLimit: Int64
    let most: Int64
    @Nullable var running: Bool?
    let well: Bool
    let databases: [Database]
    let problem: ProblemSummary?

    /// Nil if the job does not follow its databases.
    init?(_ job: BackupJob, _ state: FollowingState?) {
        guard let settings = job.following else { return nil }
        interval = settings.interval.seconds
        logLimit = settings.logLimit
        spoolLimit = settings.spoolLimit
        most = Int64(settings.most)
        running = state == nil ? false : state?.isRunning
        well =
            state.map { state in
                state.isRunning != false && state.problem == nil && !state.databases.contains(where: \.isFailing)
            } ?? false
        databases = (state?.databases ?? []).map(Database.init)
        problem = state?.problem.map(ProblemSummary.init)
    }

    /// Adds the rows of text output.
    ///
    /// - Parameter hasState: whether the databases were ever followed here.
    func addRows(to report: inout Report, hasState: Bool) {
        var line = "every \(TimeSpan.text(Duration(seconds: interval))), logs up to \(Format.size(logLimit))"
        if !hasState {
            line += "; never started: run 'litevault schedule run'"
        } else if running == false {
            line += "; NOT RUNNING: start 'litevault schedule run'"
        }
        report.appendRow("follows", line)
        for line in problem?.lines() ?? [] { report.appendLine(line) }
        for database in databases { report.appendRow("", Format.visible(database.line)) }
    }
}

extension Format {
    /// A time of a state file, in seconds since 1970.
    static func time(_ seconds: Double?) -> String? { seconds.map { exactTime(Date(timeIntervalSince1970: $0)) } }
}
