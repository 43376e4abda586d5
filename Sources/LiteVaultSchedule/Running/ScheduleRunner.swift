internal import LiteVaultBackup
internal import LiteVaultQuoting
package import LiteVaultSystem
internal import Logging

/// Runs the jobs of a configuration when they are due.
package final class ScheduleRunner: Sendable {
    package struct Pauses: Sendable {
        /// How long a lane waits at most before it looks at the clock again, which may have been changed.
        let longest: Duration
        /// After which time a lane without a run asks the repository what checks by others have recorded.
        let refreshes: Duration
        /// How long what has a limit of its own may take to end after it: a hook is given some seconds to terminate.
        let overtime: Duration

        package init(
            longest: Duration = .seconds(60), refreshes: Duration = .seconds(600), overtime: Duration = .seconds(10)
        ) {
            (self.longest, self.refreshes, self.overtime) = (longest, refreshes, overtime)
        }
    }

    let context: ScheduleContext
    private let pauses: Pauses
    private let measure: @Sendable ([MetricSample]) -> Void
    private let measuring = Locked(())
    /// The jobs that are to run at once, as somebody has asked for it.
    private let requested = Locked<Set<String>>([])

    package var configuration: ScheduleConfiguration { context.configuration }

    /// - Parameter measure: called with all metrics after each run of a job, and when what is followed changes.
    package init(
        _ context: ScheduleContext, pauses: Pauses = Pauses(),
        measure: @escaping @Sendable ([MetricSample]) -> Void = { _ in }
    ) {
        (self.context, self.pauses, self.measure) = (context, pauses, measure)
    }

    /// Runs the jobs that are due, in parallel.
    ///
    /// If the task is cancelled, it begins no more runs, and those under way end as interrupted.
    ///
    /// - Parameter grace: how long runs that are under way may take to stop then, before they are abandoned.
    /// - Returns: the outcomes in the order in which the runs ended; empty if no job was due.
    /// - Throws: `VaultError` if the state cannot be stored.
    package func runDue(grace: Duration = .seconds(2)) async throws -> [JobOutcome] {
        takeRunRequest()
        let all = try await withThrowingTaskGroup(of: JobOutcome?.self) { group in
            for job in configuration.jobs {
                group.addTask { [self] in
                    guard !Task.isCancelled, await decide(job).decision.isDue, !Task.isCancelled else { return nil }
                    return await run(job, grace: grace).outcome
                }
            }
            var all: [JobOutcome] = []
            var failure: (any Error)?
            while let ended = try await group.next() {
                guard let outcome = ended else { continue }
                all.append(outcome)
                // A full disk must not stop the other jobs.
                do { _ = try store(outcome) } catch { failure = error }
            }
            if let failure { throw failure }
            return all
        }
        let ran = Set(all.map(\.job))
        if configuration.metrics != nil, !Task.isCancelled {
            try await refresh(configuration.jobs.filter { !ran.contains($0.name) })
        }
        try writeMetrics()
        return all
    }

    /// Runs each job whenever it is due, on a lane of its own, and follows the databases of the jobs with `follow`, until the task is
    /// cancelled. A job never overlaps itself, apart from runs that another runner has abandoned, and jobs wait for each other only where
    /// ``ScheduleConfiguration/concurrency`` limits them.
    ///
    /// It returns when the runs under way have stopped, and followers have stored the commits that they had read. What takes longer than
    /// its time is abandoned, whatever it hangs in, and keeps the schedule locked until it ends.
    ///
    /// - Parameters:
    ///   - grace: how long runs that are under way may take to stop.
    ///   - followers: how long followers may take to store commits they have already read.
    ///   - report: called for each run as it ends, one at a time. Once this has returned, it is no longer called; a report that begins at
    ///     that moment may still be made.
    /// - Throws: `CancellationError` when the task is cancelled; what `report` throws; `VaultError` `promoted` when all jobs follow, and
    ///   standbys of all their databases were promoted.
    package func run(
        grace: Duration = .seconds(2), followers: Duration = FollowSupervisor.grace,
        _ report: @escaping @Sendable (JobOutcome) throws -> Void
    ) async throws {
        takeRunRequest()
        let reporting = Locked(())
        // Not what the lock guards: a receiver that hangs holds that.
        let hasEnded = Locked(false)
        defer { hasEnded.withLock { $0 = true } }
        // The first error ends all.
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let supervisor = self.supervisor(grace: followers) {
                // It has its own limit for the followers. What it stores after that may hang.
                group.addTask { [self] in
                    try await perform("the supervisor of the followers", [:], grace: followers + .seconds(5)) {
                        try await supervisor.run()
                    }
                }
            }
            for job in configuration.jobs {
                // A run and its hooks have limits. The state, the metrics and the receiver of the report may hang as well.
                group.addTask { [self] in
                    try await perform("a job", ["job": "\(job.name)"], grace: grace + .seconds(1)) { [self] in
                        try await lane(job, grace) { outcome in
                            try reporting.withLock { _ in
                                guard !hasEnded.value else { return }
                                try report(outcome)
                            }
                        }
                    }
                }
            }
            for try await _ in group {}
        }
        try Task.checkCancellation()
    }

    /// Does work that may hang. It is cancelled with this task, and abandoned if it has not stopped after `grace`.
    private func perform(
        _ name: String, _ metadata: Logger.Metadata, grace: Duration,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        // A task of its own would begin uncancelled.
        guard !Task.isCancelled else { return }
        let task = BlockingWork.task { () async -> Result<Void, any Error> in
            do { return .success(try await work()) } catch { return .failure(error) }
        }
        if let result = await BlockingWork.value(of: task) { return try result.get() }
        try await stopped(task, name, metadata, in: grace)?.get()
    }

    /// Runs one job repeatedly, until the task is cancelled.
    private func lane(_ job: BackupJob, _ grace: Duration, _ report: (JobOutcome) throws -> Void) async throws {
        var asked = context.clock.now()
        while !Task.isCancelled {
            let (known, decision) = await decide(job)
            if Task.isCancelled { return }
            var next = decision.next
            if decision.isDue {
                let (ended, abandoned) = await run(job, grace: grace)
                var outcome = ended
                do { outcome = try store(outcome) } catch {
                    // The next run tries again; a full disk must not stop the backups.
                    context.log.error("cannot store the state of the job: \(error)", metadata: ["job": "\(job.name)"])
                }
                try report(outcome)
                do { try writeMetrics() } catch { context.log.error("cannot write the metrics: \(error)") }
                if Task.isCancelled { return }
                if !abandoned.isEmpty {
                    let rest = Task { for one in abandoned { _ = await one.value } }
                    if await BlockingWork.value(of: rest) == nil,
                        await stopped(rest, "a run", ["job": "\(job.name)"], in: grace) == nil
                    {
                        return
                    }
                    context.log.info("an abandoned run has ended", metadata: ["job": "\(job.name)"])
                }
                next = due(job, context.state.job(job.name) ?? known).next
                asked = context.clock.now()
            } else if context.clock.now() - asked >= pauses.refreshes.seconds {
                do {
                    try await refresh([job])
                    try writeMetrics()
                } catch {
                    context.log.error("cannot store the state of the job: \(error)", metadata: ["job": "\(job.name)"])
                }
                asked = context.clock.now()
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

    /// Whether a job is due. If that depends on its repository, which does not respond, the job is due: the run reports
    /// why.
    private func decide(_ job: BackupJob) async -> (known: JobState?, decision: DueDecision) {
        let lookup = BlockingWork.task { await self.known(job) }
        defer { lookup.cancel() }
        let found = await BlockingWork.value(of: lookup, within: job.limits.store) ?? nil
        let isRequested = requested.withLock { $0.remove(job.name) } != nil
        return (found, isRequested ? .now(context.clock.time()) : due(job, found))
    }

    private func due(_ job: BackupJob, _ state: JobState?) -> DueDecision {
        DueDecision(job, state, host: context.host, now: context.clock.time())
    }

    private func takeRunRequest() {
        guard !Task.isCancelled, context.state.takeRunRequest() else { return }
        requested.withLock { $0.formUnion(configuration.jobs.map(\.name)) }
    }

    /// Waits, but not longer than the longest pause: a clock that was set back would not get there for as long as it was set back.
    private func pause(until next: Date?) async {
        let rest = next?.timeIntervalSince(context.clock.time()) ?? .infinity
        // At least for a moment, even when the job is due: a job that fails at once would spin.
        await context.clock.sleep(max(0.2, min(rest, pauses.longest.seconds)))
    }

    /// When the next job is due; nil if none ever is.
    package func next() -> Date? { status().compactMap(\.decision.next).min() }

    /// Runs a job within its time limit. The limit cancels the run, as the cancellation of this task does.
    ///
    /// - Returns: the outcome, and what may still be under way: the run if it was not seen to stop, and its hook or heartbeat after the limit
    ///   if that could not be stopped in time. A thread that hangs in a read or write does not notice that its task is cancelled.
    private func run(
        _ job: BackupJob, grace: Duration
    ) async -> (outcome: JobOutcome, abandoned: [Task<JobOutcome, Never>]) {
        context.log.info("job started", metadata: ["job": "\(job.name)"])
        let steps = JobRun(job, context)
        let run = BlockingWork.task { [self] in
            var outcome = await steps.run()
            if !outcome.isInterrupted, job.retention != nil, job.prunes { await prune(steps, &outcome) }
            return outcome
        }
        var ended = await BlockingWork.value(of: run, within: job.limits.run)
        var outcome = JobOutcome(job: job.name, start: steps.start, end: steps.start)
        var abandoned: [Task<JobOutcome, Never>] = []
        if ended == nil {
            run.cancel()
            if Task.isCancelled {
                ended = await stopped(run, "a run", ["job": "\(job.name)"], in: grace)
                outcome.isInterrupted = true
            } else {
                let reached = VaultError.limitReached(
                    "run", job.limits.run, "the run",
                    remedy:
                        "Find out what it waits for: the log shows its last step. The job runs again once it has ended."
                )
                // It has failed, even if the program ends meanwhile.
                steps.record(steps.problem(reached, "run", nil), &outcome)
                let (finished, hanging) = await finish(steps, outcome, grace: grace)
                outcome = finished
                outcome.isInterrupted = false
                if let hanging { abandoned.append(hanging) }
            }
            if ended == nil { abandoned.append(run) }
        }
        outcome = ended ?? outcome
        (outcome.end, outcome.uptime) = (context.clock.time(), context.clock.now())
        return (outcome, abandoned)
    }

    /// Runs the hook and sends the heartbeat of a run that has reached its limit. They have limits of their own. If they exceed these, or this
    /// task is cancelled, they are cancelled, which is a warning in the outcome.
    ///
    /// - Returns: the outcome, and the hook or the heartbeat if it could not be stopped in time.
    private func finish(
        _ run: JobRun, _ outcome: JobOutcome, grace: Duration
    ) async -> (outcome: JobOutcome, abandoned: Task<JobOutcome, Never>?) {
        let finishing = BlockingWork.task {
            var ended = outcome
            await run.finish(&ended)
            // A heartbeat that is cancelled leaves no trace.
            if Task.isCancelled { ended.isInterrupted = true }
            return ended
        }
        let limit = run.job.limits.hook + run.job.limits.heartbeat + pauses.overtime
        if let ended = await BlockingWork.value(of: finishing, within: limit) { return (ended, nil) }
        let ended = await stopped(finishing, in: grace)
        if let ended, !ended.isInterrupted { return (ended, nil) }
        var result = ended ?? outcome
        let ending = ended == nil ? "did not stop in time, and is abandoned" : "was stopped before it had ended"
        // If the program ends, it need not have waited for anything.
        let remedy = Task.isCancelled ? nil : "Find out what it waits for. The job runs again once it has ended."
        run.recordWarning(
            VaultError(
                .jobFailed, "the hook or the heartbeat of a run that reached its limit \(ending)", remedy: remedy),
            run.job.hooks.failed == nil ? "heartbeat" : "hook", &result)
        return (result, ended == nil ? finishing : nil)
    }

    /// Cancels a task and waits for it to stop, although this task is cancelled.
    ///
    /// - Returns: nil if it does not in time, and is abandoned.
    private func stopped<T: Sendable>(_ task: Task<T, Never>, in grace: Duration) async -> T? {
        task.cancel()
        return await Task { await BlockingWork.value(of: task, within: grace) }.value
    }

    /// Cancels a task and waits for it to stop, and logs if it does not in time.
    private func stopped<T: Sendable>(
        _ task: Task<T, Never>, _ name: String, _ metadata: Logger.Metadata, in grace: Duration
    ) async -> T? {
        let ended = await stopped(task, in: grace)
        if ended == nil {
            context.log.warning("\(name) did not stop in time, and is abandoned", metadata: metadata)
        }
        return ended
    }

    /// Prunes once a day, as it reads all of the repository's index.
    private func prune(_ run: JobRun, _ outcome: inout JobOutcome) async {
        let job = run.job
        // A time in the future was recorded with a wrong clock.
        let now = context.clock.time().timeIntervalSince1970
        if let last = context.state.job(job.name)?.lastPrune, 0..<86_400 ~= now - last { return }
        do {
            _ = try await context.repositories.repository(job.repository).prune(
                grace: job.grace, progress: BackupProgress.untilCancelled)
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
            let newest = try await context.services.repository(job.repository).snapshots().byDatabase
            let times = list.databases.map { one in
                newest.first { isSameText($0[0].database, one.name) }?.last?.taken.timeIntervalSince1970
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

    package func status() -> [JobStatus] {
        configuration.jobs.map { job in
            let known = context.state.job(job.name)
            return JobStatus(job: job, state: known, decision: due(job, known))
        }
    }

    /// What follows the databases of all jobs with `follow`; nil if there are none. While it runs, runs of these jobs report failures of
    /// following too.
    ///
    /// - Parameter grace: how long followers may take to store commits they have already read, once it is cancelled.
    package func supervisor(grace: Duration) -> FollowSupervisor? {
        guard configuration.jobs.contains(where: \.follows) else { return nil }
        return FollowSupervisor(context, grace: grace) { [self] in try writeMetrics() }
    }

    private func writeMetrics() throws {
        // Under a lock, so that an older state does not follow a newer one.
        let text = measuring.withLock { _ in
            let samples = self.samples()
            measure(samples)
            return Metrics.text(samples)
        }
        guard let path = configuration.metrics else { return }
        // The collector runs as another user.
        try LocalFile.replace(path, with: Array(text.utf8), isPublic: true)
    }

    /// The metrics of all jobs, as last stored.
    package func samples() -> [MetricSample] { Metrics.samples(status()) }
}

package struct JobStatus: Sendable {
    package let job: BackupJob
    /// The stored state; nil if the job never ran here.
    package let state: JobState?
    package let decision: DueDecision
}
