import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultBackupService
import LiteVaultSystem
import MetricsTestKit
import Testing

/// From the start of a service to its end.
@Suite struct LifeCycleTests {
    let server = Server()

    private func makeDatabase(_ name: String) throws {
        let pool = try server.pool(name)
        try pool.write { try $0.execute("CREATE TABLE note (text); INSERT INTO note VALUES ('milk')") }
        try pool.close()
    }

    /// Whether another service could run the schedule.
    private func isUnlocked() throws -> Bool {
        let state = try StateFile(directory: server.path("state"), configuration: "tests")
        do {
            try state.lock()
            return true
        } catch let error as VaultError where error.code == .busy {
            return false
        }
    }

    @Test func `a job runs at once if it never ran, and again whenever it is due`() async throws {
        try makeDatabase("a.db")
        try await server.run(server.service(server.job("a", "a.db"))) {
            try await server.wait("the first run") { server.log.count("job done") == 1 }
            #expect(try await server.snapshotCount("a.db") == 1)
            server.clock.advance(3600)
            try await server.wait("the second run") { server.log.count("job done") == 2 }
            #expect(try await server.snapshotCount("a.db") == 2)
        }
        #expect(server.log.contains("backups stopped"))
        #expect(try isUnlocked())
    }

    @Test func `a graceful shutdown stores what was committed last, and releases the follower's lease`() async throws {
        let pool = try server.pool("a.db")
        try await pool.write { try $0.execute("CREATE TABLE note (text)") }
        let job = server.job("a", "a.db", follows: .seconds(3600))
        try await server.run(server.service(job)) {
            try await server.waitUntilFollowing()
            // The next look at the log would be in an hour.
            try await pool.write { try $0.execute("INSERT INTO note VALUES ('the last commit')") }
        }
        let restored = try await server.restore("a.db")
        #expect(try restored.value("SELECT text FROM note", as: String.self) == "the last commit")
        try restored.close()
        #expect(try isUnlocked())

        // Nobody waits for a lease to expire, and no commit was missed.
        server.log.clear()
        try await server.run(server.service(job)) {
            try await server.wait(for: "following without a gap since it last ran")
        }
        #expect(!server.log.contains("error"), "\(server.log.lines)")
        try await pool.close()
    }

    @Test func `a cancelled service ends as on a graceful shutdown`() async throws {
        let pool = try server.pool("a.db")
        try await pool.write { try $0.execute("CREATE TABLE note (text)") }
        let service = try server.service(server.job("a", "a.db", follows: .seconds(3600)))
        let running = Task { try await service.run() }
        try await server.waitUntilFollowing()
        try await pool.write { try $0.execute("INSERT INTO note VALUES ('the last commit')") }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        let restored = try await server.restore("a.db")
        #expect(try restored.value("SELECT text FROM note", as: String.self) == "the last commit")
        try restored.close()
        #expect(try isUnlocked())
        try await pool.close()
    }

    @Test func `a run that does not stop is abandoned, and keeps the schedule locked until it ends`() async throws {
        try makeDatabase("a.db")
        var job = server.job("a", "a.db")
        job.hooks.before = "wait"
        var service = try server.service(job)
        service.stopLimit = .milliseconds(50)
        try await server.run(service) { try await server.wait(for: "job started") }
        #expect(server.log.contains("a run did not stop in time, and is abandoned job=a"))
        #expect(try !isUnlocked())
        server.gate.signal()
        try await server.wait("the end of the run") { try isUnlocked() }
        // It was interrupted, so it counts as none, and a snapshot is not taken after the end of the service.
        #expect(try await server.snapshotCount("a.db") == 0)
        #expect(try StateFile(directory: server.path("state"), configuration: "tests").job("a")?.lastStart == nil)
    }

    @Test func `a follower whose store hangs is abandoned, and keeps the schedule locked until it ends`() async throws {
        let pool = try server.pool("a.db")
        try await pool.write { try $0.execute("CREATE TABLE note (text)") }
        var service = try server.service(server.job("a", "a.db", follows: .milliseconds(20)))
        service.stopLimit = .milliseconds(50)
        try await server.run(service) {
            try await server.waitUntilFollowing()
            try await server.wait("the first run") { server.log.contains("job done") }
            server.isHanging.withLock { $0 = true }
            try await pool.write { try $0.execute("INSERT INTO note VALUES ('milk')") }
            try await server.wait("the segment") { server.hung.value > 0 }
        }
        #expect(server.log.contains("a follower did not stop in time, and is abandoned database=a.db job=a"))
        #expect(try !isUnlocked())
        server.isHanging.withLock { $0 = false }
        try await server.wait("the end of the follower") { try isUnlocked() }
        try await pool.close()
    }

    @Test func `a service waits while another process runs the schedule`() async throws {
        try makeDatabase("a.db")
        var other: StateFile? = try StateFile(directory: server.path("state"), configuration: "tests")
        try other?.lock()
        try await server.run(server.service(server.job("a", "a.db"))) {
            try await server.wait(for: "waiting: another process is running the jobs")
            #expect(!server.log.contains("job started"))
            other = nil
            try await server.wait(for: "job done")
        }
        #expect(server.log.count("waiting: ") == 1)
    }

    @Test func `a service that waits for another process can be shut down`() async throws {
        let other = try StateFile(directory: server.path("state"), configuration: "tests")
        try other.lock()
        try await server.run(server.service(server.job("a", "a.db"))) { try await server.wait(for: "waiting: ") }
        #expect(!server.log.contains("backups started"))
    }

    @Test func `a damaged state ends the service before anything runs`() async throws {
        let path = try StateFile(directory: server.path("state"), configuration: "tests").path
        try FileManager.default.createDirectory(atPath: server.path("state"), withIntermediateDirectories: true)
        try Data("no state".utf8).write(to: URL(fileURLWithPath: path))
        let service = try server.service(server.job("a", "a.db"))
        let error = await #expect(throws: VaultError.self) { try await service.run() }
        #expect(error?.code == .damaged)
        #expect(server.log.lines.isEmpty)
    }

    @Test func `a schedule that no run could work with is refused when the service is created`() throws {
        var job = server.job("a", "a.db")
        job.retry = .zero
        let error = #expect(throws: VaultError.self) { _ = try server.service(job) }
        #expect(
            error?.code == .config && error?.message.contains("job 'a': retry") == true, "\(String(describing: error))")
    }
}
