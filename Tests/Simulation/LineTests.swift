import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// Where a line of history begins and ends, when a standby is promoted and the former primary has not learned of it.
@Suite struct LineTests {
    @Test(arguments: [true, false])
    func `H-ORDER-06 a standby applies nothing that a former primary stores after a promotion`(isNew: Bool) async throws
    {
        let host = try await SimulatedHost.followed()
        if !isNew { try await host.updateStandby() }
        let stored = host.store.objects.count
        try await host.promote(clock: 0, isFormerWriting: true, endsStandby: isNew)
        #expect(host.store.objects.count >= stored + 2, "the fence, and what the former primary stored")
        try await host.updateStandby()
        try await host.snapshot()
        try await host.updateStandby()
        #expect(host.elsewhere.standbyNumber == host.latest.number)
    }

    @Test(arguments: [-7_200_000, -1, 7_200_000])
    func `H-ORDER-07 the first snapshot of a promoted database is not dated before its state`(clock: Int64) async throws
    {
        let host = try await SimulatedHost.followed()
        let state = try #require(host.acknowledged.map(\.label).max())
        try await host.promote(clock: clock, isFormerWriting: false)
        let snapshot = try await host.snapshot()
        #expect(snapshot.time.milliseconds > state)
        try host.commit()
        try await host.poll()
        try await host.expectRight()
    }

    @Test func `H-ORDER-08 points in time on both sides of a promotion are restored`() async throws {
        let host = try await SimulatedHost.followed()
        // A log that was reset and is longer than its beginning: its first segment is not one that a snapshot ends in.
        try host.checkpoint("TRUNCATE")
        for _ in 0..<3 {
            try host.commit(isFresh: true)
            try await host.poll()
        }
        try await host.promote(clock: 1000, isFormerWriting: true)
        try await host.snapshot()
        for _ in 0..<2 {
            try host.commit()
            try await host.poll()
        }
        try await host.expectRight()
        let report = try await host.repository.check(CheckOptions())
        #expect(report.problems == [])
    }

    @Test func `H-ORDER-15 what a former primary stores is not in a line that ended with a snapshot`() async throws {
        let host = try await SimulatedHost()
        try await host.poll()
        // The former primary does not know of this label, and gives it to what it reads at the same moment.
        try await host.snapshotByAnotherUser()
        try await host.promote(clock: 0, isFormerWriting: true)
        #expect(host.store.objects.keys.contains { $0.hasPrefix("segments/") })
        try await host.poll()
        try await host.expectRight()
    }

    @Test func `a promotion that is refused leaves the leases to the primary`() async throws {
        let host = try await SimulatedHost.followed()
        try await host.promote(clock: 0, isFormerWriting: false)
        try await host.start()
        try await host.promote(clock: 0, isFormerWriting: false)
        #expect(host.events.contains { $0.hasSuffix("no promotion before the first snapshot") })
        for _ in 0..<2 {
            try host.commit()
            try await host.poll()
        }
        #expect(!host.events.contains { $0.hasSuffix("the lease was taken over") })
        try await host.expectRight()
    }

    @Test func `H-ORDER-11 a former primary does not report what it stores after a promotion as stored`() async throws {
        let host = try await SimulatedHost.followed()
        try await host.promote(clock: 0, isFormerWriting: true)
        #expect(host.store.objects.keys.count { $0.hasPrefix("segments/") } == 2)
        try host.commit()
        try await host.poll()
        try await host.expectRight()
    }

    @Test func `H-ORDER-18 a copy that is stopped has nothing that a former primary stored after a promotion`()
        async throws
    {
        let host = try await SimulatedHost.followed()
        try await host.copy { _ in 0 }
        let copy = try #require(host.elsewhere.store)
        let before = copy.objects.count
        try await host.promote(clock: 0, isFormerWriting: true)
        // The first request is carried out, and the copy stops.
        copy.fail(.lostAnswer)
        for _ in 0..<10 { copy.fail(.full) }
        await #expect(throws: VaultError.self) { _ = try await host.repository.writable().copy(to: copy) }
        copy.recover()
        #expect(copy.objects.keys.count { $0.hasPrefix("segments/") || $0.hasPrefix("snapshots/") } == 3)
        #expect(copy.objects.count > before)
        // On a machine that remembers nothing: what it restores was committed on a line.
        let other = try await host.repository(of: copy, in: host.directory + "/other")
        _ = try await host.restored(.latest, from: other)
        try await host.copy { _ in 0 }
        #expect(copy.objects.keys.count { $0.hasPrefix("segments/") } == 2)
    }
}
