import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A follower whose repository is exchanged or removed, and comes back; or whose spooled segments are gone.
@Suite(.limited) struct FollowReturnTests {
    private let live: LiveDatabase
    private let db: Connection
    private let events = Events()

    init() throws {
        live = try LiveDatabase()
        db = try live.open(.wal)
        try live.fill(db, rows: 5)
    }

    private final class Events: Sendable {
        private let all = Locked<[String]>([])
        var value: [String] { all.value }

        func note(_ event: FollowingEvent) {
            let text: String? =
                switch event {
                case .based: "based"
                case .attached: "attached"
                case .resumed: "resumed"
                case .stored: "stored"
                case .returned: "returned"
                case .gap(let gap): "gap: \(gap.reason)"
                case .failed(let step, let error, _): "failed \(step): \((error as? VaultError)?.message ?? "\(error)")"
                case .ended(let lost): "ended \(lost)"
                default: nil
                }
            if let text { all.withLock { $0.append(text) } }
        }
    }

    private var place: String { live.directory + "/repository" }
    private var away: String { live.directory + "/away" }

    private func count(_ start: String) -> Int { events.value.count { $0.hasPrefix(start) } }

    /// Follows while `body` runs.
    private func follow(_ repository: WritableRepository, _ body: () async throws -> Void) async {
        var options = FollowingOptions(database: "live.db")
        options.backoff = 0.05...0.1
        options.limits = FollowerLimits(interval: 0.01)
        let follower = DatabaseFollower(plaintext: live.path, into: repository, options: options, report: events.note)
        async let run: Void = follower.run()
        do {
            #expect(await eventually { count("based") == 1 })
            try commit()
            #expect(await eventually { count("stored") == 1 })
            try await body()
        } catch { Issue.record(error) }
        follower.end(within: 300)
        await run
    }

    private func commit() throws { try db.execute("UPDATE t SET v = v + 1") }

    /// - Parameter isLocal: whether its objects are known to be files, as those of a bucket are not.
    private func open(state: String, spool: String? = nil, isLocal: Bool = true) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            isLocal ? DirectoryStore(place) : HookedStore(DirectoryStore(place)),
            local: LocalDirectories(state: live.directory + "/" + state, cache: live.directory + "/cache", spool: spool)).repository
    }

    private func restored(_ repository: Repository) async throws -> Int64? {
        let path = live.directory + "/restored.db"
        try await repository.restore(.latest, to: path)
        return try live.open(at: path).number("SELECT max(v) FROM t")
    }

    /// Everything in a directory, with the times at which it was changed.
    private func contents(_ path: String) throws -> [String] {
        guard let all = FileManager.default.enumerator(atPath: path) else { return [] }
        return try all.compactMap { $0 as? String }.map { name in
            let found = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            return "\(name) \(found[.modificationDate] as? Date ?? Date())"
        }.sorted()
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)], [true, false])
    func `H-REP-13 a follower writes nothing into another repository, and goes on when the former one is back`(
        case: (isGone: Bool, isReset: Bool), isLocal: Bool
    ) async throws {
        let (isGone, isReset) = `case`
        let repository = try await open(state: "state", isLocal: isLocal)
        await follow(try repository.writable()) {
            let files = FileManager.default
            try files.moveItem(atPath: place, toPath: away)
            if !isGone {
                // It has a spool directory of its own.
                var options = SnapshotOptions()
                options.allowsPlaintext = true
                options.database = "other.db"
                _ = try await open(state: "other").writable().snapshot(of: live.path, options: options)
            }
            let before = try contents(place)
            for _ in 0..<5 {
                try commit()
                try await Task.sleep(nanoseconds: 50_000_000)
            }
            // Twice if it was looked at while there was none.
            #expect(await eventually { count("failed") >= 1 })
            if isReset {
                // Nobody holds the log any more: what was committed meanwhile is in the database alone.
                #expect(await eventually { (try? db.number("PRAGMA wal_checkpoint(TRUNCATE)")) == 0 })
                try commit()
            }
            try await Task.sleep(nanoseconds: 500_000_000)
            #expect(try contents(place) == before)
            #expect(files.fileExists(atPath: place) == !isGone)
            #expect(count("returned") == 0)
            try? files.removeItem(atPath: place)
            try files.moveItem(atPath: away, toPath: place)
            #expect(
                await eventually { count("returned") == 1 && count(isReset ? "based" : "resumed") == (isReset ? 2 : 1) }
            )
            let stored = count("stored")
            try commit()
            #expect(await eventually { count("stored") > stored })
        }
        // Said once; and again if it was looked at while there was none.
        #expect((1...(isGone ? 1 : 2)).contains(count("failed")), "\(events.value)")
        #expect(count("failed store: the repository ") == count("failed"), "\(events.value)")
        #expect(count("gap: another repository or none was in its place") == (isReset ? 1 : 0), "\(events.value)")
        #expect(count("gap") == (isReset ? 1 : 0), "\(events.value)")
        #expect(events.value.last == "ended 0")
        #expect(try await restored(repository) == (isReset ? 9 : 8))
        let gaps = try await repository.snapshots().compactMap(\.gap)
        #expect(gaps.count == (isReset ? 1 : 0))
        #expect(try await repository.check().isIntact)
    }

    @Test(arguments: [false, true])
    func `a waiting segment whose file is gone is a loss, not tried for ever`(isReset: Bool) async throws {
        let spool = live.directory + "/spool"
        let (fails, isDown) = (Locked(false), Locked(false))
        let store = HookedStore(DirectoryStore(place))
        store.setHooks(before: { call, name in
            guard isDown.value || (call == "put" && name.hasPrefix("segments/") && fails.value) else { return }
            throw VaultError(.io, "no answer")
        })
        func clear() throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: spool) {
                try? FileManager.default.removeItem(atPath: spool + "/" + name)
            }
        }
        let repository = try await WritableRepository.openOrCreate(
            store, local: LocalDirectories(state: live.directory + "/state", cache: live.directory + "/cache", spool: spool)).repository
        await follow(try repository.writable()) {
            fails.withLock { $0 = true }
            try commit()
            #expect(await eventually { count("failed store: no answer") > 0 })
            try clear()
            fails.withLock { $0 = false }
            #expect(await eventually { count("resumed") == 1 })
            #expect(await eventually { count("stored") == 2 })
            if isReset {
                // The same, and what was read is in the log no more before it is looked for there.
                fails.withLock { $0 = true }
                let failed = count("failed store: no answer")
                try commit()
                #expect(await eventually { count("failed store: no answer") > failed })
                isDown.withLock { $0 = true }
                try clear()
                // One may have been under way; the next ends the session, which lets the log go.
                let before = count("failed")
                #expect(await eventually { count("failed") > before + 1 })
                #expect(await eventually { (try? db.number("PRAGMA wal_checkpoint(TRUNCATE)")) == 0 })
                try commit()
                fails.withLock { $0 = false }
                isDown.withLock { $0 = false }
                #expect(await eventually { count("based") == 2 })
            }
            let stored = count("stored")
            try commit()
            #expect(await eventually { count("stored") > stored })
        }
        #expect(count("failed store: ") - count("failed store: no answer") <= (isReset ? 2 : 1), "\(events.value)")
        #expect(count("gap") == (isReset ? 1 : 0), "\(events.value)")
        #expect(events.value.last == "ended 0")
        #expect(try await restored(repository) == (isReset ? 6 : 4))
        #expect(try await repository.check().isIntact)
    }
}
