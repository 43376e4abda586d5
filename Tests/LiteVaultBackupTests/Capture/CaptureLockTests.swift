import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// What a capture does to those who use the database, and what they do to it.
@Suite(.limited) struct CaptureLockTests {
    /// Whether another process could lock a byte of a file.
    private func canLock(_ path: String, byte: Int) throws -> Bool {
        let script = """
            import fcntl, sys
            try:
                fcntl.lockf(open(sys.argv[1], "r+b"), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(sys.argv[2]))
            except OSError:
                sys.exit(1)
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path, "\(byte)"]
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test func `a capture in a process that has the database open drops none of its locks`() throws {
        let live = try LiveDatabase()
        let reserved = 0x4000_0001
        let db = try live.open(.delete)
        try live.fill(db, rows: 10)
        try db.execute("BEGIN IMMEDIATE")
        _ = try capture(live.path)
        #expect(try !canLock(live.path, byte: reserved))
        try db.execute("COMMIT")
        #expect(try canLock(live.path, byte: reserved))

        try db.setPragma(.journalMode, to: .wal)
        try db.execute("BEGIN IMMEDIATE; UPDATE t SET v = 2")
        _ = try capture(live.path)
        let writeLock = 120
        #expect(try !canLock(live.path + "-shm", byte: writeLock))
        try db.execute("COMMIT")
        #expect(try canLock(live.path + "-shm", byte: writeLock))
        try db.close()
    }

    @Test func `exclusive locking mode is reported as busy`() throws {
        for mode in [Connection.JournalMode.delete, .wal] {
            let live = try LiveDatabase()
            let db = try live.open(mode)
            try db.execute("CREATE TABLE t (a)")
            try db.close()
            let holder = try live.open()
            try holder.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; INSERT INTO t VALUES (1); COMMIT")
            let error = #expect(throws: VaultError.self) { _ = try capture(live.path, limits: .init(lockTimeout: .seconds(0.05))) }
            #expect(error?.code == .busy)
            try holder.close()
            _ = try capture(live.path)
        }
    }

    @Test func `an index that cannot be written is a typed error`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 10)
        let crashed = try live.crash(["", "-wal"])
        try FileManager.default.createDirectory(atPath: crashed.path + "-shm", withIntermediateDirectories: false)
        let error = #expect(throws: VaultError.self) { _ = try capture(crashed.path, limits: .init(lockTimeout: .seconds(0.05))) }
        #expect(error?.code == .unsupported)
        try db.close()
    }

    @Test func `a copy that takes too long is abandoned, and releases the lock`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.delete)
        try live.fill(db, rows: 10)
        let error = #expect(throws: VaultError.self) { _ = try capture(live.path, limits: .init(maximumLockDuration: .seconds(-1))) }
        #expect(error?.code == .busy)
        try db.execute("UPDATE t SET v = 2")
        try db.close()
    }

    @Test func `a log that grows too much ends the copy and releases the mark`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        // Not in the database yet: the mark keeps the log from starting over.
        try db.execute("PRAGMA wal_autocheckpoint = 0")
        try live.fill(db, rows: 3000)
        let error = #expect(throws: VaultError.self) {
            _ = try capture(live.path, limits: .init(maximumWALGrowth: 10000)) { event in
                if case .marked = event { try live.fill(db, rows: 100) }
            }
        }
        #expect(error?.code == .busy)
        #expect(try db.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
        try db.close()
    }

    @Test func `with all marks in use by older readers the capture still finds one`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.wal)
        try live.fill(db, rows: 10)
        var readers: [Connection] = []
        for _ in 0..<5 {
            let reader = try live.open()
            try reader.execute("BEGIN")
            _ = try reader.number("SELECT count(*) FROM t")
            readers.append(reader)
            try live.fill(db, rows: 10)
        }
        let (image, _) = try capture(live.path)
        #expect(try live.restore(image).number("SELECT sum(v) FROM t") == 60)
        for reader in readers { try reader.close() }
        try db.close()
    }

    @Test func `an error of the sink ends the capture without a lock`() throws {
        struct Full: Error {}
        let live = try LiveDatabase()
        let db = try live.open(.delete)
        try live.fill(db, rows: 10)
        #expect(throws: Full.self) { _ = try capture(live.path) { if case .copied = $0 { throw Full() } } }
        try db.execute("UPDATE t SET v = 2")
        try db.close()
    }
}
