import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A follower joins stored segments by itself.
@Suite(.limited) struct FollowCompactionTests {
    private let base = CompactionTests()
    private var scratch: Scratch { base.scratch }

    /// What a follower reported.
    private final class Events: @unchecked Sendable {  // its lock guards the rest
        private let lock = NSLock()
        private var all: [FollowingEvent] = []

        func note(_ event: FollowingEvent) { lock.withLock { all.append(event) } }

        var results: [CompactionResult] {
            lock.withLock { all.compactMap { if case .compacted(let result) = $0 { result } else { nil } } }
        }
        var failures: [String] {
            lock.withLock {
                all.compactMap { event in
                    guard case .failed(.compact, let error, _) = event else { return nil }
                    return (error as? VaultError)?.message ?? "\(error)"
                }
            }
        }
        var isFollowing: Bool {
            lock.withLock {
                all.contains { if case .based = $0 { true } else if case .resumed = $0 { true } else { false } }
            }
        }
        var stored: Int { lock.withLock { all.count { if case .stored = $0 { true } else { false } } } }
    }

    /// Follows the database of ``CompactionTests/Dated`` until a condition holds.
    private func follow(
        _ dated: CompactionTests.Dated, _ repository: Repository, _ policy: CompactionPolicy?,
        until condition: @escaping @Sendable (Events) async throws -> Bool
    ) async throws -> Events {
        dated.followed.follower.stop()
        var options = FollowingOptions(database: "a.db")
        options.compaction = policy
        options.compactionInterval = 0.05
        options.backoff = 0.05...0.1
        options.limits.interval = 0.02
        let events = Events()
        let follower = try DatabaseFollower(
            plaintext: dated.followed.path, into: repository.writable(), options: options, report: events.note)
        async let run: Void = follower.run()
        let end = ContinuousClock.now + .seconds(900)
        while try await !condition(events), ContinuousClock.now < end { try await Task.sleep(nanoseconds: 10_000_000) }
        follower.end(within: 300)
        await run
        return events
    }

    @Test func `what earlier followers stored is joined, and what is over is removed`() async throws {
        let repository = try await base.repository()
        let dated = try await CompactionTests.Dated(base.scratch, repository, day: -3)
        for second in 0..<130 { try await dated.commit(Int64(second + 1), at: second) }
        // Of now: what is older than a day before the newest commit is over.
        try await dated.commit(131, at: Int(Date().timeIntervalSince(dated.start)))
        await dated.writer.close()
        var policy = CompactionPolicy()
        policy.grace = .zero
        let events = try await follow(dated, repository, policy) { !$0.results.isEmpty && $0.isFollowing }
        #expect(events.failures == [])
        let result = try #require(events.results.first)
        #expect(result.joined >= 14 && result.removed >= 120 && result.warnings.isEmpty)
        #expect(try await base.names(repository).fine.count < 20)
        #expect(try await base.problems(repository) == [])
        #expect(try await base.rows(repository, .latest) == 131)
    }

    @Test func `without a policy nothing is joined`() async throws {
        let repository = try await base.repository()
        let dated = try await base.followed(repository, at: Array(0..<30), day: -3)
        let connection = dated.followed.connection
        let events = try await follow(dated, repository, nil) { events in
            // It follows for a while, with something to store.
            if events.isFollowing, events.stored < 5 { try connection.execute("INSERT INTO t VALUES (100)") }
            return events.stored >= 5
        }
        #expect(events.stored >= 5 && events.results.isEmpty && events.failures.isEmpty)
        #expect(try await base.names(repository).joined.isEmpty)
    }

    @Test func `a store that fails while segments are joined is reported, tried again, and stops no commit`()
        async throws
    {
        let hooked = HookedStore(DirectoryStore(scratch.path("repository")))
        let repository = try await base.repository(hooked)
        let dated = try await base.followed(repository, at: Array(0..<130), day: -3)
        let connection = dated.followed.connection
        let left = Countdown(3)
        hooked.setHooks(before: { call, name in
            guard name.contains("/joined/"), call == "put", left.take() else { return }
            throw VaultError(.noSpace, "no room for joined segments")
        })
        let events = try await follow(dated, repository, CompactionPolicy()) { events in
            if events.isFollowing, events.stored < 5 { try connection.execute("INSERT INTO t VALUES (200)") }
            return events.stored >= 5 && events.results.contains { $0.joined > 0 }
        }
        #expect(events.failures == Array(repeating: "no room for joined segments", count: 3))
        #expect(events.stored >= 5 && events.results.map(\.joined).reduce(0, +) >= 14)
        hooked.setHooks()
        #expect(try await base.problems(repository) == [])
        #expect(try await base.rows(repository, .latest) == 200)
    }

    private final class Countdown: @unchecked Sendable {  // its lock guards the number
        private let lock = NSLock()
        private var left: Int
        init(_ left: Int) { self.left = left }
        func take() -> Bool {
            lock.withLock {
                guard left > 0 else { return false }
                left -= 1
                return true
            }
        }
    }
}
