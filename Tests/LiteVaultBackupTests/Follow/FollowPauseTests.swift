import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import Testing

/// The pauses of a follower whose repository fails, by a clock that runs as fast as it is asked.
@Suite(.limited) struct FollowPauseTests {
    /// Time that passes only by being waited for.
    private final class FastTime: @unchecked Sendable {  // its lock guards the rest
        private let lock = NSLock()
        private var time = 0.0
        private var failures: [(at: Double, again: Double)] = []

        var now: Double { lock.withLock { time } }
        var failed: [(at: Double, again: Double)] { lock.withLock { failures } }
        func note(again: Double) { lock.withLock { failures.append((time, again)) } }

        private var reasons: [String] = []
        var gaps: [String] { lock.withLock { reasons } }
        func note(gap reason: String) { lock.withLock { reasons.append(reason) } }

        var clock: HostClock {
            HostClock(
                now: { self.now },
                sleep: { seconds in
                    self.lock.withLock { self.time += seconds }
                    await Task.yield()
                })
        }
    }

    /// Enough for the pauses to reach their limit and stay there.
    private static let count = 15

    /// Follows until that many requests have failed.
    private func follow(
        _ live: LiveDatabase, _ store: HookedStore, _ time: FastTime = FastTime(),
        attached: @escaping @Sendable () -> Void = {}
    ) async throws -> [(at: Double, again: Double)] {
        let local = LocalDirectories(
            state: live.directory + "/state", cache: live.directory + "/cache", spool: live.directory + "/spool")
        var repository = try await WritableRepository.openOrCreate(store, local: local).repository
        repository.clock = time.clock
        var options = FollowingOptions(database: "followed")
        options.allowsPlaintext = true
        let holder = Holder()
        let follower = try DatabaseFollower(
            live.path, into: repository.writable(), options: options,
            takeSnapshot: { _, _ in throw VaultError(.io, "no snapshots here") },
            report: { event in
                switch event {
                case .failed(.store, _, let again):
                    time.note(again: again)
                    if time.failed.count >= Self.count { holder.follower?.end(within: 0) }
                case .gap(let gap): time.note(gap: gap.reason)
                case .attached: attached()
                default: break
                }
            })
        holder.follower = follower
        await follower.run()
        return time.failed
    }

    private final class Holder: @unchecked Sendable {  // set before anything runs
        var follower: DatabaseFollower?
    }

    private func expectGrowingPauses(_ failures: [(at: Double, again: Double)]) {
        #expect(failures.count == Self.count)
        // 1, 2, 4, … 256, and 300 each from there on.
        #expect(failures.map(\.again) == failures.indices.map { min(300, pow(2, Double($0))) })
        for (one, next) in zip(failures, failures.dropFirst()) {
            #expect(next.at - one.at >= one.again - 0.2, "again after \(next.at - one.at) s instead of \(one.again)")
        }
    }

    @Test func `H-OBJ-09 a repository that cannot be got at is asked after growing pauses`() async throws {
        let live = try LiveDatabase()
        let store = HookedStore(DirectoryStore(live.directory + "/repository"))
        store.setHooks(before: { call, name in
            guard !name.hasPrefix("leases/") else { throw VaultError(.io, "no answer") }
        })
        expectGrowingPauses(try await follow(live, store))
    }

    @Test func `H-OBJ-09 a claim that is lost each time it was taken is taken again after growing pauses`() async throws
    {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 5)
        let base = DirectoryStore(live.directory + "/repository")
        let store = HookedStore(base)
        let (path, spool) = (live.path, live.directory + "/spool")
        store.setHooks(before: { call, name in
            guard call == "put", name.hasPrefix("segments/") else { return }
            try await Self.takeOver(base, spool: spool)
        })
        let time = FastTime()
        let failures = try await follow(live, store, time) {
            // Something to store in each session, which tells that the claim is lost.
            do { try Self.commit(path) } catch { Issue.record("no commit: \(error)") }
        }
        expectGrowingPauses(failures)
        #expect(time.gaps.count { $0 == "another follower was running" } == Self.count)
        _ = db
    }

    /// Stores what is spooled as another follower does that broke the lease.
    private static func takeOver(_ base: DirectoryStore, spool: String) async throws {
        for lease in try await base.list("leases/follow-") { try await base.remove(lease.name) }
        let local = LocalDirectories(state: spool + "/other", cache: spool + "/other", spool: spool + "/other")
        let repository = try await Repository.open(base, local: local)
        let writer = try await SegmentWriter.open(repository.writable(), database: "followed")
        for name in try FileManager.default.contentsOfDirectory(atPath: spool) {
            guard (try? SegmentFile(spool + "/" + name)) != nil else { continue }
            try await writer.append(spool + "/" + name, began: Date(timeIntervalSince1970: 1), snapshot: 0)
        }
        await writer.close()
    }

    private static func commit(_ path: String) throws {
        let db =
            EngineInfo.linked.encrypts
            ? try Connection(path, key: .hex(LiveDatabase.hexKey), settings: CipherSettings()) : try Connection(path)
        try db.execute("UPDATE t SET v = v + 1")
    }
}
