import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultBackupService
import LiteVaultSystem
import Testing

/// A service beside connections of the same process. A process loses its POSIX locks on a file when it closes any descriptor of it.
@Suite(.serialized) struct InProcessTests {
    let server = Server()

    /// Bytes of the database file that SQLite locks, and of the index of its log: https://sqlite.org/walformat.html#locks
    private enum LockByte {
        static let reserved = 0x4000_0001
        static let shared = 0x4000_0002
        static let write = 120
    }

    /// Whether another process could lock bytes of a file exclusively.
    private func canLock(_ path: String, _ byte: Int, _ count: Int = 1) throws -> Bool {
        let script = """
            import fcntl, sys
            try:
                fcntl.lockf(open(sys.argv[1], "r+b"), fcntl.LOCK_EX | fcntl.LOCK_NB, int(sys.argv[3]), int(sys.argv[2]))
            except OSError:
                sys.exit(1)
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path, "\(byte)", "\(count)"]
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test func `snapshots and a follower drop no lock of a pool of their own process`() async throws {
        let path = server.path("a.db")
        let pool = try server.pool("a.db")
        try await pool.write { try $0.execute("CREATE TABLE note (text)") }
        var job = server.job("a", "a.db", follows: .milliseconds(20))
        job.fullRead = .zero
        let writer = Held()
        try await server.run(server.service(job)) {
            try await server.waitUntilFollowing()
            // A write transaction is open during whole runs of the job.
            writer.start { hold in
                try pool.write { db in
                    try db.execute("INSERT INTO note VALUES ('held')")
                    hold()
                }
            }
            try await server.wait("the transaction") { writer.isHeld }
            for run in 1...5 {
                server.clock.advance(3600)
                try await server.wait("run \(run)") { server.log.count("job done") > run }
                #expect(try !canLock(path + "-shm", LockByte.write))
                #expect(try !canLock(path, LockByte.shared, 510))
            }
            writer.release()
            try await server.wait("the commit") { writer.hasEnded }
            #expect(try canLock(path + "-shm", LockByte.write))
        }
        // The follower has ended, and closed its descriptors: the pool still has its lock.
        #expect(try !canLock(path, LockByte.shared, 510))
        try await pool.write { try $0.execute("INSERT INTO note VALUES ('after')") }
        try await pool.close()
        #expect(try canLock(path, LockByte.shared, 510))
    }

    @Test func `a pool that is closed and opened again in the same process causes no gap`() async throws {
        var pool = try server.pool("a.db")
        try await pool.write { try $0.execute("CREATE TABLE note (text)") }
        try await server.run(server.service(server.job("a", "a.db", follows: .milliseconds(20)))) {
            try await server.waitUntilFollowing()
            for number in 1...3 {
                let stored = server.log.count("segment stored")
                try await pool.write { try $0.execute("INSERT INTO note VALUES ('note')") }
                try await server.wait("segment \(number)") { server.log.count("segment stored") > stored }
                try await pool.close()
                pool = try server.pool("a.db")
            }
            try await pool.write { try $0.execute("INSERT INTO note VALUES ('note')") }
        }
        #expect(!server.log.contains("warning gap") && !server.log.contains("error "), "\(server.log.lines)")
        let restored = try await server.restore("a.db")
        #expect(try restored.value("SELECT count(*) FROM note", as: Int.self) == 4)
        try restored.close()
        try await pool.close()
    }

    @Test func `snapshots drop no lock of a queue in rollback-journal mode`() async throws {
        let path = server.path("a.db")
        let queue = try DatabaseQueue(path, key: Server.key())
        try await queue.write { try $0.execute("CREATE TABLE note (text)") }
        let writer = Held()
        try await server.run(server.service(server.job("a", "a.db"))) {
            try await server.wait("the first run") { server.log.count("job done") == 1 }
            writer.start { hold in
                try queue.write { db in
                    try db.execute("INSERT INTO note VALUES ('held')")
                    hold()
                }
            }
            try await server.wait("the transaction") { writer.isHeld }
            for run in 2...4 {
                server.clock.advance(3600)
                try await server.wait("run \(run)") {
                    server.log.count("job done") + server.log.count("job failed") == run
                }
                #expect(try !canLock(path, LockByte.reserved))
            }
            writer.release()
            try await server.wait("the commit") { writer.hasEnded }
        }
        #expect(try canLock(path, LockByte.reserved))
        #expect(try await queue.read { try $0.value("SELECT count(*) FROM note", as: Int.self) } == 1)
        try await queue.close()
    }

    @Test func `a descriptor that is closed beside a pool drops its locks, which the probe of these tests sees`() throws
    {
        let path = server.path("a.db")
        let pool = try server.pool("a.db")
        try pool.write { try $0.execute("CREATE TABLE note (text)") }
        #expect(try !canLock(path, LockByte.shared, 510))
        close(open(path, O_RDONLY | O_CLOEXEC))
        #expect(try canLock(path, LockByte.shared, 510))
        try pool.close()
    }

    /// The other process has another build of SQLite, Python's. Its database is not encrypted, so that every Python can write to it.
    @Test func `writers of this process and of another lose no commit while both are followed and snapshotted here`()
        async throws
    {
        let count = 200
        let path = server.path("a.db")
        let pool = try server.pool("a.db", plaintext: true)
        try await pool.write { db in
            try db.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER, filler BLOB)")
            try db.execute("CREATE TABLE counter (writer INTEGER PRIMARY KEY, n INTEGER)")
            for _ in 0..<50 { try db.execute("INSERT INTO account (amount, filler) VALUES (100, randomblob(1500))") }
            try db.execute("INSERT INTO counter VALUES (0, 0), (1, 0)")
        }
        var job = server.job("a", "a.db", follows: .milliseconds(20))
        job.fullRead = .zero
        try await server.run(server.service(job)) {
            try await server.waitUntilFollowing()
            let other = Process()
            other.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            other.arguments = ["python3", "-c", Self.writer, path, "\(count)"]
            try other.run()
            let own = Task.detached {
                for number in 1...count {
                    try await pool.write { db in
                        try db.execute(
                            "UPDATE account SET amount = amount - \(number % 9) WHERE id = \(number % 50 + 1)")
                        try db.execute(
                            "UPDATE account SET amount = amount + \(number % 9), filler = randomblob(1500) "
                                + "WHERE id = \(number * 7 % 50 + 1)")
                        try db.execute("UPDATE counter SET n = n + 1 WHERE writer = 0")
                    }
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            let ended = Locked(false)
            let watch = Task.detached {
                try await own.value
                other.waitUntilExit()
                ended.withLock { $0 = true }
            }
            // One snapshot after the other, until both are done.
            while !ended.value {
                let before = server.log.count("job done")
                server.clock.advance(3600)
                try await server.wait("a run") { server.log.count("job done") > before || ended.value }
            }
            try await watch.value
            #expect(other.terminationStatus == 0)
        }
        #expect(!server.log.contains("error"), "\(server.log.lines.filter { $0.hasPrefix("error") })")
        #expect(!server.log.contains("warning gap"))
        #expect(try await server.snapshotCount("a.db") >= 2)
        #expect(server.log.count("segment stored") >= 2)
        let restored = try await server.restore("a.db", plaintext: true)
        for db in [restored, try Connection(path)] {
            #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
            #expect(try db.value("SELECT sum(amount) FROM account", as: Int.self) == 5000)
            // With a lost lock, two writers read the same value, and one commit would be missing.
            #expect(try db.value("SELECT min(n) FROM counter", as: Int.self) == count)
            #expect(try db.value("SELECT max(n) FROM counter", as: Int.self) == count)
            try db.close()
        }
        try await pool.close()
    }

    private static let writer = """
        import sqlite3, sys, time
        db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
        for number in range(1, int(sys.argv[2]) + 1):
            db.execute("BEGIN IMMEDIATE")
            (n,) = db.execute("SELECT n FROM counter WHERE writer = 1").fetchone()
            db.execute("UPDATE account SET amount = amount - 1 WHERE id = ?", (number % 50 + 1,))
            db.execute("UPDATE account SET amount = amount + 1 WHERE id = ?", (number * 3 % 50 + 1,))
            db.execute("UPDATE counter SET n = ? WHERE writer = 1", (n + 1,))
            db.execute("COMMIT")
            if number % 40 == 0:
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            time.sleep(0.002)
        """
}

/// A thread that waits in a transaction until it is released.
private final class Held: Sendable {
    private enum Phase { case idle, held, ended, failed }

    private let phase = Locked(Phase.idle)
    private let gate = DispatchSemaphore(value: 0)

    var isHeld: Bool { phase.value == .held }
    var hasEnded: Bool { phase.value == .ended }

    /// Runs `body` on a thread of its own; it calls its parameter inside of the transaction.
    func start(_ body: @escaping @Sendable (() -> Void) throws -> Void) {
        Thread {
            do {
                try body {
                    self.phase.withLock { $0 = .held }
                    self.gate.wait()
                }
                self.phase.withLock { $0 = .ended }
            } catch {
                self.phase.withLock { $0 = .failed }
            }
        }.start()
    }

    func release() { gate.signal() }
}
