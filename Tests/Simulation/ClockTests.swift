import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import Testing

/// A clock that somebody sets while a database is followed: nothing that was stored gets lost by it, and no state is mixed.
@Suite struct ClockTests {
    /// Fifty years in milliseconds.
    private static let decades: Int64 = 1_577_836_800_000

    /// A follower with some commits that are stored.
    private func followed(isConditional: Bool = true) async throws -> SimulatedHost {
        let host = try await SimulatedHost(isConditional: isConditional)
        try await host.poll()
        try await commit(5, host)
        return host
    }

    private func commit(_ count: Int, _ host: SimulatedHost, sql: String? = nil) async throws {
        for _ in 0..<count {
            try host.commit(sql)
            try await host.poll()
        }
    }

    @Test func `H-CLOCK-02 a schedule that ran while the clock was ahead runs in time once it is set right`()
        async throws
    {
        let host = try await followed()
        host.clock.step(7_200_000)
        try await host.runSchedule()
        let count = try await host.repository.snapshots().count
        host.clock.step(-7_200_000)
        host.clock.pass(3_600_000)
        try host.commit()
        try await host.poll()
        try await host.runSchedule()
        #expect(try await host.repository.snapshots().count == count + 1)
        try await host.runSchedule()
        #expect(try await host.repository.snapshots().count == count + 1, "it is not due")
        try await host.expectRight()
    }

    @Test(arguments: [true, false])
    func `H-CLOCK-03 a clock set back by a second hides none of the commits that follow`(isConditional: Bool)
        async throws
    {
        let host = try await followed(isConditional: isConditional)
        host.clock.step(-1000)
        try await commit(20, host)
        try await host.expectRight()
        #expect(try await host.restored(.at(Date(milliseconds: host.clock.shown + 3_600_000))).state == host.latest)
        #expect(host.remarks > 0)
    }

    @Test func `H-CLOCK-04 a clock that was two hours ahead and is set right hides none of the commits that follow`()
        async throws
    {
        let host = try await followed()
        host.clock.step(7_200_000)
        try await commit(5, host)
        host.clock.step(-7_200_000)
        try await commit(5, host)
        try await host.expectRight()
        // Labels continue from where they were, until the clock is ahead of them.
        let labels = host.acknowledged.map(\.label)
        #expect(labels == labels.sorted() && Set(labels).count == labels.count)
        host.clock.pass(8_000_000)
        try await commit(2, host)
        #expect(host.acknowledged.last?.label == host.clock.shown - 20)
        try await host.expectRight()
    }

    @Test(arguments: ["PASSIVE", "RESTART", "TRUNCATE"])
    func `H-CLOCK-05 a log that is reset while no follower runs and the clock is set back leads to no mixed state`(
        mode: String
    ) async throws {
        let host = try await followed()
        host.clock.step(7_200_000)
        try await commit(5, host)
        try await host.stop()
        host.clock.step(-7_200_000)
        for _ in 0..<5 {
            try host.commit()
            try host.checkpoint(mode)
        }
        try await commit(5, host)
        try await host.expectRight()
        try await host.snapshot()
        try await commit(3, host)
        try await host.expectRight()
    }

    @Test func `H-CLOCK-06 deletes and a VACUUM while the clock is set back lead to no torn database`() async throws {
        let host = try await followed()
        try await commit(40, host)
        host.clock.step(7_200_000)
        try await commit(5, host)
        try await host.stop()
        host.clock.step(-7_200_000)
        try host.commit("DELETE FROM t WHERE rowid % 2 = 0")
        try host.vacuum()
        try host.checkpoint("TRUNCATE")
        try await commit(5, host)
        try host.commit("DELETE FROM t WHERE rowid % 3 = 0")
        try host.vacuum()
        try await commit(20, host)
        try await host.expectRight()
    }

    @Test func `H-CLOCK-07 steps in both directions around snapshots of other processes lose no commit`() async throws {
        let host = try await followed()
        for (index, step) in [-1000, 500, -86_400_000, 86_400_000, -3, -2, 7_200_000, -7_201_000].enumerated() {
            host.clock.step(Int64(step))
            if index % 2 == 0 { try await host.snapshot() }
            try await commit(2, host)
            if index % 3 == 0 { try host.checkpoint("RESTART") }
            try await commit(1, host)
            if index % 2 == 1 { try await host.snapshot(byFollower: true) }
            try await host.verify()
        }
        try await host.expectRight()
    }

    @Test func `H-CLOCK-08 a host that starts again with a clock behind continues without a gap`() async throws {
        let host = try await followed()
        for step in [-1000, -86_400_000] {
            await host.kill()
            host.clock.step(Int64(step))
            try await commit(3, host)
            try await host.expectRight()
        }
        #expect(try await host.repository.snapshots().count == 1)
    }

    @Test func `H-CLOCK-09 joining segments after the clock was set back changes no state`() async throws {
        let host = try await followed()
        for step in [-1000, 60_000, -3_600_000] {
            host.clock.step(Int64(step))
            for _ in 0..<6 {
                try await commit(2, host)
                host.clock.pass(7000)
            }
            try host.checkpoint("RESTART")
            try await host.compact()
            try await host.verify()
        }
        try await host.expectRight()
    }

    @Test func `H-CLOCK-10 retention keeps what continues a snapshot that was taken after the clock was set back`()
        async throws
    {
        let host = try await followed()
        host.clock.step(-7_200_000)
        try await commit(3, host)
        try await host.snapshot(byFollower: true)
        try await commit(3, host)
        try await host.forget(keeping: 1)
        try await host.expectRight()
        try await host.snapshot()
        host.clock.step(-1000)
        try await commit(3, host)
        try await host.forget(keeping: 1)
        try await host.expectRight()
    }

    @Test func `H-CLOCK-17 a host that starts with its clock in the past, and applies its rules then, removes no history`()
        async throws
    {
        let host = try await SimulatedHost()
        func next() async throws {
            host.clock.pass(86_400_000)
            try host.commit()
            try await host.snapshot()
        }
        for _ in 0..<11 { try await next() }
        var policy = RetentionPolicy()
        (policy.daily, policy.monthly) = (14, 12)
        host.clock.step(-Self.decades)
        for _ in 0..<2 {
            #expect(try await host.repository.writable().forget(policy).allSatisfy(\.keeps))
            try await next()
        }
        #expect(try await host.repository.snapshots().count == 13)
        host.clock.step(Self.decades)
        try await next()
        // Seven days, and beside them the two whose day is not known.
        policy = RetentionPolicy()
        policy.daily = 7
        _ = try await host.repository.writable().forget(policy)
        #expect(try await host.repository.snapshots().map(\.sequence) == [6, 7, 8, 9, 10, 11, 12, 13, 14])
        try await expectIntact(host)
    }

    @Test func `H-CLOCK-18 after one snapshot by a clock that was ahead later ones read what changed, and a restore by time reports them`()
        async throws
    {
        let host = try await SimulatedHost(isLarge: true)
        let first = try await host.snapshot()
        host.clock.step(Self.decades)
        try host.commit()
        let ahead = try await host.snapshot()
        host.clock.step(-Self.decades)
        for _ in 0..<2 {
            host.clock.pass(60_000)
            try host.commit()
            try await host.snapshot()
        }
        host.clock.pass(60_000)
        try host.commit()
        let shown = host.clock.shown
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        let last = try await host.repository.writable().snapshot(of: host.path, options: options)
        #expect(last.snapshot.time > ahead.time && last.snapshot.sequence == 5)
        #expect((shown...shown + 1000).contains(last.snapshot.taken.milliseconds))
        #expect(last.read * 4 < last.snapshot.size, "\(last.read)")

        var told: [RepositoryWarning] = []
        let plan = try await host.repository.planRestore(.at(Date(milliseconds: shown + 2000))) { told.append($0) }
        #expect(plan.snapshot.id == first.id)
        #expect(told.map(\.path) == [last.snapshot.object], "\(told)")
        told = []
        _ = try await host.repository.planRestore(.at(first.time)) { told.append($0) }
        #expect(told == [])
    }

    /// A host with packs that its newest snapshot does not need.
    private func forgotten(_ host: SimulatedHost) async throws {
        for _ in 0..<2 {
            try host.commit()
            host.clock.pass(60_000)
            try await host.snapshot()
        }
        var policy = RetentionPolicy()
        policy.last = 1
        _ = try await host.repository.writable().forget(policy)
    }

    /// The newest snapshot is restored, and nothing that it needs is gone.
    private func expectIntact(_ host: SimulatedHost, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await host.restored(.latest).state == host.latest, sourceLocation: sourceLocation)
        var options = CheckOptions()
        options.readsData = true
        #expect(try await host.repository.check(options).problems == [], sourceLocation: sourceLocation)
    }

    @Test func `H-CLOCK-19 packs that were listed while the clock was behind stay for the grace period once it is set right`()
        async throws
    {
        let host = try await SimulatedHost()
        try await forgotten(host)
        host.clock.step(-Self.decades)
        #expect(try await host.repository.writable().prune().pending > 0)
        host.clock.pass(3_600_000)
        #expect(try await host.repository.writable().prune().removed == 0)
        host.clock.step(Self.decades)
        // Listed by a right clock, too.
        try await forgotten(host)
        let pending = try await host.repository.writable().prune()
        #expect(pending.removed == 0)
        host.clock.pass(86_000_000)
        #expect(try await host.repository.writable().prune().removed == 0)
        host.clock.step(-Self.decades)
        #expect(try await host.repository.writable().prune().removed == 0)
        host.clock.step(Self.decades)
        #expect(try await host.repository.writable().prune().removed == 0)
        host.clock.pass(87_000_000)
        #expect(try await host.repository.writable().prune().removed == pending.pending)
        try await expectIntact(host)
    }

    @Test(arguments: [true, false])
    func `H-CLOCK-19 a clock that stays behind what it had shown keeps no pack for longer`(wasListed: Bool) async throws {
        let host = try await SimulatedHost()
        host.clock.step(Self.decades)
        try await forgotten(host)
        if wasListed { #expect(try await host.repository.writable().prune().pending > 0) }
        host.clock.step(-Self.decades)
        let pending = try await host.repository.writable().prune()
        #expect(pending.removed == 0 && pending.pending > 0)
        host.clock.pass(87_000_000)
        #expect(try await host.repository.writable().prune().removed == pending.pending)
        try await expectIntact(host)
    }

    @Test func `H-CLOCK-20 a clock that is set forward makes no commit old, and later commits do`() async throws {
        let host = try await followed()
        for _ in 0..<30 {
            try await commit(1, host)
            host.clock.pass(10_000)
        }
        #expect(try await host.repository.writable().compact().joined > 0)
        host.clock.step(Self.decades)
        #expect(try await host.repository.writable().compact().removed == 0)
        host.clock.step(-Self.decades)
        try await host.expectRight()
        host.clock.pass(86_500_000)
        #expect(try await host.repository.writable().compact().removed == 0, "there is no later commit")
        try await commit(1, host)
        #expect(try await host.repository.writable().compact().removed > 0)
    }

    /// The repository that an older version would have left.
    private func old(_ host: SimulatedHost) async throws -> Repository {
        let store = SimulatedStore(host.clock)
        store.replace(try OldHistory.made(of: host.store.objects))
        let local = LocalDirectories(
            state: host.directory + "/old-state", cache: host.directory + "/old-cache", spool: host.directory + "/old-spool")
        return try await Repository.open(store, local: local)
    }

    @Test(arguments: [-1000, -7_200_000])
    func `H-CLOCK-12 a history that an older version stored across a step is restored right, and check names it`(
        step: Int
    ) async throws {
        let host = try await followed()
        host.clock.step(Int64(-step))
        try await commit(5, host)
        try await host.stop()
        host.clock.step(Int64(step))
        for _ in 0..<3 {
            try host.commit()
            try host.checkpoint("TRUNCATE")
        }
        try await commit(5, host)
        #expect(try await host.repository.snapshots().count == 2)
        let repository = try await old(host)
        #expect(try await host.restored(.latest, from: repository).state == host.latest)
        let report = try await repository.check()
        #expect(report.problems == [])
        #expect(report.warnings.contains { $0.message.contains("the clock was set back") })
    }

    @Test func `H-CLOCK-12 where an older version stored too little across a step, a restore says so`() async throws {
        let host = try await followed()
        host.clock.step(7_200_000)
        try await commit(5, host)
        try await host.stop()
        host.clock.step(-7_200_000)
        try host.commit()
        try host.checkpoint("TRUNCATE")
        try host.commit()
        try await host.poll()
        // The log is reset behind the snapshot of the run, before the run has a segment.
        try host.checkpoint("PASSIVE")
        try await host.poll()
        try await commit(3, host)
        #expect(try await host.restored(.latest).state == host.latest)
        let repository = try await old(host)
        await #expect {
            try await host.restored(.latest, from: repository)
        } throws: { error in
            ((error as? VaultError)?.cause as? BrokenLogError)?.problem.contains("cannot be placed") == true
        }
        #expect(try await host.restored(.latestReachable, from: repository).state.number == host.latest.number - 3)
    }

    @Test func `a snapshot's label says nothing of segments that are stored while it is uploaded`() async throws {
        let host = try await followed()
        let before = host.latest
        nonisolated(unsafe) let follower = host
        host.store.onUpload {
            follower.clock.pass(500)
            try follower.commit()
            try follower.read()
            try await follower.storeAll()
        }
        try host.commit("INSERT INTO t SELECT a, randomblob(900) FROM t")
        let snapshot = try await host.snapshot(byFollower: true)
        let label = try #require(host.acknowledged.map(\.label).max())
        #expect(host.latest.number == before.number + 2)
        #expect(snapshot.time.milliseconds < label)
        let found = try await host.restored(.id(snapshot.id))
        #expect(found.state.number == before.number + 1 && found.reached == snapshot.time.milliseconds)
        try await host.expectRight()
    }

    @Test func `a restore reports the label of a segment that its snapshot has already`() async throws {
        let host = try await followed()
        try host.commit()
        try host.read()
        host.clock.step(-1000)
        // Another process: the segment is read, and not stored yet.
        let snapshot = try await host.snapshot()
        try await host.storeAll()
        let label = try #require(host.acknowledged.map(\.label).max())
        #expect(snapshot.time.milliseconds < label)
        let found = try await host.restored(.at(Date(milliseconds: label)))
        #expect(found.state == host.latest && found.reached == label)
        try await host.expectRight()
    }

    @Test func `a run that began with a snapshot of the run before is continued after another restart`() async throws {
        let host = try await followed()
        try await host.snapshot(byFollower: true)
        await host.kill()
        for _ in 0..<3 {
            try await commit(2, host)
            await host.kill()
        }
        try await commit(2, host)
        try await host.expectRight()
        #expect(try await host.repository.snapshots().count == 2)
    }

    @Test func `a run that begins with the only snapshot, without a segment before, is continued after restarts`()
        async throws
    {
        let host = try await SimulatedHost()
        try await host.poll()
        await host.kill()
        for _ in 0..<3 {
            try await commit(2, host)
            await host.kill()
        }
        try await commit(2, host)
        try await host.expectRight()
        #expect(try await host.repository.snapshots().count == 1)
    }
}

extension SimulatedHost {
    /// Everything that was stored can be restored, the newest state is the database's, nothing is damaged, and what a listing promises is what a
    /// restore reaches.
    func expectRight(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        do { try await verify() } catch let wrong as Wrong {
            Issue.record("\(wrong): \(events.suffix(40))", sourceLocation: sourceLocation)
        }
        let newest = try await restored(.latest)
        #expect(newest.state == latest, sourceLocation: sourceLocation)
        var options = CheckOptions()
        options.readsData = true
        let report = try await repository.check(options)
        #expect(report.problems == [] && report.warnings == [], sourceLocation: sourceLocation)
        let snapshots = try await Array(repository.snapshots())
        let logs = try await repository.followed(snapshots)
        #expect(logs.warnings == [], sourceLocation: sourceLocation)
        if let last = snapshots.last {
            #expect((logs.until[last.id] ?? last.time).milliseconds == newest.reached, sourceLocation: sourceLocation)
        }
    }
}
