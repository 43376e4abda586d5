import Foundation
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultScheduleFile
import LiteVaultTestSupport
import Logging
import Testing

/// Something that hangs until it is released.
final class Gate: @unchecked Sendable {  // the condition guards `isOpen`
    private let condition = NSCondition()
    private var isOpen = false

    func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    /// Blocks the thread, as a disk does that hangs.
    func wait() { condition.withLock { while !isOpen { condition.wait() } } }
}

@Suite struct LaneTests {
    let scratch = Scratch()
    let clock = FakeClock(1_800_000_000)
    let journal = Journal()
    /// The repositories that were asked for.
    let asked = Journal()
    let gate = Gate()

    private func makeDatabase(_ name: String) throws {
        let url = URL(fileURLWithPath: scratch.path("db/\(name)"))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data((0..<40_960).map { _ in UInt8.random(in: 0...255) }).write(to: url)
    }

    private func runner(
        _ jobs: String, head: String = "", pauses: ScheduleRunner.Pauses = .init()
    ) throws -> ScheduleRunner {
        let configuration = try ScheduleConfiguration(
            text: "repository: \(scratch.path("repository"))\n\(head)\njobs:\n\(jobs)", path: scratch.path("backup.yml")
        )
        let (journal, asked, gate) = (journal, asked, gate)
        var services = ScheduleServices(
            tool: "tests",
            local: LocalDirectories(
                state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool")))
        services.store = {
            asked.add($0.location)
            return $0.location.contains("hanging")
                ? HangingStore($0.location, gate, journal) as any ObjectStore : DirectoryStore($0.location)
        }
        services.secret = { _ in try RepositorySecret.passphrase(Array("secret".utf8)) }
        services.hook = { command, _, limit in
            journal.add("\(command) \(limit.components.seconds)")
            if command == "hang" { gate.wait() }
            if command == "wait" { try await Task.sleep(for: .seconds(3600)) }
        }
        services.heartbeat = { url, _ in if url.hasSuffix("/hang") { gate.wait() } }
        var log = Logger(label: "tests")
        log.logLevel = .critical
        let state = try StateFile(directory: scratch.path("state"), configuration: configuration.name)
        return ScheduleRunner(
            ScheduleContext(
                configuration, state: state, services: services, log: log, host: "host", clock: clock.host),
            pauses: pauses)
    }

    private func job(_ name: String, _ more: String = "every: 1m") -> String {
        "  - {name: \(name), sources: '\(scratch.directory)/db/\(name)', \(more)}\n"
    }

    /// Runs the lanes until the task is cancelled.
    private func start(_ runner: ScheduleRunner) -> Task<Void, Never> {
        let journal = journal
        return Task {
            try? await runner.run { outcome in
                let problems = outcome.problems.map { $0.limit ?? $0.step }.joined()
                journal.add(
                    "\(outcome.job) \(outcome.isInterrupted ? "interrupted" : outcome.isSuccess ? "ok" : problems)")
            }
        }
    }

    /// Polls a condition for two minutes or longer, and lets the fake clock advance meanwhile.
    private func eventually(advancing seconds: Double = 0, _ condition: () -> Bool) async -> Bool {
        for _ in 0..<2400 {
            if condition() { return true }
            clock.advance(seconds)
            try? await Task.sleep(for: .milliseconds(50))
        }
        return condition()
    }

    private func count(_ line: String) -> Int { journal.all.count { $0 == line } }

    @Test func `H-JOB-01 hooks that hang hold up no other job, and their own job never overlaps itself`() async throws {
        try makeDatabase("good")
        // More than the machine has threads for tasks.
        let stuck = (0..<2 * ProcessInfo.processInfo.activeProcessorCount + 4).map { "stuck\($0)" }
        for name in stuck { try makeDatabase(name) }
        let running = start(
            try runner(
                stuck.map { job($0, "every: 1m, hooks: {before: hang}, limits: {hook: 7m}") }.joined() + job("good")))
        #expect(await eventually(advancing: 3) { count("good ok") >= 3 })
        #expect(count("hang 420") == stuck.count)
        #expect(!journal.all.contains { $0.hasPrefix("stuck") })
        gate.open()
        #expect(await eventually { stuck.allSatisfy { count("\($0) ok") >= 1 } })
        running.cancel()
        await running.value
    }

    @Test(arguments: [
        "hooks: {before: wait, failed: hang}", "hooks: {before: wait}, heartbeat: {failure: 'https://x/hang'}",
    ])
    func `H-JOB-01 a job at its limit does not run again beside its hook or heartbeat, however long that hangs`(
        _ ends: String
    ) async throws {
        for name in ["a", "good"] { try makeDatabase(name) }
        let running = start(
            try runner(
                job("a", "every: 1m, \(ends), limits: {run: 1s, hook: 1s, heartbeat: 1s}") + job("good"),
                pauses: .init(overtime: .zero)))
        // The run has ended, and what hangs is abandoned.
        #expect(await eventually { count("a run") == 1 && count("wait 1") == 1 })
        let goods = count("good ok")
        clock.advance(7200)
        #expect(await eventually(advancing: 3) { count("good ok") >= goods + 3 })
        #expect(count("a run") == 1 && count("wait 1") == 1)
        gate.open()
        #expect(await eventually(advancing: 60) { count("wait 1") >= 2 })
        running.cancel()
        await running.value
    }

    @Test func `a service without a job that is due tells in its metrics what the checks of others have recorded`()
        async throws
    {
        try makeDatabase("a")
        let running = start(
            try runner(
                job("a", "every: 1h"), head: "metrics-file: \(scratch.path("m.prom"))",
                pauses: .init(longest: .milliseconds(20), refreshes: .milliseconds(200))))
        func metrics(_ count: Int) -> Bool {
            let text = try? String(contentsOfFile: scratch.path("m.prom"), encoding: .utf8)
            return text?.contains("litevault_job_unrestorable_snapshots{job=\"a\"} \(count)\n") == true
        }
        #expect(await eventually { metrics(0) })
        let repository = try await Repository.open(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: scratch.path("other"), cache: scratch.path("cache")))
        let pack = try #require(try await repository.store.list("data/").first?.name)
        let url = URL(fileURLWithPath: scratch.path("repository/\(pack)"))
        var bytes = try Data(contentsOf: url)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: url)
        var options = CheckOptions()
        options.readsData = true
        #expect(try await !repository.check(options).isIntact)
        #expect(await eventually(advancing: 0.1) { metrics(1) })
        // No hour has passed: it was no run.
        #expect(count("a ok") == 1)
        running.cancel()
        await running.value
    }

    @Test func `H-JOB-02 a store that hangs takes its permits only until the limit, and its job fails visibly`()
        async throws
    {
        for name in ["good", "bad"] { try makeDatabase(name) }
        let runner = try runner(
            job("bad", "every: 1m, repository: \(scratch.path("hanging")), limits: {run: 1s}, hooks: {failed: told}")
                + job("good"),
            head: "concurrency: 1")
        // The one whose store hangs has the only permit first.
        let running = start(runner)
        // On a busy machine a run may reach its limit before it reaches the store: it hangs there afterwards, or it ends, and the
        // next one hangs.
        #expect(
            await eventually(advancing: 3) {
                ["hangs", "bad run"].allSatisfy { count($0) >= 1 }
            })
        try await Task.sleep(for: .seconds(2))
        let runs = count("bad run")
        #expect(count("told 3600") >= 1)
        #expect(await eventually(advancing: 3) { count("good ok") >= 2 })
        // It hangs still: it is not begun a second time beside itself, however long it is due.
        clock.advance(7200)
        #expect(await eventually(advancing: 3) { count("good ok") >= 4 })
        #expect(count("bad run") == runs)
        let status = runner.status().first { $0.job.name == "bad" }
        #expect(status?.state?.problems.map(\.limit) == ["run"])
        #expect(status?.state?.lastSuccess == nil)
        gate.open()
        #expect(await eventually(advancing: 60) { count("bad ok") >= 1 })
        running.cancel()
        await running.value
    }

    @Test func `jobs that hang do not keep the program from ending`() async throws {
        for name in ["a", "b"] { try makeDatabase(name) }
        let running = start(try runner(job("a", "every: 1m, hooks: {before: hang}") + job("b")))
        #expect(await eventually { count("b ok") == 1 && count("hang 3600") == 1 })
        running.cancel()
        #expect(await BlockingWork.value(of: running, within: .seconds(120)) != nil)
        gate.open()
    }

    @Test func `a hook that hangs after the limit of its job does not keep the program from ending`() async throws {
        try makeDatabase("a")
        let jobs = job("a", "every: 1m, hooks: {before: hang, failed: hang}, limits: {run: 1s}")
        let lane: Weak
        let running: Task<Void, Never>
        do {
            let runner = try runner(jobs)
            lane = Weak(runner: runner)
            running = start(runner)
        }
        #expect(await eventually { count("hang 3600") == 2 })
        running.cancel()
        #expect(await BlockingWork.value(of: running, within: .seconds(120)) != nil)
        // The job has long been due when nothing hangs any more. Its lane keeps the runner until it ends.
        clock.advance(7200)
        gate.open()
        #expect(await eventually(advancing: 60) { lane.runner == nil })
        // The run has failed, and did not begin again.
        #expect(count("hang 3600") == 2)
        let state = try #require(try runner(jobs).status().first?.state)
        #expect(state.problems.map(\.limit) == ["run"])
        #expect(state.warnings?.map(\.step) == ["hook"])
    }

    @Test func `a reader that takes no reports does not keep the program from ending`() async throws {
        for name in ["a", "b"] { try makeDatabase(name) }
        let (journal, gate) = (journal, gate)
        let runner = try runner(job("a") + job("b"))
        let running: Task<Void, Never> = Task {
            try? await runner.run { outcome in
                journal.add("report \(outcome.job)")
                gate.wait()
            }
        }
        // The other job waits for the first one's report.
        #expect(await eventually { journal.all.contains { $0.hasPrefix("report") } })
        running.cancel()
        #expect(await BlockingWork.value(of: running, within: .seconds(120)) != nil)
        gate.open()
    }

    @Test func `an abandoned job reports nothing once the schedule has ended`() async throws {
        for name in ["a", "b"] { try makeDatabase(name) }
        let (journal, gate) = (journal, gate)
        var runner: ScheduleRunner? = try runner(job("a") + job("b"))
        let abandoned = Weak(runner: runner)
        let running: Task<Void, Never> = Task { [runner] in
            try? await runner?.run { outcome in
                journal.add("report \(outcome.job)")
                gate.wait()
            }
        }
        runner = nil
        #expect(await eventually { journal.all.contains { $0.hasPrefix("report") } })
        running.cancel()
        #expect(await BlockingWork.value(of: running, within: .seconds(120)) != nil)
        // The lanes continue: the one that waited for the other's report as well. They keep the runner until they end.
        gate.open()
        #expect(await eventually { abandoned.runner == nil })
        #expect(journal.all.count { $0.hasPrefix("report") } == 1)
    }

    @Test func `a clock that is set back during a pause stops no job`() async throws {
        try makeDatabase("good")
        let running = start(try runner(job("good"), pauses: .init(longest: .seconds(1))))
        #expect(await eventually { count("good ok") == 1 })
        // Its pause has begun.
        try await Task.sleep(for: .milliseconds(500))
        clock.step(-10_000_000)
        #expect(await eventually(advancing: 0.1) { count("good ok") >= 2 })
        running.cancel()
        await running.value
    }

    @Test func `a lane that waits for the next run ends at once`() async throws {
        try makeDatabase("good")
        let running = start(try runner(job("good", "every: 1d")))
        #expect(await eventually { count("good ok") == 1 })
        running.cancel()
        #expect(await BlockingWork.value(of: running, within: .seconds(120)) != nil)
    }

    @Test func `a job that reaches its limit fails, and one that the program ends does not`() async throws {
        try makeDatabase("a")
        let limited = start(try runner(job("a", "every: 1m, hooks: {before: wait}, limits: {run: 1s}")))
        #expect(await eventually { count("a run") == 1 })
        limited.cancel()
        await limited.value
        clock.advance(3600)
        let waits = count("wait 3600")
        let unlimited = try runner(job("a", "every: 1m, hooks: {before: wait}"))
        let ended = start(unlimited)
        #expect(await eventually { count("wait 3600") > waits })
        ended.cancel()
        await ended.value
        // What was stored is the outcome of the earlier run.
        #expect(journal.all.last == "a interrupted")
        #expect(unlimited.status().first?.state?.problems.map(\.limit) == ["run"])
    }

    @Test func `a job at its limit has failed, even if the program ends during its hook`() async throws {
        try makeDatabase("a")
        let runner = try runner(job("a", "every: 1m, hooks: {before: wait, failed: wait}, limits: {run: 1s}"))
        let running = start(runner)
        #expect(await eventually { count("wait 3600") == 2 })
        running.cancel()
        await running.value
        #expect(await eventually { count("a run") == 1 })
        #expect(runner.status().first?.state?.problems.map(\.limit) == ["run"])
    }

    @Test func `a cancelled schedule begins nothing, and keeps what was asked for`() async throws {
        try makeDatabase("a")
        let runner = try runner(job("a", "every: 1m, hooks: {before: told}"))
        let state = try StateFile(directory: scratch.path("state"), configuration: runner.configuration.name)
        try state.requestRun()
        let due = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await runner.runDue()
        }
        due.cancel()
        #expect(try await due.value.isEmpty)
        let running: Task<Void, Never> = Task {
            while !Task.isCancelled { await Task.yield() }
            try? await runner.run { _ in }
        }
        running.cancel()
        await running.value
        #expect(journal.all.isEmpty && asked.all.isEmpty)
        #expect(FileManager.default.fileExists(atPath: state.path + ".run"))
    }

    @Test func `an error that cannot be thrown ends the program`() async throws {
        struct Full: Error {}
        try makeDatabase("a")
        let runner = try runner(job("a"))
        await #expect(throws: Full.self) { try await runner.run { _ in throw Full() } }
    }

    @Test func `run-due does not wait for a hook or heartbeat that hangs after the limit of its job, and warns of it`()
        async throws
    {
        defer { gate.open() }
        let ends = [
            "terminated": "hooks: {before: wait, failed: wait}", "hook": "hooks: {before: wait, failed: hang}",
            "heartbeat": "hooks: {before: wait}, heartbeat: {failure: 'https://x/hang'}",
            "none": "hooks: {before: wait}",
        ]
        for name in ends.keys { try makeDatabase(name) }
        let jobs = ends.map { job($0, "every: 1m, \($1), limits: {run: 1s, hook: 1s, heartbeat: 1s}") }
        let outcomes = try await runner(jobs.joined(), pauses: .init(overtime: .zero)).runDue()
        #expect(outcomes.map { $0.problems.map(\.limit) } == [["run"], ["run"], ["run"], ["run"]])
        #expect(count("hang 1") == 1)
        let warnings = Dictionary(
            uniqueKeysWithValues: outcomes.map { ($0.job, $0.warnings.map { "\($0.step): \($0.message)" }) })
        let late = "the hook or the heartbeat of a run that reached its limit"
        #expect(
            warnings == [
                "terminated": ["hook: \(late) was stopped before it had ended"],
                "hook": ["hook: \(late) did not stop in time, and is abandoned"],
                "heartbeat": ["heartbeat: \(late) did not stop in time, and is abandoned"],
                "none": [],
            ])
    }

    @Test func `run-due waits for a job's limit at most`() async throws {
        for name in ["good", "bad"] { try makeDatabase(name) }
        let outcomes = try await runner(
            job("bad", "every: 1m, repository: \(scratch.path("hanging")), limits: {run: 1s}") + job("good")
        ).runDue()
        let results = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.job, $0) })
        #expect(results["good"]?.isSuccess == true)
        #expect(results["bad"]?.problems.map(\.limit) == ["run"])
        gate.open()
    }
}

/// A runner that ends with the last of its tasks.
private struct Weak {
    weak var runner: ScheduleRunner?
}

/// A directory on a disk that hangs.
private final class HangingStore: ObjectStore {
    private let store: DirectoryStore
    private let gate: Gate
    private let journal: Journal

    init(_ path: String, _ gate: Gate, _ journal: Journal) {
        (store, self.gate, self.journal) = (DirectoryStore(path), gate, journal)
    }

    var location: String { store.location }

    func supportsConditionalWrites() async throws -> Bool { try await store.supportsConditionalWrites() }

    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try await store.put(name, bytes: bytes, condition: condition)
    }

    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        await hang()
        return try await store.put(name, file: path, condition: condition)
    }

    func get(_ name: String) async throws -> [UInt8] { try await store.get(name) }

    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] { try await store.get(name, range: range) }

    func fetch(_ name: String, into path: String) async throws { try await store.fetch(name, into: path) }

    func attributes(_ name: String) async throws -> ObjectAttributes? { try await store.attributes(name) }

    func list(_ prefix: String) async throws -> [ObjectAttributes] { try await store.list(prefix) }

    func remove(_ name: String) async throws { try await store.remove(name) }

    func now() async throws -> Date { try await store.now() }

    private func hang() async {
        journal.add("hangs")
        gate.wait()
    }
}
