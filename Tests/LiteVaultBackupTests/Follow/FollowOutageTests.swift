import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A follower whose store takes no segments for a time.
@Suite(.limited) struct FollowOutageTests {
    private let live: LiveDatabase
    private let db: Connection
    private let store: HookedStore
    private let events = Events()

    init() throws {
        live = try LiveDatabase()
        db = try live.open(.wal)
        try live.fill(db, rows: 5)
        store = HookedStore(DirectoryStore(live.directory + "/repository"))
    }

    private final class Events: @unchecked Sendable {  // its lock guards the rest
        private let lock = NSLock()
        private var all: [String] = []

        func note(_ event: FollowingEvent) {
            let text: String? =
                switch event {
                case .based: "based"
                case .stored: "stored"
                case .gap(let gap): "gap: \(gap.reason)"
                case .failed(let step, let error, _): "failed \(step): \((error as? VaultError)?.message ?? "\(error)")"
                case .ended(let lost): "ended \(lost)"
                default: nil
                }
            guard let text else { return }
            lock.withLock { all.append(text) }
        }

        var list: [String] { lock.withLock { all } }
    }

    /// Follows while `body` runs, and ends when everything is stored.
    private func follow(
        logBytes: Int64 = 256 << 20, _ body: () async throws -> Void
    ) async throws -> Repository {
        let local = LocalDirectories(
            state: live.directory + "/state", cache: live.directory + "/cache", spool: live.directory + "/spool")
        let repository = try await WritableRepository.openOrCreate(store, local: local).repository
        var options = FollowingOptions(database: "live.db")
        options.backoff = 0.05...0.1
        options.limits = FollowerLimits(logBytes: logBytes, interval: 0.005)
        let follower = try DatabaseFollower(plaintext: live.path, into: repository.writable(), options: options, report: events.note)
        async let run: Void = follower.run()
        do {
            #expect(await eventually { events.list.contains("based") })
            try await body()
        } catch { Issue.record(error) }
        follower.end(within: 300)
        await run
        return repository
    }

    @Test func `H-WAL-03 a follower that finds no log says whether the database was followed before`() async throws {
        let repository = try await follow {
            try commit()
            #expect(await eventually { events.list.contains("stored") })
        }
        // As an operation leaves it that was killed while it replaced the file.
        try db.setPragma(.journalMode, to: .delete)
        let found = Locked<[Bool]>([])
        for (number, name) in ["live.db", "other.db"].enumerated() {
            let follower = try DatabaseFollower(
                plaintext: live.path, into: repository.writable(), options: FollowingOptions(database: name),
                report: { event in
                    if case .waiting(_, let wasFollowed) = event { found.withLock { $0.append(wasFollowed) } }
                })
            async let run: Void = follower.run()
            #expect(await eventually { found.value.count == number + 1 })
            follower.end(within: 300)
            await run
        }
        #expect(found.value == [true, false])
    }

    /// The files of the segments that wait.
    private var spooled: Int {
        let names = try? FileManager.default.contentsOfDirectory(atPath: live.directory + "/spool")
        return names?.count ?? 0
    }

    /// The descriptors of the directory of the spool; nil where they cannot be listed.
    private var directories: Int? {
        let folder = URL(fileURLWithPath: live.directory + "/spool").resolvingSymlinksInPath().path
        let files = FileManager.default
        guard let all = try? files.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
        return all.count { (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == folder }
    }

    private func commit() throws { try db.execute("UPDATE t SET v = v + 1") }

    private func restored(_ repository: Repository) async throws -> Int64? {
        let path = live.directory + "/restored.db"
        try await repository.restore(.latest, to: path)
        return try live.open(at: path).number("SELECT max(v) FROM t")
    }

    @Test func `a store whose lock is held is no lost claim, and what is spooled is kept`() async throws {
        let once = OnceOnly()
        store.setHooks(before: { call, name in
            guard call == "put", name.hasPrefix("segments/") else { return }
            try await once { throw VaultError(.busy, "is locked by process 1") }
        })
        let repository = try await follow {
            try commit()
            #expect(await eventually { events.list.contains("stored") })
        }
        #expect(events.list == ["based", "failed store: is locked by process 1", "stored", "ended 0"])
        #expect(try await restored(repository) == 2)
    }

    @Test func `in an outage of the store few segments wait, and later all commits are stored`() async throws {
        store.setHooks(before: { call, name in
            guard call == "put", name.hasPrefix("segments/") else { return }
            throw VaultError(.io, "no answer")
        })
        var commits = 0
        let repository = try await follow {
            let began = ContinuousClock.now
            var most = 0
            // Most would be a segment of their own. On a busy machine several are read at once.
            while commits < 300 || most < 64, commits < 3000 {
                try commit()
                commits += 1
                try await Task.sleep(nanoseconds: 15_000_000)
                most = max(most, spooled)
            }
            // One more may be about to be stored, and the log is polled about once a minute.
            let minutes = Int((ContinuousClock.now - began) / .seconds(60))
            #expect((64...(68 + minutes)).contains(most))
            if let directories { #expect((1...4).contains(directories)) }
            store.setHooks()
            // Those that are stored make room for the rest.
            #expect(await eventually { spooled == 0 })
            #expect(await eventually { events.list.count { $0 == "stored" } >= 65 })
        }
        #expect(events.list.filter { $0.hasPrefix("gap") } == [])
        #expect(events.list.last == "ended 0")
        #expect(try await restored(repository) == Int64(commits) + 1)
    }

    @Test func `in an outage of the store the log is read before it reaches its limit`() async throws {
        store.setHooks(before: { call, name in
            guard call == "put", name.hasPrefix("segments/") else { return }
            throw VaultError(.io, "no answer")
        })
        let repository = try await follow(logBytes: 48 << 20) {
            for _ in 0..<100 {
                try commit()
                try await Task.sleep(nanoseconds: 15_000_000)
            }
            // Three times the limit in all: the log has to be reset, between two commits.
            try db.execute("UPDATE t SET filler = zeroblob(400000)")
            for _ in 0..<80 {
                try db.execute("UPDATE t SET v = v + 1, filler = randomblob(400000)")
                try await Task.sleep(nanoseconds: 200_000_000)
            }
            store.setHooks()
            // The log is polled again meanwhile, which reports a log that is too long; the last poll of all does not.
            #expect(await eventually { spooled == 0 })
            try await Task.sleep(nanoseconds: 500_000_000)
        }
        #expect(events.list.filter { $0.hasPrefix("gap") } == [])
        #expect(events.list.last == "ended 0")
        #expect(try await restored(repository) == 181)
    }
}
