import LiteVaultBackup
import Testing

/// How far what a follower has stored reaches.
@Suite struct ProgressTests {
    @Test func `nothing is known before a poll whose snapshot is stored`() {
        var progress = FollowingProgress()
        #expect(progress.lag(at: 5) == nil)
        progress.didPoll(began: 1, read: 0, stored: 0, isBased: false)
        #expect(progress.lag(at: 5) == nil)
        progress.didPoll(began: 2, read: 0, stored: 0, isBased: true)
        #expect(progress.lag(at: 5) == 3)
        #expect(progress.lag(at: 1) == 0)
    }

    @Test func `a poll counts when all that was read by its end is stored`() {
        var progress = FollowingProgress()
        progress.didPoll(began: 1, read: 2, stored: 0, isBased: true)
        #expect(progress.complete == nil && progress.waiting == 2)
        progress.didPoll(began: 2, read: 3, stored: 0, isBased: true)
        progress.didStore(read: 3, stored: 1)
        #expect(progress.complete == nil)
        progress.didStore(read: 3, stored: 2)
        #expect(progress.complete == 1)
        // Read meanwhile, by a poll that has not ended: the last one that has is complete without it.
        progress.didStore(read: 4, stored: 3)
        #expect(progress.complete == 2 && progress.waiting == 1)
    }

    @Test func `a database that is always written to has a lag of what waits, not of all since the last pause`() {
        var progress = FollowingProgress()
        for poll in 1...1000 {
            progress.didPoll(began: Double(poll), read: poll, stored: poll - 1, isBased: true)
            progress.didStore(read: poll, stored: poll)
            #expect(progress.complete == Double(poll))
        }
        for poll in 1001...2000 { progress.didPoll(began: Double(poll), read: poll, stored: 1000, isBased: true) }
        #expect(progress.lag(at: 2000) == 1000)
        progress.didStore(read: 2000, stored: 1500)
        // Only the oldest and the newest are remembered: what lies between is not claimed.
        #expect(progress.complete == 1001)
        progress.didStore(read: 2000, stored: 2000)
        #expect(progress.complete == 2000)
    }

    @Test func `after a gap, polls do not count before the new run has its snapshot`() {
        var progress = FollowingProgress()
        progress.didPoll(began: 1, read: 0, stored: 0, isBased: true)
        progress.didPoll(began: 2, read: 1, stored: 0, isBased: true)
        progress.didPoll(began: 3, read: 2, stored: 0, isBased: false)
        progress.didStore(read: 2, stored: 2)
        #expect(progress.complete == 1)
        progress.begin()
        #expect(progress.complete == 1 && progress.waiting == 0)
    }
}
