internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// What is known at this moment of the databases that are followed. Followers write to it; a reader waits for none of them, and
/// none waits for who looks.
package final class FollowingBoard: Sendable {
    private struct Line {
        var state: FollowingState.Database
        let progress: @Sendable () -> (progress: FollowingProgress, now: Double)
    }

    /// A followed database.
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

    /// Begins, or continues, with the state of a database.
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
