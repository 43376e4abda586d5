internal import LiteVaultBackup
package import LiteVaultFoundation
internal import LiteVaultQuoting
internal import LiteVaultSystem
package import Logging

/// Runs the jobs of a configuration when they are due.
package final class ScheduleRunner: Sendable {
    package let configuration: ScheduleConfiguration
    let context: ScheduleContext
    private let longestPause: Duration
    private let pauseOfRefreshes: Duration
    private let measure: @Sendable ([MetricSample]) -> Void
    private let measuring = Locked(())
    /// The runs that have not ended, by job; also those that were abandoned.
    private let underWay = Locked<[String: Task<JobOutcome, Never>]>([:])
    /// The jobs that are to run at once, as somebody has asked for it.
    private let requested = Locked<Set<String>>([])

    /// - Parameters:
    ///   - host: the host name, from which the jitter of the jobs is derived.
    ///   - now: the clock.
    ///   - longestPause: how long a lane waits at most before it looks at the clock again, which may have been changed.
    ///   - pauseOfRefreshes: after which time a lane without a run asks the repository what checks by others have recorded.
    ///   - measure: called with all metrics after each run of a job, and when what is followed changes.
    package init(
        _ configuration: ScheduleConfiguration, state: StateFile, services: ScheduleServices, log: Logger, host: String,
        now: @escaping @Sendable () -> Date = { Date() }, longestPause: Duration = .seconds(60),
        pauseOfRefreshes: Duration = .seconds(600),
        measure: @escaping @Sendable ([MetricSample]) -> Void = { _ in }
    ) {
        self.configuration = configuration
        context = ScheduleContext(configuration, state: state, services: services, log: log, host: host, now: now)
        self.longestPause = longestPause
        self.pauseOfRefreshes = pauseOfRefreshes
        self.measure = measure
    }

    /// Runs the jobs that are due, in parallel, and reports each as it ends.
    ///
    /// - Returns: the outcomes in the order in which the runs ended; empty if no job was due.
    /// - Throws: `VaultError` if the state cannot be stored; what `report` throws.
    package func runDue(_ report: @Sendable (JobOutcome) throws -> Void = { _ in }) async throws -> [JobOutcome] {
        takeRunRequest()
        let all = try await withThrowingTaskGroup(of: JobOutcome?.self) { group in
            for job in configuration.jobs {
                group.addTask { [self] in
                    guard await decide(job).decision.isDue else { return nil }
                    return await run(job).outcome
                }
            }
            var all: [JobOutcome] = []
            var failure: (any Error)?
            while let ended = try await group.next() {
                guard let outcome = ended else { continue }
                all.append(outcome)
                // A full disk must not stop the other jobs.
                do {
                    let kept = try store(outcome)
                    try report(kept)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return all
        }
        let ran = Set(all.map(\.job))
        if configuration.metrics != nil { try await refresh(configuration.jobs.filter { !ran.contains($0.name) }) }
        try writeMetrics()
        return all
    }

    /// Runs each job whenever it is due, on a lane of its own, until the program is asked to end. A job never overlaps itself,
    /// and jobs wait for each other only where ``ScheduleConfiguration/concurrency`` limits them.
    ///
    /// - Parameters:
    ///   - grace: how long runs that are under way may take to stop. They are then abandoned.
    ///   - supervisor: that of the followed databases, if there are any.
    ///   - report: called for each run as it ends, one at a time.
    /// - Throws: what the services' `check` throws when the program is asked to end, and what `report` throws; `VaultError` `promoted`
    ///   when all jobs follow, and standbys of all their databases were promoted.
    package func run(
        grace: Duration = .seconds(2), following supervisor: FollowSupervisor? = nil,
        _ report: @escaping @Sendable (JobOutcome) throws -> Void
    ) async throws {
        takeRunRequest()
        let reporter = OutcomeReporter(report)
        let lanes = configuration.jobs.map { job in BlockingWork.task { await self.lane(job, reporter) } }
        do {
            while true {
                try context.services.check()
                try reporter.check()
                if configuration.jobs.allSatisfy(\.follows) { try await supervisor?.checkPromotion() }
                try await Task.sleep(nanoseconds: 100_000_000)
            }
        } catch {
            for lane in lanes { lane.cancel() }
            let deadline = Deadline(in: grace)
            func rest() -> Duration { max(deadline.remaining, .milliseconds(50)) }
            for lane in lanes { _ = await BlockingWork.value(of: lane, within: rest()) }
            // A lane does not wait for its run, which has leases to release.
            for (job, run) in underWay.value.sorted(by: { $0.key < $1.key })
            where await BlockingWork.value(of: run, within: rest()) == nil {
                context.log.warning("a run did not stop in time, and is abandoned", metadata: ["job": "\(job)"])
            }
            throw error
        }
    }

    /// Runs one job repeatedly.
    private func lane(_ job: BackupJob, _ reporter: OutcomeReporter) async {
        // Whether the abandoned run has ended; nil if there is none.
        var abandoned: Locked<Bool>?
        var asked = ContinuousClock.now
        while (try? context.services.check()) != nil, !Task.isCancelled {
            if let hasEnded = abandoned {
                guard hasEnded.value else {
                    try? await Task.sleep(nanoseconds: 200_000_000)
                    continue
                }
                underWay.withLock { $0[job.name] = nil }
                context.log.info("an abandoned run has ended", metadata: ["job": "\(job.name)"])
                abandoned = nil
            }
            let (known, decision) = await decide(job)
            var next = decision.next
            if decision.isDue {
                let ended = await run(job)
                abandoned = ended.abandoned.map(Self.watch)
                var outcome = ended.outcome
                do { outcome = try store(outcome) } catch {
                    // The next run tries again; a full disk must not stop the backups.
                    context.log.error("cannot store the state of the job: \(error)", metadata: ["job": "\(job.name)"])
                }
                reporter.report(outcome)
                do { try writeMetrics() } catch { context.log.error("cannot write the metrics: \(error)") }
                next = due(job, context.state.job(job.name) ?? known).next
                asked = .now
            } else if .now - asked >= pauseOfRefreshes {
                do {
                    try await refresh([job])
                    try writeMetrics()
                } catch {
                    context.log.error("cannot store the state of the job: \(error)", metadata: ["job": "\(job.name)"])
                }
                asked = .now
            }
            await pause(until: next)
        }
    }

    /// Asks the repositories of jobs that did not run what verifications by others have recorded, for the metrics.
    private func refresh(_ jobs: [BackupJob]) async throws {
        let known = jobs.compactMap { job in context.state.job(job.name).map { (job: job, state: Optional($0)) } }
            .filter { $0.state?.lastStart != nil }
        guard !known.isEmpty else { return }
        let found = await RecordedDamage(known, context.services, within: Self.patience)
        for (job, before) in known {
            guard var after = before, after.apply(found, of: job.name) else { continue }
            let (unrestorable, examined) = (after.unrestorable, after.examined)
            try context.state.update(job.name) { ($0.unrestorable, $0.examined) = (unrestorable, examined) }
        }
    }

    /// How long a repository may take that is asked between two runs.
    private static let patience = Duration.seconds(10)

    /// Waits for a run with one task, however long it takes: nothing can stop to wait for a task's value, so that each attempt
    /// with a time limit would leave a task behind.
    ///
    /// - Returns: whether the run has ended.
    private static func watch(_ run: Task<JobOutcome, Never>) -> Locked<Bool> {
        let hasEnded = Locked(false)
        Task {
            _ = await run.value
            hasEnded.withLock { $0 = true }
        }
        return hasEnded
    }

    /// Whether a job is due. If that depends on its repository, which does not respond, the job is due: the run reports
    /// why.
    private func decide(_ job: BackupJob) async -> (known: JobState?, decision: DueDecision) {
        let lookup = BlockingWork.task { await self.known(job) }
        let found = await BlockingWork.value(of: lookup, within: job.limits.store) ?? nil
        let isRequested = requested.withLock { $0.remove(job.name) } != nil
        return (found, isRequested ? .now(context.now()) : due(job, found))
    }

    private func due(_ job: BackupJob, _ state: JobState?) -> DueDecision {
        DueDecision(job, state, host: context.host, now: context.now())
    }

    private func takeRunRequest() {
        guard context.state.takeRunRequest() else { return }
        requested.withLock { $0.formUnion(configuration.jobs.map(\.name)) }
    }

    /// Waits, but not longer than the longest pause.
    private func pause(until next: Date?) async {
        let end = min(next ?? .distantFuture, context.now().addingTimeInterval(longestPause.seconds))
        // A clock that was set back would not get there for as long as it was set back.
        let longest = Deadline(in: longestPause)
        // At least once, even when the job is due: a job that fails at once would spin.
        repeat {
            guard (try? context.services.check()) != nil, !Task.isCancelled else { return }
            try? await Task.sleep(nanoseconds: 200_000_000)
        } while context.now() < end && !longest.isOver
    }

    /// When the next job is due; nil if none ever is.
    package func next() -> Date? { status().compactMap(\.decision.next).min() }

    /// Runs a job within its time limit.
    ///
    /// - Returns: the outcome, and the run if it could not be stopped in time: a thread that hangs in a read or write
    ///   cannot be cancelled.
    private func run(_ job: BackupJob) async -> (outcome: JobOutcome, abandoned: Task<JobOutcome, Never>?) {
        context.log.info("job started", metadata: ["job": "\(job.name)"])
        let start = context.now()
        // Work on other threads does not see that its task was cancelled; it checks this.
        let expired = Locked(false)
        let check = context.services.check
        var limited = context
        limited.services.check = {
            if expired.value { throw CancellationError() }
            try check()
        }
        let steps = jobRun(job, limited, start)
        let task = BlockingWork.task { [self] in
            var outcome = await steps.run()
            if !outcome.isInterrupted, job.retention != nil, job.prunes { await prune(steps, &outcome) }
            return outcome
        }
        underWay.withLock { $0[job.name] = task }
        var abandoned: Task<JobOutcome, Never>?
        var outcome: JobOutcome
        if let ended = await BlockingWork.value(of: task, within: job.limits.run) {
            underWay.withLock { $0[job.name] = nil }
            outcome = ended
        } else {
            abandoned = task
            expired.withLock { $0 = true }
            task.cancel()
            outcome = JobOutcome(job: job.name, start: start)
            if Task.isCancelled {
                outcome.isInterrupted = true
            } else {
                let reached = VaultError.limitReached(
                    "run", job.limits.run, "the run",
                    remedy:
                        "Find out what it waits for: the log shows its last step. The job runs again once it has ended."
                )
                let ending = jobRun(job, context, start)
                ending.record(reached, "run", nil, &outcome)
                await ending.finish(&outcome)
            }
        }
        outcome.end = context.now()
        return (outcome, abandoned)
    }

    private func jobRun(_ job: BackupJob, _ context: ScheduleContext, _ start: Date) -> JobRun {
        JobRun(
            job: job, context: context, following: followingProblems(job),
            concurrency: job.concurrency ?? configuration.concurrency, state: context.state.job(job.name), start: start)
    }

    /// Prunes once a day, as it reads all of the repository's index.
    private func prune(_ run: JobRun, _ outcome: inout JobOutcome) async {
        let job = run.job
        // A time in the future was recorded with a wrong clock.
        if let last = context.state.job(job.name)?.lastPrune, 0..<86_400 ~= context.now().timeIntervalSince1970 - last {
            return
        }
        do {
            let check = run.context.services.check
            _ = try await context.repositories.repository(job.repository).prune(
                grace: job.grace, progress: { _ in try check() })
            outcome.pruned = true
            outcome.mayRemove = true
        } catch let error as VaultError where error.code == .busy && !run.isStuck(error, &outcome) {
            // Another job or machine is pruning: the next run tries again.
            context.log.info("nothing pruned: the repository is in use", metadata: ["job": "\(job.name)"])
        } catch {
            run.record(error, "retention", nil, &outcome)
        }
    }

    /// The stored state of a job, or what its repository says about it.
    private func known(_ job: BackupJob) async -> JobState? {
        // Followed databases may be in the state before the job ever ran.
        if let known = context.state.job(job.name), known.lastStart != nil { return known }
        let list = context.names.list(job)
        // Names that collide are reported at once.
        guard !list.databases.isEmpty, !list.hasCollisions else { return nil }
        do {
            let repository = try await Repository.open(
                try context.services.store(job.repository),
                secret: try job.repository.secret.map(context.services.secret),
                local: context.services.local)
            let newest = try await repository.snapshots().byDatabase
            let times = list.databases.map { one in
                newest.first { isSameText($0[0].database, one.name) }?.map(\.time).max()?.timeIntervalSince1970
            }
            guard !times.contains(nil), let oldest = times.compactMap(\.self).min() else { return nil }
            var found = JobState()
            found.lastStart = oldest
            found.lastSuccess = oldest
            found.databases = list.databases.count
            return found
        } catch {
            // The run will meet the failure again and report it.
            return nil
        }
    }

    /// Stores the outcome of a run, unless it was interrupted, and adds the time of the next one.
    private func store(_ outcome: JobOutcome) throws -> JobOutcome {
        // After the state: a program that reads "job done" finds the run in it, unless an error follows.
        defer { logEnd(outcome) }
        guard !outcome.isInterrupted, let job = configuration.jobs.first(where: { $0.name == outcome.job }) else {
            return outcome
        }
        try context.state.update(outcome.job) { $0.apply(outcome, verifying: job.verification?.level) }
        var stored = outcome
        stored.next = due(job, context.state.job(outcome.job)).next
        return stored
    }

    private func logEnd(_ outcome: JobOutcome) {
        let metadata: Logger.Metadata = [
            "job": "\(outcome.job)", "stored": "\(outcome.stored.count)", "failed": "\(outcome.problems.count)",
        ]
        if outcome.isInterrupted {
            context.log.warning("job interrupted", metadata: metadata)
        } else if outcome.isSuccess {
            context.log.info("job done", metadata: metadata)
        } else {
            context.log.error("job failed", metadata: metadata)
        }
    }

    /// The state of each job, and when it is due.
    package func status() -> [JobStatus] {
        configuration.jobs.map { job in
            let known = context.state.job(job.name)
            return JobStatus(job: job, state: known, decision: due(job, known))
        }
    }

    /// Starts to follow the databases of all jobs with `follow`; nil if there are none. Until the supervisor ends, runs of
    /// these jobs report failures of following too.
    ///
    /// - Parameter grace: how long followers may take to store commits they have already read, once the program is asked to end.
    package func follow(grace: Duration = FollowSupervisor.grace) async -> FollowSupervisor? {
        let jobs = configuration.jobs.filter(\.follows)
        guard !jobs.isEmpty else { return nil }
        let supervisor = FollowSupervisor(
            jobs: jobs, context: context, grace: grace, writeMetrics: { [self] in try writeMetrics() })
        await supervisor.start()
        return supervisor
    }

    private func followingProblems(_ job: BackupJob) -> [JobState.Problem] {
        // The state of a process that has ended does not count.
        guard job.follows, let known = context.state.job(job.name)?.following, known.isRunning == true else {
            return []
        }
        return known.problems
    }

    private func writeMetrics() throws {
        // Under a lock, so that an older state does not follow a newer one.
        let text = measuring.withLock { _ in
            let samples = self.samples()
            measure(samples)
            return Metrics.text(samples)
        }
        guard let path = configuration.metrics else { return }
        try Metrics.write(text, to: path)
    }

    /// The metrics of all jobs, as last stored.
    package func samples() -> [MetricSample] { Metrics.samples(status()) }
}

/// Reports outcomes one at a time, and keeps the first error.
private final class OutcomeReporter: Sendable {
    private let body: @Sendable (JobOutcome) throws -> Void
    private let failure = Locked<(any Error)?>(nil)

    init(_ body: @escaping @Sendable (JobOutcome) throws -> Void) { self.body = body }

    func report(_ outcome: JobOutcome) {
        // Under the lock, which serializes the reports.
        failure.withLock { failure in
            do { try body(outcome) } catch { failure = failure ?? error }
        }
    }

    func check() throws { if let failure = failure.withLock({ $0 }) { throw failure } }
}

/// The status of a job.
package struct JobStatus: Sendable {
    package let job: BackupJob
    /// The stored state; nil if the job never ran here.
    package let state: JobState?
    package let decision: DueDecision
}
