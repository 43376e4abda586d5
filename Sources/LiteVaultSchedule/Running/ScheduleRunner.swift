package import Foundation
internal import LiteVaultBackup
internal import LiteVaultSupport
package import Logging

/// Runs the jobs of a configuration when they are due.
package final class ScheduleRunner: Sendable {
    package let configuration: ScheduleConfiguration
    private let state: StateFile
    private let services: ScheduleServices
    private let repositories: OpenRepositories
    private let permits: Permits
    private let desk: SnapshotDesk
    private let log: Logger
    private let host: String
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - host: what the jobs' jitter follows from besides their names.
    ///   - now: the clock.
    package init(
        _ configuration: ScheduleConfiguration, state: StateFile, services: ScheduleServices, log: Logger, host: String,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.state = state
        self.services = services
        repositories = OpenRepositories(services)
        permits = Permits(configuration.concurrency)
        desk = SnapshotDesk(now: now)
        self.log = log
        self.host = host
        self.now = now
    }

    /// Runs what is due, all jobs beside each other, and tells each as it ends.
    ///
    /// - Returns: what the runs came to, in the order of their ends; none where nothing was due.
    /// - Throws: ``BackupError`` when the state can not be kept.
    package func runDue(_ told: @Sendable (JobOutcome) throws -> Void = { _ in }) async throws -> [JobOutcome] {
        let all = try await withThrowingTaskGroup(of: JobOutcome?.self) { group in
            for job in configuration.jobs {
                group.addTask { [self] in
                    guard await look(job).decision.isDue else { return nil }
                    return await run(job).outcome
                }
            }
            var all: [JobOutcome] = []
            var failure: (any Error)?
            while let ended = try await group.next() {
                guard let outcome = ended else { continue }
                all.append(outcome)
                // A disk that is full must not end the other jobs.
                do {
                    let kept = try keep(outcome)
                    try told(kept)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return all
        }
        try writeMetrics()
        return all
    }

    /// Runs each job whenever it is due, on a lane of its own, until the program is to end: a job never overlaps itself, and
    /// none waits for another, but for the permits of ``ScheduleConfiguration/concurrency``.
    ///
    /// - Parameter told: called for each run as it ends, one at a time.
    /// - Throws: what the services' `check` throws when the program is to end, and what `told` throws. Jobs that then do not
    ///   end within two seconds are left behind.
    package func run(_ told: @escaping @Sendable (JobOutcome) throws -> Void) async throws {
        let teller = Teller(told)
        let lanes = configuration.jobs.map { job in BlockingWork.task { await self.lane(job, teller) } }
        do {
            while true {
                try services.check()
                try teller.check()
                try await Task.sleep(nanoseconds: 100_000_000)
            }
        } catch {
            for lane in lanes { lane.cancel() }
            let end = ContinuousClock.now + .seconds(2)
            for lane in lanes {
                let rest = Double((end - .now).components.seconds) + 0.2
                _ = await BlockingWork.value(of: lane, within: .seconds(max(rest, 0.05)))
            }
            throw error
        }
    }

    /// The runs of one job, one after the other.
    private func lane(_ job: Job, _ teller: Teller) async {
        var leftBehind: Task<JobOutcome, Never>?
        while (try? services.check()) != nil, !Task.isCancelled {
            if let task = leftBehind {
                // What could not be ended is still at it.
                guard await BlockingWork.value(of: task, within: .seconds(1)) != nil else { continue }
                log.info("a run that had been left behind has ended", metadata: ["job": "\(job.name)"])
                leftBehind = nil
            }
            let (known, decision) = await look(job)
            var next = decision.next
            if decision.isDue {
                let ended = await run(job)
                leftBehind = ended.leftBehind
                var outcome = ended.outcome
                do { outcome = try keep(outcome) } catch {
                    // The next run tries again to write it down; a disk that is full must not end the backups.
                    log.error("what the job did cannot be written down: \(error)", metadata: ["job": "\(job.name)"])
                }
                teller.tell(outcome)
                do { try writeMetrics() } catch { log.error("the metrics cannot be written: \(error)") }
                next = DueDecision(job, state.job(job.name) ?? known, host: host, now: now()).next
            }
            await pause(until: next)
        }
    }

    /// Whether a job is due. Where its repository has to be asked and does not answer, it is: the run tells what is wrong.
    private func look(_ job: Job) async -> (known: JobState?, decision: DueDecision) {
        let asking = BlockingWork.task { await self.known(job) }
        let found = await BlockingWork.value(of: asking, within: Duration(seconds: job.limits.store)) ?? nil
        return (found, DueDecision(job, found, host: host, now: now()))
    }

    /// A minute at most: the clock may be set meanwhile, and a signal must not wait.
    private func pause(until next: Date?) async {
        let end = min(next ?? .distantFuture, now().addingTimeInterval(60))
        // Not at once even when it is due: something that fails at once would spin.
        repeat {
            guard (try? services.check()) != nil, !Task.isCancelled else { return }
            try? await Task.sleep(nanoseconds: 200_000_000)
        } while now() < end
    }

    /// When the next job is due; nil when none ever is.
    package func next() -> Date? {
        configuration.jobs.compactMap { DueDecision($0, state.job($0.name), host: host, now: now()).next }.min()
    }

    /// Runs a job for as long as its limit says.
    ///
    /// - Returns: what it came to, and what could not be ended when its time was over: a thread that hangs in a read or
    ///   write cannot be.
    private func run(_ job: Job) async -> (outcome: JobOutcome, leftBehind: Task<JobOutcome, Never>?) {
        log.info("job started", metadata: ["job": "\(job.name)"])
        let start = now()
        // What works on threads of its own does not see that its task was cancelled; it asks this.
        let over = Flag()
        var services = services
        let check = services.check
        services.check = {
            if over.isSet { throw CancellationError() }
            try check()
        }
        let steps = jobRun(job, services, start)
        let task = BlockingWork.task { [self] in
            var outcome = await steps.run()
            if !outcome.isInterrupted, job.retention != nil, job.prunes { await prune(steps, &outcome) }
            return outcome
        }
        var leftBehind: Task<JobOutcome, Never>?
        var outcome: JobOutcome
        if let ended = await BlockingWork.value(of: task, within: Duration(seconds: job.limits.run)) {
            outcome = ended
        } else {
            leftBehind = task
            over.set()
            task.cancel()
            outcome = JobOutcome(job: job.name, start: start)
            if Task.isCancelled {
                outcome.isInterrupted = true
            } else {
                let reached = LimitReached(
                    "run", seconds: job.limits.run, "the run did not end within",
                    remedy: "Look what it waits for: the log tells its last step. It is run again when it has ended.")
                let ending = jobRun(job, self.services, start)
                ending.note(reached, "run", nil, &outcome)
                await ending.finish(&outcome)
            }
        }
        outcome.end = now()
        let metadata: Logger.Metadata = [
            "job": "\(job.name)", "stored": "\(outcome.stored.count)", "failed": "\(outcome.problems.count)",
        ]
        if outcome.isInterrupted {
            log.warning("job interrupted", metadata: metadata)
        } else if outcome.isSuccess {
            log.info("job done", metadata: metadata)
        } else {
            log.error("job failed", metadata: metadata)
        }
        return (outcome, leftBehind)
    }

    private func jobRun(_ job: Job, _ services: ScheduleServices, _ start: Date) -> JobRun {
        JobRun(
            job: job, services: services, repositories: repositories, permits: permits, desk: desk,
            following: followingProblems(job), concurrency: job.concurrency ?? configuration.concurrency, log: log,
            state: state.job(job.name), start: start)
    }

    /// Once a day: it looks at all of a repository.
    private func prune(_ run: JobRun, _ outcome: inout JobOutcome) async {
        let job = run.job
        // One of the future was dated by a clock that was wrong.
        if let last = state.job(job.name)?.lastPrune, 0..<86_400 ~= now().timeIntervalSince1970 - last { return }
        do {
            let check = run.services.check
            _ = try await repositories.repository(job.repository).prune(
                grace: Duration(seconds: job.grace), progress: { _ in try check() })
            outcome.pruned = true
        } catch let error as BackupError where error.code == .busy && !isStuck(job, &outcome) {
            // Another job or machine does it at the moment: the next run will do.
            log.info("nothing pruned: the repository is in use", metadata: ["job": "\(job.name)"])
        } catch {
            run.note(error, "retention", nil, &outcome)
        }
    }

    /// Whether the right to prune has been somebody else's for longer than pruning takes: a claim that does not end by itself,
    /// or a store that refuses it to everybody.
    private func isStuck(_ job: Job, _ outcome: inout JobOutcome) -> Bool {
        let time = now().timeIntervalSince1970
        // A clock that was put back starts the time again.
        let since = state.job(job.name)?.pruneBusySince.map { min($0, time) } ?? time
        outcome.pruneBusySince = since
        return time - since >= Self.longestPrune
    }

    /// Seconds. A claim of a process that is gone ends after ten minutes.
    private static let longestPrune = 3600.0

    /// What is remembered of a job; where nothing is, what its repository tells.
    private func known(_ job: Job) async -> JobState? {
        // What is followed may be remembered before the job ever ran.
        if let known = state.job(job.name), known.lastStart != nil { return known }
        let list = SourceList(job)
        guard !list.databases.isEmpty else { return nil }
        do {
            let repository = try await Repository.open(
                try services.store(job.repository), secret: try job.repository.secret.map(services.secret),
                local: services.local)
            let newest = Dictionary(grouping: try await repository.snapshots(), by: \.database)
                .compactMapValues { $0.map(\.time).max() }
            let times = list.databases.map { newest[$0.name]?.timeIntervalSince1970 }
            guard !times.contains(nil), let oldest = times.compactMap(\.self).min() else { return nil }
            var found = JobState()
            found.lastStart = oldest
            found.lastSuccess = oldest
            found.databases = list.databases.count
            return found
        } catch {
            // Whatever it is, the run will meet it again and tell it.
            return nil
        }
    }

    private func keep(_ outcome: JobOutcome) throws -> JobOutcome {
        guard !outcome.isInterrupted, let job = configuration.jobs.first(where: { $0.name == outcome.job }) else {
            return outcome
        }
        try state.update(outcome.job) { $0.remember(outcome) }
        var told = outcome
        told.next = DueDecision(job, state.job(outcome.job), host: host, now: now()).next
        return told
    }

    /// What each job did last, and when it is due.
    package func status() -> [JobStatus] {
        configuration.jobs.map { job in
            let known = state.job(job.name)
            return JobStatus(job: job, state: known, decision: DueDecision(job, known, host: host, now: now()))
        }
    }

    /// Begins to follow the databases of the jobs that say so; nil where none does. Until it is ended, a job's run notes
    /// what is wrong with what it follows.
    package func follow() async -> FollowSupervisor? {
        let jobs = configuration.jobs.filter(\.follows)
        guard !jobs.isEmpty else { return nil }
        let supervisor = FollowSupervisor(
            jobs: jobs, state: state, services: services, repositories: repositories, permits: permits, desk: desk,
            log: log, now: now, writeMetrics: { [self] in try writeMetrics() })
        await supervisor.start()
        return supervisor
    }

    private func followingProblems(_ job: Job) -> [JobState.Problem] {
        // Of a process that has ended, nothing counts.
        guard job.follows, let known = state.job(job.name)?.following, known.isRunning == true else { return [] }
        return known.problems
    }

    private func writeMetrics() throws {
        guard let path = configuration.metrics else { return }
        try Metrics.write(Metrics.text(status()), to: path)
    }
}

/// Something that happens once.
private final class Flag: @unchecked Sendable {  // the lock guards `happened`
    private let lock = NSLock()
    private var happened = false

    var isSet: Bool { lock.withLock { happened } }

    func set() { lock.withLock { happened = true } }
}

/// Tells runs one at a time, and remembers what kept it from that.
private final class Teller: @unchecked Sendable {  // the lock guards `failure`, and keeps tellings apart
    private let lock = NSLock()
    private let told: @Sendable (JobOutcome) throws -> Void
    private var failure: (any Error)?

    init(_ told: @escaping @Sendable (JobOutcome) throws -> Void) { self.told = told }

    func tell(_ outcome: JobOutcome) { lock.withLock { do { try told(outcome) } catch { failure = failure ?? error } } }

    func check() throws { if let failure = lock.withLock({ failure }) { throw failure } }
}

/// What is known of a job.
package struct JobStatus: Sendable {
    package let job: Job
    /// Nil when it never ran here.
    package let state: JobState?
    package let decision: DueDecision
}
