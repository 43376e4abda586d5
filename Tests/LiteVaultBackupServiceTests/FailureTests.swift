import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultBackupService
import LiteVaultSystem
import Logging
import MetricsTestKit
import ServiceLifecycle
import Testing

/// What else a server runs.
private struct Neighbour: Service {
    let hasEnded = Locked(false)

    func run() async throws {
        defer { hasEnded.withLock { $0 = true } }
        try await gracefulShutdown()
    }
}

/// What fails is logged and counted, and stops nothing else.
@Suite struct FailureTests {
    let server = Server()
    let metrics = TestMetrics()

    init() throws {
        for name in ["good.db", "other.db"] {
            let pool = try server.pool(name)
            try pool.write { try $0.execute("CREATE TABLE note (text)") }
            try pool.close()
        }
    }

    private func counter(_ name: String, _ job: String) -> Int64? {
        (try? metrics.expectCounter("litevault_job_\(name)", [("job", job)]))?.totalValue
    }

    private func gauge(_ name: String, _ job: String) -> Double? {
        (try? metrics.expectGauge("litevault_job_\(name)", [("job", job)]))?.lastValue
    }

    @Test func `a database that fails is logged and counted, and the others are backed up`() async throws {
        try Data("no database at all".utf8).write(to: URL(fileURLWithPath: server.path("bad.db")))
        let service = try server.service(
            server.job("mixed", "bad.db", "good.db"), server.job("other", "other.db"), metrics: metrics)
        try await server.run(service) {
            try await server.wait("both runs") {
                counter("runs_total", "mixed") == 1 && counter("runs_total", "other") == 1
            }
        }
        #expect(try await server.snapshotCount("good.db") == 1)
        #expect(try await server.snapshotCount("other.db") == 1)
        #expect(counter("failures_total", "mixed") == 1 && counter("failures_total", "other") == 0)
        #expect(gauge("last_failures", "mixed") == 1 && gauge("last_databases", "mixed") == 1)
        #expect(gauge("last_success_timestamp_seconds", "mixed") == nil)
        #expect(
            gauge("last_success_timestamp_seconds", "other")
                == server.clock.now.timeIntervalSince1970)
        let errors = server.log.lines.filter { $0.hasPrefix("error") && $0.contains("step=snapshot") }
        #expect(errors.count == 1 && errors[0].contains("bad.db") && errors[0].contains("job=mixed"), "\(errors)")
    }

    @Test func `H-JOB-45 the promotion of all followed databases does not end the server`() async throws {
        try Data((0..<40_960).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: server.path("a.db")))
        let repository = try await WritableRepository.openOrCreate(
            DirectoryStore(server.path("repository")), local: server.local
        ).repository
        let mark = """
            {"before":null,"database":"\(repository.databaseID("a.db"))","is_fenced":true,\
            "line":"\(String(repeating: "1", count: 32))","name":"a.db","repository":"\(repository.identifier)",\
            "state":1,"version":1}
            """
        try Data(mark.utf8).write(to: URL(fileURLWithPath: server.path("a.db.promoted")))
        let neighbour = Neighbour()
        let service = try server.service(server.job("a", "a.db", follows: .milliseconds(100)))
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: service), .init(service: neighbour)],
                logger: Logger(label: "group") { [log = server.log] _ in log }))
        let running = Task { try await group.run() }
        try await server.wait("an answer to the promotion") {
            server.log.contains("nothing is left to do") || neighbour.hasEnded.value
        }
        #expect(!neighbour.hasEnded.value)
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(server.log.contains("backups stopped"))
    }

    @Test func `a repository without a store is a failure of its job, with the remedy`() async throws {
        var bucket = server.job("bucket", "good.db")
        bucket.repository = RepositoryReference("s3://bucket/backups")
        try await server.run(server.service(bucket, server.job("other", "other.db"), metrics: metrics)) {
            try await server.wait("both runs") {
                counter("runs_total", "bucket") == 1 && counter("runs_total", "other") == 1
            }
        }
        #expect(counter("failures_total", "bucket") == 1 && counter("failures_total", "other") == 0)
        #expect(server.log.contains("this program has no store for s3://bucket/backups"))
    }

    @Test func `counters begin at zero with the service, and gauges with the last state`() async throws {
        try await server.run(server.service(server.job("a", "good.db"))) { try await server.wait(for: "job done") }
        server.clock.advance(10)
        server.log.clear()
        try await server.run(server.service(server.job("a", "good.db"), metrics: metrics)) {
            try await server.wait("the metrics") { gauge("last_databases", "a") == 1 }
            #expect(counter("runs_total", "a") == 0)
            server.clock.advance(3600)
            try await server.wait("the second run") { counter("runs_total", "a") == 1 }
        }
        #expect(server.log.count("job started") == 1)
    }

    @Test func `the metrics are those of the Prometheus file`() async throws {
        var configuration = ScheduleConfiguration(
            name: "tests", jobs: [server.job("a", "good.db", follows: .milliseconds(20))])
        configuration.metrics = server.path("m.prom")
        let (log, clock) = (server.log, server.clock)
        let service = try BackupService(
            configuration, services: ScheduleServices(tool: "tests", local: server.local),
            logger: .init(label: "tests") { _ in log }, metrics: metrics, host: "host", clock: clock.host)
        let pool = try server.pool("good.db")
        try await pool.write { try $0.execute("INSERT INTO note VALUES ('milk')") }
        try await server.run(service) {
            try await server.waitUntilFollowing()
            try await pool.write { try $0.execute("INSERT INTO note VALUES ('bread')") }
            try await server.wait("a segment") { log.contains("segment stored") }
            try await server.wait("a run") { counter("runs_total", "a") == 1 }
        }
        try await pool.close()
        let text = try String(contentsOfFile: server.path("m.prom"), encoding: .utf8)
        let samples = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(samples.contains { $0.hasPrefix("litevault_follower_segments_total{job=\"a\",database=\"good.db\"} ") })
        for sample in samples {
            let name = String(sample.prefix { $0 != "{" })
            let labels = sample.contains("database=") ? [("job", "a"), ("database", "good.db")] : [("job", "a")]
            let value = try #require(Double(sample.split(separator: " ").last ?? ""))
            if name.hasSuffix("_total") {
                #expect(try metrics.expectCounter(name, labels).totalValue == Int64(value), "\(sample)")
            } else {
                let recorded = try #require(try metrics.expectGauge(name, labels).lastValue)
                #expect(abs(recorded - value) < 0.001, "\(sample)")
            }
        }
        #expect(samples.count > 15)
    }
}
