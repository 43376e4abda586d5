import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

@Suite(.limited) struct RetentionTests {
    let scratch = Scratch()

    func repository() async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"))).repository
    }

    func packs(_ repository: Repository) async throws -> Int {
        try await repository.store.list("data/").count + repository.store.list("tree/").count
    }

    func policy(_ change: (inout RetentionPolicy) -> Void) -> RetentionPolicy {
        var policy = RetentionPolicy()
        change(&policy)
        return policy
    }

    @Test func `a policy without rules is refused`() async throws {
        let repository = try await repository()
        #expect(await StoreCalls.code { _ = try await repository.writable().forget(.init()) } == .config)
    }

    /// The clock of a directory is the time of a file that is written in it.
    @Test func `what retention would remove is told of a repository that cannot be written`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 8)
        for block in 0..<3 {
            try image.change(block: block)
            try await self.repository().snapshot(image)
        }
        let fixed = AlteredStore(DirectoryStore(scratch.path("repository"))) {
            $0.put = { _, name, _, _ in throw VaultError(.io, "open failed: Read-only file system", path: name) }
            $0.clock = { _ in throw VaultError(.io, "open failed: Read-only file system", path: ".clock") }
        }
        let repository = try await Repository.open(
            fixed, local: LocalDirectories(state: nil, cache: scratch.path("cache"), spool: scratch.path("spool")))
        let decisions = try await repository.decide(policy { $0.last = 2 })
        #expect(decisions.map(\.keeps) == [false, true, true] && decisions.allSatisfy { !$0.isDatedAhead })
        let preview = try await repository.writable().prune(dryRun: true)
        #expect(preview.kept > 0 && preview.pending == 0 && preview.removed == 0)
        // And that a check records nothing there, with the reason.
        let report = try await repository.check()
        #expect(report.isIntact && !report.isRecorded)
        #expect(report.recordingError?.message == "open failed: Read-only file system")
    }

    /// What the stores of this package return as a listing has each name once; one of somebody else's may not.
    @Test func `H-OBJ-19 in a store that lists each object twice, forget removes nothing that it says it keeps`() async throws {
        var image = try TestImage(scratch.path("a.db"), blocks: 8)
        for block in 0..<5 {
            try image.change(block: block)
            try await self.repository().snapshot(image)
        }
        let twice = AlteredStore(DirectoryStore(scratch.path("repository"))) {
            $0.list = { base, prefix in try await base.list(prefix).flatMap { [$0, $0] } }
        }
        let repository = try await Repository.open(
            twice, local: LocalDirectories(state: nil, cache: scratch.path("cache")))
        let decisions = try await repository.writable().forget(policy { $0.last = 2 })
        let kept = decisions.filter(\.keeps).map(\.snapshot.id)
        #expect(Set(kept).isDisjoint(with: decisions.filter { !$0.keeps }.map(\.snapshot.id)))
        let left = try await self.repository().snapshots().map(\.id)
        #expect(left.count == 2 && Set(left) == Set(kept))
    }

    @Test func `H-OBJ-19 a listing has each name once, in the order of the names' bytes, as it was read last`() {
        func object(_ name: String, _ size: Int64) -> ObjectAttributes {
            ObjectAttributes(name: name, size: size, modified: Date(timeIntervalSince1970: 0), tag: ETag("\(size)"))
        }
        let pages = [object("b", 1), object("a", 2), object("b", 3), object("a/c", 4), object("a", 5)]
        #expect(pages.asListing == [object("a", 5), object("a/c", 4), object("b", 3)])
        #expect([ObjectAttributes]().asListing.isEmpty)
    }

    /// A record of an older version has no list of segments, and what that version removed is taken from the gaps of those that exist.
    @Test func `a record of an older version gets no segments where there never were any`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 8)
        for block in 0..<4 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        _ = try await repository.writable().forget(policy { $0.last = 3 })
        let name = "forgotten/" + repository.databaseID("a.db")
        let line = try #require(
            String(decoding: try await repository.store.get(name), as: UTF8.self).split(separator: "\n").first)
        var record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect((record["ranges"] as? [[Int]]) == [[1, 1]])
        record["segments"] = nil
        let body = try [UInt8](JSONSerialization.data(withJSONObject: record)) + [UInt8(ascii: "\n")]
        let bytes = body + Array("sha256 \(Hash256(of: body).hexadecimal)\n".utf8)
        try await repository.store.put(name, bytes: bytes, condition: .none)

        _ = try await repository.writable().forget(policy { $0.last = 2 })
        let text = String(decoding: try await repository.store.get(name), as: UTF8.self)
        #expect(text.contains("[[1,2]]"), "\(text)")
        #expect(!text.contains("segments"), "\(text)")
    }

    @Test func `a forgotten snapshot affects no other, and its packs are deleted by a later run`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 200)
        try await repository.snapshot(image)
        for block in 0..<5 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        let before = try await packs(repository)
        let planned = try await repository.decide(policy { $0.last = 2 })
        #expect(planned.map(\.keeps) == [false, false, false, false, true, true])
        #expect(try await repository.snapshots().count == 6)
        let done = try await repository.writable().forget(policy { $0.last = 2 })
        #expect(done.map(\.keeps) == planned.map(\.keeps))
        #expect(done.last?.reasons == ["newest", "last 1"])
        #expect(try await repository.snapshots().map(\.sequence) == [5, 6])

        let listed = try await repository.writable().prune(grace: .seconds(0))
        #expect(listed.removed == 0)
        #expect(listed.pending > 0)
        #expect(try await packs(repository) == before)
        let waiting = try await repository.writable().prune(grace: .seconds(3600))
        #expect(waiting.removed == 0)
        #expect(try await packs(repository) == before)
        let removed = try await repository.writable().prune(grace: .seconds(0))
        #expect(removed.removed == listed.pending)
        #expect(try await packs(repository) == before - removed.removed)

        var options = CheckOptions()
        options.readsData = true
        #expect(try await repository.check(options).problems == [])
        try await repository.store.remove(try await repository.snapshots()[0].object)
        #expect(try await repository.check().problems.map(\.path).count == 1)
        let newest = try await repository.snapshot(.latest)
        try await repository.restore(newest, to: scratch.path("out"))
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: scratch.path("out")))) == image.bytes)
    }

    @Test func `a writer reuses nothing of a pack pending deletion, and a needed pack is no longer pending`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 100)
        try await repository.snapshot(image)
        let old = try await repository.store.list("data/").map(\.name)
        // Doomed by hand: the newest snapshot still needs it.
        try image.change(block: 1)
        try await repository.snapshot(image)
        _ = try await repository.writable().forget(policy { $0.last = 1 })
        try await repository.writable().scheduleDeletion(of: old)
        let third = try await repository.snapshot(image)
        #expect(third.snapshot.changed == 0)
        #expect(third.snapshot.stored > Int64(99 * 4096))
        let pruned = try await repository.writable().prune(grace: .seconds(0))
        #expect(pruned.removed == 0)
        #expect(try await repository.check().problems == [])
    }

    @Test func `blocks of sparse packs are stored again, so that the packs can be deleted`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 100)
        try await repository.snapshot(image)
        for block in 0..<60 { try image.change(block: block) }
        try await repository.snapshot(image)
        _ = try await repository.writable().forget(policy { $0.last = 1 })
        #expect(try await repository.writable().prune(grace: .seconds(0)).sparse == 1)
        let third = try await repository.snapshot(image)
        #expect(third.snapshot.changed == 0)
        #expect(third.snapshot.stored > Int64(40 * 4096))
        _ = try await repository.writable().forget(policy { $0.last = 1 })
        try await repository.writable().prune(grace: .seconds(0))
        try await repository.writable().prune(grace: .seconds(0))
        let bytes = try await repository.store.list("data/").reduce(0) { $0 + $1.size }
        #expect(bytes < 101 * 4130 + 200)
        #expect(try await repository.check().problems == [])
    }

    @Test func `the newest verified snapshot stays, whatever the rules say`() async throws {
        let repository = try await repository()
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await repository.snapshot(image)
        _ = try await repository.check()
        for block in 0..<3 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        let decisions = try await repository.writable().forget(policy { $0.last = 1 })
        #expect(decisions.map(\.keeps) == [true, false, false, true])
        #expect(decisions[0].reasons == ["last verified"])
    }

    @Test func `nothing is removed while the store does not tell which snapshots were verified`() async throws {
        let repository = try await repository()
        let image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await repository.snapshot(image)
        _ = try await repository.check()
        for _ in 0..<2 { try await repository.snapshot(image) }
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        let other = try await Repository.open(store, local: repository.local)
        store.setHooks(before: { call, name in
            if call == "get", name.hasPrefix("verified/") { throw VaultError(.io, "does not respond", path: name) }
        })
        #expect(await StoreCalls.code { _ = try await other.writable().forget(policy { $0.last = 1 }) } == .io)
        #expect(try await other.snapshots().count == 3)
        store.setHooks()
        #expect(try await other.writable().forget(policy { $0.last = 1 }).map(\.keeps) == [true, false, true])
    }

    @Test func `periods keep the newest of each`() async throws {
        // One snapshot every 6 hours for 60 days.
        let start = Date(timeIntervalSince1970: 1_767_225_600)  // 2026-01-01
        let times = (0..<240).map { start.addingTimeInterval(Double($0) * 21_600) }
        let snapshots = try times.map { try Snapshot.example($0) }
        func kept(_ change: (inout RetentionPolicy) -> Void) -> [Date] {
            policy(change).decide(snapshots, now: times[239]).filter(\.keeps).map(\.snapshot.time)
        }
        #expect(kept { $0.last = 3 } == Array(times.suffix(3)))
        #expect(kept { $0.daily = 2 } == [times[235], times[239]])
        #expect(kept { $0.within = .seconds(86_400) } == Array(times.suffix(5)))
        #expect(kept { $0.monthly = 12 } == [times[123], times[235], times[239]])
        #expect(kept { $0.yearly = 1 } == [times[239]])
        #expect(kept { $0.hourly = 2 } == Array(times.suffix(2)))
        #expect(kept { $0.weekly = 2 }.count == 2)
    }

    @Test func `H-CLOCK-01 a snapshot dated in the future makes no rule remove the others`() throws {
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        let day = 86_400.0
        let times = [-4 * day, -3 * day, 3650 * day, -2 * day, -1 * day].map { now.addingTimeInterval($0) }
        func decided(_ times: [Date], _ change: (inout RetentionPolicy) -> Void) throws -> [RetentionDecision] {
            let snapshots = try times.map { try Snapshot.example($0) }
            return policy(change).decide(snapshots, now: now)
        }
        let within = try decided(times) { $0.within = .seconds(3 * day) }
        #expect(within.map(\.keeps) == [true, true, true, true, true])
        #expect(within.map(\.isDatedAhead) == [false, false, true, false, false])
        // It counts as taken with the next one, and goes when that one does.
        let day1 = try decided(times) { $0.within = .seconds(day) }
        #expect(day1.map(\.keeps) == [false, false, true, true, true])
        // It is kept beside the days that count.
        let daily = try decided(times) { $0.daily = 3 }
        #expect(daily.map(\.keeps) == [false, true, true, true, true])
        // The newest one too, and all of them.
        let last = try decided([times[0], times[1], times[3], times[4], times[2]]) { $0.within = .seconds(3 * day) }
        #expect(last.map(\.keeps) == [true, true, true, true, true])
        let all = try decided(times.map { $0.addingTimeInterval(10 * day) }) { $0.within = .seconds(3 * day) }
        #expect(all.allSatisfy { $0.keeps && $0.isDatedAhead })
        // One that a clock dated back by years uses up no period.
        let back = [times[0], times[1], Date(timeIntervalSince1970: 0), times[3], times[4]]
        let four = try decided(back) { $0.daily = 4 }
        #expect(four.map(\.keeps) == [true, true, true, true, true])
        let three = try decided(back) { $0.daily = 3 }
        #expect(three.map(\.keeps) == [false, true, true, true, true])
    }

    /// Snapshots of the last days, one each, and what is kept of them.
    /// When a snapshot was taken, in days from today: by its label, and by the clock if that showed something else.
    private typealias Moment = (day: Double, clock: Double?)

    private func kept(_ times: [Moment], now: Double = 0, _ change: (inout RetentionPolicy) -> Void)
        throws -> [Double]
    {
        let today = Date(timeIntervalSince1970: 1_767_268_800)  // 2026-01-01 12:00
        let snapshots = try times.map { label, clock in
            try Snapshot.example(
                today.addingTimeInterval(label * 86_400), clock: clock.map { today.addingTimeInterval($0 * 86_400) })
        }
        let decisions = policy(change).decide(snapshots, now: today.addingTimeInterval(now * 86_400))
        return zip(times, decisions).filter { $1.keeps }.map { $0.0.clock ?? $0.0.day }
    }

    private static let year = 365.0

    @Test(arguments: [-20_440, -3, -0.125, 0, 26_645])
    func `H-CLOCK-17 rules remove the same snapshots whatever the clock says when they are applied`(
        now: Double
    ) throws {
        let days = (-10...0).map { day -> Moment in (Double(day), nil) }
        #expect(try kept(days, now: now) { $0.daily = 7 } == [-6, -5, -4, -3, -2, -1, 0])
        #expect(try kept(days, now: now) { $0.within = .seconds(3 * 86_400) } == [-3, -2, -1, 0])
        let hours = (-5...0).map { hour -> Moment in (Double(hour) / 24, nil) }
        #expect(try kept(hours, now: now) { $0.hourly = 24 } == hours.map { $0.day })
    }

    @Test func `H-CLOCK-17 snapshots that a machine takes while its clock is behind remove no others`() throws {
        let days = (-10...0).map { day -> Moment in (Double(day), nil) }
        // Taken in 1970. Labels follow the last one by a millisecond.
        let clocks = (0..<3).map { hour -> Double in -56 * Self.year + Double(hour) / 24 }
        let behind = clocks.enumerated().map { place, clock -> Moment in (1e-8 * Double(place + 1), clock) }
        let all = days + behind
        for (daily, within) in [(14, 30.0), (3, 2)] {
            #expect(try Array(kept(all) { $0.daily = daily }.dropLast()) == days.map { $0.day })
            #expect(try kept(all) { $0.within = .seconds(within * 86_400) }.count == 14)
        }
        // Set right again.
        let right: [Moment] = all + [(1, nil)]
        #expect(try kept(right) { $0.daily = 3 } == [-1, 0, clocks[2], 1])
        let lastDay = [0] + clocks + [1]
        #expect(try kept(right) { $0.within = .seconds(86_400) } == lastDay)
    }

    @Test func `H-CLOCK-21 the same rules remove nothing more the second time, although what showed a clock step was not counted`()
        throws
    {
        let hour = 1.0 / 24
        // The clock was ahead at 12:15, or behind at 10:00.
        let hours: [Double] = [-4, 0.25, -2, 0.75]
        let times = hours.map { (day: $0 * hour, clock: Optional($0 * hour)) }
        let once = try kept(times) { $0.hourly = 2 }
        #expect(once == hours.map { $0 * hour })
        #expect(try kept(once.map { (day: $0, clock: Optional($0)) }) { $0.hourly = 2 } == once)
        // Rules that count need no time.
        #expect(try kept(times) { $0.last = 2 } == [-2 * hour, 0.75 * hour])
        #expect(try kept(times) { ($0.last, $0.hourly) = (2, 1) } == [0.25 * hour, -2 * hour, 0.75 * hour])
    }

    @Test func `H-CLOCK-18 after one snapshot dated ahead rules go by what the clock said, not by the labels that follow it`()
        throws
    {
        let ahead = 74 * Self.year
        let before = (-10 ... -6).map { day -> Moment in (Double(day), nil) }
        let after = (-5...0).map { day -> Moment in (ahead + 1e-8 * Double(day + 6), Double(day)) }
        let all: [Moment] = before + [(ahead, nil)] + after
        #expect(try kept(all) { $0.daily = 7 } == [-6, ahead, -5, -4, -3, -2, -1, 0])
        #expect(try kept(all) { $0.daily = 3 } == [-2, -1, 0])
        #expect(try kept(all) { $0.within = .seconds(3 * 86_400) } == [-3, -2, -1, 0])
        #expect(try kept(all) { $0.yearly = 3 } == [ahead, -1, 0])
    }

    @Test func `H-CLOCK-20 one snapshot by a clock that is ahead makes no other too old, also while it is the newest`() throws {
        let days = (-10...0).map { day -> Moment in (Double(day), nil) }
        let ahead = [0, 1.0 / 24].map { (day: 74 * Self.year + $0, clock: Double?.none) }
        #expect(try kept(days + [ahead[0]]) { $0.within = .seconds(30 * 86_400) }.count == 12)
        #expect(try kept(days + ahead) { $0.within = .seconds(30 * 86_400) }.count == 13)
        // It is one period, as any day is.
        #expect(try kept(days + ahead) { $0.daily = 7 } == [-5, -4, -3, -2, -1, 0, ahead[1].day])
        // Only one pause is left out: old snapshots go, however rarely new ones are taken.
        let rare = (-5...0).map { (day: Double($0) * 60, clock: Double?.none) }
        #expect(try kept(rare) { $0.within = .seconds(30 * 86_400) } == [-60, 0])
    }

    @Test func `H-CLOCK-01 the clock that is behind decides what is in the future`() async throws {
        let store = HookedStore(DirectoryStore(scratch.path("repository")))
        let repository = try await WritableRepository.openOrCreate(
            store, local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"))).repository
        var image = try TestImage(scratch.path("a.db"), blocks: 10)
        for block in 0..<3 {
            try image.change(block: block)
            try await repository.snapshot(image)
        }
        for (ahead, expected) in [(-864_000.0, true), (864_000, false), (0, false)] {
            store.setClock(ahead: ahead)
            let decisions = try await repository.decide(policy { $0.within = .seconds(864_000) })
            #expect(decisions.map(\.isDatedAhead) == [expected, expected, expected])
            #expect(decisions.allSatisfy { $0.keeps })
        }
    }

    @Test func `two writers of one database exclude each other`() async throws {
        let repository = try await repository()
        let image = try TestImage(scratch.path("a.db"), blocks: 10)
        var options = SnapshotOptions()
        options.database = "x"
        let inner = await StoreCalls.code {
            _ = try await repository.writable().storeSnapshot(of: image.path, options: options) { sink in
                // A second writer while the first one captures.
                let code = Waiting.result { await StoreCalls.code { try await repository.snapshot(image, database: "x") } }
                #expect(code == .busy)
                return try image.capture(sink)
            }
        }
        #expect(inner == nil)
        #expect(try await repository.snapshots().count == 1)
    }

    @Test func `packs of a writer that is at work are left alone`() async throws {
        let repository = try await repository()
        let image = try TestImage(scratch.path("a.db"), blocks: 10)
        try await repository.snapshot(image)
        // As if its manifest were not there yet.
        let name = try await repository.snapshots()[0].object
        let manifest = try await repository.store.get(name)
        try await repository.store.remove(name)
        try FileManager.default.removeItem(atPath: scratch.path("state"))
        let options = SnapshotOptions()
        _ = try? await repository.writable().storeSnapshot(of: image.path, options: options) { _ in
            let result = Waiting.result { (try? await repository.writable().prune(grace: .seconds(0)))?.removed }
            #expect(result == 0)
            throw VaultError(.busy, "enough")
        }
        try await repository.store.put(name, bytes: manifest, condition: .absent)
        #expect(try await repository.check().problems == [])
    }
}
