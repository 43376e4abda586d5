import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct BackupTests {
    let scratch: Scratch
    let source: Connection
    let target: Connection

    init() throws {
        scratch = Scratch()
        source = try Connection(try scratch.database())
        try source.execute("CREATE TABLE big(x); INSERT INTO big VALUES (zeroblob(200000))")
        target = try Connection(scratch.path("target.db"))
    }

    @Test func `one step copies everything`() throws {
        let backup = try Backup(sourceConnection: source, targetConnection: target)
        try backup.step()
        #expect(backup.remainingPages == 0)
        #expect(backup.pageCount > 40)
        backup.finish()
        #expect(try target.number("SELECT count(*) FROM t") == 3)
        #expect(try target.column("PRAGMA integrity_check") == ["ok"])
    }

    @Test func `a target in WAL mode with another page size is refused with the reason, and unchanged`() throws {
        try target.execute("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; CREATE TABLE own (x)")
        let error = #expect(throws: DatabaseError.self) {
            try Backup(sourceConnection: source, targetConnection: target)
        }
        #expect(error?.message.contains("the source has 4096 bytes, the target 8192") == true, "\(error as Any)")
        #expect(error?.message.contains("PRAGMA journal_mode = DELETE") == true)
        #expect(try target.number("SELECT count(*) FROM own") == 0)
        try target.execute("PRAGMA journal_mode = DELETE")
        let backup = try Backup(sourceConnection: source, targetConnection: target)
        try backup.step()
        backup.finish()
        #expect(try target.number("SELECT count(*) FROM t") == 3)
        #expect(try target.number("PRAGMA page_size") == 4096)
    }

    @Test func `steps copy some pages each, and report how many remain`() throws {
        let backup = try Backup(sourceConnection: source, targetConnection: target)
        var remaining: [Int32] = []
        while try backup.advance(pages: .limited(number: 10)) != .done { remaining.append(backup.remainingPages) }
        backup.finish()
        #expect(remaining.count >= 4)
        #expect(remaining == remaining.sorted(by: >))
        #expect(try target.number("SELECT length(x) FROM big") == 200_000)
    }

    @Test func `a step after the last one, and after the end, does no harm`() throws {
        let backup = try Backup(sourceConnection: source, targetConnection: target)
        try backup.step()
        try backup.step()
        #expect(try backup.advance(pages: .limited(number: 1)) == .done)
        backup.finish()
        backup.finish()
        #expect(throws: DatabaseError.self) { try backup.step() }
        #expect(throws: DatabaseError.self) { try backup.step() }
        #expect(backup.remainingPages == 0)
        #expect(try target.number("SELECT count(*) FROM t") == 3)
    }

    @Test(arguments: [0, -1, Int32.min]) func `a step of no pages copies none`(number: Int32) throws {
        let backup = try Backup(sourceConnection: source, targetConnection: target)
        #expect(try backup.advance(pages: .limited(number: number)) == .more)
        #expect(backup.remainingPages == backup.pageCount)
    }

    @Test func `an unfinished backup leaves the target unchanged`() throws {
        try target.execute("CREATE TABLE mine(x)")
        do {
            let backup = try Backup(sourceConnection: source, targetConnection: target)
            try backup.step(pagesToCopy: .limited(number: 5))
        }
        #expect(try target.column("SELECT name FROM sqlite_master") == ["mine"])
    }

    @Test func `a backup replaces the target's content`() throws {
        try target.execute("CREATE TABLE mine(x)")
        try Backup(sourceConnection: source, targetConnection: target).step()
        #expect(try target.column("SELECT name FROM sqlite_master ORDER BY name") == ["big", "t"])
    }

    @Test func `attached and temporary databases can be copied`() throws {
        try source.attach(.inMemory, as: "odd \"name\"")
        try source.execute("CREATE TABLE \"odd \"\"name\"\"\".u(x); CREATE TEMP TABLE v(x)")
        try Backup(sourceConnection: source, sourceName: .attached(name: "odd \"name\""), targetConnection: target)
            .step()
        #expect(try target.column("SELECT name FROM sqlite_master") == ["u"])
        try target.attach(.inMemory, as: "b")
        try Backup(
            sourceConnection: source, sourceName: .temp, targetConnection: target, targetName: .attached(name: "b")
        ).step()
        #expect(try target.column("SELECT name FROM b.sqlite_master") == ["v"])
    }

    @Test func `a missing database is an error`() throws {
        #expect(throws: DatabaseError.self) {
            try Backup(sourceConnection: source, sourceName: .attached(name: "x"), targetConnection: target)
        }
        #expect(throws: DatabaseError.self) {
            try Backup(sourceConnection: source, targetConnection: target, targetName: .attached(name: "x"))
        }
    }

    @Test func `a connection cannot be copied into itself, nor into a target in use`() throws {
        #expect(throws: DatabaseError.self) { try Backup(sourceConnection: source, targetConnection: source) }
        try target.execute("CREATE TABLE mine(x); BEGIN; INSERT INTO mine VALUES (1)")
        #expect(throws: DatabaseError.self) { try Backup(sourceConnection: source, targetConnection: target).step() }
        try target.execute("ROLLBACK")
        try source.close()
        try target.close()
    }

    @Test func `a step while another connection holds the lock returns busy, and continues later`() throws {
        let writer = try Connection(scratch.path("test.db"))
        try writer.execute("BEGIN EXCLUSIVE")
        let backup = try Backup(sourceConnection: source, targetConnection: target)
        #expect(try backup.advance() == .busy)
        let error = #expect(throws: DatabaseError.self) { try backup.step() }
        #expect(error?.resultCode == .busy)
        try writer.execute("ROLLBACK")
        try backup.step()
        #expect(try target.number("SELECT count(*) FROM t") == 3)
    }

    @Test func `a step waits for locks as long as the busy timeout says`() throws {
        let writer = try Connection(scratch.path("test.db"))
        try writer.execute("BEGIN EXCLUSIVE")
        source.lockTimeout = .seconds(600)
        let thread = BackgroundThread {
            Thread.sleep(forTimeInterval: 0.1)
            try? writer.execute("ROLLBACK")
        }
        try Backup(sourceConnection: source, targetConnection: target).step()
        #expect(thread.join())
        #expect(try target.number("SELECT count(*) FROM t") == 3)
    }

    @Test func `changes made by the source itself during a copy are part of it`() throws {
        let backup = try Backup(sourceConnection: source, targetConnection: target)
        try backup.step(pagesToCopy: .limited(number: 3))
        try source.run("INSERT INTO t VALUES (4)")
        try backup.step()
        backup.finish()
        #expect(try target.number("SELECT count(*) FROM t") == 4)
    }

    @Test func `backups in opposite directions on two threads do not deadlock`() throws {
        let (one, other) = (try Connection(), try Connection())
        try one.execute("CREATE TABLE t(x)")
        try other.execute("CREATE TABLE t(x)")
        let ended = onThreads(2) { index in
            let (from, to) = index == 0 ? (one, other) : (other, one)
            for _ in 1...300 {
                try? Backup(sourceConnection: from, targetConnection: to).step(pagesToCopy: .limited(number: 1))
            }
        }
        #expect(ended)
    }

    @Test func `a backup released while other threads hold the connections does not wait`() throws {
        let held = Shared(Handed(value: try Backup(sourceConnection: source, targetConnection: target) as Backup?))
        let (locked, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = BackgroundThread { [target] in
            try? target.withLock {
                locked.signal()
                release.wait()
            }
        }
        locked.wait()
        // The other thread lets go only afterwards: if this waited for it, it would not end.
        #expect(BackgroundThread { held.update { $0.value = nil } }.join())
        release.signal()
        #expect(holder.join())
        // Closing works as soon as it was finished on another thread.
        let deadline = Date().addingTimeInterval(120)
        while (try? source.close()) == nil, Date() < deadline { Thread.sleep(forTimeInterval: 0.01) }
        try source.close()
        try target.close()
    }
}
