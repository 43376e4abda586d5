import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A write-ahead log that somebody or something has changed, from the database to what is restored of its snapshot.
@Suite(.limited) struct LogTamperingTests {
    let scratch = Scratch()

    func repository() async throws -> Repository {
        try await WritableRepository.openOrCreate(
            DirectoryStore(scratch.path("repository")),
            local: LocalDirectories(state: scratch.path("state"), cache: scratch.path("cache"))).repository
    }

    /// A database of two tables' worth of commits, all of them in the log: 10 rows, then 5 more for each further one.
    func logged(_ live: LiveDatabase) throws -> (connection: Connection, ends: [Int]) {
        let db = try live.open(.wal)
        try db.execute("PRAGMA wal_autocheckpoint = 0")
        var ends: [Int] = []
        for commit in 0..<4 {
            try live.fill(db, rows: commit == 0 ? 10 : 5)
            ends.append(try live.bytes("-wal").count)
        }
        return (db, ends)
    }

    func take(_ live: LiveDatabase, _ repository: Repository, patience: Duration = .seconds(10)) async throws -> SnapshotResult {
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        options.database = "live.db"
        options.limits.lockTimeout = patience
        return try await repository.writable().snapshot(of: live.path, options: options)
    }

    /// Where in a frame a byte is flipped, from the frame's start: page number, mark of a commit, salt, checksum, page.
    static let places = [3, 7, 10, 18, 30, 2000]

    @Test(arguments: places)
    func `commits after a flipped byte of a crashed database's log are not in its snapshot, which reports that`(
        place: Int
    ) async throws {
        let live = try LiveDatabase()
        let (db, ends) = try logged(live)
        defer { withExtendedLifetime(db) {} }
        let crashed = try live.crash(["", "-wal"])
        var log = try crashed.bytes("-wal")
        // The first frame of the second commit.
        log[ends[0] + place] ^= 1
        try Data(log).write(to: URL(fileURLWithPath: crashed.path + "-wal"))
        let before = (try crashed.bytes(), try crashed.bytes("-wal"))

        let repository = try await repository()
        let result = try await take(crashed, repository)
        #expect((2...4).contains(result.unreachableCommits))
        #expect(try crashed.bytes() == before.0 && crashed.bytes("-wal") == before.1)
        try await repository.restore(result.snapshot, to: scratch.path("restored.db"))
        let restored = try live.restore(
            [UInt8](Data(contentsOf: URL(fileURLWithPath: scratch.path("restored.db")))))
        #expect(try restored.number("SELECT count(*) FROM t") == 10)
        try restored.close()
        // The engine itself recovers as much.
        let recovered = try crashed.open()
        #expect(try recovered.number("SELECT count(*) FROM t") == 10)
        try recovered.close()
    }

    @Test func `an untouched log of a crashed database is in the snapshot, and nothing is unreachable`() async throws {
        let live = try LiveDatabase()
        let (db, _) = try logged(live)
        // A transaction that was spilled into the log and rolled back leaves frames that never counted.
        try db.execute("PRAGMA cache_size = 5; BEGIN; UPDATE t SET filler = randomblob(3000); ROLLBACK")
        try live.fill(db, rows: 1)
        let crashed = try live.crash(["", "-wal"])
        let repository = try await repository()
        let result = try await take(crashed, repository)
        #expect(result.unreachableCommits == 0)
        try await repository.restore(result.snapshot, to: scratch.path("restored.db"))
        let restored = try live.restore(
            [UInt8](Data(contentsOf: URL(fileURLWithPath: scratch.path("restored.db")))))
        #expect(try restored.number("SELECT count(*) FROM t") == 26)
        try restored.close()
        withExtendedLifetime(db) {}
    }

    /// What happens to the log of a database that is open: the index in `-shm` says how it was.
    enum Change: CaseIterable { case flip, truncate, exchange, empty }

    @Test(arguments: Change.allCases)
    func `a log that was changed under an open database is damage, and no snapshot is stored`(change: Change) async throws {
        let live = try LiveDatabase()
        let (db, ends) = try logged(live)
        let repository = try await repository()
        let log = live.path + "-wal"
        let bytes = try live.bytes("-wal")
        var changed = bytes
        switch change {
        case .flip: changed[ends[1] + 100] ^= 1
        case .truncate: changed.removeLast(bytes.count - ends[2] + 1000)
        case .exchange:
            // Of another database of the same kind.
            let other = try LiveDatabase()
            let (connection, _) = try logged(other)
            changed = try other.bytes("-wal")
            try connection.close()
        case .empty: changed = []
        }
        // The file itself, as the connection has it open.
        try overwrite(log, changed)
        #expect(await StoreCalls.code { _ = try await take(live, repository, patience: .seconds(0.05)) } == .damaged)
        #expect(try await repository.snapshots().isEmpty)
        try overwrite(log, bytes)
        let result = try await take(live, repository)
        #expect(result.unreachableCommits == 0)
        try db.close()
    }

    @Test func `frames after the last commit of a log are not in the snapshot`() async throws {
        let live = try LiveDatabase()
        let (db, _) = try logged(live)
        let handle = try #require(FileHandle(forWritingAtPath: live.path + "-wal"))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(StoreCalls.noise(20_000)))
        try handle.close()
        let repository = try await repository()
        let result = try await take(live, repository)
        try await repository.restore(result.snapshot, to: scratch.path("restored.db"))
        let restored = try live.restore(
            [UInt8](Data(contentsOf: URL(fileURLWithPath: scratch.path("restored.db")))))
        #expect(try restored.number("SELECT count(*) FROM t") == 25)
        try restored.close()
        try db.close()
    }

    private func overwrite(_ path: String, _ bytes: [UInt8]) throws {
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }
}
