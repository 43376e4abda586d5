internal import LiteVaultBackup
@_exported public import LiteVaultSchedule
package import LiteVaultSystem
public import Logging
public import Metrics
public import ServiceLifecycle

/// Runs a schedule inside a server: what `litevault schedule run` does, as a service of swift-service-lifecycle.
///
/// Each job runs whenever it is due, and the databases of jobs with ``BackupJob/following`` are followed all the time. Databases may be
/// open in the same process: they are read through SQLite's own file objects, so that no lock of another connection is lost.
///
/// A failure of a job or a database is logged and counted, and never ends the service. It throws only what nothing can be done
/// about here: a state that cannot be read or locked. While another process runs the same schedule, it waits. Once standbys of all its
/// databases were promoted, and no job does anything else, it logs that and waits for its end.
///
/// On a graceful shutdown, or if its task is cancelled, it starts nothing more. A snapshot under way is abandoned without affecting the
/// repository, and taken at the next start; followers read their logs a last time, and store what they have read; leases are released.
public struct BackupService: Service, CustomStringConvertible {
    private let configuration: ScheduleConfiguration
    private let services: ScheduleServices
    private let logger: Logger
    private let metrics: any MetricsFactory
    private let host: String
    private let clock: HostClock

    /// How long jobs under way and followers may take to stop; by default 10 seconds. After that they are abandoned, and keep the
    /// schedule locked until they end.
    public var stopLimit = Duration.seconds(10)

    /// Creates a service. Nothing is opened before ``run()``.
    ///
    /// - Parameters:
    ///   - configuration: the jobs.
    ///   - services: the stores, secrets and keys that the jobs need.
    ///   - logger: for what happens, with the metadata `job` and `database`.
    ///   - metrics: for the metrics, which have the names of the tool's Prometheus file. The default is that of the `MetricsSystem`.
    /// - Throws: `VaultError` `config` for settings that no run could work with.
    public init(
        _ configuration: ScheduleConfiguration, services: ScheduleServices, logger: Logger,
        metrics: (any MetricsFactory)? = nil
    ) throws {
        try self.init(
            configuration, services: services, logger: logger, metrics: metrics,
            host: ProcessInfo.processInfo.hostName, clock: .system)
    }

    /// Creates a service with a host name, from which the jitter of the jobs is derived, and the clock by which they are due.
    package init(
        _ configuration: ScheduleConfiguration, services: ScheduleServices, logger: Logger,
        metrics: (any MetricsFactory)?, host: String, clock: HostClock
    ) throws {
        try configuration.validate()
        self.configuration = configuration
        var services = services
        if let state = configuration.stateDirectory { services.local.state = state }
        self.services = services
        self.logger = logger
        self.metrics = metrics ?? MetricsSystem.factory
        self.host = host
        self.clock = clock
        guard services.local.state != nil else {
            throw VaultError(
                .config, "no directory for the state: HOME is not an existing directory, and XDG_STATE_HOME is not set",
                path: configuration.name, remedy: "Set `stateDirectory`, or `state` of the local directories.")
        }
    }

    /// Runs the schedule until a graceful shutdown, or until the task is cancelled.
    ///
    /// - Throws: `VaultError` `damaged` or `io` if the state of the schedule cannot be read or locked. `CancellationError` if the task is
    ///   cancelled, after everything was ended as on a graceful shutdown.
    public func run() async throws {
        try await cancelWhenGracefulShutdown { try await perform() }
        try Task.checkCancellation()
    }

    /// The type and the schedule's name: `ServiceGroup` logs its services.
    public var description: String { "BackupService(\(configuration.name))" }

    /// Runs the schedule until the task is cancelled.
    private func perform() async throws {
        guard let state = try await lockedState() else { return }
        let recorder = MetricsRecorder(metrics)
        let context = ScheduleContext(
            configuration, state: state, services: services, log: logger, host: host, clock: clock)
        let runner = ScheduleRunner(context) { recorder.record($0) }
        recorder.record(runner.samples(), isEarlier: true)
        logger.info("backups started", metadata: ["jobs": "\(configuration.jobs.count)"])
        defer { logger.info("backups stopped") }
        do { try await runner.run(grace: stopLimit, followers: stopLimit) { _ in } } catch is CancellationError {
        } catch let error as VaultError where error.code == .promoted {
            // Thrown, it would end the group, and with it the server.
            logger.warning("nothing is left to do until the next start", metadata: ["reason": "\(error.message)"])
            try? await gracefulShutdown()
        }
    }

    /// The state of the schedule, locked for this service; nil if the task is cancelled before that.
    private func lockedState() async throws -> StateFile? {
        let state = try StateFile(directory: services.local.state ?? "", configuration: configuration.name)
        var isWaiting = false
        while !Task.isCancelled {
            do {
                try state.lock()
                return state
            } catch let error as VaultError where error.code == .busy {
                // The server that this one replaces may still be ending.
                if !isWaiting { logger.warning("waiting: \(error.message)", metadata: ["path": "\(error.path ?? "")"]) }
                isWaiting = true
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
        return nil
    }
}
