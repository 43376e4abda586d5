internal import Foundation
internal import LiteVaultBackup
internal import Logging

/// Follows the databases of all jobs that say so: looks now and then which there are, begins to follow new ones, and ends
/// with those whose file is gone. What happens is logged, and remembered for the status and the metrics.
package actor FollowSupervisor {
    /// A database that is followed.
    private struct Entry {
        let follower: DatabaseFollower
        let run: Task<Void, Never>
        let name: String
        var state: FollowingState.Database
        var isLeaving = false
    }

    private struct Key: Hashable {
        let job: String
        let path: String
    }

    /// Seconds from one look for databases to the next: ten looks at a log, from a second to ten.
    private let rescan: Double
    /// Seconds after which what is remembered is written anew at most.
    private static let writing = 5.0

    private let jobs: [Job]
    private let state: StateFile
    private let services: ScheduleServices
    private let repositories: OpenRepositories
    private let permits: Permits
    private let desk: SnapshotDesk
    private let log: Logger
    private let now: @Sendable () -> Date
    private let writeMetrics: @Sendable () throws -> Void

    private var entries: [Key: Entry] = [:]
    private var problems: [String: JobState.Problem] = [:]
    private var dirty: Set<String> = []
    private var lastWrite = Date.distantPast
    private var loop: Task<Void, Never>?
    private var listener: Task<Void, Never>?
    private var deadline: Date?
    /// Jobs whose databases are being looked for: the repository of one may be slow to open.
    private var looking: Set<String> = []
    private let events: AsyncStream<(Key, FollowingEvent)>
    private let continuation: AsyncStream<(Key, FollowingEvent)>.Continuation

    init(
        jobs: [Job], state: StateFile, services: ScheduleServices, repositories: OpenRepositories, permits: Permits,
        desk: SnapshotDesk, log: Logger, now: @escaping @Sendable () -> Date,
        writeMetrics: @escaping @Sendable () throws -> Void
    ) {
        self.jobs = jobs
        rescan = min(10, max(1, 10 * (jobs.compactMap(\.following?.interval).min() ?? 1)))
        self.state = state
        self.services = services
        self.repositories = repositories
        self.permits = permits
        self.desk = desk
        self.log = log
        self.now = now
        self.writeMetrics = writeMetrics
        (events, continuation) = AsyncStream.makeStream()
    }

    /// Begins.
    func start() {
        for job in jobs { dirty.insert(job.name) }
        listener = Task {
            for await (key, event) in events { note(key, event) }
        }
        loop = Task {
            var next = Date.distantPast
            // A signal is noticed at once, whatever the jobs are at.
            while deadline == nil, (try? services.check()) != nil {
                if Date() >= next {
                    for job in jobs where looking.insert(job.name).inserted {
                        _ = BlockingWork.task { await self.lookForDatabases(job) }
                    }
                    await tellSnapshots()
                    next = Date().addingTimeInterval(rescan)
                }
                write(atOnce: false)
                try? await Task.sleep(nanoseconds: 200_000_000)
            }
            askToEnd(within: Self.grace)
        }
    }

    /// Seconds in which what was seen is stored when the program is to end.
    package static let grace = 8.0

    /// Ends following everything: each follower looks a last time, and stores what it has seen. Returns when they have, or
    /// after ``grace`` seconds.
    package func end() async {
        askToEnd(within: Self.grace)
        await loop?.value
        let runs = entries.values.map(\.run)
        let limit = (deadline ?? Date()).addingTimeInterval(1)
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for run in runs { await run.value }
                return true
            }
            group.addTask {
                while !Task.isCancelled, Date() < limit { try? await Task.sleep(nanoseconds: 50_000_000) }
                return false
            }
            // A store that hangs may hold up a follower for long: its task is left behind, as the program ends.
            if await group.next() == true { group.cancelAll() }
        }
        continuation.finish()
        await listener?.value
        for job in jobs { dirty.insert(job.name) }
        write(atOnce: true)
    }

    private func askToEnd(within seconds: Double) {
        let end = deadline ?? Date().addingTimeInterval(seconds)
        deadline = end
        for entry in entries.values { entry.follower.end(before: end) }
    }

    // MARK: Which databases

    private func lookForDatabases(_ job: Job) async {
        defer { looking.remove(job.name) }
        let databases = await BlockingWork.task { SourceList(job).databases }.value
        guard deadline == nil else { return }
        let paths = Set(databases.map(\.path))
        for (key, entry) in entries where key.job == job.name && !paths.contains(key.path) && !entry.isLeaving {
            log.info("no longer followed: the file is gone", metadata: metadata(key, entry.name))
            entries[key]?.isLeaving = true
            entry.follower.end(before: Date().addingTimeInterval(60))
        }
        let new = databases.filter { entries[Key(job: job.name, path: $0.path)] == nil }
        guard let settings = job.following, !new.isEmpty else {
            set(nil, job)
            return
        }
        do {
            let repository = try await repositories.repository(job.repository)
            // It may have taken long.
            guard deadline == nil else { return }
            var problem: JobState.Problem?
            let free = max(0, settings.most - entries.keys.count { $0.job == job.name })
            if new.count > free {
                problem = .init(
                    source: new[free].path, step: "follow", code: BackupError.Code.config.rawValue,
                    message:
                        "the job has \(databases.count) databases, of which \(settings.most) are followed at most",
                    remedy:
                        "Write 'follow: {most: N}', with \(FollowSettings.limit) at most, or make several configurations of it."
                )
            }
            set(problem, job)
            for (path, name) in new.prefix(free) { begin(job, settings, path, name, repository) }
        } catch {
            let told = error as? BackupError
            set(
                .init(
                    source: nil, step: "follow", code: told?.code.rawValue ?? "internal",
                    message: told?.message ?? String(describing: error), remedy: told?.remedy), job)
        }
    }

    private func set(_ problem: JobState.Problem?, _ job: Job) {
        guard problems[job.name] != problem else { return }
        problems[job.name] = problem
        dirty.insert(job.name)
        guard let problem else { return }
        log.error(
            "\(problem.message)",
            metadata: ["job": "\(job.name)", "step": "\(problem.step)", "code": "\(problem.code)"])
    }

    private func begin(_ job: Job, _ settings: FollowSettings, _ path: String, _ name: String, _ repository: Repository)
    {
        var options = FollowingOptions(database: name)
        options.limits = FollowerLimits(logBytes: settings.logLimit, interval: settings.interval)
        options.spoolBytes = settings.spoolLimit
        options.allowsPlaintext = job.allowsPlaintext
        let key = Key(job: job.name, path: path)
        let take = TakeSnapshot(job: job, services: services, permits: permits, desk: desk, log: log)
        let continuation = continuation
        let follower = DatabaseFollower(
            path, into: repository, options: options,
            takeSnapshot: { run, gap in
                // One that the job took meanwhile will do, unless there is a gap to be recorded.
                try await take(path, name, repository, after: gap == nil ? run.began : nil, gap: gap).snapshot
            },
            report: { continuation.yield((key, $0)) })
        entries[key] = Entry(
            follower: follower, run: BlockingWork.task { await follower.run() }, name: name,
            state: .init(source: path, database: name, since: now().timeIntervalSince1970))
        dirty.insert(job.name)
    }

    // MARK: What happens

    private func note(_ key: Key, _ event: FollowingEvent) {
        guard var entry = entries[key] else { return }
        if entry.state.note(event, at: now().timeIntervalSince1970) { dirty.insert(key.job) }
        entries[key] = entry
        tell(event, metadata(key, entry.name))
        if case .ended = event, entry.isLeaving {
            entries[key] = nil
            dirty.insert(key.job)
        }
    }

    private func tell(_ event: FollowingEvent, _ about: Logger.Metadata) {
        func more(_ pairs: [String: String]) -> Logger.Metadata {
            about.merging(pairs.mapValues { Logger.MetadataValue.string($0) }) { $1 }
        }
        switch event {
        case .waiting(let reason): log.info("nothing to follow", metadata: more(["reason": reason]))
        case .attached: log.info("following", metadata: about)
        case .based(let snapshot):
            log.info("every commit is stored from here on", metadata: more(["snapshot": snapshot.id]))
        case .looked: break
        case .stored(let frames, _, _): log.debug("segment stored", metadata: more(["frames": "\(frames)"]))
        case .gap(let gap): log.warning("gap", metadata: more(["reason": gap.reason]))
        case .failed(let step, let error, let again):
            let told = error as? BackupError
            log.error(
                "\(told?.message ?? String(describing: error))",
                metadata: more([
                    "step": "follow", "part": step.rawValue, "code": told?.code.rawValue ?? "internal",
                    "again": "\(Int(again.rounded()))s",
                ]))
        case .ended(0): log.info("no longer following", metadata: about)
        case .ended(let lost):
            log.warning(
                "no longer following: not all that was seen could be stored", metadata: more(["lost": "\(lost)"]))
        }
    }

    private func metadata(_ key: Key, _ name: String) -> Logger.Metadata {
        ["job": "\(key.job)", "database": "\(name)"]
    }

    /// Tells the followers of snapshots that their jobs took: segments then go with the newest, not with an older one.
    private func tellSnapshots() async {
        for (key, entry) in entries {
            guard let job = jobs.first(where: { $0.name == key.job }) else { continue }
            entry.follower.note(snapshot: await desk.sequence(SnapshotDesk.key(job.repository, entry.name)))
        }
    }

    /// Writes down what has changed.
    private func write(atOnce: Bool) {
        let time = Date()
        guard !dirty.isEmpty, atOnce || time.timeIntervalSince(lastWrite) >= Self.writing || isUrgent else { return }
        lastWrite = time
        var failure: (any Error)?
        for name in dirty {
            var following = FollowingState()
            following.problem = problems[name]
            following.databases = entries.filter { $0.key.job == name }.map(\.value.state).sorted {
                $0.source < $1.source
            }
            do { try state.update(name) { $0.following = following } } catch { failure = error }
        }
        do { try writeMetrics() } catch { failure = error }
        dirty = []
        if let failure { log.error("what is followed can not be written down: \(failure)") }
    }

    /// Whether something is new that somebody may wait for.
    private var isUrgent: Bool {
        entries.values.contains { $0.state.since > lastWrite.timeIntervalSince1970 }
    }
}
