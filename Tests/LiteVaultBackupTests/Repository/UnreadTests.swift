import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// Snapshots that do not read what cannot have changed.
@Suite(.limited) struct UnreadTests {
    /// A database with a repository.
    private struct Stored {
        let live: LiveDatabase
        let repository: Repository
        var options = SnapshotOptions()

        init(pageSize: Int? = nil) async throws {
            live = try LiveDatabase(pageSize: pageSize)
            repository = try await WritableRepository.openOrCreate(
                DirectoryStore(live.directory + "/repository"),
                local: LocalDirectories(state: live.directory + "/state", cache: live.directory + "/cache")).repository
            options.allowsPlaintext = true
            // Longer than a tick of the kernel's clock.
            options.limits.settling = 0.02
        }

        func snapshot() async throws -> SnapshotResult {
            try await repository.writable().snapshot(of: live.path, options: options)
        }

        /// Waits until the times of the file identify its content.
        func settle() async throws {
            while true {
                let changed = try FileManager.default.attributesOfItem(atPath: live.path)[.modificationDate] as? Date
                if try #require(changed).timeIntervalSinceNow < -0.05 { return }
                await Task.yield()
            }
        }

        /// Compares the newest snapshot with the database, byte by byte.
        func requireRight(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let name = live.directory + "/restored-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: name) }
            try await repository.restore(.latest, to: name)
            let restored = try [UInt8](Data(contentsOf: URL(fileURLWithPath: name)))
            let now = try capture(live.path).image
            #expect(restored.count == now.count, sourceLocation: sourceLocation)
            #expect(restored == now, sourceLocation: sourceLocation)
        }

        /// Writes bytes into the middle of the file, as SQLite never would.
        func overwrite() throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/dd")
            process.arguments = [
                "if=/dev/urandom", "of=" + live.path, "bs=4096", "count=1", "seek=30", "conv=notrunc", "status=none",
            ]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }

    @Test func `an untouched file is not read again`() async throws {
        let stored = try await Stored()
        let db = try stored.live.open(.delete)
        try stored.live.fill(db, rows: 1000)
        try await stored.settle()
        let first = try await stored.snapshot()
        #expect(first.read == first.snapshot.size)
        let second = try await stored.snapshot()
        #expect(second.read == 65536)
        #expect(second.isUnchanged)
        try await stored.requireRight()
        try db.execute("UPDATE t SET v = 2 WHERE id = 500")
        let third = try await stored.snapshot()
        #expect(third.read == third.snapshot.size)
        #expect(!third.isUnchanged)
        try await stored.requireRight()
    }

    @Test func `a file that was changed just before is read again`() async throws {
        var stored = try await Stored()
        stored.options.limits.settling = 3600
        let db = try stored.live.open(.delete)
        try stored.live.fill(db, rows: 1000)
        for _ in 0..<2 {
            let result = try await stored.snapshot()
            #expect(result.read == result.snapshot.size)
        }
    }

    /// Follows the log into a spool that nobody empties.
    private final class Followed {
        let pages: FollowedPages
        let follower: Follower
        var spool: SegmentSpool

        init(_ stored: inout Stored, limit: Int = 1 << 20) throws {
            pages = FollowedPages(limit: limit)
            stored.options.followed = pages
            follower = Follower(stored.live.path)
            spool = try SegmentSpool(directory: stored.live.directory + "/spool", allowsPlaintext: true, pages: pages)
        }

        @discardableResult func poll() throws -> FollowerOutcome { try follower.poll(into: &spool) }

        /// Lets the next write reset the log.
        func checkpoint(_ db: Connection) throws {
            try poll()
            _ = try db.number("PRAGMA wal_checkpoint(PASSIVE)")
            try poll()
        }
    }

    @Test(arguments: [1024, 4096])
    func `pages that a follower has read are enough, however often the log was reset`(pageSize: Int) async throws {
        var stored = try await Stored(pageSize: pageSize)
        let db = try stored.live.open(.wal)
        try stored.live.fill(db, rows: 4000)
        let followed = try Followed(&stored)
        try followed.poll()
        #expect(try await stored.snapshot().snapshot.size > 1_000_000)
        for round in 1...4 {
            for row in 1...5 {
                try db.execute(
                    "UPDATE t SET v = \(row), filler = randomblob(500) WHERE id / 700 = \(round) AND id % 100 = \(row)")
                try followed.checkpoint(db)
            }
            // Not yet read by the follower: the log shows it.
            try db.execute("UPDATE t SET v = 100 WHERE id = \(round)")
            #expect(try await stored.snapshot().read < 300_000)
            try await stored.requireRight()
        }
        // Without what the follower has read there is nothing to tell by.
        for row in 1...3 {
            try db.execute("UPDATE t SET v = 7 WHERE id = \(row)")
            try followed.checkpoint(db)
        }
        stored.options.followed = nil
        let whole = try await stored.snapshot()
        #expect(whole.read == whole.snapshot.size)
    }

    @Test func `a database that shrinks and grows between snapshots is stored as it is`() async throws {
        var stored = try await Stored(pageSize: 4096)
        let db = try stored.live.open(.wal)
        try db.execute("PRAGMA auto_vacuum = FULL; VACUUM")
        try stored.live.fill(db, rows: 3000)
        let followed = try Followed(&stored)
        try followed.poll()
        _ = try await stored.snapshot()
        var random = SystemRandomNumberGenerator()
        for _ in 0..<12 {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0...3, using: &random) {
                case 0: try db.execute("DELETE FROM t WHERE id IN (SELECT id FROM t ORDER BY random() LIMIT 400)")
                case 1:
                    try db.execute(
                        "INSERT INTO t (v, filler) SELECT v, randomblob(600) FROM t ORDER BY random() LIMIT 300")
                case 2: try db.execute("VACUUM")
                default: try db.execute("UPDATE t SET v = v + 1 WHERE id % 97 = 3")
                }
                if Bool.random(using: &random) { try followed.checkpoint(db) }
            }
            _ = try await stored.snapshot()
            try await stored.requireRight()
        }
    }

    @Test func `what a follower cannot know is read`() async throws {
        var stored = try await Stored(pageSize: 4096)
        let db = try stored.live.open(.wal)
        try stored.live.fill(db, rows: 2000)
        let followed = try Followed(&stored, limit: 50)
        try followed.poll()
        func change(_ rows: Int) throws {
            for step in 0..<3 {
                try db.execute("UPDATE t SET v = v + 1 WHERE id % 2000 < \(rows) AND id % 3 = \(step)")
                try followed.checkpoint(db)
            }
        }
        func requireWhole(_ options: SnapshotOptions) async throws {
            stored.options = options
            let result = try await stored.snapshot()
            #expect(result.read == result.snapshot.size)
            try await stored.requireRight()
        }
        let options = stored.options
        _ = try await stored.snapshot()
        // A snapshot of another process came in between: changes before it are not told apart from those after it.
        try change(3)
        var other = options
        other.followed = nil
        try await requireWhole(other)
        try change(3)
        try await requireWhole(options)
        // More pages than it remembers.
        try change(2000)
        try await requireWhole(options)
        // The follower ended, and the log was reset twice.
        try followed.poll()
        followed.follower.stop()
        for step in 0..<3 {
            try db.execute("UPDATE t SET v = 50 + \(step) WHERE id = 1000")
            _ = try db.number("PRAGMA wal_checkpoint(RESTART)")
        }
        try await requireWhole(options)
    }

    @Test(arguments: [1024, 4096, 16384])
    func `only pages that the log names are read`(pageSize: Int) async throws {
        let stored = try await Stored(pageSize: pageSize)
        let db = try stored.live.open(.wal)
        try stored.live.fill(db, rows: 4000)
        _ = try await stored.snapshot()
        for number in 1...5 {
            try db.execute("UPDATE t SET v = \(number), filler = randomblob(500) WHERE id = 2000 + \(number)")
            if number == 3 { _ = try db.number("PRAGMA wal_checkpoint(PASSIVE)") }
            let result = try await stored.snapshot()
            #expect(result.read < 200_000)
            #expect(!result.isUnchanged)
            try await stored.requireRight()
        }
        #expect(try await stored.snapshot().isUnchanged)
    }

    @Test(arguments: ["RESTART", "TRUNCATE"])
    func `a log that was read to its end may be reset once`(_ mode: String) async throws {
        let stored = try await Stored()
        let db = try stored.live.open(.wal)
        try stored.live.fill(db, rows: 4000)
        _ = try await stored.snapshot()
        _ = try db.number("PRAGMA wal_checkpoint(\(mode))")
        try db.execute("UPDATE t SET v = 7 WHERE id = 3000")
        let result = try await stored.snapshot()
        // TRUNCATE removes the frame that shows where the log ended.
        #expect((result.read < result.snapshot.size) == (mode == "RESTART"))
        try await stored.requireRight()
        _ = try db.number("PRAGMA wal_checkpoint(RESTART)")
        try db.execute("UPDATE t SET v = 8 WHERE id = 3000")
        _ = try db.number("PRAGMA wal_checkpoint(RESTART)")
        try db.execute("UPDATE t SET v = 9 WHERE id = 2000")
        let twice = try await stored.snapshot()
        #expect(twice.read == twice.snapshot.size)
        try await stored.requireRight()
    }

    @Test func `a snapshot in the future makes the next one read everything`() async throws {
        let stored = try await Stored()
        let db = try stored.live.open(.delete)
        try stored.live.fill(db, rows: 1000)
        try await stored.settle()
        let path = stored.live.path
        _ = try await stored.repository.writable().storeSnapshot(of: path, options: stored.options) { sink in
            var sink = sink
            var report = try Capture(path, limits: CaptureLimits()).run(into: &sink)
            report.began = Date() + 3600
            return report
        }
        let result = try await stored.snapshot()
        #expect(result.read == result.snapshot.size)
    }

    @Test func `a due complete read reports what was written behind the back of SQLite`() async throws {
        var stored = try await Stored()
        let db = try stored.live.open(.wal)
        try stored.live.fill(db, rows: 4000)
        _ = try db.number("PRAGMA wal_checkpoint(PASSIVE)")
        _ = try await stored.snapshot()
        try stored.overwrite()
        try db.execute("UPDATE t SET v = 3 WHERE id = 3000")
        let short = try await stored.snapshot()
        #expect(short.read < short.snapshot.size)
        #expect(short.warnings.isEmpty)
        stored.options.fullReadInterval = .zero
        let whole = try await stored.snapshot()
        #expect(whole.read == whole.snapshot.size)
        #expect(whole.warnings.contains { $0.message.hasPrefix("1 blocks of the database changed") })
        try await stored.requireRight()
        #expect(try await stored.snapshot().warnings.isEmpty)
    }

    @Test func `damage in the map of the previous snapshot is repaired by what is read`() async throws {
        let stored = try await Stored()
        let db = try stored.live.open(.delete)
        try stored.live.fill(db, rows: 4000)
        try await stored.settle()
        _ = try await stored.snapshot()
        let trees = stored.live.directory + "/repository/tree"
        for folder in try FileManager.default.subpathsOfDirectory(atPath: trees) {
            let path = trees + "/" + folder
            guard var bytes = try? Data(contentsOf: URL(fileURLWithPath: path)), bytes.count > 2000 else { continue }
            bytes[1000] ^= 1
            try bytes.write(to: URL(fileURLWithPath: path))
        }
        let result = try await stored.snapshot()
        #expect(!result.warnings.isEmpty)
        try await stored.requireRight()
    }

    @Test(arguments: 1...4)
    func `an image is never wrong, whatever happens between two snapshots`(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        let stored = try await Stored(pageSize: [1024, 4096, 8192, 4096][Int(seed) - 1])
        var db = try stored.live.open(seed % 2 == 0 ? .wal : .delete)
        try stored.live.fill(db, rows: 2000)
        var kept = 0
        struct Killed: Error {}
        for _ in 0..<25 {
            for _ in 0..<random.next(3) {
                switch random.next(14) {
                case 0...3:
                    try db.execute(
                        "UPDATE t SET v = v + 1, filler = randomblob(500) WHERE id % 97 = \(random.next(97))")
                case 4: try stored.live.fill(db, rows: Int(random.next(50)))
                case 5: try db.execute("DELETE FROM t WHERE id % 7 = \(random.next(7)) AND id > 1000")
                case 6:
                    let mode = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][Int(random.next(4))]
                    _ = try db.number("PRAGMA wal_checkpoint(\(mode))")
                case 7:
                    try db.close()
                    db = try stored.live.open()
                case 8: try db.setPragma(.journalMode, to: random.next(2) == 0 ? .wal : .delete)
                case 9: try db.execute("VACUUM")
                case 10: try db.execute("PRAGMA user_version = \(random.next(1000))")
                case 11:
                    // A snapshot that is killed before, or after, its manifest would be stored.
                    var options = stored.options
                    let after = Int64(random.next(2))
                    options.progress = { if $0.phase == .storing || after == 0 { throw Killed() } }
                    _ = try? await stored.repository.writable().snapshot(of: stored.live.path, options: options)
                case 12:
                    // A transaction that is rolled back after pages of it were spilled.
                    try db.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET filler = randomblob(500); ROLLBACK")
                default: try await stored.settle()
                }
            }
            let result = try await stored.snapshot()
            kept += result.read < result.snapshot.size ? 1 : 0
            try await stored.requireRight()
        }
        #expect(kept > 2)
    }
}

/// A generator whose numbers depend only on the seed.
private struct SplitMix {
    var state: UInt64

    mutating func next(_ bound: UInt64) -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return (value ^ (value >> 31)) % bound
    }
}
