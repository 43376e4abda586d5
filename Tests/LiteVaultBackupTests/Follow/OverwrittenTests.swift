import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// A followed database that something else writes to, and one that nothing else writes to.
@Suite(.limited) struct OverwrittenTests {
    /// An older state of the database, which is then changed in pages that the followed log does not name.
    private struct Followed {
        let live: LiveDatabase
        var db: Connection
        let older: [UInt8]
        let follower: Follower
        var folder: SegmentFolder
        var image: [UInt8]

        init() throws {
            live = try LiveDatabase()
            db = try live.open(.wal)
            try live.fill(db, rows: 200)
            _ = try db.number("PRAGMA wal_checkpoint(TRUNCATE)")
            older = try live.bytes()
            try db.execute("UPDATE t SET v = 5 WHERE id > 100")
            _ = try db.number("PRAGMA wal_checkpoint(TRUNCATE)")
            try db.execute("PRAGMA wal_autocheckpoint = 0")
            follower = Follower(live.path)
            folder = SegmentFolder(live.directory)
            guard case .attached = try follower.poll(into: &folder) else {
                throw VaultError(.internalFailure, "not attached")
            }
            image = try capture(live.path).image
        }

        @discardableResult
        mutating func poll() throws -> FollowerOutcome { try follower.poll(into: &folder) }

        mutating func set(_ value: Int, _ row: Int) throws { try db.execute("UPDATE t SET v = \(value) WHERE id = \(row)") }

        /// The next poll finds a gap, and what follows it leads to the database as it is.
        mutating func expectGap(sourceLocation: SourceLocation = #_sourceLocation) throws {
            let outcome = try poll()
            guard case .gap(let reason) = outcome else {
                Issue.record("\(outcome)", sourceLocation: sourceLocation)
                return
            }
            #expect(reason == "something other than its log wrote to the database file", sourceLocation: sourceLocation)
            #expect(follower.isOverwritten, sourceLocation: sourceLocation)
            guard case .attached = try poll() else {
                Issue.record("not attached again", sourceLocation: sourceLocation)
                return
            }
            #expect(!follower.isOverwritten && folder.begun.last?.gap == reason, sourceLocation: sourceLocation)
            image = try capture(live.path).image
            // What was in the log before is not compared again.
            for value in 30..<34 {
                try set(value, value)
                try poll()
                _ = try db.number("PRAGMA wal_checkpoint(PASSIVE)")
                try poll()
            }
            #expect(folder.begun.count == 2, "\(folder.begun.compactMap(\.gap))", sourceLocation: sourceLocation)
            #expect(try folder.apply(image) == capture(live.path).image, sourceLocation: sourceLocation)
        }
    }

    /// - Parameters:
    ///   - isUsed: whether the application commits before the follower looks again.
    ///   - keepsTime: whether the copy has the earlier time of modification.
    @Test(arguments: [false, true], [false, true])
    func `H-BAK-30 an older copy over a database whose log was checkpointed is a gap`(isUsed: Bool, keepsTime: Bool) throws {
        var followed = try Followed()
        try followed.set(6, 1)
        try followed.poll()
        _ = try followed.db.number("PRAGMA wal_checkpoint(PASSIVE)")
        #expect(try followed.poll() == .read(frames: 0))
        try followed.db.close()
        try followed.live.overwrite(with: followed.older, keepsTime: keepsTime)
        followed.db = try followed.live.open()
        if isUsed { try followed.set(7, 150) }
        try followed.expectGap()
    }

    @Test func `what applications and backup tools do to a followed database is no gap`() throws {
        var followed = try Followed()
        let (path, files) = (followed.live.path, FileManager.default)
        let other = try followed.live.open()
        let modes = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"]
        for turn in 1...60 {
            let db = turn % 3 == 0 ? other : followed.db
            switch turn % 10 {
            case 1: try db.execute("DELETE FROM t WHERE id % 4 = \(turn % 4)")
            case 2: try db.execute("VACUUM")
            // Pages that were removed are there again.
            case 3: try followed.live.fill(db, rows: 120)
            default: try db.execute("UPDATE t SET v = v + 1 WHERE id % 7 = \(turn % 7)")
            }
            if turn % 4 != 0 { try followed.poll() }
            usleep(5000)
            if turn % 2 == 0 { _ = try (turn % 4 == 0 ? other : followed.db).number("PRAGMA wal_checkpoint(\(modes[turn / 2 % 4]))") }
            if turn % 5 == 0 { try followed.poll() }
            switch turn % 6 {
            case 0: try files.setAttributes([.posixPermissions: turn % 4 == 0 ? 0o600 : 0o640], ofItemAtPath: path)
            case 1:
                try files.linkItem(atPath: path, toPath: path + ".link")
                try files.removeItem(atPath: path + ".link")
            case 2: try setTimes(path, digits: 1)
            case 3: try setTimes(path, digits: [1000, 1_000_000, 1_000_000_000][turn / 6 % 3])
            case 4: _ = try capture(path)
            default: _ = try followed.live.bytes()
            }
            if turn % 3 != 0 { try followed.poll() }
        }
        try other.close()
        try followed.db.close()
        try followed.poll()
        followed.db = try followed.live.open()
        try followed.set(8, 1)
        try followed.poll()
        #expect(followed.folder.begun.count == 1, "\(followed.folder.begun.compactMap(\.gap))")
        #expect(try followed.folder.apply(followed.image) == capture(path).image)
    }

    /// Sets the time of access, and that of modification to itself, as a program does that puts back the time of access.
    ///
    /// - Parameter digits: nanoseconds of the last digit that the program knows.
    private func setTimes(_ path: String, digits: Int) throws {
        var status = stat()
        let code = lstat(path, &status)
        try #require(code == 0)
        var modified = status.modificationTime
        modified.tv_nsec -= modified.tv_nsec % digits
        let times = [timespec(tv_sec: 1_600_000_000, tv_nsec: 0), modified]
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
    }

    @Test func `H-BAK-30 the snapshot after it reads all of the database`() async throws {
        let live = try LiveDatabase()
        var db = try live.open(.wal)
        try live.fill(db, rows: 2000)
        _ = try db.number("PRAGMA wal_checkpoint(TRUNCATE)")
        let older = try live.bytes()
        try db.execute("UPDATE t SET v = 5 WHERE id > 1000")
        _ = try db.number("PRAGMA wal_checkpoint(TRUNCATE)")
        let writable = try await WritableRepository.openOrCreate(
            DirectoryStore(live.directory + "/repository"),
            local: LocalDirectories(state: live.directory + "/state", cache: live.directory + "/cache"))
        let events = Locked<[String]>([])
        func count(_ text: String) -> Int { events.value.count { $0 == text } }
        let pages = Locked<FollowedPages?>(nil)
        var options = FollowingOptions(database: "live.db")
        options.allowsPlaintext = true
        options.limits = FollowerLimits(interval: 0.01)
        let follower = DatabaseFollower(
            live.path, into: writable, options: options,
            takeSnapshot: { [path = live.path] _, gap in
                var options = SnapshotOptions()
                options.allowsPlaintext = true
                options.database = "live.db"
                (options.gap, options.followed) = (gap, pages.value)
                return try await writable.snapshot(of: path, options: options).snapshot
            },
            report: { event in
                let text: String? =
                    switch event {
                    case .based: "based"
                    case .stored: "stored"
                    case .gap(let gap): gap.reason
                    default: nil
                    }
                if let text { events.withLock { $0.append(text) } }
            })
        pages.withLock { $0 = follower.pages }
        async let run: Void = follower.run()
        do {
            #expect(await eventually { count("based") == 1 })
            try db.execute("UPDATE t SET v = 6 WHERE id = 1")
            #expect(await eventually { count("stored") == 1 })
            _ = try db.number("PRAGMA wal_checkpoint(PASSIVE)")
            // It finds that all of the log is checkpointed.
            try await Task.sleep(for: .milliseconds(200))
            try db.close()
            try live.overwrite(with: older)
            #expect(await eventually { count("something other than its log wrote to the database file") >= 1 })
            // The log that the follower has kept is part of the database again, as of any file that is put beside one.
            db = try live.open()
            #expect(try db.number("SELECT sum(v) FROM t") == 2005)
            #expect(await eventually { count("based") >= 2 && !follower.pages.isOverwritten })
            let stored = count("stored")
            try db.execute("UPDATE t SET v = 7 WHERE id = 2")
            #expect(await eventually { count("stored") > stored })
        } catch { Issue.record(error) }
        follower.end(within: 300)
        await run
        #expect(!follower.pages.isOverwritten)
        let path = live.directory + "/restored.db"
        try await writable.repository.restore(.latest, to: path)
        let restored = try live.open(at: path)
        #expect(try restored.number("SELECT sum(v) FROM t") == 2011)
        #expect(try restored.number("SELECT count(*) FROM t WHERE v = 5") == 0)
        #expect(try await writable.repository.snapshots().contains { $0.gap?.reason.contains("something other") == true })
    }
}
