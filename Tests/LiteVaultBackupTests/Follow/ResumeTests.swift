import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// A follower that ended, and another one that continues, or must not.
@Suite(.limited) struct ResumeTests {
    /// A database whose log a follower had read and then released.
    private final class Left {
        let live: LiveDatabase
        var db: Connection
        var folder: SegmentFolder
        let image: [UInt8]
        private let run: [UInt8]
        private var noted: FollowerStart?

        init() throws {
            live = try LiveDatabase()
            db = try live.open(.wal)
            try db.execute("PRAGMA wal_autocheckpoint = 0")
            try live.fill(db, rows: 20)
            folder = SegmentFolder(live.directory)
            let follower = Follower(live.path)
            guard case .attached(let run) = try follower.poll(into: &folder) else {
                throw VaultError(.internalFailure, "not attached")
            }
            self.run = run
            image = try capture(live.path).image
            for value in 2...4 {
                try set(value)
                _ = try follower.poll(into: &folder)
            }
        }

        func set(_ value: Int) throws { try db.execute("UPDATE t SET v = \(value)") }

        func checkpoint(_ mode: String) throws { _ = try db.number("PRAGMA wal_checkpoint(\(mode))") }

        /// Where the segments end.
        func start() throws -> FollowerStart {
            let last = try #require(folder.stored.last)
            let segment = last.segment
            return FollowerStart(
                run: run, sequence: segment.sequence + 1, began: Date(timeIntervalSince1970: 0), seen: segment.seen,
                mark: LogMark(
                    position: .init(salts: segment.salts, frame: segment.lastFrame), end: try #require(last.end)))
        }

        /// What another follower does first, and all that it then reads.
        func goOn(from start: FollowerStart? = nil) throws -> (outcome: FollowerOutcome, reason: String?) {
            let follower = Follower(live.path, from: try start ?? self.start())
            let outcome = try follower.poll(into: &folder)
            _ = try follower.poll(into: &folder)
            return (outcome, follower.discontinuity)
        }

        /// Whether a follower continues, and what it has then stored leads to the database as it is.
        func expectGoesOn(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let (outcome, reason) = try goOn()
            #expect(outcome == .resumed(run: run), "\(reason ?? "")", sourceLocation: sourceLocation)
            #expect(folder.begun.count == 1, sourceLocation: sourceLocation)
            #expect(try folder.apply(image) == capture(live.path).image, sourceLocation: sourceLocation)
        }

        func expectEnds(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            // The same place if it is asked twice: a new run forgets the earlier segments.
            let start = try noted ?? self.start()
            noted = start
            let (outcome, reason) = try goOn(from: start)
            guard case .attached = outcome else {
                Issue.record("\(outcome)", sourceLocation: sourceLocation)
                return
            }
            #expect(reason?.contains(text) == true, "\(reason ?? "")", sourceLocation: sourceLocation)
            #expect(folder.begun.last?.gap == reason, sourceLocation: sourceLocation)
        }
    }

    @Test func `a follower continues after each of 100 restarts, and no commit is missed`() throws {
        let left = try Left()
        for turn in 1...100 {
            if turn % 3 != 0 { try left.set(turn * 7) }
            if turn % 10 == 0 { try left.checkpoint("PASSIVE") }
            try left.expectGoesOn()
        }
        #expect(left.folder.resumed == 100)
    }

    @Test func `a checkpoint without a reset is no gap`() throws {
        let left = try Left()
        try left.set(10)
        try left.checkpoint("PASSIVE")
        try left.expectGoesOn()
    }

    @Test func `a log that was reset after all of it had been read continues`() throws {
        let left = try Left()
        try left.checkpoint("PASSIVE")
        try left.set(10)
        #expect(left.folder.stored.count == 3)
        try left.expectGoesOn()
        #expect(Set(left.folder.stored.map(\.segment.salts)).count == 2)
    }

    @Test func `a log that was reset after a commit that nobody had read is a gap`() throws {
        let left = try Left()
        try left.set(10)
        try left.checkpoint("PASSIVE")
        try left.set(11)
        try left.expectEnds("not all of it had been read")
    }

    @Test func `a log that was reset and has outgrown what was read is a gap`() throws {
        let left = try Left()
        try left.checkpoint("PASSIVE")
        for value in 10...30 { try left.set(value) }
        try left.expectEnds("not all of it had been read")
    }

    @Test func `a log that was reset twice is a gap`() throws {
        let left = try Left()
        for value in 10...11 {
            try left.checkpoint("PASSIVE")
            try left.set(value)
        }
        try left.expectEnds("more than once")
    }

    @Test func `a log that a checkpoint truncated is a gap`() throws {
        let left = try Left()
        try left.set(10)
        try left.checkpoint("TRUNCATE")
        try left.expectEnds("not all of it had been read")
        let other = try Left()
        try other.checkpoint("TRUNCATE")
        try other.set(10)
        try other.expectEnds("not all of it had been read")
    }

    @Test func `a log that was removed with its last connection is a gap`() throws {
        let left = try Left()
        try left.set(10)
        try left.db.close()
        #expect(!left.live.exists("-wal"))
        left.db = try left.live.open(.wal)
        try left.set(11)
        try left.expectEnds("removed")
    }

    @Test func `a database that another file took the place of is a gap`() throws {
        let left = try Left()
        let other = try left.live.crash(["", "-wal"])
        try left.db.close()
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: left.live.path + suffix)
            try FileManager.default.moveItem(atPath: other.path + suffix, toPath: left.live.path + suffix)
        }
        left.db = try left.live.open()
        try left.set(11)
        try left.expectEnds("the database was replaced")
    }

    /// Puts bytes into a file in place: its inode stays.
    private func overwrite(_ path: String, _ bytes: [UInt8]) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    @Test func `an older database that was copied under its log is a gap`() throws {
        let left = try Left()
        let (older, log) = (try left.live.bytes(), try left.live.bytes("-wal"))
        try left.db.close()
        try overwrite(left.live.path, older)
        try Data(log).write(to: URL(fileURLWithPath: left.live.path + "-wal"))
        left.db = try left.live.open()
        try left.set(11)
        try left.expectEnds("changed otherwise")
        // A checkpoint by the new index does not hide it.
        try left.checkpoint("PASSIVE")
        try left.expectEnds("changed otherwise")
    }

    @Test func `a log that was put back to an earlier state is a gap, whatever follows`() throws {
        for commits in [0, 1, 5] {
            let left = try Left()
            let (older, log) = (try left.live.bytes(), try left.live.bytes("-wal"))
            try left.set(10)
            let follower = Follower(left.live.path, from: try left.start())
            _ = try follower.poll(into: &left.folder)
            _ = try follower.poll(into: &left.folder)
            follower.stop()
            try left.db.close()
            try overwrite(left.live.path, older)
            try Data(log).write(to: URL(fileURLWithPath: left.live.path + "-wal"))
            left.db = try left.live.open()
            #expect(try left.db.number("SELECT max(v) FROM t") == 4)
            for value in 0..<commits { try left.set(20 + value) }
            try left.expectEnds(commits == 0 ? "truncated" : "other frames")
        }
    }

    @Test func `H-CLOCK-08 a system clock that went back is no gap, and labels follow the last one`() throws {
        let left = try Left()
        let start = try left.start()
        let late = FollowerStart(
            run: start.run, sequence: start.sequence, began: start.began, seen: start.seen + 3_600_000,
            mark: start.mark)
        try left.set(10)
        let (outcome, reason) = try left.goOn(from: late)
        #expect(outcome == .resumed(run: start.run) && reason == nil)
        #expect(left.folder.stored.last?.segment.seen == late.seen + 1)
    }

    @Test func `a follower continues from the snapshot if nothing was committed since`() throws {
        let left = try Left()
        let report = try capture(left.live.path).report
        let position = try #require(report.position)
        let start = FollowerStart(
            run: left.folder.stored[0].segment.run, sequence: 0, began: report.began,
            seen: left.folder.stored[2].segment.seen,
            mark: LogMark(position: position, end: try #require(report.end)))
        try left.set(12)
        #expect(try left.goOn(from: start).reason == nil)
        #expect(left.folder.stored.last?.segment.firstFrame == position.frame + 1)
    }
}
