import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// Where an image ends among the segments of a followed log, where salts do not tell.
@Suite struct OrderTests {
    @Test(arguments: [true, false], [true, false])
    func `H-ORDER-01 a snapshot after a reset is continued by a log with random salts`(byFollower: Bool, isStored: Bool)
        async throws
    {
        let host = try await SimulatedHost.followed()
        try host.checkpoint("TRUNCATE")
        // The first half of the salts is random from here on, so that the next log is not the next number.
        try host.commit(isFresh: true)
        try host.read()
        if isStored { try await host.storeAll() }
        try host.checkpoint("TRUNCATE")
        try await host.snapshot(byFollower: byFollower)
        try host.commit(isFresh: true)
        try await host.poll()
        try await host.expectRight()
        for _ in 0..<2 {
            try host.checkpoint("TRUNCATE")
            try host.commit(isFresh: true)
            try await host.poll()
        }
        try await host.expectRight()
    }

    @Test(arguments: [true, false], ["TRUNCATE", "FULL"])
    func `H-ORDER-02 a snapshot is continued by a joined segment that it ends in`(byFollower: Bool, mode: String)
        async throws
    {
        let host = try await SimulatedHost.followed()
        // At the beginning of a window.
        host.clock.pass(60_000 - host.clock.shown % 60_000)
        for round in 0..<6 {
            try host.commit(isFresh: true)
            try await host.poll()
            try host.checkpoint(round == 2 ? mode : "TRUNCATE")
            if round == 2 { try await host.snapshot(byFollower: byFollower) }
        }
        host.clock.pass(3_600_000 * 24 * 3)
        try host.commit()
        try await host.poll()
        #expect(try await host.repository.writable().compact().joined > 0)
        // What is left of the logs is in joined segments once these have existed for a while.
        host.clock.pass(3_600_000 * 2)
        #expect(try await host.repository.writable().compact().removed > 0)
        let newest = try await host.restored(.latest).state
        #expect(newest == host.latest)
        let report = try await host.repository.check(CheckOptions())
        #expect(report.problems == [] && report.warnings == [])
    }

    @Test(arguments: [true, false])
    func `H-ORDER-03 what a killed follower had not stored is not taken for what its successor stores`(byFollower: Bool)
        async throws
    {
        let host = try await SimulatedHost.followed()
        try host.commit()
        try host.read()
        try await host.snapshot(byFollower: byFollower, isStored: false)
        await host.kill()
        try host.commit()
        try await host.poll()
        try await host.poll()
        #expect(try await host.repository.snapshots().count == 2)
        try await host.expectRight()
    }

    @Test func `H-ORDER-04 the first segment continues both snapshots of a log that was never written to`() async throws
    {
        let host = try await SimulatedHost()
        try host.reopen()
        try await host.poll()
        host.clock.pass(1000)
        try await host.snapshot()
        try host.commit()
        try await host.poll()
        try await host.expectRight()
    }

    @Test func `H-ORDER-05 labels follow those of snapshots by other processes`() async throws {
        let host = try await SimulatedHost.followed()
        host.clock.step(3_600_000)
        let snapshot = try await host.snapshot()
        host.clock.step(-7_200_000)
        try host.commit()
        try await host.poll()
        let label = try #require(host.acknowledged.map(\.label).max())
        #expect(label > snapshot.time.milliseconds)
        try await host.forget(keeping: 1)
        try await host.expectRight()
    }

    @Test(arguments: [true, false])
    func `H-ORDER-09 a snapshot by a host that knows nothing of the segments before it`(byFollower: Bool) async throws {
        let host = try await SimulatedHost.followed()
        await host.kill()
        // The last connection removes the log, so that the next one has other salts.
        try await host.loseState()
        if byFollower { try await host.poll() }
        try await host.snapshot()
        try host.commit()
        try await host.snapshot()
        try await host.expectRight()
        #expect(try await host.restored(.latest).state == host.latest)
    }

    @Test func `H-ORDER-09 segments that continue the log of a snapshot by another process`() async throws {
        let host = try await SimulatedHost()
        try await host.snapshot()
        try host.commit()
        // No snapshot shows that the database is followed.
        try await host.poll()
        try await host.poll()
        #expect(try await host.repository.snapshots().count == 1)
        await host.kill()
        try await host.loseState()
        try host.commit()
        try await host.snapshot()
        try await host.expectRight()
        #expect(try await host.restored(.latest).state == host.latest)
    }

    @Test func `H-ORDER-14 a missing segment that only the lease notes precedes a snapshot on another machine`() async throws {
        let host = try await SimulatedHost.followed()
        await host.kill()
        try await host.loseState()
        var objects = host.store.objects
        let segment = try #require(objects.keys.filter { $0.hasPrefix("segments/") }.max())
        objects[segment] = nil
        host.store.replace(objects)
        try await host.snapshot()
        #expect(try await host.restored(.latest).state == host.latest)
    }

    /// By the salts alone, any log that was never written to is the same.
    @Test func `H-ORDER-12 a run that began with the snapshot before continues another one of the same state`() async throws {
        let host = try await SimulatedHost()
        try host.reopen()
        try await host.snapshot()
        try await host.start()
        try host.read()
        try await host.snapshot()
        try await host.snapshot()
        try host.commit()
        try await host.poll()
        #expect(try await host.restored(.latest).state == host.latest)
        // The next follower continues that run, and begins none with the newest snapshot.
        await host.kill()
        try host.commit()
        try await host.poll()
        try await host.poll()
        try await host.expectRight()
        #expect(try await host.restored(.latest).state == host.latest)
    }

    @Test(arguments: [true, false])
    func `H-ORDER-13 a standby that has what a power loss took gets what was committed instead`(
        byFollower: Bool
    ) async throws {
        let host = try await SimulatedHost.followed()
        try await host.updateStandby()
        // Several frames: what is committed afterwards has as many, or fewer.
        try host.commit("INSERT INTO t SELECT a, zeroblob(9000) FROM t")
        try await host.poll()
        try await host.updateStandby()
        try await host.losePower { _ in 0 }
        if byFollower { try await host.poll() } else { try await host.snapshot() }
        try await host.updateStandby()
        #expect(host.elsewhere.standbyNumber == host.latest.number)
    }

    @Test func `H-ORDER-10 what is read during an upload is labelled behind a snapshot that was stored without an answer`() async throws {
        let host = try await SimulatedHost()
        try await host.snapshot()
        host.clock.step(-7_200_000)
        try await host.poll()
        host.store.fail(.lostAnswer)
        await #expect(throws: VaultError.self) { try await host.snapshot(byFollower: true) }
        // In another log, so that the follower has read nothing of it when the image is read.
        try host.checkpoint("FULL")
        try host.commit(isFresh: true)
        host.commitDuringUpload()
        try await host.snapshot(byFollower: true)
        try await host.expectRight()
    }

    @Test(arguments: [true, false])
    func `H-ORDER-16 what is read while a snapshot is uploaded is not in it, also if the run has a gap before the end`(
        isTruncated: Bool
    ) async throws {
        let host = isTruncated ? try await SimulatedHost.followed() : try await SimulatedHost()
        if isTruncated {
            try host.checkpoint("TRUNCATE")
        } else {
            // The salts of a log that was never written to say nothing.
            try host.reopen()
            try await host.start()
        }
        try host.read()
        host.commitDuringUpload(isFresh: isTruncated, endsRun: true)
        try await host.snapshot(byFollower: true)
        #expect(try await host.restored(.latest).state == host.latest)
        try await host.verify()
    }

    @Test func `H-ORDER-17 a run that a snapshot has all of is not continued by the next follower`() async throws {
        let host = try await SimulatedHost.followed()
        try host.commit()
        try host.read()
        host.loseLog()
        // What was read is not stored before the snapshot is, and then is.
        try await host.snapshot(byFollower: true, isStored: false)
        try await host.storeAll()
        #expect(try await host.restored(.latest).state == host.latest)
        await host.kill()
        try host.commit()
        try await host.poll()
        try host.commit()
        try await host.poll()
        #expect(try await host.restored(.latest).state == host.latest)
        try await host.verify()
    }

    @Test(arguments: [true, false])
    func `a snapshot beside which the follower finds another file is newer than what had been read of the former one`(
        isStored: Bool
    ) async throws {
        let host = try await SimulatedHost.followed()
        try host.commit()
        try host.read()
        try host.replace()
        try host.commit()
        try await host.snapshot(byFollower: true, isStored: isStored)
        try await host.storeAll()
        #expect(try await host.restored(.latest).state == host.latest)
        try await host.verify()
    }
}
