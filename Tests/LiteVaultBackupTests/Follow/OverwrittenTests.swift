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
        // Without encryption, nothing is read when it is opened.
        _ = try followed.db.number("SELECT count(*) FROM t")
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

    /// What a follower stores of a database, in a repository beside it.
    private struct Backups: Sendable {
        let path: String
        let writable: WritableRepository
        let events = Locked<[String]>([])
        let results = Locked<[SnapshotResult]>([])
        /// Whether no snapshot can be stored.
        let isAway = Locked(false)

        init(in directory: String, of path: String, remembers: Bool) async throws {
            self.path = path
            writable = try await WritableRepository.openOrCreate(
                DirectoryStore(directory + "/repository"),
                local: LocalDirectories(state: remembers ? directory + "/state" : nil, cache: directory + "/cache"))
        }

        func count(_ text: String) -> Int { events.value.count { $0 == text } }

        /// Another one knows no more than what is stored, as that of another process.
        func follower() -> DatabaseFollower {
            let pages = Locked<FollowedPages?>(nil)
            var options = FollowingOptions(database: "live.db")
            options.allowsPlaintext = true
            options.backoff = 0.05...0.1
            options.limits = FollowerLimits(interval: 0.5)
            let follower = DatabaseFollower(
                path, into: writable, options: options,
                takeSnapshot: { [self] _, gap in
                    if isAway.value { throw VaultError(.io, "no snapshot can be stored") }
                    var options = SnapshotOptions()
                    options.allowsPlaintext = true
                    options.database = "live.db"
                    (options.gap, options.followed) = (gap, pages.value)
                    let result = try await writable.snapshot(of: path, options: options)
                    results.withLock { $0.append(result) }
                    return result.snapshot
                },
                report: { [events] event in
                    let text: String? =
                        switch event {
                        case .based: "based"
                        case .resumed: "resumed"
                        case .stored: "stored"
                        case .polled: "polled"
                        case .failed(.snapshot, _, _): "no snapshot"
                        case .gap(let gap): gap.reason
                        default: nil
                        }
                    if let text { events.withLock { $0.append(text) } }
                })
            pages.withLock { $0 = follower.pages }
            return follower
        }
    }

    /// Writes an older state over a followed database between two looks of the follower, which has seen that all of the log is checkpointed. The
    /// application is open again by the second one, so that the log and its index are kept. On a slow machine it may not be: then the index is made again.
    private func overwrite(_ live: LiveDatabase, _ db: inout Connection, with older: [UInt8], _ backups: Backups) async throws {
        try db.execute("UPDATE t SET v = 6 WHERE id = 1")
        #expect(await eventually { backups.count("stored") == 1 })
        _ = try db.number("PRAGMA wal_checkpoint(PASSIVE)")
        let polled = backups.count("polled")
        #expect(await eventually { backups.count("polled") >= polled + 2 })
        try db.close()
        try live.overwrite(with: older)
        db = try live.open()
        _ = try db.number("SELECT count(*) FROM t")
        #expect(await eventually { backups.count("something other than its log wrote to the database file") >= 1 })
    }

    /// - Parameter isRestarted: whether the follower ends before that snapshot is stored, which only the machine remembers then. The log does continue
    ///   from what is stored of it.
    @Test(arguments: [false, true])
    func `H-BAK-30 H-BAK-34 the snapshot after it reads all of the database, and no follower continues without it`(isRestarted: Bool) async throws {
        let live = try LiveDatabase()
        var db = try live.open(.wal)
        try live.fill(db, rows: 2000)
        _ = try db.number("PRAGMA wal_checkpoint(TRUNCATE)")
        let older = try live.bytes()
        // The first snapshot ends at a frame of the log.
        try db.execute("UPDATE t SET v = 5 WHERE id > 1000")
        let backups = try await Backups(in: live.directory, of: live.path, remembers: isRestarted)
        var follower = backups.follower()
        var running = Task { [follower] in await follower.run() }
        do {
            #expect(await eventually { backups.count("based") == 1 })
            backups.isAway.withLock { $0 = isRestarted }
            try await overwrite(live, &db, with: older, backups)
            if isRestarted {
                #expect(await eventually { backups.count("no snapshot") >= 1 })
                follower.end(within: 300)
                await running.value
                backups.isAway.withLock { $0 = false }
                follower = backups.follower()
                running = Task { [follower] in await follower.run() }
            }
            #expect(await eventually { backups.count("based") + backups.count("resumed") >= 2 })
            let stored = backups.count("stored")
            try db.execute("UPDATE t SET v = 7 WHERE id = 2")
            #expect(await eventually { backups.count("stored") > stored })
        } catch { Issue.record(error) }
        follower.end(within: 300)
        await running.value
        #expect(backups.count("resumed") == 0 && !follower.pages.isOverwritten)
        let repository = backups.writable.repository
        #expect(repository.overwritten(repository.databaseID("live.db")) == nil)
        let second = try #require(backups.results.value.dropFirst().first)
        #expect(second.read == second.snapshot.size)
        let path = live.directory + "/restored.db"
        try await repository.restore(.latest, to: path)
        let restored = try live.open(at: path)
        #expect(try restored.number("SELECT sum(v) FROM t") == db.number("SELECT sum(v) FROM t"))
        #expect(try await repository.snapshots().contains { $0.gap?.reason.contains("something other") == true })
    }
}
