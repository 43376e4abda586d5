import LiteVaultSystem
import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Segments of a followed log that somebody removed: they are noticed, what is left is restored, and nothing else alarms.
@Suite(.limited) struct LogLossTests {
    let scratch = Scratch()

    func open(_ machine: String, secret: Bool = true, on store: (any ObjectStore)? = nil) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store ?? DirectoryStore(scratch.path("repository")),
            secret: secret ? try .quick("secret") : nil,
            local: LocalDirectories(state: scratch.path("state-\(machine)"), cache: scratch.path("cache-\(machine)"))).repository
    }

    func follow(_ repository: Repository) async throws -> SegmentTests.Followed {
        let followed = try await SegmentTests.Followed(scratch, repository)
        try await followed.poll()
        _ = try await followed.take()
        return followed
    }

    /// Commits that many rows, each in a segment of its own, and returns when each had been seen.
    func commit(_ values: ClosedRange<Int>, _ followed: SegmentTests.Followed) async throws -> [Date] {
        var seen: [Date] = []
        for value in values {
            try followed.insert(value)
            seen.append(try #require(try await followed.poll()))
        }
        return seen
    }

    func restored(_ repository: Repository, _ selection: SnapshotSelection) async throws -> Int64? {
        try await SegmentTests().rows(repository, selection, in: scratch)
    }

    /// The break that a restore tells; nil where it ends well.
    func broken(_ repository: Repository, _ selection: SnapshotSelection) async throws -> BrokenLogError? {
        do {
            _ = try await restored(repository, selection)
            return nil
        } catch let error as VaultError where error.code == .damaged {
            return try #require(error.cause as? BrokenLogError)
        }
    }

    func isIntact(_ repository: Repository, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await repository.check().problems == [], sourceLocation: sourceLocation)
        let snapshots = try await repository.snapshots()
        #expect(
            try await repository.followed(Array(snapshots)).warnings == [], sourceLocation: sourceLocation)
    }

    func segments(_ repository: Repository) async throws -> [String] {
        try await repository.store.list("segments/").map(\.name)
    }

    func lease(_ repository: Repository) async throws -> String {
        try #require(try await repository.store.list("leases/follow-").first?.name)
    }

    /// What is stored during the listing of a directory may be listed without what was stored just before.
    @Test func `a segment is not lost if one listing leaves it out and the next one does not`() async throws {
        let repository = try await open("one")
        let followed = try await follow(repository)
        _ = try await commit(1...4, followed)
        await followed.writer.close()
        let torn = Locked(false)
        @Sendable func tear(_ objects: [ObjectAttributes]) -> [ObjectAttributes] {
            guard objects.count > 2, objects[0].name.hasPrefix("segments/") else { return objects }
            return torn.withLock { isNext in
                defer { isNext = false }
                return isNext ? Array(objects.dropLast(2)) + objects.suffix(1) : objects
            }
        }
        let reader = try await open(
            "two",
            on: AlteredStore(repository.store) {
                $0.list = { tear(try await $0.list($1)) }
                $0.part = { tear(try await $0.list($1, after: $2, before: $3)) }
            })
        torn.withLock { $0 = true }
        #expect(try await reader.check().problems == [])
        #expect(!torn.value)
        torn.withLock { $0 = true }
        #expect(try await restored(reader, .latest) == 4)
        #expect(!torn.value)
    }

    @Test func `a restore removes what killed ones have left, and nothing of others`() async throws {
        let repository = try await open("one")
        let followed = try await follow(repository)
        _ = try await commit(1...2, followed)
        await followed.writer.close()
        let spool = scratch.path("repository/.spool")
        let own = ProcessIdentity.current
        // Of a process in another container only the lock says whether it lives.
        let owners = [
            own, ProcessIdentity(process: own.process, start: own.start &+ 1, boot: own.boot, namespace: own.namespace),
            ProcessIdentity(process: 1, start: 1, boot: own.boot, namespace: own.namespace &+ 1),
            ProcessIdentity(process: 2, start: 1, boot: own.boot, namespace: own.namespace &+ 1),
        ]
        let left = owners.map { "\(spool)/\(TemporaryName(for: "segments", owner: $0).name)" }
        for directory in left {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for name in [WorkDirectory.marker, "segment"] {
                try Data([1]).write(to: URL(fileURLWithPath: directory + "/" + name))
            }
        }
        let held = try LocalFile(reading: left[2] + "/" + WorkDirectory.marker)
        #expect(try held.tryLock())
        defer { withExtendedLifetime(held) {} }
        #expect(try await restored(repository, .latest) == 2)
        #expect(left.map { FileManager.default.fileExists(atPath: $0) } == [true, false, true, false])
    }

    @Test(arguments: [true, false])
    func `H-LOG-01: the last segments, or all, are removed`(_ secret: Bool) async throws {
        let repository = try await open("one", secret: secret)
        let followed = try await follow(repository)
        let seen = try await commit(1...4, followed)
        let start = try #require(try await repository.snapshots().last).time
        await followed.writer.close()
        let names = try await segments(repository)
        let elsewhere = try await open("two", secret: secret)
        try await isIntact(repository)
        for (kept, reachable) in [(3, seen[2]), (2, seen[1]), (0, start)] {
            for name in names[kept...] { try await repository.store.remove(name) }
            // The machine that followed knows by itself, another one by the lease.
            for reader in [repository, elsewhere] {
                let problems = try await reader.check().problems
                #expect(problems.count == 1 && problems[0].path.hasSuffix("000000000\(kept + 1)"), "\(problems)")
                let told = try await reader.followed(Array(reader.snapshots())).warnings
                #expect(told.map(\.path) == problems.map(\.path) && told.map(\.message) == problems.map(\.message))
                let found = try #require(try await broken(reader, .latest))
                #expect(found.reachable == reachable && found.wanted == nil)
                #expect(try await broken(reader, .at(seen[3]))?.wanted == seen[3])
                #expect(try await broken(reader, .at(seen[3].addingTimeInterval(100))) != nil)
                if kept > 0 { #expect(try await restored(reader, .at(seen[kept - 1])) == Int64(kept)) }
                #expect(try await restored(reader, .at(start)) == 0)
                #expect(try await restored(reader, .latestReachable) == Int64(kept))
            }
        }
    }

    @Test func `H-LOG-01: all of a run that began right after another one is removed`() async throws {
        let repository = try await open("one")
        let followed = try await follow(repository)
        _ = try await commit(1...2, followed)
        followed.follower.stop()
        _ = try followed.follower.poll(into: &followed.spool)
        let second = try await followed.take()
        let seen = try await commit(3...4, followed)
        await followed.writer.close()
        for name in try await segments(repository)[2...] { try await repository.store.remove(name) }
        for reader in [repository, try await open("two")] {
            #expect(try await broken(reader, .latest)?.reachable == second.time)
            #expect(try await broken(reader, .at(seen[1])) != nil)
            #expect(try await restored(reader, .at(second.time)) == 2)
            #expect(try await restored(reader, .latestReachable) == 2)
        }
    }

    @Test(arguments: [true, false])
    func `H-LOG-02: a segment in the middle is removed, or the first after a snapshot`(_ secret: Bool) async throws {
        let repository = try await open("one", secret: secret)
        let followed = try await follow(repository)
        var seen = try await commit(1...3, followed)
        let second = try await followed.take()
        seen += try await commit(4...6, followed)
        await followed.writer.close()
        let names = try await segments(repository)
        let store = repository.store
        let elsewhere = try await open("two", secret: secret)
        for index in names.indices.dropLast() {
            let bytes = try await store.get(names[index])
            try await store.remove(names[index])
            for reader in [repository, elsewhere] {
                let problems = try await reader.check().problems
                #expect(problems.count == 1 && problems[0].path.hasSuffix("000000000\(index + 1)"), "\(problems)")
                // Before the second snapshot it stands in nobody's way but in that of times before that.
                #expect(try await broken(reader, .latest) == nil || index >= 3)
                #expect(try await restored(reader, .latestReachable) == (index < 3 ? 6 : Int64(index)))
                let first = try await broken(reader, .at(seen[2]))
                #expect(index < 3 ? first != nil : first == nil)
                if index > 0 { #expect(try await restored(reader, .at(seen[index - 1])) == Int64(index)) }
                if index == 3 { #expect(try await broken(reader, .latest)?.reachable == second.time) }
            }
            try await store.put(names[index], bytes: bytes, condition: .none)
        }
        try await isIntact(repository)
        #expect(try await restored(elsewhere, .latest) == 6)
    }

    @Test func `H-LOG-03: the record of the newest segment is removed, replayed or forged with the end of the log`()
        async throws
    {
        let repository = try await open("one")
        let followed = try await follow(repository)
        _ = try await commit(1...2, followed)
        await followed.writer.close()
        let store = repository.store
        let lease = try await lease(repository)
        let early = try await store.get(lease)
        let writer = try await SegmentWriter.open(repository.writable(), database: "a.db")
        for waiting in try await self.waiting(followed, 3...4) {
            try await writer.append(waiting.path, began: waiting.began, snapshot: followed.newest)
        }
        await writer.close()
        let late = try await store.get(lease)
        let names = try await segments(repository)
        let elsewhere = try await open("two")
        try await isIntact(elsewhere)
        let last = try await store.get(names[3])
        try await store.remove(names[3])
        // Another machine that once saw it knows as well.
        #expect(try await !elsewhere.check().isIntact)

        for (record, isForged) in [(Optional(early), false), (nil, false), (try forged(late), true)] {
            if let record {
                try await store.put(lease, bytes: record, condition: .none)
            } else {
                try await store.remove(lease)
            }
            #expect(try await broken(repository, .latest) != nil)
            #expect(try await !repository.check().isIntact)
            // A machine that never saw it has nothing to compare with, but a forged record is one more thing that is wrong.
            let newcomer = try await open("new-\(record?.count ?? 0)-\(isForged)")
            #expect(try await newcomer.check().isIntact == !isForged)
            #expect(try await broken(newcomer, .latest) == nil)
        }

        // The next snapshot's manifest names it: then a machine that never saw it, and has no record, knows too.
        try await store.put(names[3], bytes: last, condition: .none)
        try await store.put(lease, bytes: late, condition: .none)
        try await isIntact(repository)
        _ = try await followed.take()
        try await store.remove(names[3])
        try await store.remove(lease)
        let newcomer = try await open("another")
        #expect(try await newcomer.check().problems.count == 1)
    }

    /// Changes the number in a record and its hash, as one can who has no secret.
    func forged(_ lease: [UInt8]) throws -> [UInt8] {
        let text = String(decoding: lease, as: UTF8.self)
        let changed = text.replacing("\\\"sequence\\\":4", with: "\\\"sequence\\\":9")
        try #require(changed != text)
        return Array(changed.utf8)
    }

    func waiting(_ followed: SegmentTests.Followed, _ values: ClosedRange<Int>) async throws -> [SegmentSpool.Waiting] {
        var result: [SegmentSpool.Waiting] = []
        for value in values {
            try followed.insert(value)
            _ = try followed.follower.poll(into: &followed.spool)
            result += followed.spool.takeWaiting()
            try await Task.sleep(nanoseconds: 20_000_000)
        }
        return result
    }

    @Test func `H-LOG-04: segments stored after a loss do not reuse the numbers of lost ones`() async throws {
        let repository = try await open("one")
        let followed = try await follow(repository)
        _ = try await commit(1...4, followed)
        await followed.writer.close()
        for name in try await segments(repository)[2...] { try await repository.store.remove(name) }
        // A new run, on this machine.
        followed.follower.stop()
        let writer = try await SegmentWriter.open(repository.writable(), database: "a.db")
        #expect(writer.loss != nil)
        _ = try followed.follower.poll(into: &followed.spool)
        _ = try await followed.take()
        let next = try await waiting(followed, 5...6)
        for waiting in next { try await writer.append(waiting.path, began: waiting.began, snapshot: followed.newest) }
        await writer.close()
        let names = try await segments(repository).map { $0.split(separator: "/")[2] }
        let numbers: [Substring] = names.map { $0.prefix(10).suffix(2) }
        #expect(numbers == ["01", "02", "05", "06"])
        let again = try await SegmentWriter.open(repository.writable(), database: "a.db")
        #expect(again.loss == nil)
        await again.close()
        for reader in [repository, try await open("two")] {
            #expect(try await reader.check().problems.count == 1)
            let next = try #require(try await reader.snapshots().last?.time)
            #expect(try await broken(reader, .at(next.addingTimeInterval(-0.01)))?.problem.contains("up to 4") == true)
            _ = try await restored(reader, .latest)
        }
    }

    @Test func `H-LOG-05: retention, a kill and a run that ended are not reported as loss`() async throws {
        let repository = try await open("one")
        var followed = try await follow(repository)
        for turn in 0..<4 {
            _ = try await commit((turn * 3 + 1)...(turn * 3 + 3), followed)
            _ = try await followed.take()
            var policy = RetentionPolicy()
            policy.last = turn == 3 ? 1 : 2
            _ = try await repository.writable().forget(policy)
            _ = try await repository.writable().prune(grace: .seconds(0))
            try await isIntact(repository)
            try await isIntact(try await open("new-\(turn)"))
            #expect(try await restored(repository, .latest) == Int64(turn * 3 + 3))
        }
        // The newest is verified now, so that the one that was before it may go: nothing is left, and numbers continue.
        var policy = RetentionPolicy()
        policy.last = 1
        _ = try await repository.writable().forget(policy)
        #expect(try await segments(repository).isEmpty)
        await followed.writer.close()
        try await repository.store.remove(lease(repository))
        try FileManager.default.removeItem(atPath: scratch.path("state-one"))
        try FileManager.default.removeItem(atPath: scratch.path("a.db"))
        for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scratch.path("a.db" + end)) }
        followed = try await follow(repository)
        _ = try await commit(1...2, followed)
        #expect(try await segments(repository).first?.contains("/0000000013.") == true)

        // Killed: the lease and this machine's memory are those of before the last segment, or there are none.
        let memory = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: scratch.path("state-one")).first {
                $0.hasSuffix(".segments")
            })
        let before = try Data(contentsOf: URL(fileURLWithPath: scratch.path("state-one/" + memory)))
        let record = try await repository.store.get(lease(repository))
        _ = try await commit(3...3, followed)
        await followed.writer.close()
        try await repository.store.put(lease(repository), bytes: record, condition: .none)
        try before.write(to: URL(fileURLWithPath: scratch.path("state-one/" + memory)))
        try await isIntact(repository)
        #expect(try await restored(repository, .latest) == 3)
        try FileManager.default.removeItem(atPath: scratch.path("state-one/" + memory))
        try await repository.store.remove(lease(repository))
        try await isIntact(repository)
        #expect(try await restored(repository, .latest) == 3)
        // A time later than the last commit is not a loss.
        #expect(try await restored(repository, .at(Date().addingTimeInterval(1000))) == 3)
    }

    @Test func `H-LOG-06: a segment whose answer was lost is stored once, though a snapshot was taken meanwhile`()
        async throws
    {
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        let repository = try await open("one", on: store)
        let followed = try await follow(repository)
        _ = try await commit(1...1, followed)
        let waiting = try #require(try await waiting(followed, 2...2).first)
        let once = OnceOnly()
        store.setHooks(after: { call, name in
            guard call == "put", name.hasPrefix("segments/") else { return }
            try await once { throw VaultError(.io, "the answer was lost") }
        })
        await #expect(throws: VaultError.self) {
            try await followed.writer.append(waiting.path, began: waiting.began, snapshot: followed.newest)
        }
        store.setHooks()
        _ = try await followed.take()
        try await followed.writer.append(waiting.path, began: waiting.began, snapshot: followed.newest)
        _ = try await commit(3...3, followed)
        await followed.writer.close()
        #expect(try await segments(repository).count == 3)
        try await isIntact(repository)
        #expect(try await restored(repository, .latest) == 3)
    }

    @Test func `H-REP-46 a segment of a former primary under the number of its successor's is not damage, and does not hide a loss`()
        async throws
    {
        let followed = try await follow(open("1"))
        _ = try await commit(1...1, followed)
        let copy = scratch.path("copy.db")
        let other = try await open("2")
        _ = try await other.writable().promote(copy, database: "a.db")
        let successor = try await SegmentWriter.open(other.writable(), database: "a.db", at: copy)
        // Both store a segment with the next number, the former primary before it learns of the promotion.
        try followed.insert(2)
        _ = try followed.follower.poll(into: &followed.spool)
        let spooled = followed.spool.takeWaiting()
        let waiting = try #require(spooled.first)
        let (former, path, began, newest) = (followed.writer, waiting.path, waiting.began, followed.newest)
        let error = await #expect(throws: VaultError.self) {
            try await former.append(path, began: began, snapshot: newest)
        }
        #expect(error?.code == .busy)
        try await successor.append(path, began: began, snapshot: newest + 1)
        await successor.close()
        let names = try await segments(other).sorted()
        #expect(names.count == 3)
        #expect(try await other.check().problems == [])

        let own = try #require(names.last)
        try FileManager.default.removeItem(atPath: scratch.path("repository") + "/" + own)
        let problems = try await other.check().problems
        #expect(problems.contains { $0.message.hasPrefix("does not match the hash recorded in") })
    }
}
