internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem
internal import Logging

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
    ///   - path: the database.
    ///   - name: its name in the repository.
    ///   - time: nil always takes a new snapshot.
    ///   - run: a run of the follower: one that was taken in it will do.
    ///   - gap: the gap in the followed log before the snapshot, to be recorded in it.
    func snapshot(
        of path: String, named name: String, into repository: Repository, after time: Date? = nil,
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
        _ path: String, _ name: String, _ repository: Repository, _ gap: SnapshotGap?
    ) async throws -> SnapshotResult {
        var options = SnapshotOptions()
        options.database = name
        options.allowsPlaintext = job.allowsPlaintext
        options.tool = services.tool
        options.gap = gap
        options.fullReadInterval = unchanged?.fullReadInterval(path, named: name) ?? job.fullRead
        options.followed = coordinator.followed.value[SnapshotCoordinator.key(job.repository, name)]
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
            if let time, let found = await newest[key], found.snapshot.time.timeIntervalSince(time) > 0.002,
                found.snapshot.time.timeIntervalSince(now()) < 300
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
