import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultBackupService
import Logging
import ServiceLifecycle

// Before any key: a crash prints no memory.
CrashReports.disable()

// BackupServer DIRECTORY: serves until SIGTERM. BackupServer DIRECTORY restore: what the backups have.
guard CommandLine.arguments.count > 1 else {
    print("usage: BackupServer DIRECTORY [restore]")
    exit(64)
}
let directory = CommandLine.arguments[1]
let database = directory + "/orders.db"
let local = LocalDirectories(state: directory + "/state", cache: directory + "/cache")

/// A server reads them from where its secrets are.
func databaseKey() throws -> DatabaseKey { try .passphrase("an example's passphrase") }
func repositorySecret() throws -> RepositorySecret { try .passphrase(Array("an example's secret".utf8)) }

/// Restores the newest state, and counts its orders.
func restore() async throws {
    let repository = try await Repository.open(DirectoryStore(directory + "/backups"), secret: repositorySecret(), local: local)
    try await repository.restore(.latest, database: "orders.db", to: directory + "/restored.db")
    let orders = try OrderService(DatabasePool(directory + "/restored.db", key: databaseKey()))
    print(try await orders.count(), "orders")
}

/// Takes orders and backs them up, until a signal.
func serve() async throws {
    // The job: a snapshot every six hours, and every commit in between, verified once a week.
    var job = BackupJob(
        name: "orders", sources: [database], recurrence: .interval(.seconds(6 * 3600)),
        repository: RepositoryReference(directory + "/backups", secret: KeyReference(.environment("BACKUP_SECRET"))))
    job.following = FollowSettings()
    job.retention = RetentionPolicy()
    job.retention?.last = 4
    job.retention?.daily = 14
    job.verification = VerificationSettings()

    var services = ScheduleServices(tool: "BackupServer 1.0", local: local)
    // The reference of the job says which one.
    let secret = try repositorySecret()
    services.secret = { _ in secret }

    let logger = Logger(label: "server")
    let orders = try OrderService(DatabasePool(database, key: databaseKey()))
    let backups = try BackupService(
        ScheduleConfiguration(name: "orders", jobs: [job]), services: services, logger: logger)
    // Services end in the reverse order of this list: the backups last, so that they have the last order.
    var configuration = ServiceGroupConfiguration(
        services: [.init(service: backups), .init(service: orders)], gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(20)
    try await ServiceGroup(configuration: configuration).run()
    print(try await orders.count(), "orders")
}

do {
    if CommandLine.arguments.dropFirst(2).first == "restore" { try await restore() } else { try await serve() }
} catch {
    // An error at the top level would trap, and print memory.
    FileHandle.standardError.write(Data("BackupServer: \(error)\n".utf8))
    exit(1)
}
