import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// A restore over a database that a crash has left, with the engine as the judge of what it is at each moment.
@Suite(.limited) struct InPlaceTests {
    /// A repository with one snapshot, and the database as a crash has left it after more commits.
    private struct Crashed {
        let live: LiveDatabase
        let left: LiveDatabase
        let repository: Repository

        init(_ mode: Connection.JournalMode) async throws {
            live = try LiveDatabase()
            let db = try live.open(mode)
            try live.fill(db, rows: 40)
            repository = try await WritableRepository.openOrCreate(
                DirectoryStore(live.directory + "/repository"),
                local: LocalDirectories(state: live.directory + "/state", cache: live.directory + "/cache")).repository
            var options = SnapshotOptions()
            options.database = "a.db"
            options.allowsPlaintext = true
            _ = try await repository.writable().snapshot(of: live.path, options: options)
            try db.execute("UPDATE t SET v = 7")
            if mode == .wal {
                left = try live.crash(["", "-wal", "-shm"])
            } else {
                // Pages of a transaction that did not end are in the file, and must be rolled back.
                try db.execute(
                    "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE t SET v = 9, filler = randomblob(500)"
                )
                left = try live.crash(["", "-journal"])
                try db.execute("ROLLBACK")
            }
        }

        func restore(keeping: String? = nil, verify: @escaping @Sendable (String) throws -> Void = { _ in })
            async throws
        {
            var options = RestoreOptions()
            options.replacesExisting = true
            options.originalPath = keeping
            options.verify = verify
            try await repository.restore(.latest, to: left.path, options: options)
        }
    }

    @Test(arguments: [Connection.JournalMode.wal, .delete])
    func `what a crash left in a log or journal is merged into the database that is kept`(
        _ mode: Connection.JournalMode
    ) async throws {
        let crashed = try await Crashed(mode)
        let kept = crashed.left.directory + "/kept.db"
        try await crashed.restore(keeping: kept)
        for suffix in ["-wal", "-journal", "-shm"] { #expect(!crashed.left.exists(suffix)) }
        let new = try crashed.left.open()
        #expect(try new.number("SELECT sum(v) FROM t") == 40)
        #expect(try new.value("PRAGMA integrity_check", as: String.self) == "ok")
        try new.close()
        let old = try crashed.left.open(at: kept)
        #expect(try old.number("SELECT sum(v) FROM t") == 280)
        #expect(try old.value("PRAGMA integrity_check", as: String.self) == "ok")
        try old.close()
    }

    @Test func `H-REP-22 a restore that was killed once it had kept the old database is completed by the next one`() async throws {
        let crashed = try await Crashed(.wal)
        let kept = crashed.left.directory + "/kept.db"
        // What a kill between the link and the rename leaves.
        try FileManager.default.linkItem(atPath: crashed.left.path, toPath: kept)
        try await crashed.restore(keeping: kept)
        let (new, old) = (try crashed.left.open(), try crashed.left.open(at: kept))
        #expect(try new.number("SELECT sum(v) FROM t") == 40)
        #expect(try old.number("SELECT sum(v) FROM t") == 280)
        // Another file under that name is not replaced, and another link is not kept.
        let other = crashed.left.directory + "/other.db"
        try FileManager.default.linkItem(atPath: crashed.left.path, toPath: other)
        for name in [kept, nil] {
            let error = await #expect(throws: VaultError.self) { try await crashed.restore(keeping: name) }
            #expect(error?.code == .usage && error?.remedy?.contains("killed") == true)
        }
    }

    @Test func `H-BAK-51 the replaced database is kept and a process waits for it: that is said, and is not a success`() throws {
        let live = try LiveDatabase()
        let db = try live.open(.delete)
        try live.fill(db, rows: 4)
        try db.close()
        let kept = live.directory + "/kept.db"
        let old = try UnusedDatabase(live.path, keptAs: kept)
        try old.settle()
        try old.keep(as: kept)
        try old.requireUnwanted()
        // The name belongs to another file now.
        #expect(unlink(live.path) == 0)
        let opened = open(kept, O_RDWR | O_NONBLOCK)
        let code = errno
        #expect(opened == -1 && code == EWOULDBLOCK)
        let error = #expect(throws: VaultError.self) { try old.retire(keptAs: kept) }
        #expect(error?.code == .busy && error?.message.contains(kept) == true)
        #expect(error?.remedy?.contains(kept + "-wal") == true)
    }

    @Test func `a name by which the old database cannot be kept is refused before anything is fetched`() async throws {
        let crashed = try await Crashed(.wal)
        let taken = crashed.left.directory + "/taken.db"
        try Data([1]).write(to: URL(fileURLWithPath: taken))
        // In another file system, taken, and in no directory.
        for name in ["/proc/kept.db", taken, crashed.left.directory + "/none/kept.db"] {
            let error = await #expect(throws: VaultError.self) {
                try await crashed.restore(keeping: name) { _ in throw VaultError(.damaged, "verified what was fetched") }
            }
            #expect(error?.code == .cannotCreate)
        }
    }

    @Test func `a database that does not pass verification is not put in place`() async throws {
        let crashed = try await Crashed(.wal)
        let before = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: crashed.left.path + $0)) }
        await #expect(throws: VaultError.self) {
            try await crashed.restore { _ in throw VaultError(.damaged, "not what it should be") }
        }
        #expect(try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: crashed.left.path + $0)) } == before)
    }

    @Test func `a connection of this process keeps the database from being replaced`() async throws {
        let crashed = try await Crashed(.wal)
        let db = try crashed.left.open()
        let error = await #expect(throws: VaultError.self) { try await crashed.restore() }
        #expect(error?.code == .busy)
        #expect(try db.number("SELECT sum(v) FROM t") == 280)
        try db.close()
        try await crashed.restore()
    }
}
