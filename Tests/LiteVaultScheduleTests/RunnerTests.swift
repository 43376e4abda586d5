import Foundation
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultScheduleFile
import LiteVaultSystem
import LiteVaultTestSupport
import Logging
import Testing

/// A clock that stands until it is advanced or set.
final class FakeClock: Sendable {
    private let state: Locked<(time: Date, passed: Double)>

    init(_ seconds: Double) { state = Locked((Date(timeIntervalSince1970: seconds), 0)) }

    var now: Date { state.withLock { $0.time } }
    private var passed: Double { state.withLock { $0.passed } }

    /// Time passes.
    func advance(_ seconds: Double) {
        state.withLock {
            $0.time += seconds
            $0.passed += seconds
        }
    }

    /// Somebody sets the clock, by this much.
    func step(_ seconds: Double) { state.withLock { $0.time += seconds } }

    var host: HostClock {
        HostClock(
            time: { self.now }, now: { self.passed },
            sleep: { seconds in
                let end = self.passed + seconds
                while self.passed < end, (try? await Task.sleep(for: .milliseconds(5))) != nil {}
            })
    }
}

/// What happened, in order.
final class Journal: @unchecked Sendable {  // its lock guards `lines`
    private let lock = NSLock()
    private var lines: [String] = []

    func add(_ line: String) { lock.withLock { lines.append(line) } }

    var all: [String] { lock.withLock { lines } }
}

@Suite struct RunnerTests {
    let scratch = Scratch()
    let clock = FakeClock(1_800_000_000)
    let journal = Journal()

    /// Bytes that nothing can tell from an encrypted database.
    private func makeDatabase(_ name: String, seed: UInt8 = 1) throws {
        var state = UInt64(seed)
        let bytes = (0..<40_960).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        let url = URL(fileURLWithPath: scratch.path("db/\(name)"))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    private func runner(_ jobs: String) throws -> ScheduleRunner {
        let configuration = try ScheduleConfiguration(
            text: "repository: \(scratch.path("repository"))\nmetrics-file: \(scratch.path("m.prom"))\njobs:\n" + jobs,
            path: scratch.path("backup.yml"))
        let (journal, folder) = (journal, scratch.directory)
        var services = ScheduleServices(
            tool: "tests",
            local: LocalDirectories(
                state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool")))
        services.secret = { _ in try RepositorySecret.passphrase(Array("secret".utf8)) }
        services.hook = { command, variables, _ in
            journal.add("\(command) \(variables["LITEVAULT_FAILED"] ?? "?")")
            if command.hasPrefix("hold") {
                let holder = String(repeating: command.last == "2" ? "2" : "0", count: 32)
                let lease = """
                    {"acquired":0,"boot":1,"holder":"\(holder)","host":"elsewhere",\
                    "namespace":1,"process":1,"released":false,"start":1,"type":"lease"}
                    """
                try Data(lease.utf8).write(to: URL(fileURLWithPath: folder + "/repository/leases/prune"))
            }
            if command == "false" { throw VaultError(.jobFailed, "the hook failed") }
            if command == "wait" { try await Task.sleep(for: .seconds(3600)) }
        }
        services.keys = { _ in throw VaultError(.keyRejected, "there is no key") }
        services.heartbeat = { url, _ in
            journal.add(url)
            if url.hasSuffix("/down") { throw VaultError(.io, "the heartbeat failed") }
        }
        services.patience = .zero
        var log = Logger(label: "tests")
        log.logLevel = .critical
        let state = try StateFile(directory: scratch.path("state"), configuration: configuration.name)
        return ScheduleRunner(
            ScheduleContext(
                configuration, state: state, services: services, log: log, host: "host", clock: clock.host))
    }

    private func job(_ name: String, _ more: String) -> String {
        "  - {name: \(name), sources: '\(scratch.directory)/db/\(name)*', database: '{file}', \(more)}\n"
    }

    @Test func `a job runs when it is due, once, however much was missed`() async throws {
        try makeDatabase("a1")
        let jobs = job("a", "every: 1h")
        #expect(try await runner(jobs).runDue().map(\.job) == ["a"])
        #expect(try await runner(jobs).runDue().isEmpty)
        clock.advance(3600)
        #expect(try await runner(jobs).runDue().count == 1)
        clock.advance(100 * 3600)
        #expect(try await runner(jobs).runDue().count == 1)
        #expect(try await runner(jobs).runDue().isEmpty)
    }

    @Test func `with 'unchanged: skip' only databases whose files have changed get a snapshot`() async throws {
        for name in ["a1", "a2", "a3"] { try makeDatabase(name) }
        // Times of the last two seconds do not identify a file.
        try await Task.sleep(for: .seconds(2.2))
        let skipping = job("a", "every: 1h, unchanged: skip, hooks: {after: 'well'}")
        func run(_ jobs: String) async throws -> (stored: [String], unchanged: Int) {
            clock.advance(3600)
            let outcome = try #require(try await runner(jobs).runDue().first)
            #expect(outcome.isSuccess)
            return (outcome.stored.map(\.database).sorted(), outcome.unchanged)
        }
        #expect(try await run(skipping) == (["a1", "a2", "a3"], 0))
        #expect(try await run(skipping) == ([], 3))
        let state = try #require(try runner(skipping).status().first?.state)
        #expect((state.databases, state.unchanged) == (0, 3))
        #expect(
            Metrics.text(Metrics.samples(try runner(skipping).status())).contains(
                "last_unchanged_databases{job=\"a\"} 3"))
        try makeDatabase("a2", seed: 2)
        #expect(try await run(skipping) == (["a2"], 2))
        #expect(try await run(job("a", "every: 1h")) == (["a1", "a2", "a3"], 0))
        #expect(try await run(job("a", "every: 1h, unchanged: skip, full-read: 0s")) == (["a1", "a2", "a3"], 0))
        for file in try FileManager.default.contentsOfDirectory(atPath: scratch.path("state"))
        where file.hasSuffix(".unchanged") {
            try FileManager.default.removeItem(atPath: scratch.path("state/" + file))
        }
        #expect(try await run(skipping) == (["a1", "a2", "a3"], 0))
        #expect(journal.all.count == 4)
    }

    @Test
    func `with 'repository-sealed' plaintext is stored encrypted, and a repository that is not sealed is refused`()
        async throws
    {
        let plain = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 4096 - 16)
        try makeDatabase("a1")
        try Data(plain).write(to: URL(fileURLWithPath: scratch.path("db/a1")))
        func runs(_ place: String, _ more: String) async throws -> [[String]] {
            clock.advance(3600)
            let jobs = job("a", "every: 1h, repository: '\(scratch.path(place))', repository-secret-file: one\(more)")
            return try await runner(jobs).runDue().map { $0.problems.map(\.code) }
        }
        #expect(try await runs("sealed", ", repository-sealed: true") == [[]])
        #expect(try await runs("open", "") == [["wrong-kind"]])
        #expect(try await runs("open", ", repository-sealed: true") == [["config"]])
        // What there is stays sealed, whatever the configuration says.
        #expect(try await runs("sealed", "") == [[]])
        let packs = try FileManager.default.subpathsOfDirectory(atPath: scratch.path("sealed/data"))
        for pack in packs where !pack.hasSuffix("/") {
            let bytes = FileManager.default.contents(atPath: scratch.path("sealed/data/" + pack)) ?? Data()
            #expect(bytes.range(of: Data("SQLite format 3".utf8)) == nil)
        }
        #expect(throws: VaultError.self) {
            try runner(job("a", "every: 1h, repository: '\(scratch.path("other"))', repository-sealed: true"))
        }
    }

    @Test func `a failure in one job or database stops nothing else`() async throws {
        try makeDatabase("good1")
        try makeDatabase("mixed1")
        try Data("no database at all".utf8).write(to: URL(fileURLWithPath: scratch.path("db/mixed2")))
        let jobs = job("absent", "every: 1h") + job("mixed", "every: 1h") + job("good", "every: 1h")
        let outcomes = try await runner(jobs).runDue()
        let results = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.job, $0) })
        #expect(results["good"]?.isSuccess == true)
        #expect(results["mixed"]?.stored.map(\.database) == ["mixed1"])
        #expect(results["mixed"]?.problems.map(\.step) == ["snapshot"])
        #expect(results["absent"]?.problems.map(\.code) == ["no-input"])
        let status = try runner(jobs).status()
        #expect(status.map { $0.state?.failed } == [1, 1, 0])
        #expect(status.map { $0.state?.lastSuccess != nil } == [false, false, true])
    }

    @Test
    func `H-JOB-12 a name that two jobs give to two files is refused before anything is stored, and other jobs run`()
        async throws
    {
        for name in ["x/d.db", "x/e.db", "y/d.db", "z/z.db"] { try makeDatabase(name) }
        func job(_ name: String, _ more: String = "") -> String {
            "  - {name: \(name), sources: '\(scratch.directory)/db/\(name)/*.db', every: 1h, retention: {last: 1}\(more)}\n"
        }
        let outcomes = try await runner(job("x") + job("y") + job("z")).runDue()
        let results = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.job, $0) })
        #expect(results["z"]?.isSuccess == true)
        // Nothing of either file, and all of the others.
        #expect(results["x"]?.stored.map(\.database) == ["e.db"] && results["y"]?.stored.isEmpty == true)
        for name in ["x", "y"] { #expect(results[name]?.problems.map(\.code) == ["config"]) }
        let repository = try await Repository.open(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(
                state: scratch.path("other"), cache: scratch.path("cache"), spool: scratch.path("spool")))
        #expect(try await repository.snapshots().map(\.database).sorted() == ["e.db", "z.db"])
        // As the remedy says. It is tried again after the retry time.
        clock.advance(3600)
        let named = try await runner(job("x") + job("y", ", database: '{parent}/{file}'")).runDue()
        #expect(named.map(\.job).sorted() == ["x", "y"])
        #expect(named.flatMap(\.problems).isEmpty)
    }

    @Test func `H-JOB-12 that a run continues the history of another file is a warning, once`() async throws {
        for name in ["x/d.db", "y/d.db"] { try makeDatabase(name) }
        func run(_ place: String) async throws -> JobOutcome {
            clock.advance(3600)
            let job = "  - {name: d, sources: '\(scratch.directory)/db/\(place)/*.db', every: 1h}\n"
            let outcome = try #require(try await runner(job).runDue().first)
            #expect(outcome.isSuccess)
            #expect(
                try runner(job).status().first?.state?.warnings?.map(\.message)
                    == outcome.warnings.map(\.message).nilIfEmpty)
            return outcome
        }
        #expect(try await run("x").warnings.isEmpty)
        let warnings = try await run("y").warnings
        #expect(warnings.map(\.source) == [scratch.path("db/y/d.db")])
        #expect(warnings.first?.message.contains(scratch.path("db/x/d.db")) == true)
        #expect(try await run("y").warnings.isEmpty)
        // One file, wherever its links are.
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("db/l"), withDestinationPath: scratch.path("db/y"))
        #expect(try await run("l").warnings.isEmpty)
    }

    @Test func `H-REP-11 recorded damage fails runs until it is repaired, and an unchanged database is stored again`()
        async throws
    {
        try makeDatabase("a1")
        // Times of the last two seconds do not identify a file.
        try await Task.sleep(for: .seconds(2.2))
        let jobs = job("a", "every: 1h, unchanged: skip")
        func run() async throws -> JobOutcome {
            clock.advance(3600)
            return try #require(try await runner(jobs).runDue().first)
        }
        func state() throws -> JobState { try #require(try runner(jobs).status().first?.state) }
        #expect(try await run().isSuccess)
        #expect(try await run().stored.isEmpty)
        let repository = try await Repository.open(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: nil, cache: scratch.path("cache"), spool: scratch.path("spool")))
        #expect(try state().unrestorable == [])
        let pack = scratch.path("repository/" + (try #require(try await repository.store.list("data/").first?.name)))
        var bytes = try #require(FileManager.default.contents(atPath: pack))
        bytes[100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: pack))
        var options = CheckOptions()
        options.readsData = true
        #expect(try await !repository.check(options).isIntact)
        // The newest snapshot cannot be restored: the database is stored again, although it is unchanged.
        let healing = try await run()
        #expect(healing.stored.count == 1 && !healing.isSuccess)
        #expect(healing.problems.map(\.step) == ["repository"] && healing.problems[0].message.contains("since"))
        for _ in 0..<2 { #expect(try await !run().isSuccess) }
        let known = try state()
        #expect(known.unrestorable?.map(\.needsAttention) == [true] && known.failed == 1)
        let text = Metrics.text(Metrics.samples(try runner(jobs).status()))
        #expect(text.contains("litevault_job_unrestorable_snapshots{job=\"a\"} 1"))
        #expect(text.contains("litevault_job_unrestorable_since_timestamp_seconds{job=\"a\"}"))
        #expect(try await repository.check(options).snapshots.last?.verification.passed == true)

        _ = try await repository.writable().repair()
        let after = try await run()
        #expect(after.isSuccess, "\(after.problems)")
        #expect(try state().unrestorable?.map(\.isLost) == [true])
        #expect(
            Metrics.text(Metrics.samples(try runner(jobs).status())).contains(
                "litevault_job_lost_snapshots{job=\"a\"} 1"))
        let lost = try #require(try await repository.snapshots().unrestorable.first?.snapshot.id)
        _ = try await repository.writable().forget(snapshots: [lost])
        #expect(try await run().isSuccess)
        #expect(try state().unrestorable == [])
    }

    @Test func `H-CLOCK-13 what a verifier with a clock ahead has found fails a run whose verification does not see it`()
        async throws
    {
        let jobs = job("a", "every: 1h, unchanged: skip, verify: {level: structure, every: 1h}")
        func run() async throws -> JobOutcome {
            clock.advance(3600)
            return try #require(try await runner(jobs).runDue().first)
        }
        try makeDatabase("a1")
        #expect(try await run().isSuccess)
        try makeDatabase("a1", seed: 2)
        // Times of the last two seconds do not identify a file.
        try await Task.sleep(for: .seconds(2.2))
        #expect(try await run().stored.count == 1)
        var repository = try await Repository.open(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: nil, cache: scratch.path("cache"), spool: scratch.path("spool")))
        repository.clock = HostClock(
            time: { Date() + 86_400 }, now: HostClock.system.now, sleep: HostClock.system.sleep)
        let old = try #require(try await repository.snapshots().first { $0.sequence == 1 })
        let packs = try await repository.store.list("data/").sorted { $0.modified < $1.modified }
        let pack = scratch.path("repository/" + (try #require(packs.first?.name)))
        var bytes = try #require(FileManager.default.contents(atPath: pack))
        bytes[100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: pack))
        var options = CheckOptions()
        options.readsData = true
        #expect(try await !repository.check(options).isIntact)
        // Nothing is stored that could warn of it, and the structure is intact.
        for _ in 0..<2 {
            let outcome = try await run()
            #expect(outcome.stored.isEmpty && outcome.verified == false && !outcome.isSuccess)
            #expect(outcome.problems.count == 1 && outcome.problems.first?.message.contains(old.id) == true)
        }
        let state = try #require(try runner(jobs).status().first?.state)
        #expect(state.failed == 1 && state.lastSuccess != state.lastStart)
        // What the run's own verification finds, it reports alone.
        let thorough = jobs.replacing("level: structure", with: "level: data")
        clock.advance(3600)
        let found = try #require(try await runner(thorough).runDue().first)
        #expect(Set(found.problems.map(\.step)) == ["verification"], "\(found.problems)")
    }

    @Test func `H-REP-13 a runner whose repository is exchanged meanwhile stores nothing in the other one`()
        async throws
    {
        try makeDatabase("a1")
        let runner = try runner(job("a", "every: 1h"))
        #expect(try await runner.runDue().first?.isSuccess == true)
        for name in ["repository", "state/locations"] {
            try FileManager.default.removeItem(atPath: scratch.path(name))
        }
        let other = try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: scratch.path("other"), cache: scratch.path("cache"))).repository
        let before = try await other.store.list("")
        clock.advance(3600)
        let outcome = try #require(try await runner.runDue().first)
        #expect(outcome.problems.map(\.code) == ["damaged"] && outcome.stored.isEmpty)
        #expect(outcome.problems[0].message.contains(other.identifier))
        #expect(try await other.store.list("") == before)
    }

    @Test func `damage beside a snapshot fails the run, and the snapshot is stored`() async throws {
        try makeDatabase("a1")
        let jobs = job("a", "every: 1h, hooks: {after: 'well', failed: 'not well'}, heartbeat: 'https://beat'")
        #expect(try await runner(jobs).runDue().first?.isSuccess == true)
        let repository = try await Repository.open(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: nil, cache: scratch.path("cache"), spool: scratch.path("spool")))
        let first = try #require(try await repository.snapshots().first)
        try Data("{}".utf8).write(to: URL(fileURLWithPath: scratch.path("repository/" + first.object)))
        clock.advance(3600)
        let outcome = try #require(try await runner(jobs).runDue().first)
        #expect(outcome.stored.count == 1 && !outcome.isSuccess)
        #expect(outcome.problems.map(\.code) == ["damaged"])
        #expect(outcome.problems.first?.source == first.object)
        #expect(try await repository.snapshots().map(\.sequence) == [2])
        #expect(journal.all == ["well 0", "https://beat", "not well 1"])
    }

    @Test func `H-REP-08 jobs with other secrets for one place do not share an opened repository`() async throws {
        try makeDatabase("a1")
        try makeDatabase("b1")
        let jobs =
            job("a", "every: 1h, repository: '\(scratch.path("other"))', repository-secret-file: one")
            + job("b", "every: 1h, repository: '\(scratch.path("other"))'")
        let outcomes = try await runner(jobs).runDue()
        // Whichever came first made it: with a secret, or without one.
        #expect(outcomes.count { $0.isSuccess } == 1)
        #expect(outcomes.flatMap(\.problems).map(\.code) == ["key-rejected"])
    }

    @Test func `a repository that is given a new key between two runs is opened again`() async throws {
        try makeDatabase("a1")
        let place = scratch.path("other")
        let runner = try runner(job("a", "every: 1h, repository: '\(place)', repository-secret-file: one"))
        #expect(try await runner.runDue().map(\.isSuccess) == [true])
        let secret = try RepositorySecret.passphrase(Array("secret".utf8))
        let other = try await Repository.open(
            DirectoryStore(place), secret: secret, local: LocalDirectories(state: nil, cache: scratch.path("cache-2")))
        _ = try await other.writable().rotateKey(secret: secret)
        clock.advance(3600)
        #expect(try await runner.runDue().map(\.isSuccess) == [true])
        let new = try await Repository.open(
            DirectoryStore(place), secret: secret, local: LocalDirectories(state: nil, cache: scratch.path("cache-2")))
        #expect(try await new.snapshots().warnings == [])
    }

    @Test func `a failed run is retried after its retry time`() async throws {
        let jobs = job("a", "every: 1d, retry: 10m")
        #expect(try await runner(jobs).runDue().first?.isSuccess == false)
        clock.advance(599)
        #expect(try await runner(jobs).runDue().isEmpty)
        try makeDatabase("a1")
        clock.advance(1)
        #expect(try await runner(jobs).runDue().first?.isSuccess == true)
        clock.advance(600)
        #expect(try await runner(jobs).runDue().isEmpty)
    }

    @Test func `all jobs run at once if that is asked for, once`() async throws {
        let jobs = job("a", "every: 1d, retry: 10m") + job("b", "every: 1d, allow-none: true")
        #expect(try await runner(jobs).runDue().count == 2)
        #expect(try await runner(jobs).runDue().isEmpty)
        try makeDatabase("a1")
        try StateFile(directory: scratch.path("state"), configuration: scratch.path("backup.yml")).requestRun()
        let outcomes = try await runner(jobs).runDue()
        #expect(Set(outcomes.map(\.job)) == ["a", "b"] && outcomes.allSatisfy(\.isSuccess))
        #expect(try await runner(jobs).runDue().isEmpty)
    }

    @Test func `a run that has stored nothing has verified nothing`() async throws {
        let jobs = job("a", "every: 1d, retry: 10m, verify: {level: structure, every: 1w}")
        #expect(try await runner(jobs).runDue().first?.verified == nil)
        try makeDatabase("a1")
        clock.advance(600)
        #expect(try await runner(jobs).runDue().first?.verified == true)
    }

    @Test func `the repository's snapshots count if the state was lost`() async throws {
        try makeDatabase("a1")
        // The manifests have the real clock's time.
        clock.advance(Date().timeIntervalSince1970 - clock.now.timeIntervalSince1970)
        let jobs = job("a", "every: 52w")
        #expect(try await runner(jobs).runDue().count == 1)
        try FileManager.default.removeItem(atPath: scratch.path("state"))
        // On a busy machine the snapshot is seconds newer, and one of the future would not count.
        clock.advance(Date().timeIntervalSince1970 - clock.now.timeIntervalSince1970)
        #expect(try await runner(jobs).runDue().isEmpty)
        try makeDatabase("a2")
        #expect(try await runner(jobs).runDue().count == 1)
    }

    @Test func `H-CLOCK-02 a clock that was ahead silences no job, no verification and no pruning`() async throws {
        try makeDatabase("a1")
        let jobs = job("a", "every: 1h, retention: {last: 2}, verify: {level: data, every: 4w}")
        clock.advance(10_000_000)
        let ahead = try #require(try await runner(jobs).runDue().first)
        #expect(ahead.verified == true)
        #expect(ahead.pruned)
        clock.advance(-10_000_000)
        let back = try #require(try await runner(jobs).runDue().first)
        #expect(back.verified == true)
        #expect(back.pruned)
        // All of it is dated right now, and waits for its time again.
        #expect(try await runner(jobs).runDue().isEmpty)
        clock.advance(3600)
        let next = try #require(try await runner(jobs).runDue().first)
        #expect(next.verified == nil)
        #expect(!next.pruned)
    }

    @Test(arguments: [-1_700_000_000.0, 10_000_000])
    func `H-CLOCK-16 a run that a wrong clock has dated is overdue once it is late, not once the clock is right`(
        wrong: Double
    ) async throws {
        try makeDatabase("a1")
        let jobs = job("a", "every: 1d")
        func isOverdue() throws -> Bool { try runner(jobs).health().jobs.contains { $0.reasons.contains("is overdue") } }
        clock.step(wrong)
        #expect(try await runner(jobs).runDue().count == 1)
        clock.step(-wrong)
        #expect(try !isOverdue())
        // Days begin at midnight, UTC.
        clock.advance(86_400 - clock.now.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400) + 3500)
        #expect(try !isOverdue())
        clock.advance(200)
        #expect(try isOverdue())
        #expect(try await runner(jobs).runDue().count == 1)
        #expect(try !isOverdue())
    }

    @Test func `H-CLOCK-02 a run that failed while the clock was set back is retried after its retry time`() throws {
        let text = "repository: r\njobs:\n" + job("a", "every: 1d, retry: 10m")
        let job = try #require(try ScheduleConfiguration(text: text, path: scratch.path("b.yml")).jobs.first)
        var state = JobState()
        state.lastStart = clock.now.timeIntervalSince1970
        state.lastEnd = clock.now.timeIntervalSince1970 + 1_000_000
        state.failed = 1
        clock.advance(599)
        #expect(!DueDecision(job, state, host: "host", now: clock.now).isDue)
        clock.advance(1)
        #expect(DueDecision(job, state, host: "host", now: clock.now).isDue)
    }

    @Test func `retention removes what no rule keeps, of the job's databases alone`() async throws {
        try makeDatabase("a1")
        try makeDatabase("b1")
        let jobs = job("a", "every: 1h, retention: {last: 2}") + job("b", "every: 1h")
        for seed in UInt8(1)...4 {
            try makeDatabase("a1", seed: seed)
            try makeDatabase("b1", seed: seed)
            #expect(try await runner(jobs).runDue().allSatisfy(\.isSuccess))
            clock.advance(3600)
        }
        let repository = try await Repository.open(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")))
        #expect(try await repository.snapshots(database: "a1").count == 2)
        #expect(try await repository.snapshots(database: "b1").count == 4)
    }

    @Test func `H-OBJ-10 a pruning lease held by another process for hours is a failure`() async throws {
        try makeDatabase("a1")
        // The hook runs between retention and pruning, and makes another machine hold the lease.
        let jobs = job("a", "every: 30m, retention: {last: 2}, hooks: {after: hold}")
        var failures: [[String]] = []
        for _ in 0..<4 {
            try? FileManager.default.removeItem(atPath: scratch.path("repository/leases/prune"))
            failures += try await runner(jobs).runDue().map { $0.problems.map { "\($0.step) \($0.code)" } }
            clock.advance(1800)
        }
        #expect(failures == [[], [], ["retention busy"], ["retention busy"]])
        // Once it went through, the time starts again.
        try FileManager.default.removeItem(atPath: scratch.path("repository/leases/prune"))
        #expect(try await runner(jobs.replacing("after: hold", with: "after: pass")).runDue().allSatisfy(\.isSuccess))
        clock.advance(86_400)
        try FileManager.default.removeItem(atPath: scratch.path("repository/leases/prune"))
        #expect(try await runner(jobs).runDue().allSatisfy(\.isSuccess))
    }

    @Test func `retention is left to the next run while others remove from the repository`() async throws {
        try makeDatabase("a1")
        let free = job("a", "every: 30m, retention: {last: 1}")
        let held = job("a", "every: 30m, retention: {last: 1}, hooks: {before: hold}")
        func run(_ jobs: String) async throws -> (problems: [String], removed: Int) {
            let outcome = try #require(try await runner(jobs).runDue().first)
            clock.advance(1800)
            return (outcome.problems.map { "\($0.step) \($0.code)" }, outcome.removed)
        }
        #expect(try await run(free) == ([], 0))
        #expect(try await run(held) == ([], 0))
        try FileManager.default.removeItem(atPath: scratch.path("repository/leases/prune"))
        #expect(try await run(free) == ([], 2))
        #expect(try await run(held) == ([], 0))
        #expect(try await run(held) == ([], 0))
        // For an hour.
        #expect(try await run(held) == (["retention busy"], 0))
        try FileManager.default.removeItem(atPath: scratch.path("repository/leases/prune"))
        #expect(try await run(free) == ([], 4))
        #expect(try await run(held) == ([], 0))
    }

    @Test func `H-JOB-13 jobs that meet while one of them removes are no failure, however often`() async throws {
        try makeDatabase("a1")
        func run(_ hook: String) async throws -> Set<String> {
            let outcome = try #require(
                try await runner(job("a", "every: 24h, retention: {last: 1}, hooks: {before: \(hook)}")).runDue().first)
            #expect(outcome.stored.count == 1)
            clock.advance(86_400)
            return Set(outcome.problems.map { "\($0.step) \($0.code)" })
        }
        #expect(try await run("none") == [])
        for holder in ["hold", "hold2", "hold", "hold2"] { #expect(try await run(holder) == []) }
        // The lease of the night before has not ended.
        #expect(try await run("hold2") == ["retention busy"])
    }

    @Test func `hooks and the heartbeat come in order, and a failure calls its own hook`() async throws {
        try makeDatabase("a1")
        let hooks = "hooks: {before: before, after: after, failed: failed}, heartbeat: 'https://x/ping'"
        _ = try await runner(job("a", "every: 1h, \(hooks)")).runDue()
        #expect(journal.all == ["before 0", "after 0", "https://x/ping"])
        let failing = try await runner(job("b", "every: 1h, \(hooks)")).runDue()
        #expect(failing.first?.isSuccess == false)
        #expect(journal.all.suffix(2) == ["before 0", "failed 1"])
        let stopped = try await runner(job("c", "every: 1h, hooks: {before: 'false'}")).runDue()
        #expect(stopped.first?.problems.map(\.step) == ["hook"])
    }

    @Test func `H-JOB-47 the state keeps a hundred warnings of a run`() async throws {
        for number in 0...100 {
            for place in ["x", "y"] { try makeDatabase("\(place)/\(number).db") }
        }
        for place in ["x", "y"] {
            clock.advance(3600)
            let job = "  - {name: d, sources: '\(scratch.directory)/db/\(place)/*.db', every: 1h}\n"
            let outcome = try #require(try await runner(job).runDue().first)
            // Another file has each name.
            #expect(outcome.warnings.count == (place == "x" ? 0 : 101))
            #expect(try runner(job).status().first?.state?.warnings?.count == (place == "x" ? nil : 100))
        }
    }

    @Test func `H-JOB-47 a job remembers the verifications of its own databases alone in a shared repository`()
        async throws
    {
        for name in ["a1", "b1", "b2"] { try makeDatabase(name) }
        let jobs = ["a", "b"].map { job($0, "every: 1h, verify: {level: structure, every: 1h}") }
        for one in jobs {
            let outcome = try #require(try await runner(one).runDue().first)
            #expect(outcome.verified == true, "\(outcome.problems)")
        }
        let services = ScheduleServices(
            tool: "tests",
            local: LocalDirectories(
                state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool")))
        let found = await RecordedDamage(
            try runner(jobs.joined()).status().map { (job: $0.job, state: $0.state) }, services, within: .seconds(600))
        for (name, count) in [("a", 1), ("b", 2)] {
            guard case .snapshots(let snapshots, let examined)? = found.answers[name] else {
                Issue.record("no answer about \(name)")
                continue
            }
            #expect(snapshots.isEmpty && examined.count == count, "\(name)")
        }
    }

    @Test func `H-JOB-10 a heartbeat that cannot be sent is a warning: the run keeps its verdict and is not repeated`()
        async throws
    {
        try makeDatabase("a1")
        let jobs = job("a", "every: 1h, retry: 1s, heartbeat: 'https://x/down', hooks: {failed: failed}")
        let outcome = try #require(try await runner(jobs).runDue().first)
        #expect(outcome.isSuccess && outcome.warnings.map(\.step) == ["heartbeat"])
        #expect(journal.all == ["https://x/down"])
        let state = try #require(try runner(jobs).status().first?.state)
        #expect(state.failed == 0 && state.lastSuccess != nil && state.warnings?.count == 1)
        clock.advance(60)
        #expect(try await runner(jobs).runDue().isEmpty)
    }

    @Test func `the start of a run and its failure have heartbeats of their own`() async throws {
        try makeDatabase("a1")
        let beats = "heartbeat: {start: 'https://x/start', success: 'https://x/done', failure: 'https://x/failed'}"
        _ = try await runner(job("a", "every: 1h, \(beats)")).runDue()
        _ = try await runner(job("b", "every: 1h, \(beats)")).runDue()
        #expect(journal.all == ["https://x/start", "https://x/done", "https://x/start", "https://x/failed"])
    }

    @Test func `a verification is part of the first run after its time, and repeated while it fails`() async throws {
        try makeDatabase("a1")
        let jobs = job("a", "every: 1h, verify: {level: data, every: 1d}")
        #expect(try await runner(jobs).runDue().first?.verified == true)
        clock.advance(3600)
        #expect(try await runner(jobs).runDue().first?.verified == nil)
        let packs = scratch.path("repository/data")
        let pack = try #require(
            FileManager.default.enumerator(atPath: packs)?.allObjects.compactMap { $0 as? String }
                .first {
                    $0.count > 8 && !$0.hasPrefix(".")
                        && (try? Data(contentsOf: URL(fileURLWithPath: "\(packs)/\($0)"))) != nil
                })
        let url = URL(fileURLWithPath: "\(packs)/\(pack)")
        var bytes = try Data(contentsOf: url)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: url)
        for _ in 0..<2 {
            clock.advance(86_400)
            let outcome = try #require(try await runner(jobs).runDue().first)
            #expect(outcome.verified == false)
            #expect(outcome.problems.contains { $0.step == "verification" && $0.code == "damaged" })
        }
    }

    @Test func `a run that was interrupted counts as none`() async throws {
        try makeDatabase("a1")
        let interrupted = try runner(job("a", "every: 1h, hooks: {before: 'wait', failed: 'told'}"))
        let run = Task { try await interrupted.runDue() }
        for _ in 0..<6000 where journal.all.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        run.cancel()
        let outcome = try #require(try await run.value.first)
        #expect(outcome.isInterrupted)
        #expect(outcome.problems.isEmpty && outcome.stored.isEmpty)
        #expect(journal.all == ["wait 0"])
        let jobs = job("a", "every: 1h")
        #expect(try runner(jobs).status().first?.state == nil)
        #expect(try await runner(jobs).runDue().first?.isSuccess == true)
    }

    @Test func `a job that is due is not begun once the program is to end`() async throws {
        try makeDatabase("a1")
        let runner = try runner(job("a", "every: 1h, hooks: {before: 'begun'}"))
        let run = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await runner.runDue()
        }
        #expect(try await run.value.isEmpty)
        #expect(journal.all.isEmpty)
    }

    @Test func `two processes that run the same jobs exclude each other`() throws {
        let one = try StateFile(directory: scratch.path("state"), configuration: "/x")
        let other = try StateFile(directory: scratch.path("state"), configuration: "/x")
        try one.lock()
        #expect(throws: VaultError.self) { try other.lock() }
        let third = try StateFile(directory: scratch.path("state"), configuration: "/y")
        try third.lock()
    }

    @Test func `jitter is the same each time and differs between machines and jobs`() {
        let shift = Recurrence.delay("a", host: "h", jitter: .seconds(600))
        #expect(shift == Recurrence.delay("a", host: "h", jitter: .seconds(600)))
        #expect((0..<600).contains(shift))
        #expect(Set((0..<50).map { Recurrence.delay("a", host: "h\($0)", jitter: .seconds(600)) }).count > 20)
        #expect(Recurrence.delay("a", host: "h", jitter: .seconds(0)) == 0)
    }

    @Test func `the metrics report what happened`() async throws {
        try makeDatabase("a1")
        _ = try await runner(job("a", "every: 1h") + job("b", "every: 1h")).runDue()
        let text = try String(contentsOfFile: scratch.path("m.prom"), encoding: .utf8)
        #expect(text.contains("litevault_job_last_success_timestamp_seconds{job=\"a\"} 1800000000\n"))
        #expect(!text.contains("litevault_job_last_success_timestamp_seconds{job=\"b\"}"))
        #expect(text.contains("litevault_job_last_failures{job=\"b\"} 1\n"))
    }

    @Test func `units run what the configuration needs`() throws {
        let text = """
            repository: /backup/vaults
            repository-secret-credential: repo
            jobs:
              - {name: a, sources: '/srv/app 1/*.db', every: 1h, verify: {level: pages, key-credential: db}}
            """
        let configuration = try ScheduleConfiguration(text: text, path: "/etc/lite vault/b%.yml")
        let units = try SystemdUnits(name: "litevault-backup", tool: "/usr/bin/litevault", configuration: configuration)
        #expect(units.service.contains("ExecStart=/usr/bin/litevault schedule run-due \"/etc/lite vault/b%%.yml\""))
        #expect(
            units.service.contains("LoadCredentialEncrypted=db:")
                && units.service.contains("LoadCredentialEncrypted=repo:"))
        #expect(
            units.service.contains("ReadWritePaths=-\"/srv/app 1\"")
                && units.service.contains("ReadWritePaths=-/backup/vaults"))
        #expect(units.timer?.contains("Persistent=true") == true)
        for (at, minutes) in [("minutely", 1), ("*:1,2", 1), ("*:*:0/20", 1), ("*/2 3 1 * *", 1), ("*:0/5", 5), ("03:00", 5)] {
            let timed = try SystemdUnits(
                name: "x", tool: "/usr/bin/litevault",
                configuration: ScheduleConfiguration(
                    text: "repository: /r\njobs: [{name: a, sources: '/db/*', at: '\(at)'}]", path: "/b.yml"))
            #expect(timed.timer?.contains("\nOnCalendar=*:0/\(minutes)\n") == true, "\(at)")
            #expect(timed.cron.hasPrefix(minutes == 1 ? "* * * * * " : "*/5 * * * * "), "\(at)")
        }
        #expect(units.service.contains("\n#OnFailure="))
        let alarmed = try SystemdUnits(
            name: "x", tool: "/usr/bin/litevault", configuration: configuration, failureUnit: "notify@%n.service")
        #expect(alarmed.service.contains("\nOnFailure=notify@%n.service\n"))
        #expect(units.cron.contains("'/etc/lite vault/b\\%.yml'"))
    }

    @Test(arguments: ["/srv/a\nb", "/srv/a\u{202e}b", "/srv/a\u{1b}b"])
    func `H-SEC-24 a path that no unit and no crontab line can show is refused`(path: String) throws {
        func units(tool: String = "/usr/bin/litevault", repository: String = "/r", configuration: String = "/b.yml")
            throws
        {
            let location = String(decoding: try JSONEncoder().encode(repository), as: UTF8.self)
            let text = "repository: \(location)\njobs: [{name: a, sources: /srv/*.db, every: 1h}]"
            let configuration = try ScheduleConfiguration(text: text, path: configuration)
            _ = try SystemdUnits(name: "x", tool: tool, configuration: configuration)
        }
        try units()
        for make in [{ try units(tool: path) }, { try units(repository: path) }, { try units(configuration: path) }] {
            let error = #expect(throws: VaultError.self) { try make() }
            #expect(error?.code == .usage && error?.path == path)
        }
    }
}

extension Array {
    fileprivate var nilIfEmpty: [Element]? { isEmpty ? nil : self }
}
