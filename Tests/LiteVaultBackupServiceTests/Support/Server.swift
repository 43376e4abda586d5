import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultBackupService
import LiteVaultSystem
import LiteVaultTestSupport
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle
import Testing

/// A directory with databases, a repository and a state, and what a server has besides: a clock, a log, metrics.
final class Server: Sendable {
    private let scratch = Scratch()
    let clock = TestClock()
    let log = TestLog()
    /// What hooks wait for.
    let gate = DispatchSemaphore(value: 0)
    /// Whether the repository's store hangs.
    let isHanging = Locked(false)
    let hung = Locked(0)

    func path(_ name: String) -> String { scratch.path(name) }

    var local: LocalDirectories {
        LocalDirectories(state: path("state"), cache: path("cache"), spool: path("spool"))
    }

    /// The key of the databases; nil where the engine has no encryption.
    static func key() throws -> DatabaseKey? {
        try EngineInfo.linked.encrypts ? .hex("2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99") : nil
    }

    func pool(_ name: String, plaintext: Bool = false) throws -> DatabasePool {
        try DatabasePool(path(name), key: plaintext ? nil : Self.key())
    }

    func job(_ name: String, _ sources: String..., follows: Duration? = nil) -> BackupJob {
        var job = BackupJob(
            name: name, sources: sources.map(path), recurrence: .interval(.seconds(3600)),
            repository: RepositoryReference(path("repository")))
        job.allowsPlaintext = true
        if let follows {
            job.following = FollowSettings()
            job.following?.interval = follows
        }
        return job
    }

    func service(_ jobs: BackupJob..., metrics: TestMetrics = TestMetrics()) throws -> BackupService {
        var services = ScheduleServices(tool: "tests", local: local)
        let gate = gate
        services.hook = { command, _, _ in if command == "wait" { gate.wait() } }
        let (isHanging, hung) = (isHanging, hung)
        let directory = services.store
        services.store = { HangingStore(try directory($0), isHanging, hung) }
        let (log, clock) = (log, clock)
        return try BackupService(
            ScheduleConfiguration(name: "tests", jobs: jobs), services: services,
            logger: Logger(label: "tests") { _ in log }, metrics: metrics, host: "host", clock: clock.host)
    }

    /// Runs a service while `body` runs, and ends it by a graceful shutdown.
    func run(_ service: BackupService, _ body: () async throws -> Void) async throws {
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: service)], logger: Logger(label: "group") { [log] _ in log })
        )
        let running = Task { try await group.run() }
        do { try await body() } catch {
            running.cancel()
            try? await running.value
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    func repository() async throws -> Repository {
        try await Repository.open(
            DirectoryStore(path("repository")), local: LocalDirectories(state: nil, cache: path("cache-of-test")))
    }

    func snapshotCount(_ database: String) async throws -> Int {
        guard FileManager.default.fileExists(atPath: path("repository")) else { return 0 }
        // The first run may be creating it.
        return (try? await repository().snapshots(database: database).count) ?? 0
    }

    /// Restores the newest state of a database.
    func restore(_ database: String, plaintext: Bool = false) async throws -> Connection {
        let destination = path("restored-\(UUID().uuidString).db")
        try await repository().restore(.latest, database: database, to: destination)
        let key = plaintext ? nil : try Self.key()
        #expect(try DatabaseFile(destination).verify(key: key).isIntact)
        return try key.map { try Connection(destination, key: $0) } ?? Connection(destination)
    }

    /// Waits until a condition holds. The limit is for a machine on which thousands of tests run at once.
    func wait(
        _ what: String, _ sourceLocation: SourceLocation = #_sourceLocation, until holds: () async throws -> Bool
    ) async throws {
        let end = Date().addingTimeInterval(900)
        while try await !holds() {
            guard Date() < end else {
                Issue.record("\(what) did not happen; the log: \(log.lines)", sourceLocation: sourceLocation)
                throw CancellationError()
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until every commit is stored: from a snapshot that the follower has had taken, or from that of the job.
    func waitUntilFollowing(_ sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await wait("following", sourceLocation) {
            log.contains("every commit is stored from here on")
                || log.contains("following without a gap since it last ran")
        }
    }

    /// Waits for a line of the log.
    func wait(for message: String, _ sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await wait("'\(message)'", sourceLocation) { log.contains(message) }
    }
}

/// A clock that is set.
final class TestClock: Sendable {
    private let time = Locked(Date())

    var now: Date { time.withLock { $0 } }

    func advance(_ seconds: Double) { time.withLock { $0 += seconds } }

    var host: HostClock {
        HostClock(
            time: { self.now }, now: { self.now.timeIntervalSince1970 },
            sleep: { seconds in
                // Or until real time has passed: a pause that begins after the clock was set is not as long as if it had begun before.
                let (end, latest) = (self.now + seconds, ContinuousClock.now + .seconds(seconds))
                while self.now < end, .now < latest, (try? await Task.sleep(for: .milliseconds(5))) != nil {}
            })
    }
}

/// A log that keeps its lines: level, message and metadata.
final class TestLog: LogHandler, Sendable {
    private let kept = Locked<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func contains(_ part: String) -> Bool { lines.contains { $0.contains(part) } }

    func count(_ part: String) -> Int { lines.count { $0.contains(part) } }

    func clear() { kept.withLock { $0 = [] } }

    var logLevel: Logger.Level {
        get { .debug }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let pairs = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        kept.withLock { $0.append("\(event.level) \(event.message) \(pairs)") }
    }
}
