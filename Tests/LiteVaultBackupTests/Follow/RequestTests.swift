import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// What following and restoring request of a store: in object storage each request costs money and time.
@Suite(.limited) struct RequestTests {
    /// Counts the requests that a store in a bucket would get.
    private final class Requests: @unchecked Sendable {  // its lock guards the rest
        private let lock = NSLock()
        private var calls: [(call: String, name: String)] = []
        private var running = 0
        private var mostRunning = 0
        private var hasWaited = false

        func note(_ call: String, _ name: String) { lock.withLock { calls.append((call, name)) } }
        /// The first segment is not fetched before another is requested.
        func begin() async {
            lock.withLock {
                running += 1
                mostRunning = max(mostRunning, running)
            }
            let end = ContinuousClock.now + .seconds(300)
            while most < 2, !waited, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(1)) }
            lock.withLock { hasWaited = true }
        }
        func end() { lock.withLock { running -= 1 } }

        private var waited: Bool { lock.withLock { hasWaited } }
        var most: Int { lock.withLock { mostRunning } }
        func reset() { lock.withLock { calls = [] } }
        func count(_ call: String? = nil, _ prefix: String = "") -> Int {
            lock.withLock { calls.count { (call == nil || $0.call == call) && $0.name.hasPrefix(prefix) } }
        }
        var all: [String] { lock.withLock { calls.map { "\($0.call) \($0.name)" } } }
    }

    private let scratch = Scratch()

    private func followed(_ requests: Requests) async throws -> (SegmentTests.Followed, Repository) {
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        store.setHooks(
            before: { call, name in
                requests.note(call, name)
                if call == "fetch", name.hasPrefix("segments/") { await requests.begin() }
            },
            after: { call, name in if call == "fetch", name.hasPrefix("segments/") { requests.end() } })
        let repository = try await WritableRepository.openOrCreate(
            store,
            local: LocalDirectories(
                state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("work"))).repository
        return (try await SegmentTests.Followed(scratch, repository), repository)
    }

    @Test func `a poll that finds commits costs a PUT and two small requests, and one that finds none costs nothing`()
        async throws
    {
        let began = ContinuousClock.now
        // The lease is renewed every 200 s, which a busy machine may take for this: by a task, and by a look when it is due.
        func possibleRenewals() -> Int { 2 * Int((ContinuousClock.now - began) / .seconds(200)) }
        let requests = Requests()
        let (followed, _) = try await followed(requests)
        try await followed.poll()
        _ = try await followed.take()
        requests.reset()
        for value in 1...10 {
            try followed.insert(value)
            try await followed.poll()
        }
        // One count is taken of all: a renewal may come between two.
        let some = requests.all
        #expect(some.count { $0.hasPrefix("put segments/") } == 10, "\(some)")
        let renewals = some.count { $0.hasPrefix("put leases/") }
        let questions = some.count { $0.hasPrefix("attributes leases/follow-") }
        let comparisons = some.count { $0 == "get repository.json" }
        #expect(10 + renewals + questions + comparisons == some.count, "\(some)")
        #expect(renewals <= possibleRenewals() && questions == 10 && comparisons == 10, "\(some)")
        requests.reset()
        for _ in 1...10 { try await followed.poll() }
        let none = requests.all
        #expect(none.allSatisfy { $0.hasPrefix("put leases/") } && none.count <= possibleRenewals(), "\(none)")
        requests.reset()
        await followed.writer.close()
        // It releases the lease.
        let last = requests.all
        #expect(!last.isEmpty && last.allSatisfy { $0.hasPrefix("put leases/") }, "\(last)")
        #expect(last.count <= 1 + possibleRenewals(), "\(last)")
    }

    @Test func `a restore reads each segment once, several at a time, and asks for no attributes`() async throws {
        let requests = Requests()
        let (followed, repository) = try await followed(requests)
        try await followed.poll()
        _ = try await followed.take()
        for value in 1...30 {
            try followed.insert(value)
            try await followed.poll()
        }
        await followed.writer.close()
        requests.reset()
        try await repository.restore(.latest, to: scratch.path("restored.db"))
        #expect(try Connection(scratch.path("restored.db")).value("SELECT max(a) FROM t", as: Int.self) == 30)
        let segments = requests.all.filter { $0.contains(" segments/") && !$0.hasPrefix("list") }
        #expect(segments.count == 30 && Set(segments).count == 30, "\(segments)")
        #expect(segments.allSatisfy { $0.hasPrefix("fetch") })
        #expect((2...16).contains(requests.most))
        // Nothing is left of what was fetched.
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path("work"))
        #expect(left.isEmpty, "\(left)")
    }

    @Test func `a restore through a store of three calls has three requests under way, and no more`() async throws {
        let (followed, repository) = try await followed(Requests())
        try await followed.poll()
        _ = try await followed.take()
        for value in 1...30 {
            try followed.insert(value)
            try await followed.poll()
        }
        await followed.writer.close()
        let (hooked, calls) = (HookedStore(repository.store), Locked((now: 0, most: 0)))
        hooked.setHooks(
            before: { call, _ in
                guard call == "fetch" else { return }
                calls.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                // A fourth would have had the time to begin.
                if calls.withLock({ $0.now }) >= 3 { try? await Task.sleep(for: .milliseconds(20)) }
                // The first ones wait for each other.
                let end = ContinuousClock.now + .seconds(300)
                while calls.withLock({ $0.most }) < 3, ContinuousClock.now < end {
                    try? await Task.sleep(for: .milliseconds(1))
                }
            }, after: { call, _ in if call == "fetch" { calls.withLock { $0.now -= 1 } } })
        let limited = try await Repository.open(LimitedStore(hooked, calls: 3), local: repository.local)
        try await limited.restore(.latest, to: scratch.path("limited.db"))
        #expect(try Connection(scratch.path("limited.db")).value("SELECT max(a) FROM t", as: Int.self) == 30)
        #expect(calls.withLock { $0.most } == 3)
    }
}
