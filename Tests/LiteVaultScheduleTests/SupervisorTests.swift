import Foundation
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultScheduleFile
import LiteVaultTestSupport
import Logging
import Testing

/// The followers of a schedule.
@Suite struct SupervisorTests {
    let scratch = Scratch()

    private var database: String { scratch.path("a.db") }

    /// Bytes that nothing can tell from an encrypted database.
    private func makeDatabase() throws {
        try Data((0..<40_960).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: database))
    }

    /// Leaves beside the database what shows that it was promoted, which the repository does not know.
    private func markAsPromoted(_ repository: Repository) throws {
        let mark = """
            {"before":null,"database":"\(repository.databaseID("a.db"))","is_fenced":true,\
            "line":"\(String(repeating: "1", count: 32))","name":"a.db","repository":"\(repository.identifier)",\
            "state":1,"version":1}
            """
        try Data(mark.utf8).write(to: URL(fileURLWithPath: database + ".promoted"))
    }

    /// A runner whose job `a` follows the database, and whose other jobs do not.
    private func runner(_ others: String = "") async throws -> ScheduleRunner {
        let local = LocalDirectories(
            state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))
        try markAsPromoted(try await WritableRepository.openOrCreate(DirectoryStore(scratch.path("repository")), local: local).repository)
        let configuration = try ScheduleConfiguration(
            text: """
                repository: \(scratch.path("repository"))
                jobs: [{name: a, sources: "\(scratch.directory)/*.db", allow-none: true, every: 1h, \
                follow: {interval: 100ms}}\(others)]
                """, path: scratch.path("backup.yml"))
        var log = Logger(label: "tests")
        log.logLevel = .critical
        return ScheduleRunner(
            ScheduleContext(
                configuration,
                state: try StateFile(directory: scratch.path("state"), configuration: configuration.name),
                services: ScheduleServices(tool: "tests", local: local), log: log, host: "host"))
    }

    @Test func `when standbys of all databases were promoted and no job does anything else, the runner ends`()
        async throws
    {
        try makeDatabase()
        let runner = try await runner()
        let error = await #expect(throws: VaultError.self) { try await runner.run { _ in } }
        #expect(error?.code == .promoted)
    }

    @Test func `H-SEC-27 of two databases whose names are canonically equal, one that is gone is no longer followed`()
        async throws
    {
        let paths = ["caf\u{e9}.db", "cafe\u{301}.db"].map { scratch.path($0) }
        for path in paths {
            try Data((0..<40_960).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: path))
        }
        let runner = try await runner()
        let supervisor = try #require(runner.supervisor(grace: .seconds(1)))
        let following = Task { try await supervisor.run() }
        func sources() -> Set<[UInt8]> {
            Set(runner.status().flatMap { $0.state?.following?.databases ?? [] }.map { Array($0.source.utf8) })
        }
        #expect(await eventually { sources() == Set(paths.map { Array($0.utf8) }) })
        #expect(unlink(paths[0]) == 0)
        #expect(await eventually { sources() == [Array(paths[1].utf8)] })
        following.cancel()
        try await following.value
    }

    @Test func `a database that cannot be looked at is not taken for one that is gone`() async throws {
        try makeDatabase()
        let runner = try await runner(", {name: b, sources: '\(scratch.directory)/b/*', allow-none: true, every: 1h}")
        let supervisor = try #require(runner.supervisor(grace: .seconds(1)))
        let following = Task { try await supervisor.run() }
        func phases() -> [FollowingState.Phase] {
            runner.status().flatMap { $0.state?.following?.databases ?? [] }.map(\.phase)
        }
        #expect(await eventually { phases() == [.promoted] })
        try FileManager.default.moveItem(atPath: database, toPath: database + ".old")
        try FileManager.default.createSymbolicLink(atPath: database, withDestinationPath: "a.db")
        // It was looked at before.
        try await Task.sleep(for: .seconds(2.5))
        #expect(phases() == [.promoted])
        try FileManager.default.removeItem(atPath: database)
        #expect(await eventually { phases() == [] })
        following.cancel()
        try await following.value
    }

    @Test(arguments: [true, false])
    func `after a promotion elsewhere, another database at the same path is followed`(leaves: Bool) async throws {
        try makeDatabase()
        let runner = try await runner(", {name: b, sources: '\(scratch.directory)/b/*', allow-none: true, every: 1h}")
        let supervisor = try #require(runner.supervisor(grace: .seconds(1)))
        let following = Task { try await supervisor.run() }
        func phases() -> [FollowingState.Phase] {
            runner.status().flatMap { $0.state?.following?.databases ?? [] }.map(\.phase)
        }
        #expect(await eventually { phases() == [.promoted] })
        if leaves {
            for path in [database, database + ".promoted"] { try FileManager.default.removeItem(atPath: path) }
            #expect(await eventually { phases() == [] })
            try makeDatabase()
        } else {
            // It was looked at before.
            try await Task.sleep(for: .seconds(2.5))
            #expect(phases() == [.promoted])
            try FileManager.default.removeItem(atPath: database + ".promoted")
            try FileManager.default.moveItem(atPath: database, toPath: database + ".old")
            try makeDatabase()
        }
        // Nobody has opened it: it has no log yet.
        #expect(await eventually { phases() == [.waiting] })
        following.cancel()
        try await following.value
    }
}
