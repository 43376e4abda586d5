import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A followed database whose path leads to another file.
@Suite(.limited) struct ReplacedTests {
    /// - Parameter isDirectory: whether the link is a directory of the path, as `current` of a release.
    @Test(arguments: [false, true])
    func `H-WAL-10 a link that is switched to another file is a gap, and that file is followed`(isDirectory: Bool) throws {
        let (first, second, scratch) = try (LiveDatabase(), LiveDatabase(), Scratch())
        let databases = [try first.open(.wal), try second.open(.wal)]
        for (live, db) in zip([first, second], databases) { try live.fill(db, rows: 20) }
        let link = scratch.path("app")
        func lead(to live: LiveDatabase) throws {
            try FileManager.default.createSymbolicLink(
                atPath: link + ".new", withDestinationPath: isDirectory ? live.directory : live.path)
            #expect(rename(link + ".new", link) == 0)
        }
        try lead(to: first)
        let path = isDirectory ? link + "/live.db" : link
        let follower = Follower(path)
        var folder = SegmentFolder(scratch.directory)
        guard case .attached = try follower.poll(into: &folder) else { return #expect(Bool(false)) }
        try databases[0].execute("UPDATE t SET v = 2")
        guard case .read(let frames) = try follower.poll(into: &folder), frames > 0 else { return #expect(Bool(false)) }

        try lead(to: second)
        #expect(try follower.poll(into: &folder) == .gap("the database or its log was replaced"))
        guard case .attached = try follower.poll(into: &folder) else { return #expect(Bool(false)) }
        let image = try capture(path).image
        try databases[1].execute("UPDATE t SET v = 3")
        _ = try follower.poll(into: &folder)
        #expect(try second.restore(folder.apply(image)).number("SELECT sum(v) FROM t") == 60)
        #expect(follower.leftLog == nil)
    }

    /// A database whose application has ended, with commits in the log that the follower keeps.
    private struct Closed {
        let live: LiveDatabase
        let follower: Follower
        var folder: SegmentFolder
        /// The database without these commits, in a file beside it.
        let other: String

        init(truncates: Bool = false) throws {
            live = try LiveDatabase()
            let db = try live.open(.wal)
            try live.fill(db, rows: 20)
            other = live.directory + "/other.db"
            try Data(capture(live.path).image).write(to: URL(fileURLWithPath: other))
            follower = Follower(live.path)
            folder = SegmentFolder(live.directory)
            _ = try follower.poll(into: &folder)
            try db.execute("UPDATE t SET v = 2")
            _ = try follower.poll(into: &folder)
            if truncates {
                _ = try db.number("PRAGMA wal_checkpoint(PASSIVE)")
                _ = try follower.poll(into: &folder)
                #expect(try db.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
            }
            try db.close()
            #expect(live.exists("-wal"))
        }

        mutating func poll() throws -> FollowerOutcome { try follower.poll(into: &folder) }

        mutating func expectGap() throws {
            guard case .gap = try poll() else { return #expect(Bool(false)) }
        }
    }

    @Test(arguments: [false, true])
    func `H-BAK-31 a log that is left beside another database is an error until it is removed`(isRemoved: Bool) throws {
        var closed = try Closed()
        if isRemoved {
            try FileManager.default.removeItem(atPath: closed.live.path)
            try closed.expectGap()
            #expect(closed.follower.leftLog == nil)
            #expect { try closed.poll() } throws: { ($0 as? VaultError)?.code == .noInput }
        }
        #expect(rename(closed.other, closed.live.path) == 0)
        if !isRemoved { try closed.expectGap() }
        let left = try #require(closed.follower.leftLog)
        #expect(left.code == .cannotCreate && left.path == closed.live.path)
        #expect(left.message.contains("remove its -wal and -shm before it is opened"))
        for _ in 0..<2 {
            #expect { try closed.poll() } throws: { ($0 as? VaultError)?.cause is LeftLogError }
        }
        for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: closed.live.path + suffix) }
        #expect(closed.follower.leftLog == nil)
        guard case .waiting = try closed.poll() else { return #expect(Bool(false)) }
        let db = try closed.live.open(.wal)
        #expect(try db.number("SELECT sum(v) FROM t") == 20)
        try db.execute("UPDATE t SET v = 4")
        guard case .attached = try closed.poll() else { return #expect(Bool(false)) }
        try db.close()
    }

    @Test func `H-BAK-31 a connection that opens the two together makes them one database, which is followed`() throws {
        var closed = try Closed()
        #expect(rename(closed.other, closed.live.path) == 0)
        try closed.expectGap()
        let db = try closed.live.open()
        // SQLite has taken the log for that of this file.
        #expect(try db.number("SELECT sum(v) FROM t") == 40)
        guard case .attached = try closed.poll() else { return #expect(Bool(false)) }
        #expect(closed.follower.leftLog == nil)
        try db.close()
    }

    @Test func `an empty log that is left beside another database harms nothing`() throws {
        var closed = try Closed(truncates: true)
        #expect(rename(closed.other, closed.live.path) == 0)
        try closed.expectGap()
        #expect(closed.follower.leftLog == nil)
        guard case .waiting = try closed.poll() else { return #expect(Bool(false)) }
    }

    @Test func `H-BAK-33 another follower of the path recognises it`() throws {
        var closed = try Closed()
        #expect(rename(closed.other, closed.live.path) == 0)
        try closed.expectGap()
        closed.follower.stop()
        let later = Follower(closed.live.path, former: closed.follower.former)
        #expect { try later.poll(into: &closed.folder) } throws: { ($0 as? VaultError)?.cause is LeftLogError }
        #expect(later.former?.exists == true)
        try FileManager.default.removeItem(atPath: closed.live.path + "-wal")
        #expect(later.former?.exists == false)
    }

    private static func name(_ event: FollowingEvent) -> String? {
        switch event {
        case .based: "based"
        case .stored: "stored"
        case .gap: "gap"
        case .waiting: "waiting"
        case .returned: "returned"
        case .failed(.log, let error, _): ((error as? VaultError)?.cause is LeftLogError) ? "left" : "failed"
        default: nil
        }
    }

    @Test func `H-BAK-33 a database that is replaced while the repository is away is refused when that is back`() async throws {
        let (live, files) = (try LiveDatabase(), FileManager.default)
        let db = try live.open(.wal)
        try live.fill(db, rows: 20)
        let (other, log, kept) = (live.directory + "/other.db", live.path + "-wal", live.directory + "/kept")
        let (place, away) = (live.directory + "/repository", live.directory + "/away")
        try Data(capture(live.path).image).write(to: URL(fileURLWithPath: other))
        let writable = try await WritableRepository.openOrCreate(
            DirectoryStore(place),
            local: LocalDirectories(state: live.directory + "/state", cache: live.directory + "/cache"))
        let events = Locked<[String]>([])
        func count(_ text: String) -> Int { events.value.count { $0 == text } }
        var options = FollowingOptions(database: "live.db")
        options.backoff = 0.05...0.1
        options.limits = FollowerLimits(interval: 0.01)
        let follower = DatabaseFollower(plaintext: live.path, into: writable, options: options) { event in
            if let text = Self.name(event) { events.withLock { $0.append(text) } }
        }
        async let run: Void = follower.run()
        do {
            #expect(await eventually { count("based") == 1 })
            try db.execute("UPDATE t SET v = 2")
            #expect(await eventually { count("stored") == 1 })
            try files.moveItem(atPath: place, toPath: away)
            try db.execute("UPDATE t SET v = 3")
            // The session has ended, and releases the log.
            #expect(await eventually { follower.former != nil })
            // The application is killed: its log stays.
            try files.linkItem(atPath: log, toPath: kept)
            try db.close()
            #expect(rename(kept, log) == 0)
            #expect(rename(other, live.path) == 0)
            try files.moveItem(atPath: away, toPath: place)
            #expect(await eventually { count("returned") == 1 })
            #expect(await eventually { count("left") + count("waiting") >= 1 })
            #expect(follower.pages.refusal?.code == .cannotCreate)
            try files.removeItem(atPath: log)
            #expect(await eventually { count("waiting") == 1 && follower.pages.refusal == nil })
        } catch { Issue.record(error) }
        follower.end(within: 300)
        await run
        #expect(count("left") == 1, "\(events.value)")
    }

    @Test func `H-BAK-31 a follower reports it once, and refuses snapshots of the two`() async throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 20)
        let other = live.directory + "/other.db"
        try Data(capture(live.path).image).write(to: URL(fileURLWithPath: other))
        let writable = try await WritableRepository.openOrCreate(
            DirectoryStore(live.directory + "/repository"),
            local: LocalDirectories(state: live.directory + "/state", cache: live.directory + "/cache"))
        let events = Locked<[String]>([])
        func count(_ text: String) -> Int { events.value.count { $0 == text } }
        var options = FollowingOptions(database: "live.db")
        options.limits = FollowerLimits(interval: 0.01)
        let follower = DatabaseFollower(plaintext: live.path, into: writable, options: options) { event in
            if let text = Self.name(event) { events.withLock { $0.append(text) } }
        }
        async let run: Void = follower.run()
        do {
            #expect(await eventually { count("based") == 1 })
            try db.execute("UPDATE t SET v = 2")
            #expect(await eventually { count("stored") == 1 })
            #expect(follower.pages.refusal == nil)
            try db.close()
            #expect(rename(other, live.path) == 0)
            #expect(await eventually { count("left") == 1 })
            #expect(follower.pages.refusal?.code == .cannotCreate)
            try await Task.sleep(for: .milliseconds(200))
            for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: live.path + suffix) }
            #expect(await eventually { count("waiting") == 1 })
            #expect(await eventually { follower.pages.refusal == nil })
            let again = try live.open(.wal)
            #expect(try again.number("SELECT sum(v) FROM t") == 20)
            #expect(await eventually { count("based") == 2 })
            try again.close()
        } catch { Issue.record(error) }
        follower.end(within: 300)
        await run
        #expect(count("left") == 1 && count("gap") == 1 && count("failed") == 0, "\(events.value)")
    }
}
