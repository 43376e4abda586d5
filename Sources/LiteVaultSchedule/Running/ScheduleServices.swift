public import LiteVaultBackup
public import LiteVaultCipher
package import LiteVaultSystem
internal import Logging

/// What the surrounding program provides to a schedule: stores, secrets and keys, and what only some programs can do.
public struct ScheduleServices: Sendable {
    /// Creates the store of a repository. The default knows directories and SFTP.
    public var store: @Sendable (RepositoryReference) throws -> any ObjectStore
    /// Reads a repository's secret. The default has none, and throws.
    public var secret: @Sendable (KeyReference) throws -> RepositorySecret
    /// Reads the key of databases; of a keyring all keys, the newest first. The default has none, and throws.
    public var keys: @Sendable (KeyReference) throws -> [DatabaseKey]
    /// Runs a hook: a shell command with additional environment variables and a time limit. It throws unless the command exits
    /// with status 0, and has to terminate it at the limit. The default runs none, and throws.
    public var hook: @Sendable (String, [String: String], Duration) async throws -> Void
    /// Requests a URL within a time limit, and throws unless the response is a success. The default requests none, and throws.
    public var heartbeat: @Sendable (String, Duration) async throws -> Void
    /// Words the remedy of an error in a run, for the program that the person will use. The default has the library's words.
    package var remedy: @Sendable (VaultError, RepositoryReference) -> String? = { error, _ in error.remedy }
    /// The clock of the repositories that are opened, by which followers and snapshots go. The times of jobs are the runner's.
    package var clock = HostClock.system
    /// How long retention waits for others that remove from the repository. That of another job takes seconds.
    package var patience = Duration.seconds(20)
    /// The name and version of the program, for manifests.
    public var tool: String
    /// The local directories.
    public var local: LocalDirectories

    /// Creates services that back up into directories without a secret. The closures can be replaced; they are called on any
    /// thread, and may block.
    ///
    /// - Parameters:
    ///   - tool: the name and version of the program, for manifests.
    ///   - local: the local directories; by default the standard ones.
    public init(tool: String, local: LocalDirectories = .standard) {
        self.tool = tool
        self.local = local
        store = { reference in
            if reference.location.lowercased().hasPrefix("sftp://") {
                var settings = try SFTPSettings(url: reference.location)
                settings.command = reference.sftpCommand
                settings.limit(to: reference.timeLimit)
                return SFTPStore(settings)
            }
            guard !reference.location.contains("://") else {
                throw Self.missing(
                    "this program has no store for \(reference.location)",
                    "Set `store` of ScheduleServices, with S3Store of LiteVaultObjectStore for instance.")
            }
            return DirectoryStore(reference.location, lockTimeout: min(reference.timeLimit, .seconds(60)))
        }
        secret = { _ in
            throw Self.missing("this program has no secret for the repository", "Set `secret` of ScheduleServices.")
        }
        keys = { _ in throw Self.missing("this program has no key to verify with", "Set `keys` of ScheduleServices.") }
        hook = { _, _, _ in
            throw Self.missing("this program runs no hooks", "Set `hook` of ScheduleServices, or remove the hooks.")
        }
        heartbeat = { _, _ in
            throw Self.missing(
                "this program sends no heartbeats", "Set `heartbeat` of ScheduleServices, or remove the heartbeat.")
        }
    }

    private static func missing(_ message: String, _ remedy: String) -> VaultError {
        VaultError(.config, message, remedy: remedy)
    }
}

/// The repositories that a schedule has open.
actor OpenRepositories {
    private let services: ScheduleServices
    /// By every setting they are opened with: a job must not share a repository that was opened with another secret.
    private var open: [RepositoryReference: Task<Repository, any Error>] = [:]

    init(_ services: ScheduleServices) { self.services = services }

    /// Opens the repository, or creates it. One that was given a new key since is opened again: to see that takes one small request.
    ///
    /// - Throws: `VaultError` `damaged` if another repository is in its place, or none. Not even a restored memory of this machine makes a
    ///   running program accept that.
    func repository(_ reference: RepositoryReference) async throws -> Repository {
        if let known = open[reference] {
            let isCurrent = try await BlockingWork.task {
                do {
                    if try await known.value.hasSecret {
                        try await known.value.requireCurrentKey()
                    } else {
                        try await known.value.requireIdentity()
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
                var opened = try await Repository.openOrCreate(
                    try services.store(reference), secret: secret, sealed: reference.isSealed, local: services.local)
                opened.clock = services.clock
                guard opened.isSealed || !reference.isSealed else {
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

/// What the runs of a schedule's jobs and its followers share: its state, the services that it runs with, and what keeps them from
/// doing the same thing twice.
struct ScheduleContext: Sendable {
    let state: StateFile
    var services: ScheduleServices
    let repositories: OpenRepositories
    /// The names of the jobs' databases.
    let names: SharedNames
    /// Limits how many snapshots are taken at the same time, over all jobs.
    let semaphore: TaskSemaphore
    let coordinator: SnapshotCoordinator
    /// What followers of the jobs do at this moment.
    let board = FollowingBoard()
    let log: Logger
    /// The host name, from which the jitter of the jobs is derived.
    let host: String
    /// By which the jobs are due.
    let clock: HostClock

    init(
        _ configuration: ScheduleConfiguration, state: StateFile, services: ScheduleServices, log: Logger, host: String,
        clock: HostClock
    ) {
        self.state = state
        self.services = services
        repositories = OpenRepositories(services)
        names = SharedNames(configuration.jobs)
        semaphore = TaskSemaphore(configuration.concurrency)
        coordinator = SnapshotCoordinator(now: clock.time)
        self.log = log
        self.host = host
        self.clock = clock
    }
}
