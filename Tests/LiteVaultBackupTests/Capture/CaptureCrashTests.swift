import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// What a crash leaves behind is read as SQLite would recover it, and left as it is.
@Suite(.limited) struct CaptureCrashTests {
    @Test(arguments: [["", "-wal"], ["", "-wal", "-shm"]])
    func `a log without an index that counts is scanned`(files: [String]) throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 300)
        // An unfinished transaction: its frames are in the log, and do not count.
        try db.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET v = 7")
        let crashed = try live.crash(files)
        try db.execute("ROLLBACK")
        let before = (try crashed.bytes(), try crashed.bytes("-wal"))
        let (image, report) = try capture(crashed.path)
        #expect(report.mode == .wal && report.position != nil)
        #expect(try crashed.bytes() == before.0 && crashed.bytes("-wal") == before.1)
        #expect(try crashed.restore(image).number("SELECT sum(v) FROM t") == 300)
        // And the database itself still recovers.
        #expect(try crashed.open().number("SELECT sum(v) FROM t") == 300)
        try db.close()
    }

    @Test func `recovering the log during the copy changes nothing in the image`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 3000)
        let crashed = try live.crash(["", "-wal"])
        let once = Once()
        var other: Connection?
        let (image, _) = try capture(crashed.path) { event in
            guard case .copied = event else { return }
            once {
                // SQLite 3.15 recovers only when nobody reads, so it may find the database busy.
                other = try? crashed.open()
                try? other?.execute("UPDATE t SET v = 2; PRAGMA wal_checkpoint(PASSIVE)")
            }
        }
        #expect(try crashed.restore(image).number("SELECT sum(v) FROM t") == 3000)
        try other?.close()
        try db.close()
    }

    @Test func `a log written on a big-endian machine is read`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 300)
        let crashed = try live.crash(["", "-wal"])
        try Data(bigEndian(crashed.bytes("-wal"))).write(to: URL(fileURLWithPath: crashed.path + "-wal"))
        let (image, _) = try capture(crashed.path)
        #expect(try crashed.restore(image).number("SELECT sum(v) FROM t") == 300)
        try db.close()
    }

    @Test func `frames behind a flipped byte do not count`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 10)
        let size = try live.bytes("-wal").count
        try live.fill(db, rows: 10)
        let crashed = try live.crash(["", "-wal"])
        var log = try crashed.bytes("-wal")
        log[size + 100] ^= 1
        try Data(log).write(to: URL(fileURLWithPath: crashed.path + "-wal"))
        let (image, _) = try capture(crashed.path)
        #expect(try crashed.restore(image).number("SELECT sum(v) FROM t") == 10)
        try db.close()
    }

    @Test func `a log that does not fit its index is damage, not an image`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 10)
        let handle = try #require(FileHandle(forWritingAtPath: live.path + "-wal"))
        try handle.seek(toOffset: 200)
        try handle.write(contentsOf: Data([1, 2, 3, 4, 5]))
        try handle.close()
        let error = #expect(throws: VaultError.self) { _ = try capture(live.path, limits: .init(lockTimeout: .seconds(0.05))) }
        #expect(error?.code == .damaged)
        withExtendedLifetime(db) {}
    }

    /// A database in the middle of a transaction that has been spilled into the file, with its journal.
    private func interrupted() throws -> LiveDatabase {
        let live = try LiveDatabase()
        let db = try live.open(.delete)
        try live.fill(db, rows: 2000)
        try db.execute(
            "PRAGMA cache_size = 5; BEGIN; UPDATE t SET v = 7; INSERT INTO t (v, filler) SELECT 1, filler FROM t")
        let crashed = try live.crash(["", "-journal"])
        try db.execute("ROLLBACK")
        try db.close()
        return crashed
    }

    @Test func `a hot journal is rolled back in the image and stays on the disk`() throws {
        let crashed = try interrupted()
        let before = (try crashed.bytes(), try crashed.bytes("-journal"))
        let (image, report) = try capture(crashed.path)
        #expect(report.rolledBack && report.mode == .rollback && image != before.0)
        #expect(try crashed.bytes() == before.0 && crashed.bytes("-journal") == before.1)
        #expect(try crashed.restore(image).number("SELECT sum(v) FROM t") == 2000)
    }

    @Test func `a journal with a super-journal is rolled back only while that exists`() throws {
        let crashed = try interrupted()
        let name = crashed.directory + "/live.db-mj123"
        var journal = try crashed.bytes("-journal")
        let sum = name.utf8.reduce(UInt32(0)) { $0 &+ UInt32($1) }
        for word in [UInt32(0x4000_0000 / 4096 + 1)] { journal += word.bytes }
        journal += Array(name.utf8)
        for word in [UInt32(name.utf8.count), sum] { journal += word.bytes }
        journal += [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        try Data(journal).write(to: URL(fileURLWithPath: crashed.path + "-journal"))

        #expect(try !capture(crashed.path).report.rolledBack)
        try Data(Array("x".utf8)).write(to: URL(fileURLWithPath: name))
        let (image, report) = try capture(crashed.path)
        #expect(report.rolledBack)
        #expect(try crashed.restore(image).number("SELECT sum(v) FROM t") == 2000)
    }

    @Test func `the journal of a transaction in progress is not hot`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.delete)
        try live.fill(db, rows: 200)
        try db.execute("BEGIN IMMEDIATE; UPDATE t SET v = 7 WHERE id = 1")
        #expect(live.exists("-journal"))
        let (image, report) = try capture(live.path)
        #expect(!report.rolledBack)
        #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 200)
        try db.execute("COMMIT")
        try db.close()
    }

    /// The same log with its checksums in the other byte order.
    private func bigEndian(_ log: [UInt8]) -> [UInt8] {
        var log = log
        var sums: (UInt32, UInt32) = (0, 0)
        func word(_ offset: Int) -> UInt32 { log[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
        func add(_ start: Int, _ count: Int) {
            for offset in stride(from: start, to: start + count, by: 8) {
                sums.0 &+= word(offset) &+ sums.1
                sums.1 &+= word(offset + 4) &+ sums.0
            }
        }
        func put(_ offset: Int) { log.replaceSubrange(offset..<(offset + 8), with: sums.0.bytes + sums.1.bytes) }
        log[3] |= 1
        let length = 24 + Int(word(8))
        add(0, 24)
        put(24)
        for frame in stride(from: 32, through: log.count - length, by: length) {
            add(frame, 8)
            add(frame + 24, length - 24)
            put(frame + 16)
        }
        return log
    }
}

extension UInt32 {
    /// Its bytes, big-endian.
    var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) } }
}
