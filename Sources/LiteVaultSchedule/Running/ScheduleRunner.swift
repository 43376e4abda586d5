package import Foundation
internal import LiteVaultBackup
package import Logging

/// Runs the jobs of a configuration when they are due.
package final class ScheduleRunner: Sendable {
    package let configuration: ScheduleConfiguration
    private let state: StateFile
    private let services: ScheduleServices
    private let repositories: OpenRepositories
    private let permits: Permits
    private let desk = SnapshotDesk()
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
        self.log = log
        self.host = host
        self.now = now
    }

    /// Runs what is due, all jobs beside each other, and tells each as it ends.
    ///
    /// - Returns: what the runs came to, in the order of their ends; none where nothing was due.
    /// - Throws: ``BackupError`` when the state can not be kept.
    package func runDue(_ told: @Sendable (JobOutcome) throws -> Void = { _ in }) async throws -> [JobOutcome] {
        var due: [Job] = []
        for job in configuration.jobs {
            let known = await known(job)
            if DueDecision(job, known, host: host, now: now()).isDue { due.append(job) }
        }
        let all = try await withThrowingTaskGroup(of: JobOutcome.self) { group in
            for job in due { group.addTask { await self.run(job) } }
            var all: [JobOutcome] = []
            var failure: (any Error)?
            while let outcome = try await group.next() {
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

    /// When the next job is due; nil when none ever is.
    package func next() -> Date? {
        configuration.jobs.compactMap { DueDecision($0, state.job($0.name), host: host, now: now()).next }.min()
    }

    private func run(_ job: Job) async -> JobOutcome {
        log.info("job started", metadata: ["job": "\(job.name)"])
        var outcome = await JobRun(
            job: job, services: services, repositories: repositories, permits: permits, desk: desk,
            following: followingProblems(job), concurrency: job.concurrency ?? configuration.concurrency, log: log,
            state: state.job(job.name), start: now()
        ).run()
        if !outcome.isInterrupted, job.retention != nil, job.prunes { await prune(job, &outcome) }
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
        return outcome
    }

    /// Once a day: it looks at all of a repository.
    private func prune(_ job: Job, _ outcome: inout JobOutcome) async {
        if let last = state.job(job.name)?.lastPrune, now().timeIntervalSince1970 - last < 86_400 { return }
        do {
            let check = services.check
            _ = try await repositories.repository(job.repository).prune(
                grace: job.grace, progress: { _ in try check() })
            outcome.pruned = true
        } catch let error as BackupError where error.code == .busy {
            // Another job or machine does it, or stores at the moment: the next run will do.
            log.info("nothing pruned: the repository is in use", metadata: ["job": "\(job.name)"])
        } catch {
            JobRun(
                job: job, services: services, repositories: repositories, permits: permits, desk: desk, following: [],
                concurrency: 1, log: log, state: nil, start: now()
            ).note(error, "retention", nil, &outcome)
        }
    }

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

/// What is known of a job.
package struct JobStatus: Sendable {
    package let job: Job
    /// Nil when it never ran here.
    package let state: JobState?
    package let decision: DueDecision
}
