import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// Three writer processes of an engine that is not ours, with checkpoints of every kind, while snapshots are taken and the
/// log is followed, without the key.
@Suite(.serialized, .limited) struct SoakTests {
    static let seed =
        UInt64(ProcessInfo.processInfo.environment["LITEVAULT_SOAK_SEED"] ?? "") ?? UInt64.random(in: 0...999_999)

    @Test(.enabled(if: Writers.python != nil, "run ci/setup judges"))
    func `every snapshot and every point in time of a busy database with a log holds the invariant`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try Writers.prepare(db)
        let following = try Following(live)
        let base = try capture(live.path)
        let writers = try Writers(live, mode: "wal", seed: Self.seed)
        var snapshots = 0
        var modes: Set<Int> = []
        // At least 50, and until enough was written on a slow machine too.
        while try snapshots < 50 || writers.committed().values.reduce(0, +) < 200 && snapshots < 2000 {
            let before = try writers.committed()
            let (image, _) = try capture(live.path) { if case .marked(let slot) = $0 { modes.insert(slot) } }
            let restored = try live.restore(image)
            try Writers.check(restored, atLeast: before, "snapshot \(snapshots), seed \(Self.seed)")
            try restored.close()
            snapshots += 1
        }
        try writers.stop()
        let folder = try following.stop()
        #expect(folder.begun.count == 1, "gaps: \(folder.begun.compactMap(\.gap)), seed \(Self.seed)")
        try #require(!folder.stored.isEmpty)
        let log = try writers.log()
        try #require(log.count >= 200)
        print(
            "soak: seed \(Self.seed), \(snapshots) snapshots (marks \(modes.sorted())), \(log.count) commits,",
            "\(folder.stored.count) segments of \(Set(folder.stored.map(\.segment.salts)).count) logs,",
            "largest log \(folder.stored.map(\.segment.lastFrame).max() ?? 0) frames")

        // All of it: the same bytes as the database has now.
        #expect(try folder.apply(base.image) == capture(live.path).image, "seed \(Self.seed)")
        // Some points in time, and some commits.
        var random = SeededNumbers(state: Self.seed)
        for index in (0..<8).map({ _ in Int.random(in: 0..<folder.stored.count, using: &random) }) {
            let segment = folder.stored[index].segment
            let restored = try live.restore(folder.apply(base.image, count: index + 1))
            let done = log.filter { $0.end < segment.seen }
            // Begun before the next poll, at the latest: a commit that began later cannot be in it.
            let next = index + 1 < folder.stored.count ? folder.stored[index + 1].segment.after : .max
            let begun = log.filter { $0.begin <= max(next, segment.seen + 1000) }
            try Writers.check(restored, atLeast: Writers.counts(done), "time \(segment.seen), seed \(Self.seed)")
            #expect(try restored.number("SELECT sum(n) FROM counter") <= Int64(begun.count))
            try restored.close()

            let commits = try SegmentFile(folder.stored[index].path).commits()
            let place = Int.random(in: 0..<commits.count, using: &random)
            let earlier = try folder.stored[..<index].reduce(0) { try $0 + SegmentFile($1.path).commits().count }
            let exact = try live.restore(folder.apply(base.image, count: index + 1, through: commits[place]))
            try Writers.check(exact, atLeast: [:], "commit \(commits[place]), seed \(Self.seed)")
            // One commit adds one to one counter.
            #expect(try exact.number("SELECT sum(n) FROM counter") == Int64(earlier + place + 1))
            try exact.close()
        }
        try db.close()
    }

    @Test(.enabled(if: Writers.python != nil, "run ci/setup judges"))
    func `every snapshot of a busy database with rollback journals holds the invariant, and writers wait for one copy`()
        throws
    {
        let live = try LiveDatabase()
        let db = try live.open(.delete)
        try Writers.prepare(db)
        try db.close()
        let writers = try Writers(live, mode: "delete", seed: Self.seed)
        var holds: [ClosedRange<UInt64>] = []
        var number = 0
        while try number < 30 || writers.committed().values.reduce(0, +) < 50 && number < 2000 {
            number += 1
            let before = try writers.committed()
            // Some take as long as those of a large database, so that waiting for them can be distinguished from everything else.
            let isSlow = number % 8 == 4
            let (image, report) = try capture(live.path) { if $0 == .beforeUnlock, isSlow { usleep(1_000_000) } }
            holds.append(UInt64(report.began.timeIntervalSince1970 * 1000)...UInt64(report.ended.timeIntervalSince1970 * 1000))
            let restored = try live.restore(image)
            try Writers.check(restored, atLeast: before, "snapshot \(number), seed \(Self.seed)")
            try restored.close()
        }
        // A writer that was refused a lock would have ended with an error.
        try writers.stop()
        let log = try writers.log()
        #expect(log.count >= 50)
        try judge(log, holds)
    }

    /// A commit waits for one copy at most: the lock that it waits with keeps the next copy out. What else a commit takes is
    /// taken from those that met none.
    private func judge(_ log: [Writers.Commit], _ holds: [ClosedRange<UInt64>]) throws {
        func length(_ hold: ClosedRange<UInt64>) -> UInt64 { hold.upperBound - hold.lowerBound }
        let waits = log.map { commit in
            let met = holds.indices.filter { holds[$0].overlaps(commit.committing...commit.end) }
            return (commit.end - commit.committing, met.max { length(holds[$0]) < length(holds[$1]) })
        }
        let longest = try #require(holds.map(length).max())
        let quiet = waits.filter { $0.1 == nil }.map(\.0).max() ?? 0
        let slack = max(longest * 4 / 5, 2 * quiet)
        // A busy machine may stop a writer now and then, with all that wait for it. Writers that wait for more than one copy do so
        // beside most of the slow ones, which are an eighth.
        let late = waits.filter { wait, copy in wait > (copy.map { length(holds[$0]) } ?? 0) + slack }
        let met = Set(waits.compactMap(\.1))
        #expect(
            Set(late.map(\.1)).count <= max(2, met.count / 20),
            "\(late.map { ($0, $1.map { length(holds[$0]) } ?? 0) }) ms of commits, beside copies of ms, seed \(Self.seed)")
        let longestWait = waits.compactMap { $0.1 == nil ? nil : $0.0 }.max() ?? 0
        // Else nothing was measured.
        #expect(longestWait > longest / 3, "seed \(Self.seed)")
        print(
            "soak: rollback journals, seed \(Self.seed), \(log.count) commits, longest copy \(longest) ms,",
            "longest wait beside a copy \(longestWait) ms, without one \(quiet) ms")
    }
}

/// A follower in a thread of its own.
private final class Following: @unchecked Sendable {  // the thread owns the fields until it has ended
    private var folder: SegmentFolder
    private var failure: (any Error)?
    private let stopping = NSLock()
    private var stops = false
    private let ended = DispatchSemaphore(value: 0)
    private let follower: Follower

    init(_ live: LiveDatabase) throws {
        follower = Follower(live.path, limits: .init(interval: 0.02))
        folder = SegmentFolder(live.directory)
        guard case .attached = try follower.poll(into: &folder) else { throw VaultError(.internalFailure, "not attached") }
        Thread.detachNewThread { [self] in
            do {
                while stopping.withLock({ !stops }) {
                    _ = try follower.poll(into: &folder)
                    Thread.sleep(forTimeInterval: follower.pause)
                }
                _ = try follower.poll(into: &folder)
            } catch {
                failure = error
            }
            ended.signal()
        }
    }

    func stop() throws -> SegmentFolder {
        stopping.withLock { stops = true }
        ended.wait()
        if let failure { throw failure }
        return folder
    }
}

/// The same numbers for the same seed (SplitMix64).
private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
