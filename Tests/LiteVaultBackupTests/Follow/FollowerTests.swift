import Foundation
import LiteVault
import LiteVaultBackup
import Testing

@Suite(.limited) struct FollowerTests {
    /// A database with a log that is followed, and the snapshot that was taken when that began.
    private struct Followed {
        let live: LiveDatabase
        let db: Connection
        let follower: Follower
        var folder: SegmentFolder
        let image: [UInt8]

        init(limits: FollowerLimits = .init(), pageSize: Int? = nil) throws {
            live = try LiveDatabase(pageSize: pageSize)
            db = try live.open(.wal)
            try live.fill(db, rows: 20)
            follower = Follower(live.path, limits: limits)
            folder = SegmentFolder(live.directory)
            guard case .attached = try follower.poll(into: &folder) else {
                throw VaultError(.internalFailure, "not attached")
            }
            image = try capture(live.path).image
        }

        mutating func poll() throws -> FollowerOutcome { try follower.poll(into: &folder) }
    }

    @Test func `every commit that was seen can be restored`() throws {
        var followed = try Followed()
        for value in 1...5 {
            try followed.db.execute("UPDATE t SET v = \(value * 10)")
            if value % 2 == 0 { _ = try followed.poll() }
        }
        guard case .read(let frames) = try followed.poll() else { return #expect(Bool(false)) }
        #expect(frames > 0)
        #expect(try followed.poll() == .read(frames: 0))
        #expect(followed.folder.stored.count == 3)

        var sums: [Int64] = []
        for (index, stored) in followed.folder.stored.enumerated() {
            for commit in try SegmentFile(stored.path).commits() {
                let image = try followed.folder.apply(followed.image, count: index + 1, through: commit)
                sums.append(try followed.live.restore(image).number("SELECT sum(v) FROM t"))
            }
        }
        #expect(sums == [200, 400, 600, 800, 1000])
        #expect(try followed.folder.apply(followed.image) == capture(followed.live.path).image)
    }

    @Test func `nothing follows a part of a segment, even where the log started over after it`() throws {
        var followed = try Followed()
        for value in [10, 20] { try followed.db.execute("UPDATE t SET v = \(value)") }
        _ = try followed.poll()
        _ = try followed.db.number("PRAGMA wal_checkpoint(TRUNCATE)")
        // The follower finds everything in the database, and lets the log start over.
        _ = try followed.poll()
        try followed.db.execute("UPDATE t SET v = 30")
        _ = try followed.poll()
        let stored = followed.folder.stored
        try #require(stored.count == 2)
        #expect(stored[0].segment.salts != stored[1].segment.salts && stored[1].segment.firstFrame == 1)
        let first = try #require(try SegmentFile(stored[0].path).commits().first)
        #expect(first < stored[0].segment.lastFrame)

        let path = followed.live.directory + "/part.db"
        try Data(followed.image).write(to: URL(fileURLWithPath: path))
        var applier = try SegmentApplier(image: path)
        try applier.apply(SegmentFile(stored[0].path, through: first))
        #expect { try applier.apply(SegmentFile(stored[1].path)) } throws: { ($0 as? VaultError)?.code == .damaged }
        #expect {
            try SegmentFile(stored[0].path, through: stored[0].segment.lastFrame + 1)
        } throws: { ($0 as? VaultError)?.code == .internalFailure }
    }

    @Test func `H-BAK-42 a segment that turns out damaged in the middle leaves no page in a commit`() throws {
        var followed = try Followed()
        for value in [10, 20] {
            try followed.db.execute("UPDATE t SET v = \(value)")
            _ = try followed.poll()
        }
        let stored = followed.folder.stored
        try #require(stored.count == 2)
        #expect(stored[1].segment.frameCount > 1)
        var pages = NewestPages(pageSize: stored[0].segment.pageSize)
        try pages.add(SegmentFile(stored[0].path))
        let (numbers, count) = (pages.numbers, pages.pageCount)
        let content = try numbers.map { try pages.page($0) }
        // The last frame does not match its checksum.
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: stored[1].path)))
        bytes[bytes.count - 9] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: stored[1].path))
        #expect { try pages.add(SegmentFile(stored[1].path)) } throws: { ($0 as? VaultError)?.code == .damaged }
        #expect(pages.numbers == numbers && pages.pageCount == count)
        #expect(try numbers.map { try pages.page($0) } == content)
    }

    @Test func `H-BAK-43 a commit of many segments keeps few of them open`() throws {
        var followed = try Followed()
        try followed.db.execute("UPDATE t SET v = 10")
        _ = try followed.poll()
        let stored = try #require(followed.folder.stored.first)
        var pages = NewestPages(pageSize: stored.segment.pageSize)
        let start = followed.live.directory + "/copy-"
        let name = URL(fileURLWithPath: followed.live.directory).lastPathComponent + "/copy-"
        for number in 1...100 {
            try FileManager.default.copyItem(atPath: stored.path, toPath: "\(start)\(number)")
            try pages.add(SegmentFile("\(start)\(number)"))
        }
        func open() throws -> Int {
            let descriptors = "/proc/self/fd"
            // A system without it has nothing to count.
            guard FileManager.default.fileExists(atPath: descriptors) else { return 0 }
            return try FileManager.default.contentsOfDirectory(atPath: descriptors).count {
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")
                // Other tests have files open, too.
                return path?.contains(name) == true
            }
        }
        let before = try open()
        for number in pages.numbers { #expect(try pages.page(number).count == pages.pageSize) }
        #expect(before == 0)
        #expect(try open() == 1)
    }

    @Test func `the log starts over under the follower, and nothing is missed`() throws {
        var followed = try Followed()
        var logs: Set<UInt64> = []
        for value in 1...12 {
            try followed.db.execute("UPDATE t SET v = \(value)")
            _ = try followed.poll()
            let mode = value % 3 == 0 ? "TRUNCATE" : value % 3 == 1 ? "PASSIVE" : "RESTART"
            _ = try followed.db.number("PRAGMA wal_checkpoint(\(mode))")
            // Here the follower finds everything in the database and lets the log start over.
            _ = try followed.poll()
            _ = try followed.db.number("PRAGMA wal_checkpoint(\(mode))")
        }
        _ = try followed.poll()
        logs = Set(followed.folder.stored.map(\.segment.salts))
        #expect(logs.count > 3)
        #expect(followed.folder.begun.count == 1)
        let image = try followed.folder.apply(followed.image)
        #expect(image == (try capture(followed.live.path).image))
        #expect(try followed.live.restore(image).number("SELECT sum(v) FROM t") == 240)
    }

    @Test func `automatic checkpoints complete while the log is followed`() throws {
        var followed = try Followed()
        try followed.db.execute("PRAGMA wal_autocheckpoint = 20")
        var longest: UInt32 = 0
        for value in 1...100 {
            try followed.db.execute("UPDATE t SET v = \(value)")
            _ = try followed.poll()
            longest = max(longest, followed.folder.stored.last?.segment.lastFrame ?? 0)
        }
        #expect(longest < 100)
        #expect(followed.folder.begun.count == 1)
        #expect(try followed.folder.apply(followed.image) == capture(followed.live.path).image)
    }

    @Test func `the amount read depends on the amount written, not on the size of the database`() throws {
        var followed = try Followed()
        var read: [FollowerOutcome] = []
        for rows in [0, 5000] {
            try followed.live.fill(followed.db, rows: rows)
            _ = try followed.poll()
            try followed.db.execute("UPDATE t SET v = v + 1 WHERE id = 7")
            read.append(try followed.poll())
        }
        #expect(read == [.read(frames: 1), .read(frames: 1)])
    }

    @Test func `H-WAL-01 a follower never checkpoints, nor does a capture`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try db.execute("PRAGMA wal_autocheckpoint = 0")
        try live.fill(db, rows: 20)
        try db.walCheckpoint()
        let before = try Data(contentsOf: URL(fileURLWithPath: live.path))
        do {
            let follower = Follower(live.path)
            var folder = SegmentFolder(live.directory)
            for value in 1...30 {
                _ = try follower.poll(into: &folder)
                try db.execute("UPDATE t SET v = \(value)")
            }
            _ = try capture(live.path)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: live.path)) == before)
        // There was something to copy.
        #expect(try db.walCheckpoint().checkpointed > 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: live.path)) != before)
    }

    @Test func `a follower that has ended leaves nothing that blocks others`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 20)
        // Gone without a word: the locks are gone too, and a mark says "unused".
        do {
            let follower = Follower(live.path)
            var folder = SegmentFolder(live.directory)
            guard case .attached = try follower.poll(into: &folder) else { return #expect(Bool(false)) }
        }
        try db.execute("UPDATE t SET v = 2")
        let reader = try live.open()
        #expect(try reader.number("SELECT sum(v) FROM t") == 40)
        try reader.close()
        #expect(try db.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
        try db.setPragma(.journalMode, to: .delete)
        try db.close()
    }

    @Test func `the last connection that closes leaves the log to the follower`() throws {
        var followed = try Followed()
        try followed.db.execute("UPDATE t SET v = 5")
        try followed.db.close()
        #expect(followed.live.exists("-wal"))
        _ = try followed.poll()
        let again = try followed.live.open()
        try again.execute("UPDATE t SET v = 6")
        _ = try followed.poll()
        #expect(followed.folder.begun.count == 1)
        let image = try followed.folder.apply(followed.image)
        #expect(try followed.live.restore(image).number("SELECT sum(v) FROM t") == 120)
        followed.follower.stop()
        try again.close()
        #expect(!followed.live.exists("-wal"))
    }

    @Test func `without a log nothing is held, and a database of rollback journals can be written`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.delete)
        let follower = Follower(live.path)
        var folder = SegmentFolder(live.directory)
        guard case .waiting = try follower.poll(into: &folder) else { return #expect(Bool(false)) }
        try live.fill(db, rows: 10)
        try db.setPragma(.journalMode, to: .wal)
        try live.fill(db, rows: 10)
        guard case .attached = try follower.poll(into: &folder) else { return #expect(Bool(false)) }
        #expect(folder.begun.count == 1 && folder.begun[0].gap == nil)
        try db.close()
    }

    @Test func `at its limit the follower releases the log, and reports a gap`() throws {
        var followed = try Followed(limits: .init(logBytes: 100_000))
        var outcome = FollowerOutcome.read(frames: 0)
        let blocker = try followed.live.open()
        try blocker.execute("BEGIN")
        _ = try blocker.number("SELECT count(*) FROM t")
        for _ in 0..<40 {
            try followed.db.execute("UPDATE t SET v = v + 1")
            outcome = try followed.poll()
            if case .gap = outcome { break }
        }
        guard case .gap(let reason) = outcome else { return #expect(Bool(false)) }
        // Not again before there is room.
        guard case .waiting = try followed.poll() else { return #expect(Bool(false)) }
        try blocker.execute("COMMIT")
        #expect(try followed.db.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
        guard case .attached = try followed.poll() else { return #expect(Bool(false)) }
        #expect(followed.folder.begun.count == 2)
        #expect(followed.folder.begun[1].gap?.isEmpty == false && !reason.isEmpty)
    }

    @Test func `a database that is replaced is a gap`() throws {
        var followed = try Followed()
        let other = try LiveDatabase()
        try Data(followed.image).write(to: URL(fileURLWithPath: other.path))
        #expect(rename(other.path, followed.live.path) == 0)
        guard case .gap = try followed.poll() else { return #expect(Bool(false)) }
        try? followed.db.close()
    }

    @Test func `uncommitted writes are in no segment`() throws {
        var followed = try Followed()
        try followed.db.execute("PRAGMA cache_size = 5; BEGIN")
        try followed.live.fillInTransaction(followed.db, rows: 200)
        #expect(try followed.poll() == .read(frames: 0))
        try followed.db.execute("ROLLBACK; UPDATE t SET v = 3")
        _ = try followed.poll()
        let image = try followed.folder.apply(followed.image)
        #expect(try followed.live.restore(image).number("SELECT sum(v) FROM t") == 60)
    }

    @Test func `a damaged, missing or foreign segment is not applied`() throws {
        var followed = try Followed()
        for value in 1...3 {
            try followed.db.execute("UPDATE t SET v = \(value * 10)")
            _ = try followed.poll()
        }
        let stored = followed.folder.stored
        try #require(stored.count == 3)
        let target = followed.live.directory + "/target"
        try Data(followed.image).write(to: URL(fileURLWithPath: target))
        var applier = try SegmentApplier(image: target)
        try applier.apply(SegmentFile(stored[0].path))
        #expect(throws: VaultError.self) { try applier.apply(SegmentFile(stored[2].path)) }

        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: stored[1].path)))
        bytes[WALSegment.headerLength + 24 + 100] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: stored[1].path))
        #expect(throws: VaultError.self) { try applier.apply(SegmentFile(stored[1].path)) }
        try Data(bytes.dropLast()).write(to: URL(fileURLWithPath: stored[1].path))
        #expect(throws: VaultError.self) { try SegmentFile(stored[1].path) }
    }

    @Test func `the header of a segment is read back as written`() throws {
        var followed = try Followed()
        try followed.db.execute("UPDATE t SET v = 9")
        _ = try followed.poll()
        let segment = try #require(followed.folder.stored.first?.segment)
        #expect(segment.header.count == WALSegment.headerLength)
        #expect(WALSegment(header: segment.header) == segment)
        #expect(WALSegment(header: Array(repeating: 0, count: 80)) == nil)
        #expect(segment.after <= segment.seen)
    }
}
