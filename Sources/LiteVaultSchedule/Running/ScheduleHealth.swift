internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// Whether a running schedule does what it is for, at this moment. What was not observed is not healthy.
package struct ScheduleHealth: Sendable, Equatable {
    package struct Follower: Sendable, Equatable {
        package let state: FollowingState.Database
        /// Why it is not current; nil if it is.
        package let reason: String?
        /// Seconds since the oldest moment of which a commit may not be stored; nil if nothing was observed yet.
        package let lag: Double?
        /// The lag above which it is not current, in seconds.
        package let lagLimit: Double
        /// The number of segments that wait to be stored.
        package let waiting: Int

        /// Whether everything that was committed is stored, up to the limit.
        package var isHealthy: Bool { reason == nil }
    }

    package struct Job: Sendable, Equatable {
        package let name: String
        /// What is wrong with its runs, or with all that it follows.
        package let reasons: [String]
        package let followers: [Follower]

        package var isHealthy: Bool { reasons.isEmpty && followers.allSatisfy(\.isHealthy) }
    }

    package let jobs: [Job]

    package var isHealthy: Bool { !jobs.isEmpty && jobs.allSatisfy(\.isHealthy) }
}

extension ScheduleRunner {
    /// Whether the jobs do what they are for: as `schedule status --check`, and in addition every followed database has to be stored up to
    /// its job's `lag-limit`, and each job has to have run.
    package func health() -> ScheduleHealth {
        ScheduleHealth(
            jobs: status().map { job in
                let entries = job.job.follows ? context.board.entries(of: job.job.name) : []
                return .init(
                    name: job.job.name, reasons: reasons(job) + reasons(job.job, isFollowing: !entries.isEmpty),
                    followers: entries.map { follower($0, job.job) })
            })
    }

    /// The metrics of all jobs at this moment: those of the file, with what followers do now, and their lag.
    package func currentSamples() -> [MetricSample] {
        var followed: [(labels: [MetricSample.Label], item: FollowingBoard.Entry)] = []
        let jobs = status().map { job in
            guard job.job.follows else { return job }
            let entries = context.board.entries(of: job.job.name)
            followed += entries.map { (labels: Metrics.labels(job.job.name, $0.state.database), item: $0) }
            var state = job.state ?? JobState()
            var following = FollowingState()
            following.databases = entries.map(\.state)
            state.following = following
            return JobStatus(job: job.job, state: state, decision: job.decision)
        }
        return Metrics.samples(jobs)
            + Metrics.samples(
                "follower_lag_seconds", .gauge, "Seconds since the oldest moment of which a commit may not be stored.",
                of: followed
            ) { $0.lag }
            + Metrics.samples(
                "follower_waiting_segments", .gauge, "Segments that wait to be stored.", of: followed
            ) { Double($0.progress.waiting) }
    }

    private func reasons(_ status: JobStatus) -> [String] {
        guard let state = status.state, state.lastStart != nil else { return ["has not run yet"] }
        var reasons: [String] = []
        if state.failed > 0 {
            let first = state.problems.first.map { ": \($0.step): \($0.message)" } ?? ""
            reasons.append("the last run had \(state.failed) failure\(state.failed == 1 ? "" : "s")\(first)")
        }
        let damaged = (state.unrestorable ?? []).count(where: \.needsAttention)
        if damaged > 0 { reasons.append("\(damaged) snapshot\(damaged == 1 ? "" : "s") cannot be restored") }
        let since = status.decision.overdue(
            status.job, state, configured: .distantPast, host: context.host, clock: context.clock)
        if since != nil { reasons.append("is overdue") }
        return reasons
    }

    /// What is wrong with all that a job follows.
    private func reasons(_ job: BackupJob, isFollowing: Bool) -> [String] {
        guard job.follows else { return [] }
        guard context.board.isScanned(job.name) else { return ["its databases are not known yet"] }
        if let problem = context.board.problem(of: job.name) { return ["\(problem.step): \(problem.message)"] }
        return isFollowing || job.allowsNone ? [] : ["no database is followed"]
    }

    private func follower(_ entry: FollowingBoard.Entry, _ job: BackupJob) -> ScheduleHealth.Follower {
        let limit = (job.following ?? FollowSettings()).longestLag.seconds
        return .init(
            state: entry.state, reason: entry.state.complaint ?? Self.complaint(entry, limit: limit), lag: entry.lag,
            lagLimit: limit, waiting: entry.progress.waiting)
    }

    private static func complaint(_ entry: FollowingBoard.Entry, limit: Double) -> String? {
        guard let lag = entry.lag else {
            return entry.state.looked == nil
                ? "the log was not read yet" : "what was read of the log is not known to be stored yet"
        }
        guard lag > limit else { return nil }
        return "commits of the last \(Int(lag)) s may not be stored (limit: \(TimeSpan.text(Duration(seconds: limit))))"
    }
}

extension FollowingState.Database {
    /// Why its commits cannot be said to be stored, whatever its lag is; nil if they can.
    fileprivate var complaint: String? {
        switch phase {
        case .following: trouble
        case .starting: reason ?? "following has not begun yet"
        case .attached: trouble ?? "the snapshot that its commits need is not stored yet"
        case .waiting, .failed, .promoted, .ended: "the log is not followed: " + (reason ?? trouble ?? phase.rawValue)
        }
    }
}

/// What is known at this moment of the databases that are followed. Followers write to it; a reader waits for none of them, and
/// none waits for who looks.
package final class FollowingBoard: Sendable {
    private struct Line {
        var state: FollowingState.Database
        let progress: @Sendable () -> (progress: FollowingProgress, now: Double)
    }

    struct Entry: Sendable {
        let state: FollowingState.Database
        let progress: FollowingProgress
        /// Seconds since the oldest moment of which a commit may not be stored; nil if nothing was observed yet.
        let lag: Double?
    }

    private struct Content {
        var lines: [String: [ExactText: Line]] = [:]
        var problems: [String: JobState.Problem] = [:]
        /// The jobs whose databases were looked for.
        var scanned: Set<String> = []
    }

    private let content = Locked(Content())

    /// Following begins: what an earlier supervisor of the same jobs has left does not count.
    func begin() { content.withLock { $0 = Content() } }

    func set(
        _ state: FollowingState.Database, of job: String,
        progress: @escaping @Sendable () -> (progress: FollowingProgress, now: Double)
    ) {
        content.withLock {
            $0.lines[job, default: [:]][ExactText(state.source)] = Line(state: state, progress: progress)
        }
    }

    /// The database is no longer followed.
    func remove(_ source: String, of job: String) { content.withLock { $0.lines[job]?[ExactText(source)] = nil } }

    /// The databases of a job were looked for.
    ///
    /// - Parameter problem: why not all that were found are followed.
    func didScan(_ job: String, problem: JobState.Problem?) {
        content.withLock {
            $0.scanned.insert(job)
            $0.problems[job] = problem
        }
    }

    /// Whether the databases of a job were looked for.
    func isScanned(_ job: String) -> Bool { content.withLock { $0.scanned.contains(job) } }

    /// Why the job does not follow all its databases.
    func problem(of job: String) -> JobState.Problem? { content.withLock { $0.problems[job] } }

    /// The databases that a job follows, in the order of their paths.
    func entries(of job: String) -> [Entry] {
        let lines = content.withLock { $0.lines[job].map { Array($0.values) } ?? [] }
        return lines.sorted { $0.state.source < $1.state.source }.map { line in
            // Outside of the lock: a follower has its own.
            let (progress, now) = line.progress()
            return Entry(state: line.state, progress: progress, lag: progress.lag(at: now))
        }
    }
}
