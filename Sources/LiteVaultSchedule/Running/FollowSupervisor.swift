internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem
internal import Logging

/// Follows the databases of all jobs with `follow`. It rescans the sources regularly, starts to follow new databases and stops
/// following those whose files are gone. Events are logged, and stored for the status and the metrics.
package actor FollowSupervisor {
    private struct Entry {
        let job: BackupJob
        let follower: DatabaseFollower
        let run: Task<Void, Never>
        var state: FollowingState.Database
        var isLeaving = false
        /// Whether it ended by itself, as its file was promoted elsewhere.
        var hasEnded = false
        /// The file at the path when it was last looked at before that.
        var file: FileMetadata?

        var identity: ExactText { SnapshotCoordinator.key(job.repository, state.database) }
        var metadata: Logger.Metadata { ["job": "\(job.name)", "database": "\(state.database)"] }
    }

    private struct Key: Hashable {
        let job: String
        private let exact: ExactText
        var path: String { exact.text }

        init(job: String, path: String) { (self.job, exact) = (job, ExactText(path)) }
    }

    /// Seconds between two rescans: ten intervals of following, between 1 and 10.
    private let rescan: Double
    /// The shortest time between two writes of the state, unless one is urgent: those of one moment are one.
    private static let writeInterval = (usual: Duration.seconds(5), urgent: Duration.milliseconds(200))

    private let jobs: [BackupJob]
    private let context: ScheduleContext
    private let writeMetrics: @Sendable () throws -> Void
    private let grace: Duration
    /// Whether nothing is left to do when standbys of all followed databases were promoted.
    private let isAlone: Bool

    private var entries: [Key: Entry] = [:]
    /// The logs that followers have left where they are: the next one of a path has to recognise it beside another file.
    private var former: [Key: FormerLog] = [:]
    private var dirty: Set<String> = []
    private var nextWrite = Deadline(in: .zero)
    private var pendingWrite: (task: Task<Void, Never>, isUrgent: Bool)?
    /// What looks for databases. Its end is that of following.
    private var search: Task<Void, Never>?
    private var isEnding = false
    /// Why the last database that was promoted is no longer followed.
    private var promoted: VaultError?
    /// The jobs being rescanned: a repository may be slow to open.
    private var scanning: Set<String> = []
    private let events: AsyncStream<(Key, FollowingEvent)>
    private let continuation: AsyncStream<(Key, FollowingEvent)>.Continuation

    /// - Parameters:
    ///   - grace: how long followers may take to store commits they have already read, once they are to end.
    ///   - writeMetrics: called when what is followed changes.
    init(_ context: ScheduleContext, grace: Duration, writeMetrics: @escaping @Sendable () throws -> Void) {
        let jobs = context.configuration.jobs.filter(\.follows)
        self.jobs = jobs
        isAlone = jobs.count == context.configuration.jobs.count
        (self.context, self.grace, self.writeMetrics) = (context, grace, writeMetrics)
        rescan = min(10, max(1, 10 * (jobs.compactMap(\.following?.interval.seconds).min() ?? 1)))
        (events, continuation) = AsyncStream.makeStream()
    }

    /// How long followers of the tool may take on shutdown to store commits they have already read.
    package static let grace = Duration.seconds(8)

    /// Follows until the task is cancelled. Then each follower reads its log a last time and stores what it has read. It returns when
    /// all have stopped, or after the time that they were given. A store that hangs may block a follower: that is abandoned, and keeps
    /// the schedule locked until it ends.
    ///
    /// - Throws: `VaultError` `promoted` when standbys of all databases that are followed were promoted, and no job does anything else
    ///   (`isAlone`): there is nothing left to do then.
    package func run() async throws {
        context.board.begin()
        for job in jobs { setNeedsWrite(job.name) }
        let listener = Task {
            for await (key, event) in events { handle(event, of: key) }
        }
        let search = Task { await searchRegularly() }
        self.search = search
        await withTaskCancellationHandler {
            await search.value
        } onCancel: {
            search.cancel()
        }
        // In a task of its own: this one may be cancelled.
        await Task { await end() }.value
        continuation.finish()
        await listener.value
        pendingWrite?.task.cancel()
        dirty = Set(jobs.map(\.name))
        writeState()
        if !Task.isCancelled, let promoted { throw promoted }
    }

    private func searchRegularly() async {
        while !Task.isCancelled {
            for job in jobs where scanning.insert(job.name).inserted {
                _ = BlockingWork.task { await self.scan(job) }
            }
            // New snapshots of the jobs: segments then extend the newest one.
            for entry in entries.values {
                entry.follower.note(snapshot: await context.coordinator.sequence(entry.identity))
            }
            await context.clock.sleep(rescan)
        }
    }

    private func end() async {
        isEnding = true
        let limit = Deadline(in: grace + .seconds(1))
        // Also those that are leaving: there is no more time for their snapshots.
        for entry in entries.values { entry.follower.end(within: grace.seconds) }
        for entry in entries.values {
            let rest = max(limit.remaining, .milliseconds(10))
            let ended: Void? = await BlockingWork.value(of: entry.run, within: rest)
            guard ended == nil else { continue }
            context.log.warning("a follower did not stop in time, and is abandoned", metadata: entry.metadata)
            Task { [context] in
                await entry.run.value
                withExtendedLifetime(context.state) {}
            }
        }
    }

    /// Ends following if standbys of all databases were promoted, and no job does anything else.
    private func endIfPromoted() {
        guard isAlone, promoted != nil, scanning.isEmpty, !entries.isEmpty,
            entries.values.allSatisfy({ $0.state.phase == .promoted })
        else { return }
        search?.cancel()
    }

    // MARK: Databases

    private func scan(_ job: BackupJob) async {
        defer {
            scanning.remove(job.name)
            endIfPromoted()
        }
        let (list, files) = await BlockingWork.task { [names = context.names] in
            let list = names.list(job)
            return (list, list.databases.map { try? FileMetadata.ifExists(path: $0.path, followingLinks: true) })
        }.value
        guard !isEnding else { return }
        let databases = list.databases
        let present = Dictionary(zip(databases.map { ExactText($0.path) }, files)) { first, _ in first }
        for (key, entry) in entries where key.job == job.name && !entry.isLeaving {
            if let file = present[ExactText(key.path)] {
                if !entry.hasEnded {
                    entries[key]?.file = file
                } else if let file, let ended = entry.file, !file.isSameFile(as: ended) {
                    // Another file may be one to follow.
                    remove(key)
                }
                continue
            }
            // It may be there: the follower sees itself what it can read.
            if list.hides(key.path) { continue }
            let refused = list.problems.first { $0.source.map { isSameText($0, key.path) } ?? false }
            context.log.info(
                "stopped following: \(refused?.message ?? "the file is gone")", metadata: entry.metadata)
            if entry.hasEnded {
                remove(key)
            } else {
                entries[key]?.isLeaving = true
                // The file may be back soon: segments whose run has no snapshot could not be restored.
                entry.follower.end(within: 60, finishingSnapshot: true)
            }
        }
        let new = databases.filter { entries[Key(job: job.name, path: $0.path)] == nil }
        guard let settings = job.following, !new.isEmpty else {
            set(nil, job)
            return
        }
        do {
            let repository = try await context.repositories.repository(job.repository)
            // Opening may have taken a long time.
            guard !isEnding else { return }
            var problem: JobState.Problem?
            let free = max(0, settings.most - entries.keys.count { $0.job == job.name })
            if new.count > free {
                problem = JobState.Problem(
                    source: new[free].path, step: "follow", code: VaultError.Code.config.rawValue,
                    message:
                        "the job has \(databases.count) databases, but follows at most \(settings.most)",
                    remedy:
                        "Raise 'follow: {most: N}' (at most \(FollowSettings.limit)), or split the configuration."
                )
            }
            for (path, name) in new.prefix(free) {
                follow(path, name, job, settings, repository)
                entries[Key(job: job.name, path: path)]?.file = present[ExactText(path)] ?? nil
            }
            // After that: a client of the board that finds the job scanned finds what it follows.
            set(problem, job)
        } catch {
            // The signal that ends the process also ends a key command.
            guard !isEnding else { return }
            let problem = JobState.Problem(
                error, step: "follow", source: nil, repository: job.repository, services: context.services)
            set(problem, job)
        }
    }

    private func set(_ problem: JobState.Problem?, _ job: BackupJob) {
        let known = context.board.problem(of: job.name)
        context.board.didScan(job.name, problem: problem)
        guard known != problem else { return }
        setNeedsWrite(job.name)
        guard let problem else { return }
        context.log.error(
            "\(problem.message)",
            metadata: ["job": "\(job.name)", "step": "\(problem.step)", "code": "\(problem.code)"])
    }

    private func follow(
        _ path: String, _ name: String, _ job: BackupJob, _ settings: FollowSettings, _ repository: WritableRepository
    ) {
        var options = FollowingOptions(database: name)
        options.limits = FollowerLimits(logBytes: settings.logLimit, interval: settings.interval.seconds)
        options.spoolBytes = settings.spoolLimit
        options.compaction = settings.compaction
        options.allowsPlaintext = job.allowsPlaintext
        let key = Key(job: job.name, path: path)
        let taker = SnapshotTaker(job: job, context: context)
        let continuation = continuation
        let follower = DatabaseFollower(
            path, into: repository, options: options, former: former[key],
            takeSnapshot: { run, gap in
                // A snapshot that the job has taken meanwhile will do, unless there is a gap to record.
                try await taker.snapshot(
                    of: path, named: name, into: repository, inRun: gap == nil ? run.id : nil, gap: gap
                ).snapshot
            },
            report: { continuation.yield((key, $0)) })
        let entry = Entry(
            job: job, follower: follower, run: BlockingWork.task { await follower.run() },
            state: .init(source: path, database: name, since: context.clock.time().timeIntervalSince1970))
        context.coordinator.followed.withLock { $0[entry.identity] = follower.pages }
        entries[key] = entry
        show(key)
        setNeedsWrite(job.name, isUrgent: true)
    }

    // MARK: Events

    private func handle(_ event: FollowingEvent, of key: Key) {
        guard var entry = entries[key] else { return }
        let phase = entry.state.phase
        if entry.state.apply(event, at: context.clock.time().timeIntervalSince1970) {
            setNeedsWrite(key.job, isUrgent: entry.state.phase != phase)
        }
        if case .failed(_, let error as VaultError, _) = event {
            entry.state.remedy = context.services.remedy(error, entry.job.repository)
        }
        entries[key] = entry
        show(key)
        logEvent(event, entry.metadata)
        if case .ended = event {
            if entry.isLeaving { remove(key) } else { entries[key]?.hasEnded = true }
        }
        endIfPromoted()
    }

    /// Shows what a follower does to those who ask.
    private func show(_ key: Key) {
        guard let entry = entries[key] else { return }
        context.board.set(entry.state, of: key.job) { [follower = entry.follower] in follower.progress }
    }

    private func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        former[key] = entry.follower.former
        former = former.filter(\.value.exists)
        context.board.remove(key.path, of: key.job)
        context.coordinator.followed.withLock { $0[entry.identity] = nil }
        setNeedsWrite(key.job)
    }

    private func logEvent(_ event: FollowingEvent, _ about: Logger.Metadata) {
        switch event {
        case .waiting(let reason, let wasFollowed):
            context.log.log(
                level: wasFollowed ? .warning : .info,
                wasFollowed
                    ? "nothing to follow, though the log was followed before: commits are not stored without one (PRAGMA journal_mode = WAL)"
                    : "nothing to follow", metadata: about.with(["reason": reason]))
        case .attached: context.log.info("following", metadata: about)
        case .resumed: context.log.info("following without a gap since it last ran", metadata: about)
        case .based(let snapshot):
            context.log.info("every commit is stored from here on", metadata: about.with(["snapshot": snapshot.id]))
        case .polled: break
        case .stored(let frames, _, _):
            context.log.debug("segment stored", metadata: about.with(["frames": "\(frames)"]))
        case .clockBehind(let seconds):
            context.log.warning(
                "the system clock is behind the last stored label: points in time are dated after that until it is ahead",
                metadata: about.with(["seconds": "\(Int(seconds.rounded(.up)))"]))
        case .compacted(let result):
            context.log.debug(
                "segments joined", metadata: about.with(["joined": "\(result.joined)", "removed": "\(result.removed)"]))
            for warning in result.warnings {
                context.log.warning("not joined: \(warning.message)", metadata: about.with(["object": warning.path]))
            }
        case .returned: context.log.info("the repository is back: following continues", metadata: about)
        case .gap(let gap): context.log.warning("gap", metadata: about.with(["reason": gap.reason]))
        case .failed(let step, let error, let again):
            let failure = error as? VaultError
            context.log.error(
                "\(failure?.message ?? String(describing: error))",
                metadata: about.with([
                    "step": "follow", "part": step.rawValue, "code": failure?.code.rawValue ?? "internal",
                    "again": "\(Int(again.rounded()))s",
                ]))
        case .promoted(let error):
            context.log.error(
                "\(error.message)",
                metadata: about.with(["step": "follow", "code": error.code.rawValue, "remedy": error.remedy ?? ""]))
            promoted = error
        case .ended(0): context.log.info("no longer following", metadata: about)
        case .ended(let lost):
            context.log.warning(
                "no longer following: not all read commits could be stored", metadata: about.with(["lost": "\(lost)"]))
        }
    }

    /// Has the state of a job stored, with what else changes until then.
    ///
    /// - Parameter isUrgent: whether another process may be waiting for the change.
    private func setNeedsWrite(_ job: String, isUrgent: Bool = false) {
        dirty.insert(job)
        if isEnding || pendingWrite.map({ $0.isUrgent || !isUrgent }) ?? false { return }
        pendingWrite?.task.cancel()
        let pause = isUrgent ? Self.writeInterval.urgent : nextWrite.remaining
        let task = Task {
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            writeState()
        }
        pendingWrite = (task, isUrgent)
    }

    /// Stores the state of the jobs for which it has changed.
    private func writeState() {
        guard !dirty.isEmpty else { return }
        (nextWrite, pendingWrite) = (Deadline(in: Self.writeInterval.usual), nil)
        var failure: (any Error)?
        for name in dirty {
            var following = FollowingState()
            following.problem = context.board.problem(of: name)
            following.databases = entries.filter { $0.key.job == name }.map(\.value.state).sorted {
                $0.source < $1.source
            }
            do { try context.state.update(name) { $0.following = following } } catch { failure = error }
        }
        do { try writeMetrics() } catch { failure = error }
        dirty = []
        if let failure { context.log.error("cannot store the state of following: \(failure)") }
    }
}
