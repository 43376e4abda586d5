import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A copy that is kept current without the key, with the linked engine as its reader.
@Suite(.limited) struct StandbyTests {
    private let scratch = Scratch()

    /// An encrypted database that is followed, and a standby of it.
    private final class Pair {
        let live: LiveDatabase
        let connection: Connection
        let repository: Repository
        let follower: Follower
        var spool: SegmentSpool
        let writer: SegmentWriter
        var newest = 0
        var copy: String { live.directory + "/copy.db" }

        init(_ scratch: Scratch, pageSize: Int? = nil) async throws {
            live = try LiveDatabase(pageSize: pageSize)
            connection = try live.open(.wal)
            try live.fill(connection, rows: 40)
            repository = try await WritableRepository.openOrCreate(
                DirectoryStore(scratch.path("repository")), secret: try .quick("secret"),
                local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"))).repository
            follower = Follower(live.path)
            spool = try SegmentSpool(directory: scratch.path("spool"), allowsPlaintext: true)
            writer = try await SegmentWriter.open(repository.writable(), database: "live.db")
            try await poll()
            try await take()
        }

        func poll() async throws {
            _ = try follower.poll(into: &spool)
            for waiting in spool.takeWaiting() {
                try await writer.append(waiting.path, began: waiting.began, snapshot: newest)
                waiting.discard()
            }
            // Times are in milliseconds: two of them must not be the same.
            try await Task.sleep(nanoseconds: 5_000_000)
        }

        func take() async throws {
            var options = SnapshotOptions()
            options.allowsPlaintext = true
            newest = try await repository.writable().snapshot(of: live.path, options: options).snapshot.sequence
        }

        func commit(_ sql: String) async throws {
            try connection.execute(sql)
            try await poll()
        }

        func standby(logBytes: Int64 = 4 << 20) async throws -> Standby {
            var options = StandbyOptions()
            options.logBytes = logBytes
            return try await repository.standby(of: "live.db", at: copy, options: options)
        }

        /// Updates until nothing is new; the number of segments.
        @discardableResult
        func update(_ standby: Standby) async throws -> Int {
            var total = 0
            while case .applied(let segments, _, _) = try await standby.update() { total += segments }
            return total
        }

        /// The content is that of the original, as a reader sees both.
        func expectEqual(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let sql: SQL =
                "SELECT count(*) || ':' || sum(v) || ':' || sum(length(filler)) || ':' || max(hex(filler)) FROM t"
            let reader = try live.open(at: copy)
            defer { try? reader.close() }
            #expect(
                try reader.value(sql, as: String.self) == connection.value(sql, as: String.self),
                sourceLocation: sourceLocation)
            #expect(try reader.value("PRAGMA integrity_check", as: String.self) == "ok", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: [512, 1024, 4096, 65536])
    func `commits appear to open readers, whose transactions keep their state`(_ pageSize: Int) async throws {
        let pair = try await Pair(scratch, pageSize: pageSize)
        let standby = try await pair.standby()
        let reader = try pair.live.open(at: pair.copy)
        #expect(try reader.number("SELECT sum(v) FROM t") == 40)
        try await pair.commit("UPDATE t SET v = 2 WHERE id = 7")
        #expect(try await pair.update(standby) > 0)
        #expect(try reader.number("SELECT sum(v) FROM t") == 41)
        try reader.execute("BEGIN")
        #expect(try reader.number("SELECT sum(v) FROM t") == 41)
        try await pair.commit("UPDATE t SET v = 3; CREATE TABLE other (a)")
        try await pair.update(standby)
        #expect(try reader.number("SELECT sum(v) FROM t") == 41)
        try reader.execute("COMMIT")
        #expect(try reader.number("SELECT sum(v) FROM t") == 120)
        #expect(try reader.number("SELECT count(*) FROM other") == 0)
        try reader.close()
        try pair.expectEqual()
        await standby.end()
    }

    @Test func `a log of many regions is read through its index, checkpointed and begun again`() async throws {
        let pair = try await Pair(scratch, pageSize: 1024)
        let standby = try await pair.standby(logBytes: 12 << 20)
        let reader = try pair.live.open(at: pair.copy)
        // 4062 frames are in the first region of the index, 4096 in each other.
        for turn in 1...12 {
            try await pair.commit("UPDATE t SET v = \(turn), filler = randomblob(\(turn % 2 == 0 ? 40_000 : 55_000))")
            try await pair.update(standby)
            #expect(try reader.number("SELECT sum(v) FROM t") == Int64(40 * turn))
        }
        try reader.close()
        try pair.expectEqual()
        await standby.end()
        let again = try await pair.standby()
        #expect(try await again.update() == .unchanged)
        try await pair.commit("DELETE FROM t WHERE id % 2 = 0; VACUUM")
        try await pair.update(again)
        try pair.expectEqual()
        await again.end()
    }

    @Test func `another standby goes on, also after a reader has checkpointed, and what else has written is refused`()
        async throws
    {
        let pair = try await Pair(scratch)
        for turn in 0..<6 {
            let standby = try await pair.standby()
            try await pair.commit("UPDATE t SET v = v + 1 WHERE id = \(turn + 1)")
            #expect(try await pair.update(standby) > 0)
            let busy = await #expect(throws: VaultError.self) { _ = try await pair.standby() }
            #expect(busy?.code == .busy)
            await standby.end()
            // The last connection that closes removes the log.
            if turn % 2 == 1 { try pair.expectEqual() }
        }
        let other = try pair.live.open(at: pair.copy)
        try other.execute("UPDATE t SET v = 0 WHERE id = 30")
        try other.close()
        let error = await #expect(throws: VaultError.self) { _ = try await pair.standby() }
        #expect(error?.code == .cannotCreate)
        #expect(error?.message.contains("something other than its standby") == true)
    }

    @Test func `a connection cannot write to a copy that is kept, and can when that has ended`() async throws {
        let pair = try await Pair(scratch)
        let standby = try await pair.standby()
        try await pair.commit("UPDATE t SET v = 2")
        try await pair.update(standby)
        let other = try pair.live.open(at: pair.copy)
        #expect(throws: (any Error).self) { try other.execute("UPDATE t SET v = 0") }
        #expect(try other.number("SELECT sum(v) FROM t") == 80)
        await standby.end()
        try other.execute("UPDATE t SET v = 0")
        try other.close()
    }

    @Test func `an update that is interrupted between its record and its commit is found out`() async throws {
        let pair = try await Pair(scratch)
        let standby = try await pair.standby()
        try await pair.commit("UPDATE t SET v = 2")
        try await pair.update(standby)
        let before = try Data(contentsOf: URL(fileURLWithPath: pair.copy + ".standby"))
        try await pair.commit("UPDATE t SET v = 3")
        try await pair.update(standby)
        let after = try Data(contentsOf: URL(fileURLWithPath: pair.copy + ".standby"))
        await standby.end()
        #expect(before != after)
        // What is recorded is the state before the last commit, and that commit: the log has it.
        let again = try await pair.standby()
        #expect(try await again.update() == .unchanged)
        try pair.expectEqual()
        await again.end()
        // An older record is of neither.
        try before.write(to: URL(fileURLWithPath: pair.copy + ".standby"))
        await #expect(throws: VaultError.self) { _ = try await pair.standby() }
    }

    /// What a loop has reported.
    private final class Log: Sendable {
        private let events = Locked<[StandbyEvent]>([])

        func note(_ event: StandbyEvent) { events.withLock { $0.append(event) } }

        /// Waits for an event.
        func wait(sourceLocation: SourceLocation = #_sourceLocation, _ isWanted: (StandbyEvent) -> Bool) async throws {
            for _ in 0..<6000 where !events.value.contains(where: isWanted) {
                try await Task.sleep(nanoseconds: 10_000_000)
            }
            let hasCome = events.value.contains(where: isWanted)
            #expect(hasCome, sourceLocation: sourceLocation)
        }

        func hasApplied(_ event: StandbyEvent) -> Bool {
            if case .updated(.applied, _) = event { true } else { false }
        }
    }

    @Test func `a copy is kept current until the task is cancelled, and can be continued then`() async throws {
        let pair = try await Pair(scratch)
        let (repository, copy, log) = (pair.repository, pair.copy, Log())
        let keeping = Task {
            try await repository.keepStandby(of: "live.db", at: copy, every: .milliseconds(100)) { log.note($0) }
        }
        try await log.wait { if case .updated(.restored(reason: "started", _), _) = $0 { true } else { false } }
        try await pair.commit("UPDATE t SET v = 2")
        try await log.wait(log.hasApplied)
        keeping.cancel()
        await #expect(throws: CancellationError.self) { try await keeping.value }
        try pair.expectEqual()
        try await pair.commit("UPDATE t SET v = 3")
        // Without an interval it ends by itself.
        #expect(try await repository.keepStandby(of: "live.db", at: copy, every: nil) { log.note($0) })
        try await log.wait { if case .updated(.unchanged, _) = $0 { true } else { false } }
        try pair.expectEqual()
    }

    @Test func `a store that fails is asked again, after a pause, and what has come meanwhile is applied`() async throws
    {
        let pair = try await Pair(scratch)
        let store = FaultyStore(DirectoryStore(scratch.path("repository")))
        var repository = try await Repository.open(
            store, secret: try .quick("secret"),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")))
        let passed = Locked(0.0)
        repository.clock = HostClock(
            now: { passed.value },
            sleep: { seconds in
                passed.withLock { $0 += seconds }
                try? await Task.sleep(nanoseconds: 1_000_000)
            })
        let (opened, copy, log) = (repository, pair.copy, Log())
        let keeping = Task { try await opened.keepStandby(of: "live.db", at: copy) { log.note($0) } }
        try await log.wait { _ in true }
        store.fail(at: 1)
        try await log.wait {
            if case .failed(let error, let pause) = $0 { error.code == .io && pause == .seconds(1) } else { false }
        }
        try await pair.commit("UPDATE t SET v = 2")
        try await log.wait(log.hasApplied)
        keeping.cancel()
        _ = await keeping.result
        try pair.expectEqual()
    }

    @Test func `an update repeats what the one before it did not achieve, whichever request of that failed`() async throws {
        let pair = try await Pair(scratch)
        let store = FaultyStore(DirectoryStore(scratch.path("repository")))
        let repository = try await Repository.open(
            store, secret: try .passphrase(Array("secret".utf8)),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")))
        var failures = 0
        while true {
            // Each copy begins with a snapshot, and has no segment yet.
            try await pair.take()
            let standby = try await repository.standby(of: "live.db", at: scratch.path("copy\(failures).db"))
            try await pair.commit("UPDATE t SET v = v + 1")
            store.fail(at: failures + 1)
            let first = await Task { try await standby.update() }.result
            let hasFailed = store.count > failures
            store.fail(at: nil)
            if !hasFailed {
                guard case .success(.applied(1, _, _)) = first else {
                    Issue.record("\(first)")
                    return
                }
                await standby.end()
                break
            }
            #expect(throws: VaultError.self) { _ = try first.get() }
            guard case .applied(1, _, _) = try await standby.update() else {
                Issue.record("nothing was applied after request \(failures + 1) had failed")
                return
            }
            await standby.end()
            failures += 1
        }
        #expect(failures > 3)
    }

    @Test func `a forced promotion beside a damaged segment leaves the points in time before its snapshot`() async throws {
        let pair = try await Pair(scratch)
        try await pair.commit("UPDATE t SET v = 2")
        let between = Date()
        try await Task.sleep(nanoseconds: 5_000_000)
        try await pair.commit("UPDATE t SET v = 3")
        try await pair.take()
        let standby = try await pair.standby()
        await standby.end()
        // Another process promotes it, and finds that the first segment behind the snapshot is damaged.
        let before = Set(try await pair.repository.store.list("segments/").map(\.name))
        try await pair.commit("UPDATE t SET v = 4")
        let damaged = try #require(try await pair.repository.store.list("segments/").map(\.name).first { !before.contains($0) })
        var bytes = try await pair.repository.store.get(damaged)
        bytes[bytes.count - 100] ^= 1
        try await pair.repository.store.put(damaged, bytes: bytes, condition: .none)
        var options = PromotionOptions()
        options.isForced = true
        let result = try await pair.repository.writable().promote(pair.copy, options: options)
        #expect(result.missing != nil)
        let path = scratch.path("restored.db")
        _ = try await pair.repository.restore(.at(between), database: "live.db", to: path)
        let restored = try pair.live.open(at: path)
        #expect(try restored.number("SELECT sum(v) FROM t") == 80)
        try restored.close()
    }

    @Test func `a promotion ends the loop, and a report that throws does`() async throws {
        let pair = try await Pair(scratch)
        let (repository, copy, log) = (pair.repository, pair.copy, Log())
        // Also an error that would be temporary if a store had thrown it.
        let error = await #expect(throws: VaultError.self) {
            try await repository.keepStandby(of: "live.db", at: copy) { _ in throw VaultError(.busy, "enough") }
        }
        #expect(error?.message == "enough")
        let keeping = Task { try await repository.keepStandby(of: "live.db", at: copy) { log.note($0) } }
        try await log.wait { _ in true }
        await pair.writer.close()
        let result = try await repository.writable().promote(copy, database: "live.db")
        #expect(result.isFenced)
        #expect(try await keeping.value == false)
    }

    @Test func `H-KEY-40 a standby gets the keyring of a newer snapshot, whether or not segments have led to that`() async throws {
        let pair = try await Pair(scratch)
        let (original, own) = (
            URL(fileURLWithPath: pair.live.path + ".keys"), URL(fileURLWithPath: pair.copy + ".keys")
        )
        func take(_ content: String) async throws -> Data {
            let keyring = Data("litevault-keyring 1\n\(content)\n".utf8)
            try keyring.write(to: original)
            try await pair.take()
            return keyring
        }
        var keyring = try await take("first")
        var options = StandbyOptions()
        options.snapshotInterval = 0
        let standby = try await pair.repository.standby(of: "live.db", at: pair.copy, options: options)
        #expect(try Data(contentsOf: own) == keyring)

        // A slot was added: the snapshot is of the state that the copy has.
        try await pair.commit("UPDATE t SET v = 2")
        #expect(try await pair.update(standby) > 0)
        keyring = try await take("second")
        #expect(try await standby.update() == .unchanged)
        #expect(try Data(contentsOf: own) == keyring)

        // A commit that no segment has.
        try pair.connection.execute("UPDATE t SET v = 3")
        keyring = try await take("third")
        for _ in 1...3 { _ = try await standby.update() }
        #expect(try Data(contentsOf: own) == keyring)
        #expect(await standby.takeWarnings().isEmpty)
        try pair.expectEqual()
        await standby.end()
    }

    @Test func `a replacement that fails for a time is made by a later update`() async throws {
        let pair = try await Pair(scratch)
        let isFull = Locked(false)
        var options = StandbyOptions()
        options.snapshotInterval = 0
        options.progress = { _ in if isFull.value { throw VaultError(.noSpace, "no space is left") } }
        let standby = try await pair.repository.standby(of: "live.db", at: pair.copy, options: options)
        // From here on the copy has a log of its own.
        try await pair.commit("UPDATE t SET v = 2")
        #expect(try await pair.update(standby) > 0)
        // A database that is not in WAL mode cannot be put in place beside readers.
        pair.follower.stop()
        try pair.connection.execute("PRAGMA journal_mode = DELETE; UPDATE t SET v = 3")
        try await pair.take()
        isFull.withLock { $0 = true }
        var failures: [VaultError.Code] = []
        for _ in 1...4 {
            do { _ = try await standby.update() } catch let error as VaultError { failures.append(error.code) }
        }
        #expect(failures.count >= 2 && failures.allSatisfy { $0 == .noSpace }, "\(failures)")
        isFull.withLock { $0 = false }
        guard case .restored = try await standby.update() else { return #expect(Bool(false)) }
        await standby.end()
        try pair.expectEqual()
    }

    @Test func `H-BAK-41 what is written after the end of a standby stays, also if an update was under way`() async throws {
        let pair = try await Pair(scratch)
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        let repository = try await Repository.open(
            store, secret: .quick("secret"),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("other-cache")))
        var options = StandbyOptions()
        options.snapshotInterval = 0
        let standby = try await repository.standby(of: "live.db", at: pair.copy, options: options)
        try await pair.commit("UPDATE t SET v = 2")
        #expect(try await pair.update(standby) > 0)
        // A database that is not in WAL mode replaces the copy.
        pair.follower.stop()
        try pair.connection.execute("PRAGMA journal_mode = DELETE; UPDATE t SET v = 3")
        try await pair.take()
        let (isReached, isReleased, hasEnded) = (Locked(false), Locked(false), Locked(false))
        store.setHooks(before: { _, name in
            guard name.hasPrefix("data/") else { return }
            isReached.withLock { $0 = true }
            _ = await eventually { isReleased.value }
        })
        let updates = Task { () async throws -> Void in
            while true { _ = try await standby.update() }
        }
        #expect(await eventually { isReached.value })
        let end = Task {
            await standby.end()
            hasEnded.withLock { $0 = true }
        }
        try await Task.sleep(for: .milliseconds(100))
        #expect(!hasEnded.value)
        isReleased.withLock { $0 = true }
        await end.value
        var other = try pair.live.open(at: pair.copy)
        try other.execute("UPDATE t SET v = 7")
        try other.close()
        let error = await #expect(throws: VaultError.self) { try await updates.value }
        #expect(error?.code == .usage)
        other = try pair.live.open(at: pair.copy)
        #expect(try other.number("SELECT sum(v) FROM t") == 280)
        try other.close()
    }

    /// The copy has a segment, which tells its page size; nothing follows the database any more, so that no segment tells the new one.
    @Test(arguments: [8192, 1024])
    func `H-BAK-21 a standby of a database that was rebuilt with another page size is replaced as a whole`(size: Int) async throws {
        let path = scratch.path("plain.db")
        let writable = try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("plain")),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache")))
        let live = try Connection(path, journalMode: .wal)
        try live.execute("CREATE TABLE t (v); INSERT INTO t VALUES (zeroblob(20000)), (1)")
        func take() async throws -> Int {
            var options = SnapshotOptions()
            options.allowsPlaintext = true
            let sequence = try await writable.snapshot(of: path, options: options).snapshot.sequence
            // Times are in milliseconds: two of them must not be the same.
            try await Task.sleep(nanoseconds: 5_000_000)
            return sequence
        }
        let follower = Follower(path)
        var spool = try SegmentSpool(directory: scratch.path("spool"), allowsPlaintext: true)
        let writer = try await SegmentWriter.open(writable, database: "plain.db")
        _ = try follower.poll(into: &spool)
        let first = try await take()
        var options = StandbyOptions()
        options.snapshotInterval = 0
        let standby = try await writable.repository.standby(of: "plain.db", at: scratch.path("copy.db"), options: options)
        try live.execute("INSERT INTO t VALUES (2)")
        _ = try follower.poll(into: &spool)
        for waiting in spool.takeWaiting() {
            try await writer.append(waiting.path, began: waiting.began, snapshot: first)
            waiting.discard()
        }
        guard case .applied = try await standby.update() else { return #expect(Bool(false)) }
        follower.stop()
        await writer.close()
        try live.execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = \(size); VACUUM; PRAGMA journal_mode = WAL")
        try live.execute("INSERT INTO t VALUES (\(size))")
        #expect(try await take() > first)
        for _ in 1...3 { _ = try await standby.update() }
        let copy = try Connection(scratch.path("copy.db"), readonly: true)
        #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
        #expect(try copy.value("PRAGMA page_size", as: Int.self) == size)
        #expect(try copy.value("SELECT max(v) FROM t WHERE typeof(v) = 'integer'", as: Int.self) == size)
        try copy.close()
        await standby.end()
    }
}
