internal import LiteVaultFoundation
internal import LiteVaultSystem
internal import Logging

/// What the runs of a schedule's jobs and its followers share: its state, the services that it runs with, and what keeps them from
/// doing the same thing twice.
struct ScheduleContext: Sendable {
    let state: StateFile
    var services: ScheduleServices
    let repositories: OpenRepositories
    /// The names of the jobs' databases.
    let names: SharedNames
    /// Limits how many snapshots are taken at the same time, over all jobs.
    let semaphore: AsyncSemaphore
    let coordinator: SnapshotCoordinator
    /// What followers of the jobs do at this moment.
    let board = FollowingBoard()
    let log: Logger
    /// The host name, from which the jitter of the jobs is derived.
    let host: String
    let now: @Sendable () -> Date

    init(
        _ configuration: ScheduleConfiguration, state: StateFile, services: ScheduleServices, log: Logger, host: String,
        now: @escaping @Sendable () -> Date
    ) {
        self.state = state
        self.services = services
        repositories = OpenRepositories(services)
        names = SharedNames(configuration.jobs)
        semaphore = AsyncSemaphore(configuration.concurrency)
        coordinator = SnapshotCoordinator(now: now)
        self.log = log
        self.host = host
        self.now = now
    }
}
