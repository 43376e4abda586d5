internal import LiteVaultBackup
internal import LiteVaultQuoting
package import LiteVaultSystem
package import Logging

/// A schedule that runs: its jobs, its state, the services that it runs with, and what keeps its runs and followers from doing the same
/// thing twice.
package struct ScheduleContext: Sendable {
    let configuration: ScheduleConfiguration
    let state: StateFile
    let services: ScheduleServices
    let log: Logger
    /// The host name, from which the jitter of the jobs is derived.
    let host: String
    /// By which the jobs are due.
    let clock: HostClock
    let repositories: OpenRepositories
    let names: SharedNames
    /// Limits how many snapshots are taken at the same time, over all jobs.
    let semaphore: TaskSemaphore
    let coordinator: SnapshotCoordinator
    /// What followers of the jobs do at this moment.
    let board = FollowingBoard()

    /// - Parameters:
    ///   - state: locked by this process, unless nothing is run.
    ///   - host: the host name, from which the jitter of the jobs is derived.
    ///   - clock: by which the jobs are due.
    package init(
        _ configuration: ScheduleConfiguration, state: StateFile, services: ScheduleServices, log: Logger, host: String,
        clock: HostClock = .system
    ) {
        (self.configuration, self.state, self.services) = (configuration, state, services)
        (self.log, self.host, self.clock) = (log, host, clock)
        repositories = OpenRepositories(services)
        names = SharedNames(configuration.jobs)
        semaphore = TaskSemaphore(configuration.concurrency)
        coordinator = SnapshotCoordinator(now: clock.time)
    }
}

actor OpenRepositories {
    private let services: ScheduleServices
    /// By every setting they are opened with: a job must not share a repository that was opened with another secret.
    private var open: [RepositoryReference: Task<WritableRepository, any Error>] = [:]

    init(_ services: ScheduleServices) { self.services = services }

    /// Opens the repository, or creates it. One that was given a new key since is opened again: to see that takes one small request.
    ///
    /// - Throws: `VaultError` `damaged` if another repository is in its place, or none. Not even a restored memory of this machine makes a
    ///   running program accept that.
    func repository(_ reference: RepositoryReference) async throws -> WritableRepository {
        if let known = open[reference] {
            let isCurrent = try await BlockingWork.task {
                do {
                    if try await known.value.repository.hasSecret {
                        try await known.value.repository.requireCurrentKey()
                    } else {
                        try await known.value.repository.requireIdentity()
                    }
                } catch let error as VaultError where error.code == .busy {
                    return false
                } catch let error as VaultError where error.cause is ExchangedRepositoryError {
                    throw error
                } catch {
                    // The next request meets this, too.
                }
                return true
            }.value
            if !isCurrent, open[reference] == known { open[reference] = nil }
        }
        let task =
            open[reference]
            ?? BlockingWork.task { [services] in
                let secret = try reference.secret.map(services.secret)
                var opened = try await WritableRepository.openOrCreate(
                    try services.store(reference), secret: secret, sealed: reference.isSealed, local: services.local)
                opened.clock = services.clock
                guard opened.repository.isSealed || !reference.isSealed else {
                    throw VaultError(
                        .config, "is not sealed, as 'repository-sealed' asks", path: reference.location,
                        advice: .seal)
                }
                return opened
            }
        open[reference] = task
        do {
            return try await task.value
        } catch {
            // The next run tries again.
            if open[reference] == task { open[reference] = nil }
            throw error
        }
    }
}

/// Takes the snapshots of a job's databases, one at a time for each database.
struct SnapshotTaker: Sendable {
    let job: BackupJob
    private let services: ScheduleServices
    private let semaphore: TaskSemaphore
    private let coordinator: SnapshotCoordinator
    private let log: Logger
    /// Where the databases' files are remembered; nil if they are not.
    private let unchanged: UnchangedDatabases?

    init(job: BackupJob, context: ScheduleContext, unchanged: UnchangedDatabases? = nil) {
        self.job = job
        self.unchanged = unchanged
        // Not the context itself: followers keep this, and the board in the context keeps the followers.
        (services, semaphore, coordinator) = (context.services, context.semaphore, context.coordinator)
        log = context.log
    }

    /// Takes a snapshot, or returns one that was taken after `time`.
    ///
    /// - Parameters:
    ///   - time: nil always takes a new snapshot.
    ///   - run: a run of the follower: one that was taken in it will do.
    ///   - gap: the gap in the followed log before the snapshot, to be recorded in it.
    func snapshot(
        of path: String, named name: String, into repository: WritableRepository, after time: Date? = nil,
        inRun run: [UInt8]? = nil, gap: SnapshotGap? = nil
    ) async throws -> SnapshotResult {
        try await coordinator.snapshot(SnapshotCoordinator.key(job.repository, name), after: time, inRun: run) {
            try await semaphore.perform(isReleasedByCancellation: true) {
                try Task.checkCancellation()
                return try await store(path, name, repository, gap)
            }
        }
    }

    private func store(
        _ path: String, _ name: String, _ repository: WritableRepository, _ gap: SnapshotGap?
    ) async throws -> SnapshotResult {
        var options = SnapshotOptions()
        options.database = name
        options.allowsPlaintext = job.allowsPlaintext
        options.tool = services.tool
        options.gap = gap
        options.fullReadInterval = unchanged?.fullReadInterval(path, named: name) ?? job.fullRead
        options.followed = coordinator.followed.value[SnapshotCoordinator.key(job.repository, name)]
        // A database with the log of another one is a state that nobody has committed.
        if let refusal = options.followed?.refusal { throw refusal }
        options.progress = BackupProgress.untilCancelled
        // Before the snapshot: what changes later is in neither of them, or in the snapshot only.
        let mark = unchanged.flatMap { _ in SourceMark(path) }
        let result = try await repository.snapshot(of: path, options: options)
        let snapshot = result.snapshot
        unchanged?.record(snapshot, of: path, named: name, mark)
        let about: Logger.Metadata = ["job": "\(job.name)", "database": "\(name)"]
        if result.unreachableCommits > 0 {
            log.warning(
                "the log has commits behind a damaged frame, which are not in the snapshot",
                metadata: about.with(["commits": "\(result.unreachableCommits)"]))
        }
        log.info(
            "snapshot stored", metadata: about.with(["snapshot": snapshot.id, "stored": "\(snapshot.stored)"]))
        if result.storedAgain > 0 {
            log.warning(
                "blocks that are damaged or missing in the repository were stored again",
                metadata: about.with(["snapshot": snapshot.id, "bytes": "\(result.storedAgain)"]))
        }
        for warning in result.warnings {
            log.warning(
                "\(warning.message)", metadata: about.with(["path": warning.path, "remedy": "\(warning.remedy)"]))
        }
        return result
    }
}

extension Logger.Metadata {
    /// The metadata with more of it; the new ones count where a name is in both.
    func with(_ pairs: [String: String]) -> Logger.Metadata {
        merging(pairs.mapValues { Logger.MetadataValue.string($0) }) { $1 }
    }
}

/// Serializes the snapshots of each database: its job and its follower may want one at the same time.
actor SnapshotCoordinator {
    private var last: [ExactText: Task<SnapshotResult?, Never>] = [:]
    private var newest: [ExactText: SnapshotResult] = [:]
    private let now: @Sendable () -> Date
    /// What the followers of databases have read, by ``key(_:_:)``.
    nonisolated let followed = Locked<[ExactText: FollowedPages]>([:])

    init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// Takes a snapshot, or returns the newest if it was taken after `time` or in a run of the follower.
    ///
    /// - Parameter key: the database, see ``key(_:_:)``.
    func snapshot(
        _ key: ExactText, after time: Date?, inRun run: [UInt8]? = nil,
        _ body: @escaping @Sendable () async throws -> SnapshotResult
    ) async throws -> SnapshotResult {
        let before = last[key]
        let task = BlockingWork.task { [self] () async throws -> SnapshotResult in
            _ = await before?.value
            try Task.checkCancellation()
            // Times are in milliseconds. A snapshot from the future was taken before the clock was set back.
            if let time, let found = await newest[key], found.snapshot.taken.timeIntervalSince(time) > 0.002,
                !found.snapshot.wasAhead(of: now())
            {
                return found
            }
            if let run, let found = await newest[key], found.snapshot.followedRun == run { return found }
            let result = try await body()
            await record(result, key)
            return result
        }
        last[key] = Task { try? await task.value }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func record(_ result: SnapshotResult, _ key: ExactText) { newest[key] = result }

    /// The sequence number of the newest snapshot that was taken here; 0 before the first.
    func sequence(_ key: ExactText) -> Int { newest[key]?.snapshot.sequence ?? 0 }

    /// The identity of a database over all repositories.
    static func key(_ repository: RepositoryReference, _ database: String) -> ExactText {
        ExactText("\(repository.location)\n\(repository.endpoint ?? "")\n\(database)")
    }
}
