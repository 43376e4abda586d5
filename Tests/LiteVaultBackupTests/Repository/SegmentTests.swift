import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A followed log in a repository: every time that was seen is restored.
@Suite(.limited) struct SegmentTests {
    let scratch = Scratch()

    func repository() async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("repository")), secret: try .quick("secret"),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"))).repository
    }

    /// A database in WAL mode that is followed; each step commits one row.
    final class Followed {
        let path: String
        let connection: Connection
        let repository: Repository
        let follower: Follower
        var spool: SegmentSpool
        let writer: SegmentWriter
        var newest = 0

        init(_ scratch: Scratch, _ repository: Repository) async throws {
            path = scratch.path("a.db")
            self.repository = repository
            connection = try Connection(path)
            try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (0)")
            follower = Follower(path)
            spool = try SegmentSpool(directory: scratch.path("spool"), allowsPlaintext: true)
            writer = try await SegmentWriter.open(repository.writable(), database: "a.db")
        }

        func insert(_ value: Int) throws { try connection.execute("INSERT INTO t VALUES (\(value))") }

        func take() async throws -> Snapshot {
            var options = SnapshotOptions()
            options.allowsPlaintext = true
            let snapshot = try await repository.writable().snapshot(of: path, options: options).snapshot
            newest = snapshot.sequence
            return snapshot
        }

        /// Looks at the log, stores what was read, and returns when it had been seen.
        @discardableResult
        func poll() async throws -> Date? {
            _ = try follower.poll(into: &spool)
            var seen: Date?
            for waiting in spool.takeWaiting() {
                try await writer.append(
                    waiting.path, began: waiting.began, snapshot: newest, end: waiting.end, start: waiting.start)
                seen = Date(timeIntervalSince1970: Double(waiting.segment.seen) / 1000)
                waiting.discard()
            }
            // Times are in milliseconds: two of them must not be the same.
            try await Task.sleep(nanoseconds: 20_000_000)
            return seen
        }
    }

    func rows(
        _ repository: Repository, _ selection: SnapshotSelection, in scratch: Scratch? = nil, readsInPlace: Bool = true
    ) async throws -> Int64? {
        let scratch = scratch ?? self.scratch
        let path = scratch.path(UUID().uuidString)
        try await repository.restore(selection, to: path)
        let restored = try Connection(path)
        defer { try? restored.close() }
        #expect(try restored.value("PRAGMA integrity_check", as: String.self) == "ok")
        let value = try restored.value("SELECT max(a) FROM t", as: Int64?.self)
        guard readsInPlace else { return value }
        // The same without a restore.
        let database = try await repository.openDatabase(selection)
        #expect(try await database.read { try $0.value("PRAGMA integrity_check", as: String.self) } == "ok")
        #expect(try await database.read { try $0.value("SELECT max(a) FROM t", as: Int64?.self) } == value)
        return value
    }

    @Test func `every time that was seen is restored, across snapshots and checkpoints`() async throws {
        let repository = try await repository()
        let followed = try await Followed(scratch, repository)
        try await followed.poll()
        #expect(followed.spool.run != nil)
        let first = try await followed.take()
        var seen: [(Int64, Date)] = []
        for value in 1...8 {
            if value == 3 { try followed.connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
            if value == 5 { _ = try await followed.take() }
            try followed.insert(value)
            let time = try #require(try await followed.poll())
            seen.append((Int64(value), time))
        }
        await followed.writer.close()
        for (value, time) in seen { #expect(try await rows(repository, .at(time)) == value) }
        #expect(try await rows(repository, .latest) == 8)
        #expect(try await rows(repository, .id(first.id)) == 0)
        var options = CheckOptions()
        options.readsData = true
        #expect(try await repository.check(options).problems == [])

        // What only a forgotten snapshot needs goes with it.
        var policy = RetentionPolicy()
        policy.last = 1
        _ = try await repository.writable().forget(policy)
        #expect(try await repository.store.list("segments/").count < 8)
        #expect(try await rows(repository, .latest) == 8)
        #expect(try await repository.check(options).problems == [])
    }

    @Test func `H-LOG-05 what retention removes while a log is listed is not taken for a loss`() async throws {
        let repository = try await repository()
        let followed = try await Followed(scratch, repository)
        try await followed.poll()
        #expect(followed.spool.run != nil)
        _ = try await followed.take()
        for value in 1...5 {
            if value == 4 { _ = try await followed.take() }
            try followed.insert(value)
            try await followed.poll()
        }
        await followed.writer.close()
        let names = try await repository.store.list("segments/").map(\.name).sorted()
        try #require(names.count == 5)
        let (shown, hidden) = (scratch.path("repository") + "/" + names[1], scratch.path("hidden"))

        // A listing of a directory is not of one moment: the first lacks a segment. Before the second, retention removes it, and others.
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        let reader = try await Repository.open(
            store, secret: try .quick("secret"),
            local: LocalDirectories(state: scratch.path("state-2"), cache: scratch.path("cache-2")))
        let listings = Locked(0)
        let all = RepositoryFormat.segments(repository.databaseID("a.db"))
        store.setHooks(
            before: { call, name in
                guard call == "list", name == all else { return }
                let number = listings.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 { try FileManager.default.moveItem(atPath: shown, toPath: hidden) }
                if number == 2 {
                    var policy = RetentionPolicy()
                    policy.last = 1
                    _ = try await repository.writable().forget(policy)
                }
            },
            after: { call, name in
                guard call == "list", name == all, listings.value == 1 else { return }
                try FileManager.default.moveItem(atPath: hidden, toPath: shown)
            })
        let snapshots = try await reader.snapshots()
        #expect(snapshots.warnings == [])
        #expect(try await reader.followed(Array(snapshots)).warnings == [])
        #expect(listings.value == 2)
        #expect(try await repository.store.list("segments/").count < 5)
    }

    @Test func `H-LOG-05 what retention removes between a listing and its reading is not taken for a loss`()
        async throws
    {
        let repository = try await repository()
        let followed = try await Followed(scratch, repository)
        try await followed.poll()
        #expect(followed.spool.run != nil)
        for _ in 1...3 {
            _ = try await followed.take()
            try followed.insert(1)
            try await followed.poll()
        }
        await followed.writer.close()
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        let reader = try await Repository.open(
            store, secret: try .quick("secret"),
            local: LocalDirectories(state: scratch.path("state-2"), cache: scratch.path("cache-2")))
        let snapshots = Array(try await reader.snapshots())
        let once = OnceOnly()
        let all = RepositoryFormat.segments(repository.databaseID("a.db"))
        store.setHooks(after: { call, name in
            guard call == "list", name == all else { return }
            try await once {
                var policy = RetentionPolicy()
                policy.last = 1
                _ = try await repository.writable().forget(policy)
            }
        })
        #expect(try await reader.followed(snapshots).warnings == [])
        // What nobody has removed is a loss.
        let last = try #require(try await repository.store.list("segments/").map(\.name).max())
        try FileManager.default.removeItem(atPath: scratch.path("repository") + "/" + last)
        #expect(try await reader.followed(snapshots).warnings.map(\.severity) == [.damage])
    }

    @Test func `a follower that was stopped makes a gap, over which nothing is applied`() async throws {
        let repository = try await repository()
        let followed = try await Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        try followed.insert(1)
        try await followed.poll()
        followed.follower.stop()
        try followed.insert(2)
        try await followed.poll()
        try followed.insert(3)
        try await followed.poll()
        #expect(try await rows(repository, .latest) == 1)
        _ = try await followed.take()
        #expect(try await rows(repository, .latest) == 3)
        #expect(try await repository.check().problems == [])
        await followed.writer.close()
    }

    @Test func `two followers of a database are kept apart`() async throws {
        let repository = try await repository()
        let writer = try await SegmentWriter.open(repository.writable(), database: "a.db")
        #expect(
            await StoreCalls.code { _ = try await SegmentWriter.open(repository.writable(), database: "a.db") }
                == .busy)
        await writer.close()
        let next = try await SegmentWriter.open(repository.writable(), database: "a.db")
        await next.close()
    }

    @Test func `a flipped bit, a missing segment and swapped ones are found`() async throws {
        let repository = try await repository()
        let followed = try await Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        for value in 1...3 {
            try followed.insert(value)
            try await followed.poll()
        }
        await followed.writer.close()
        let store = repository.store
        let names = try await store.list("segments/").map(\.name)
        #expect(names.count == 3)
        let bytes = try await store.get(names[1])
        var options = CheckOptions()
        options.readsData = true
        #expect(try await repository.check(options).problems == [])
        for place in stride(from: 0, to: bytes.count, by: 611) {
            var flipped = bytes
            flipped[place] ^= 4
            try await store.put(names[1], bytes: flipped, condition: .none)
            #expect(try await !repository.check(options).problems.isEmpty, "\(place)")
            #expect(await StoreCalls.code { _ = try await rows(repository, .latest) } == .damaged)
        }
        try await store.put(names[1], bytes: try await store.get(names[2]), condition: .none)
        #expect(try await !repository.check().problems.isEmpty)
        try await store.remove(names[1])
        #expect(try await !repository.check().problems.isEmpty)
        #expect(await StoreCalls.code { _ = try await rows(repository, .latest) } == .damaged)
        #expect(try await rows(repository, .latestReachable) == 1)
        try await store.put(names[1], bytes: bytes, condition: .none)
        #expect(try await rows(repository, .latest) == 3)
    }

    @Test func `a segment that the store itself finds damaged ends a restore as damage, however the store names it`()
        async throws
    {
        let repository = try await repository()
        let followed = try await Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        try followed.insert(1)
        try await followed.poll()
        await followed.writer.close()
        for code in [VaultError.Code.damaged, .missing] {
            let far = AlteredStore(repository.store) {
                $0.local = { _, _ in nil }
                $0.fetch = { base, name, path in
                    if name.hasPrefix("segments/") {
                        throw VaultError(code, "is refused", path: base.location + "/" + name)
                    }
                    try await base.fetch(name, into: path)
                }
            }
            let reader = try await Repository.open(
                far, secret: try .quick("secret"),
                local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")))
            #expect(await StoreCalls.code { _ = try await rows(reader, .latest) } == .damaged)
            #expect(try await rows(reader, .latestReachable, readsInPlace: false) == 0)
        }
    }

    @Test func `the reachable times are reported, and the remains of a forgotten snapshot are not damage`()
        async throws
    {
        let repository = try await repository()
        let followed = try await Followed(scratch, repository)
        try await followed.poll()
        let first = try await followed.take()
        try followed.insert(1)
        let early = try #require(try await followed.poll())
        // The newest that was verified stays.
        #expect(try await repository.check().problems == [])
        let second = try await followed.take()
        try followed.insert(2)
        try await followed.poll()
        let third = try await followed.take()
        try followed.insert(3)
        let late = try #require(try await followed.poll())
        #expect(
            try await repository.followed([first, second, third]).until == [
                first.id: late, second.id: late, third.id: late,
            ])

        // A new run begins.
        followed.follower.stop()
        try await followed.poll()
        let fourth = try await followed.take()
        #expect(try await repository.followed([third, fourth]).until == [third.id: late])
        try followed.insert(4)
        let last = try #require(try await followed.poll())
        #expect(try await repository.followed([third, fourth]).until == [third.id: late, fourth.id: last])
        await followed.writer.close()

        // The second goes, and what continued it with it: a hole in the first run, that nobody made.
        #expect(try await repository.store.list("segments/").count == 4)
        var policy = RetentionPolicy()
        policy.last = 2
        let gone = try await repository.writable().forget(policy).filter { !$0.keeps }.map(\.snapshot.id)
        #expect(gone == [second.id])
        #expect(try await repository.store.list("segments/").count == 3)
        #expect(try await repository.check().problems == [])
        #expect(try await repository.followed([first, third]).until == [first.id: early, third.id: late])
        #expect(try await rows(repository, .at(late)) == 3)
        #expect(try await rows(repository, .at(early)) == 1)
    }

    @Test func `a segment that does not fit into the spool ends the run before anything is written`() throws {
        let path = scratch.path("full.db")
        let connection = try Connection(path)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (0)")
        let follower = Follower(path)
        var spool = try SegmentSpool(directory: scratch.path("small"), limit: 20_000, allowsPlaintext: true)
        _ = try follower.poll(into: &spool)
        try connection.execute("INSERT INTO t VALUES (1)")
        _ = try follower.poll(into: &spool)
        #expect(spool.count == 1 && spool.byteCount < 20_000)
        try connection.execute("INSERT INTO t VALUES (randomblob(40000))")
        #expect(throws: SpoolFullError.self) { try follower.poll(into: &spool) }
        #expect(!follower.isAttached && spool.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("small")).count == 1)
        spool.removeFirst()
        #expect(spool.count == 0 && spool.byteCount == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("small")).isEmpty)
    }
}
