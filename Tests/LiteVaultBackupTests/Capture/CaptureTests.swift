import Foundation
import LiteVault
import LiteVaultBackup
import Testing

@Suite(.limited) struct CaptureTests {
    @Test func `without a log the image is the file, byte for byte`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.delete)
        try live.fill(db, rows: 3000)
        let (image, report) = try capture(live.path)
        #expect(try image == live.bytes())
        #expect(report.mode == .rollback && report.position == nil && report.attempts == 1 && !report.rolledBack)
        #expect((report.start == Array("SQLite format 3\0".utf8)) == !EngineInfo.linked.encrypts)
        #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 3000)
        try db.close()
    }

    @Test func `pages in the log are in the image, and neither file changes`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 100)
        try db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try live.fill(db, rows: 200)
        let before = (try live.bytes(), try live.bytes("-wal"))
        let (image, report) = try capture(live.path)
        #expect(try live.bytes() == before.0 && live.bytes("-wal") == before.1)
        #expect(image != before.0)
        #expect(report.mode == .wal && report.walBytes == Int64(before.1.count))
        #expect(try #require(report.position).frame > 0)
        // SQLCipher answers with a text.
        #expect(try db.untypedValue("PRAGMA page_size").map { "\($0)" } == report.pageSize.map { "\($0)" })
        #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 300)
        // No mark is left behind: a checkpoint completes.
        #expect(try db.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
        try db.close()
    }

    @Test func `a log that is wholly in the database is not needed`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 300)
        try db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        var slots: [Int] = []
        let (image, report) = try capture(live.path) { if case .marked(let slot) = $0 { slots.append(slot) } }
        #expect(slots == [0] && report.mode == .wal)
        #expect(try image == live.bytes())
        #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 300)
        try db.close()
    }

    @Test func `commits checkpointed during the copy are not in the image`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 3000)
        let once = Once()
        let (image, _) = try capture(live.path) { event in
            guard case .copied = event else { return }
            try once {
                try db.execute("UPDATE t SET v = 2; DELETE FROM t WHERE id > 2000")
                try db.execute("PRAGMA wal_checkpoint(PASSIVE)")
            }
        }
        #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 3000)
        #expect(try db.number("SELECT sum(v) FROM t") == 4000)
        try db.close()
    }

    @Test func `a writer with a log that starts in the middle of the copy makes it begin again`() throws {
        let live = try LiveDatabase()
        let first = try live.open(.wal)
        try live.fill(first, rows: 5000)
        try first.close()
        #expect(!live.exists("-wal"))
        var writer: Connection?
        var sink = ImageSink()
        let report = try Capture(live.path, limits: .init()) { event in
            guard case .copied = event, writer == nil else { return }
            let db = try live.open()
            writer = db
            try db.execute("UPDATE t SET v = 2; PRAGMA wal_checkpoint(PASSIVE); UPDATE t SET v = 3 WHERE id % 2 = 0")
        }.run(into: &sink)
        #expect(sink.begun == 2 && report.attempts == 2 && report.mode == .wal)
        #expect(try live.restore(sink.bytes).number("SELECT sum(v) FROM t") == 12500)
        try writer?.close()
    }

    @Test func `a connection that comes and goes while the lock is held cannot hide its log`() throws {
        let live = try LiveDatabase()
        let first = try live.open(.wal)
        try live.fill(first, rows: 3000)
        try first.close()
        let once = Once()
        let (image, report) = try capture(live.path) { event in
            guard case .copied = event else { return }
            try once {
                let db = try live.open()
                try db.execute("UPDATE t SET v = 2; PRAGMA wal_checkpoint(PASSIVE)")
                try db.close()
            }
        }
        #expect(report.attempts == 2)
        #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 6000)
    }

    @Test(arguments: [512, 1024, 8192, 65536])
    func `every page size is captured, with a log and without`(pageSize: Int) throws {
        for mode in [Connection.JournalMode.delete, .wal] {
            let live = try LiveDatabase(pageSize: pageSize)
            let db = try live.open(mode)
            try live.fill(db, rows: 400)
            try db.execute("UPDATE t SET v = 2 WHERE id < 5")
            let (image, report) = try capture(live.path)
            if mode == .wal { #expect(report.pageSize == pageSize) }
            #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 404)
            try db.close()
        }
    }

    @Test func `an empty file gives an empty image; anything but a file is rejected`() throws {
        let live = try LiveDatabase()
        try Data().write(to: URL(fileURLWithPath: live.path))
        #expect(try capture(live.path).image.isEmpty)
        for path in [live.path + "-no", live.directory, "", ":memory:", "a\0b"] {
            #expect(throws: VaultError.self) { _ = try capture(path) }
        }
    }

    @Test func `a link is followed to the database and its log`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 10)
        let link = live.directory + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: live.path)
        let (image, report) = try capture(link)
        #expect(report.mode == .wal)
        #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 10)
        try db.close()
    }
}
