import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// Joined segments: what could be restored still can, with fewer objects.
@Suite(.limited) struct CompactionTests {
    let scratch = Scratch()

    func repository(_ store: (any ObjectStore)? = nil, machine: String = "one") async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store ?? DirectoryStore(scratch.path("repository")), secret: try .quick("secret"),
            local: LocalDirectories(state: scratch.path("state-\(machine)"), cache: scratch.path("cache-\(machine)"))).repository
    }

    /// A repository with segments of one commit each, at these seconds after the start of a day in the past. The times are
    /// written into the segments, as a follower with another clock would.
    func followed(_ repository: Repository, at seconds: [Int], day: Int64) async throws -> Dated {
        let dated = try await Dated(scratch, repository, day: day)
        for (index, second) in seconds.enumerated() { try await dated.commit(Int64(index + 1), at: second) }
        await dated.writer.close()
        return dated
    }

    /// A followed database whose segments have times of the test's choice.
    final class Dated {
        let followed: SegmentTests.Followed
        let start: Date
        let began: Date
        let snapshot: Snapshot
        /// The value of each commit, and its time.
        var commits: [(value: Int64, time: Date)] = []
        var writer: SegmentWriter { followed.writer }

        init(_ scratch: Scratch, _ repository: Repository, day: Int64) async throws {
            followed = try await SegmentTests.Followed(scratch, repository)
            try await followed.poll()
            snapshot = try await followed.take()
            // The day begins after the snapshot: the first whole one in the future, or `day` days later.
            let now = Int64(snapshot.time.timeIntervalSince1970)
            start = Date(timeIntervalSince1970: Double((now / 86_400 + 1 + day) * 86_400))
            began = snapshot.time.addingTimeInterval(-1)
        }

        func commit(_ value: Int64, at second: Int, more: String = "") async throws {
            try followed.connection.execute("INSERT INTO t VALUES (\(value)); \(more)")
            _ = try followed.follower.poll(into: &followed.spool)
            let time = start.addingTimeInterval(Double(second))
            for waiting in followed.spool.takeWaiting() {
                var bytes = try Data(contentsOf: URL(fileURLWithPath: waiting.path))
                let seen = UInt64(time.timeIntervalSince1970 * 1000)
                withUnsafeBytes(of: seen.bigEndian) { bytes.replaceSubrange(40..<48, with: $0) }
                try bytes.write(to: URL(fileURLWithPath: waiting.path))
                try await writer.append(waiting.path, began: waiting.began, snapshot: followed.newest)
                waiting.discard()
            }
            commits.append((value, time))
        }
    }

    func rows(
        _ repository: Repository, _ selection: SnapshotSelection, readsInPlace: Bool = true
    ) async throws -> Int64? {
        try await SegmentTests().rows(repository, selection, in: scratch, readsInPlace: readsInPlace)
    }

    func problems(_ repository: Repository) async throws -> [CheckReport.Problem] {
        var options = CheckOptions()
        options.readsData = true
        return try await repository.check(options).problems
    }

    /// A policy by which everything is old.
    func policy(fine: Int64 = -400 * 86_400, minutes: Int64 = 400 * 86_400) -> CompactionPolicy {
        var policy = CompactionPolicy()
        (policy.fine, policy.minutes, policy.grace) = (.seconds(fine), .seconds(minutes), .zero)
        return policy
    }

    func names(_ repository: Repository) async throws -> (fine: [String], joined: [String]) {
        let all = try await repository.store.list("segments/").map(\.name)
        return (all.filter { !$0.contains("/joined/") }, all.filter { $0.contains("/joined/") })
    }

    @Test func `each commit is restored exactly after segments are joined, and the newest reads few objects`()
        async throws
    {
        let repository = try await repository()
        let dated = try await followed(repository, at: Array(0..<150), day: 0)
        let before = try await names(repository).fine
        let result = try await repository.writable().compact()
        #expect(result.warnings.isEmpty && result.joined == 16 && result.removed == 0)
        #expect(try await names(repository).fine == before)
        for (value, time) in dated.commits {
            #expect(try await rows(repository, .at(time)) == value)
            #expect(try await rows(repository, .at(time.addingTimeInterval(0.5))) == value)
        }
        #expect(try await rows(repository, .latest) == 150)
        // Two minutes, two times ten seconds, ten that may still be continued.
        #expect(try await repository.planRestore(.latest).segments.count == 14)
        #expect(try await problems(repository) == [])
        #expect(
            try await repository.followed(Array(repository.snapshots())).until.values.first == dated.commits.last?.time)
        // Nothing is left to do.
        #expect(try await repository.writable().compact().joined == 0)
    }

    @Test func `joining leaves the same bytes as applying the segments, also where the database shrinks and grows`()
        async throws
    {
        let repository = try await repository()
        let dated = try await Dated(scratch, repository, day: 0)
        let steps = [
            "CREATE TABLE big(a); INSERT INTO big SELECT zeroblob(4000) FROM (WITH c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 60) SELECT x FROM c)",
            "DELETE FROM big", "PRAGMA wal_checkpoint(PASSIVE)", "VACUUM", "INSERT INTO big VALUES (zeroblob(90000))",
        ]
        for second in 0..<30 {
            try await dated.commit(
                Int64(second + 1), at: second,
                more: second % 6 < 5
                    ? steps[second % 6].replacingOccurrences(of: "CREATE TABLE", with: "CREATE TABLE IF NOT EXISTS")
                    : "")
        }
        await dated.writer.close()
        func image(_ name: String) async throws -> Data {
            let path = scratch.path(name)
            try await repository.restore(.latest, to: path)
            return try Data(contentsOf: URL(fileURLWithPath: path))
        }
        let fine = try await image("fine.db")
        #expect(try await repository.writable().compact().joined >= 2)
        #expect(try await repository.planRestore(.latest).segments.count < 15)
        #expect(try await image("joined.db") == fine)
    }

    @Test func `after the fine segments are removed the ends of minutes are restored, and a restore says what it has`()
        async throws
    {
        let repository = try await repository()
        let dated = try await followed(repository, at: [0, 5, 15, 50, 70, 200, 205, 4000, 4001], day: 0)
        let result = try await repository.writable().compact(policy())
        #expect(result.warnings.isEmpty)
        // 0 to 50, and 200 with 205. The newest two may be continued.
        #expect(result.removed >= 6)
        #expect(try await names(repository).fine.count == 3)
        for (wanted, value, until) in [
            (205, 7, nil), (4001, 9, nil), (100, 5, nil), (50, 4, nil), (60, 4, nil), (20, 0, 50), (203, 5, 205),
        ] as [(Int, Int64, Int?)] {
            let time = dated.start.addingTimeInterval(Double(wanted))
            #expect(try await rows(repository, .at(time)) == value, "\(wanted)")
            let plan = try await repository.planRestore(.at(time))
            #expect(plan.granularity?.until == until.map { dated.start.addingTimeInterval(Double($0)) }, "\(wanted)")
        }
        #expect(try await rows(repository, .latest) == 9)
        #expect(try await problems(repository) == [])

        // Hours.
        _ = try await repository.writable().compact(policy(minutes: -400 * 86_400))
        #expect(try await rows(repository, .at(dated.start.addingTimeInterval(300))) == 7)
        #expect(try await rows(repository, .at(dated.start.addingTimeInterval(100))) == 0)
        #expect(try await rows(repository, .latest) == 9)
        #expect(try await problems(repository) == [])

        // A follower continues after the newest one.
        let next = try await SegmentWriter.open(repository.writable(), database: "a.db")
        #expect(next.loss == nil)
        await next.close()
    }

    @Test func `a day of commits is restored with at most 50 requests`() async throws {
        let directory = DirectoryStore(scratch.path("repository"))
        let repository = try await repository(directory)
        // Every 173 seconds of the day, then each second of its last minute.
        let seconds = Array(stride(from: 0, to: 86_340, by: 173)) + Array(86_340..<86_400)
        _ = try await followed(repository, at: seconds, day: 0)
        _ = try await repository.writable().compact()
        let store = InterruptedStore(base: directory, limit: .max)
        let other = try await self.repository(store, machine: "two")
        store.arm()
        #expect(try await rows(other, .latest, readsInPlace: false) == Int64(seconds.count))
        #expect(store.gets <= 50, "\(store.gets) requests")
    }

    @Test func `a follower joins what it stored, with the windows that are over, and asks nothing when idle`()
        async throws
    {
        let directory = DirectoryStore(scratch.path("repository"))
        let store = InterruptedStore(base: directory, limit: .max)
        let repository = try await repository(store)
        let dated = try await Dated(scratch, repository, day: 0)
        let policy = CompactionPolicy()
        var joined = 0
        for second in 0..<130 {
            try await dated.commit(Int64(second + 1), at: second)
            if second % 5 == 0 { joined += try await dated.writer.compact(policy).joined }
        }
        joined += try await dated.writer.compact(policy).joined
        #expect(joined == 14)
        store.arm()
        #expect(try await dated.writer.compact(policy).joined == 0)
        #expect(store.requests == 0)
        await dated.writer.close()
        #expect(try await repository.writable().compact().joined == 0)
        #expect(try await rows(repository, .latest) == 130)
        #expect(try await rows(repository, .at(dated.commits[64].time)) == 65)
        #expect(try await problems(repository) == [])
    }

    @Test func `another reader, made from the description of the format, restores the same bytes from joined segments`()
        async throws
    {
        let repository = try await repository()
        let dated = try await followed(repository, at: Array(0..<85), day: 0)
        _ = try await repository.writable().compact(policy())
        let reader = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("RepositoryReader/reader.py").path
        let secret = scratch.path("secret")
        try Data("secret\n".utf8).write(to: URL(fileURLWithPath: secret))
        for (index, seconds) in [(60, 59), (70, 69), (85, 84)] {
            let (ours, theirs) = (scratch.path("ours-\(index)"), scratch.path("theirs-\(index)"))
            let time = dated.start.addingTimeInterval(Double(seconds))
            try await repository.restore(.at(time), to: ours)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "python3", reader, scratch.path("repository"), "roll", "a.db", "1", theirs,
                time.formatted(.iso8601),
            ]
            process.environment = ProcessInfo.processInfo.environment.merging(["READER_SECRET_FILE": secret]) { $1 }
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let same =
                try Data(contentsOf: URL(fileURLWithPath: ours)) == Data(contentsOf: URL(fileURLWithPath: theirs))
            #expect(same, "\(index) commits")
        }
    }

    @Test func `a damaged segment is neither joined nor removed, and the rest is`() async throws {
        let repository = try await repository()
        let dated = try await followed(repository, at: Array(0..<70), day: 0)
        let victim = try await names(repository).fine[24]
        let path = scratch.path("repository") + "/" + victim
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count - 100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let result = try await repository.writable().compact(policy())
        #expect(result.warnings.map(\.path) == [victim])
        #expect(try await names(repository).fine.contains(victim))
        #expect(try await problems(repository).map(\.path) == [victim])
        let last = dated.commits[23].time
        #expect(try await rows(repository, .latestReachable) == 24)
        do {
            _ = try await rows(repository, .latest)
            Issue.record("restored past a damaged segment")
        } catch let error as VaultError {
            #expect((error.cause as? BrokenLogError)?.reachable == last)
        }
    }

    @Test func `a damaged joined segment is not used while what was joined exists, and nothing is removed for it`()
        async throws
    {
        let repository = try await repository()
        _ = try await followed(repository, at: Array(0..<70), day: 0)
        _ = try await repository.writable().compact()
        let fine = try await names(repository).fine
        for name in try await names(repository).joined {
            let path = scratch.path("repository") + "/" + name
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            bytes[bytes.count - 100] ^= 1
            try bytes.write(to: URL(fileURLWithPath: path))
        }
        #expect(try await rows(repository, .latest) == 70)
        let result = try await repository.writable().compact(policy())
        #expect(result.removed == 0 && !result.warnings.isEmpty)
        #expect(try await names(repository).fine == fine)
        // A repair sets them aside; then they are made again.
        var options = RepairOptions()
        options.readsData = true
        _ = try await repository.writable().repair(options)
        #expect(try await problems(repository) == [])
        #expect(try await repository.writable().compact(policy()).removed > 50)
        #expect(try await rows(repository, .latest) == 70)
    }

    @Test func `a missing joined segment whose segments were removed is noticed`() async throws {
        let repository = try await repository()
        let dated = try await followed(repository, at: Array(0..<130), day: 0)
        _ = try await repository.writable().compact(policy())
        let joined = try await names(repository).joined
        // All of the second minute.
        for name in joined where name.contains("0000000061.") { try await repository.store.remove(name) }
        #expect(try await problems(repository).count == 1)
        do {
            _ = try await rows(repository, .latest)
            Issue.record("restored past a missing segment")
        } catch let error as VaultError {
            #expect((error.cause as? BrokenLogError)?.reachable == dated.commits[59].time)
        }
        #expect(try await rows(repository, .latestReachable) == 60)
    }

    @Test func `a compaction that stops at any request leaves every commit restorable, and the next one ends it`()
        async throws
    {
        let directory = DirectoryStore(scratch.path("repository"))
        let repository = try await repository(directory)
        let dated = try await followed(repository, at: Array(0..<25), day: 0)
        for limit in [0, 1, 3, 6, 10, 15, 25, 40, 60, 90, 130] {
            let store = InterruptedStore(base: directory, limit: limit)
            let other = try await self.repository(store, machine: "two")
            store.arm()
            _ = try? await other.writable().compact(policy(fine: 400 * 86_400))
            for index in [0, 9, 10, 12, 19, 24] {
                let (value, time) = dated.commits[index]
                #expect(try await rows(repository, .at(time)) == value, "after \(limit) requests")
            }
        }
        for limit in [0, 1, 3, 6, 10, 15, 25, 40, 60, 90, 130] {
            let store = InterruptedStore(base: directory, limit: limit)
            let other = try await self.repository(store, machine: "two")
            store.arm()
            _ = try? await other.writable().compact(policy())
            #expect(try await rows(repository, .latest) == 25, "after \(limit) requests")
            #expect(try await rows(repository, .at(dated.commits[9].time)) == 10, "after \(limit) requests")
        }
        #expect(try await problems(repository) == [])
    }

    @Test func `two compactions at once make the same objects, and a restore beside them is exact`() async throws {
        let repository = try await repository()
        let other = try await self.repository(machine: "two")
        let dated = try await followed(repository, at: Array(0..<140), day: 0)
        // What a running restore needs stays for an hour.
        var policy = policy()
        policy.grace = .seconds(3600)
        let chosen = policy
        async let one = repository.writable().compact(chosen)
        async let two = other.writable().compact(chosen)
        async let restored = rows(repository, .latest)
        let all = try await [one, two]
        #expect(try await restored == 140)
        #expect(all.flatMap(\.warnings).allSatisfy { $0.code == .busy })
        #expect(all.map(\.removed) == [0, 0])
        #expect(try await repository.writable().compact(self.policy()).removed > 100)
        #expect(try await rows(repository, .latest) == 140)
        #expect(try await rows(repository, .at(dated.commits[59].time)) == 60)
        #expect(try await problems(repository) == [])
    }

    @Test func `a copy has joined segments, and retention keeps those that a snapshot may need`() async throws {
        let repository = try await repository()
        let dated = try await followed(repository, at: Array(0..<130), day: 0)
        _ = try await repository.writable().compact(policy())
        let place = DirectoryStore(scratch.path("copy"))
        _ = try await repository.writable().copy(to: place)
        let copy = try await self.repository(place)
        #expect(try await names(copy) == (try await names(repository)))
        #expect(try await rows(copy, .latest) == 130)
        #expect(try await problems(copy) == [])
        #expect(try await repository.writable().copy(to: place).segments == 0)
        // A machine that has seen no segment lists them: its snapshot tells that it has them, whatever their times.
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        let other = try await self.repository(machine: "two")
        _ = try await other.writable().snapshot(of: dated.followed.path, options: options)
        var retention = RetentionPolicy()
        retention.last = 1
        _ = try await repository.writable().forget(retention)
        #expect(try await names(repository).joined.isEmpty)
        #expect(try await problems(repository) == [])
        #expect(try await rows(repository, .latest) == 130)
        _ = try await dated.followed.take()
        // Otherwise retention keeps the one before, which is known to be good.
        #expect(try await problems(repository) == [])
        _ = try await repository.writable().forget(retention)
        #expect(try await names(repository).joined.isEmpty)
        #expect(try await problems(repository) == [])
        #expect(try await rows(repository, .latest) == 130)
    }

    @Test func `forgetting a snapshot removes its segments, joined ones too, and not those that a later one needs`()
        async throws
    {
        let repository = try await repository()
        let dated = try await Dated(scratch, repository, day: -3)
        for second in 0..<130 { try await dated.commit(Int64(second + 1), at: second) }
        _ = try await dated.followed.take()
        // Those of the second snapshot are behind all snapshots.
        for second in 130..<265 { try await dated.commit(Int64(second + 1), at: second + 10 * 86_400) }
        await dated.writer.close()
        #expect(try await repository.writable().compact(policy(fine: 400 * 86_400)).joined > 20)
        let before = try await names(repository)
        var retention = RetentionPolicy()
        retention.last = 1
        _ = try await repository.writable().forget(retention)
        let after = try await names(repository)
        #expect(Set(after.fine).isSubset(of: before.fine) && Set(after.joined).isSubset(of: before.joined))
        // The last number of each.
        func sequences(_ names: [String], _ part: Int) -> [Int] {
            names.compactMap { $0.split(separator: "/").last.map { Int($0.split(separator: ".")[part]) ?? 0 } }
        }
        #expect(sequences(after.fine, 0) == Array(131...265))
        #expect(
            sequences(before.joined, 1).contains { $0 <= 130 } && sequences(after.joined, 1).allSatisfy { $0 > 130 })
        #expect(!after.joined.isEmpty)
        #expect(try await problems(repository) == [])
        #expect(try await rows(repository, .latest) == 265)
        #expect(try await rows(repository, .at(dated.commits[199].time)) == 200)
        // Their numbers stay recorded, so that nothing counts as missing, and the next follower continues.
        let next = try await SegmentWriter.open(repository.writable(), database: "a.db")
        #expect(next.loss == nil)
        await next.close()
        _ = try await repository.writable().compact(policy())
        #expect(try await problems(repository) == [])
        #expect(try await rows(repository, .latest) == 265)
    }
}

/// Fails every request after a number of them, as the store of a process that was killed would.
final class InterruptedStore: ObjectStore, @unchecked Sendable {
    let base: DirectoryStore
    private let lock = NSLock()
    private let limit: Int
    private var left: Int?
    private var counts = (all: 0, gets: 0)
    /// Requests since ``arm()``, and those of them that read.
    var requests: Int { lock.withLock { counts.all } }
    var gets: Int { lock.withLock { counts.gets } }

    init(base: DirectoryStore, limit: Int) { (self.base, self.limit) = (base, limit) }

    /// Begins to count.
    func arm() { lock.withLock { left = limit } }

    private func count(reads: Bool = false) throws {
        try lock.withLock {
            guard let now = left else { return }
            counts.all += 1
            if reads { counts.gets += 1 }
            guard now > 0 else { throw VaultError(.io, "the store is gone") }
            left = now - 1
        }
    }

    var location: String { base.location }
    func supportsConditionalWrites() async throws -> Bool { try await base.supportsConditionalWrites() }
    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try count()
        return try await base.put(name, bytes: bytes, condition: condition)
    }
    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        try count()
        return try await base.put(name, file: path, condition: condition)
    }
    func get(_ name: String) async throws -> [UInt8] {
        try count(reads: true)
        return try await base.get(name)
    }
    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try count(reads: true)
        return try await base.get(name, range: range)
    }
    func fetch(_ name: String, into path: String) async throws {
        try count(reads: true)
        try await base.fetch(name, into: path)
    }
    func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        try count(reads: true)
        try await base.fetch(name, into: path, upTo: limit)
    }
    func attributes(_ name: String) async throws -> ObjectAttributes? {
        try count(reads: true)
        return try await base.attributes(name)
    }
    func list(_ prefix: String) async throws -> [ObjectAttributes] {
        try count()
        return try await base.list(prefix)
    }
    func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        try count()
        return try await base.list(prefix, after: first, before: end)
    }
    func remove(_ name: String) async throws {
        try count()
        try await base.remove(name)
    }
    func now() async throws -> Date { try await base.now() }
}
