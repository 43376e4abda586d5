import Foundation
import LiteVault
import LiteVaultCore
import LiteVaultPool
import LiteVaultTestSupport
import Testing

@Suite struct CheckpointTests {
    let scratch = Scratch()

    private func size(_ name: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: scratch.path(name))[.size] as? Int) ?? -1
    }

    private func connection() throws -> Connection {
        let connection = try Connection(scratch.path("db"))
        try connection.setPragma(.journalMode, to: .wal)
        try connection.setPragma(.walAutoCheckpoint, to: 0)
        return connection
    }

    /// A second checkpoint begins when the first one has copied everything, and another connection commits in the middle
    /// of it. Returns how many rows were committed, and how many there are in the end.
    private func provoke(_ checkpoint: (Connection) throws -> Void) throws -> (committed: Int, found: Int) {
        let (writer, other) = (try connection(), try connection())
        try writer.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        _ = try other.count()
        for number in 0..<20 { try writer.insert("\(number)") }
        let first = try writer.walCheckpoint()
        #expect(first.log == first.checkpointed && first.log > 20)
        var committed = 20
        var wasThere = false
        let tap = try FileTap.on(other)
        tap.afterHeader = {
            guard !wasThere else { return }
            wasThere = true
            if (try? writer.insert("in the middle")) != nil { committed += 1 }
        }
        try checkpoint(other)
        #expect(wasThere)
        tap.afterHeader = nil
        for number in 0..<3 {
            try writer.insert("later \(number)")
            committed += 1
        }
        try other.close()
        try writer.close()
        let reopened = try Connection(scratch.path("db"))
        return (committed, try reopened.count())
    }

    @Test(.enabled(if: EngineInfo.linked.defects.contains(.walReset)))
    func `on the bare engine, a commit in the middle of a checkpoint loses rows`() throws {
        let (committed, found) = try provoke { try $0.walCheckpoint() }
        #expect(committed == 24)
        #expect(found < committed)
    }

    @Test func `H-WAL-01 nobody commits in the middle of a guarded checkpoint, and no row is lost`() throws {
        let guardian = try connection()
        let (committed, found) = try provoke { try $0.walCheckpoint(guardedBy: guardian) }
        #expect(committed == 23)
        #expect(found == committed)
    }

    @Test(arguments: EngineInfo.linked.encrypts ? [false, true] : [false])
    func `H-WAL-01 while a pool checkpoints, no other connection can commit`(encrypted: Bool) throws {
        let key = encrypted ? try DatabaseKey.passphrase("a key") : nil
        var configuration = DatabaseConfiguration()
        configuration.prepare = { if !$0.isReadOnly { try $0.setPragma(.walAutoCheckpoint, to: 20) } }
        let pool = try scratch.pool(key: key, settings: key == nil ? .init() : fast, configuration: configuration)
        let other = try key.map { try Connection(scratch.path("db"), key: $0, settings: fast) } ?? connection()
        try other.setPragma(.walAutoCheckpoint, to: 0)
        _ = try other.count()
        let outcome = Locked((checkpoints: 0, refused: 0))
        try pool.writeWithoutTransaction { writer in
            #expect(try writer.pragma(.walAutoCheckpoint) == 20)
            try FileTap.on(writer).beforeLock = {
                let isRefused = (try? other.execute("BEGIN IMMEDIATE; COMMIT")) == nil
                outcome.withLock {
                    ($0.checkpoints, $0.refused) = ($0.checkpoints + 1, $0.refused + (isRefused ? 1 : 0))
                }
            }
            // Commits of one closure, as many as are needed for several checkpoints.
            for number in 0..<200 { try writer.insert("\(number)") }
        }
        let (checkpoints, refused) = outcome.withLock { $0 }
        #expect(checkpoints >= 5)
        #expect(refused == checkpoints)
        // They copied something: the log started over.
        #expect(size("db-wal") < 60 * 4200)
        try other.insert("afterwards")
        #expect(try pool.read { try $0.count() } == 204)
        // The guardian keeps nobody from being the last to close, which removes the log.
        try other.close()
        try pool.close()
        #expect(size("db-wal") == -1)
    }

    @Test func `a checkpoint that another writer prevents is made up for by the next commit`() throws {
        let (db, other) = (try connection(), try connection())
        try db.execute("CREATE TABLE t (a)")
        var checkpoints = 0
        try FileTap.on(db).beforeLock = { checkpoints += 1 }
        // Somebody begins to write right after the commit.
        try db.setWALAutoCheckpoint(
            1,
            guardedBy: { [scratch] in
                try other.execute("BEGIN IMMEDIATE")
                return try Connection(scratch.path("db"))
            })
        try db.insert("x")
        #expect(checkpoints == 0)
        try other.execute("ROLLBACK")
        try db.insert("y")
        #expect(checkpoints == 1)
        let answer = try db.walCheckpoint()
        #expect(answer.log == answer.checkpointed)
        try db.setPragma(.walAutoCheckpoint, to: 0)
        try db.insert("z")
        #expect(checkpoints == 2)
        #expect(try db.pragma(.walAutoCheckpoint) == 0)
    }

    @Test func `a pool whose setup switches checkpoints off makes none`() throws {
        var configuration = DatabaseConfiguration()
        configuration.prepare = { if !$0.isReadOnly { try $0.setPragma(.walAutoCheckpoint, to: 0) } }
        let pool = try scratch.pool(configuration: configuration)
        try pool.writeWithoutTransaction { writer in
            for number in 0..<1500 { try writer.insert("\(number)") }
            let answer = try writer.walCheckpoint()
            #expect(answer.log > 1500)
        }
    }

    @Test func `two pools that commit to one file at the same time lose nothing`() throws {
        var configuration = DatabaseConfiguration()
        configuration.synchronous = .off
        configuration.lockTimeout = .seconds(20)
        configuration.prepare = { if !$0.isReadOnly { try $0.setPragma(.walAutoCheckpoint, to: 3) } }
        let pools =
            [try scratch.pool(configuration: configuration)]
            + [try DatabasePool(scratch.path("db"), configuration: configuration)]
        let failures = Locked([String]())
        let all = DispatchGroup()
        for (index, pool) in pools.enumerated() {
            all.enter()
            background {
                for number in 0..<400 {
                    do { try pool.write { try $0.insert("\(index) \(number)") } } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
                all.leave()
            }
        }
        all.wait()
        #expect(failures.withLock { $0 } == [])
        for pool in pools { try pool.close() }
        let db = try Connection(scratch.path("db"))
        #expect(try db.count() == 803)
        #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test func `a checkpoint is guarded by another connection to the same file only`() throws {
        let (db, guardian) = (try connection(), try connection())
        #expect(throws: DatabaseError.self) { try db.walCheckpoint(guardedBy: db) }
        #expect(throws: DatabaseError.self) { try db.walCheckpoint(mode: .full, guardedBy: guardian) }
        #expect(throws: DatabaseError.self) { try db.walCheckpoint(schema: "temp", guardedBy: guardian) }
        #expect(throws: DatabaseError.self) { try db.walCheckpoint(guardedBy: Connection(scratch.path("other"))) }
        try guardian.execute("CREATE TABLE t (a)")
        #expect(try db.walCheckpoint(guardedBy: guardian).busy == false)
        // Nothing is left behind.
        #expect(!guardian.isInTransaction)
        try db.execute("INSERT INTO t VALUES (1)")
        // A writer that does not end.
        let third = try connection()
        try third.execute("BEGIN IMMEDIATE")
        #expect { try db.walCheckpoint(guardedBy: guardian) } throws: {
            ($0 as? DatabaseError)?.resultCode.primary == .busy
        }
        try third.execute("ROLLBACK")
        #expect(try db.walCheckpoint(guardedBy: guardian).busy == false)
    }

    @Test func `H-WAL-02 emptying the log gives up, and copies nothing, during a write`() throws {
        let (db, writer) = (try connection(), try connection())
        try db.execute("CREATE TABLE t (a)")
        try writer.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
        db.lockTimeout = .seconds(0.1)
        let before = size("db")
        #expect(try db.emptyLog() == false)
        // Engines before 3.16 are not to be interrupted there.
        if EngineInfo.linked.isAtLeast(3, 16) { #expect(size("db") == before) }
        #expect(db.lockTimeout == .seconds(0.1))
        try writer.execute("COMMIT")
        #expect(try db.emptyLog())
        #expect(size("db-wal") == 0)
    }

    @Test func `the page's example`() throws {
        let path = scratch.path("page")
        let db = try Connection(path)
        try db.setPragma(.journalMode, to: .wal)
        try db.setWALAutoCheckpoint(guardedBy: { try Connection(path) })
        try db.execute("CREATE TABLE IF NOT EXISTS note (text TEXT)")

        let guardian = try Connection(path)
        let state = try db.walCheckpoint(guardedBy: guardian)
        #expect(state.log == state.checkpointed)
    }

    @Test func `the engines with the defect are known by their versions`() {
        func has(_ number: Int, _ cipher: String? = nil) -> Bool {
            EngineInfo.hasWALReset(SQLiteVersion(number: number), sqlcipher: cipher)
        }
        for number in [3_007_000, 3_015_002, 3_040_001, 3_044_005, 3_045_003, 3_050_006, 3_051_002] {
            #expect(has(number))
        }
        for number in [3_006_023, 3_044_006, 3_050_007, 3_051_003, 3_052_000, 4_000_000] { #expect(!has(number)) }
        #expect(has(3_046_001, "4.6.1") && has(3_015_002, "3.4.1") && has(3_051_002, "4.13.0"))
        #expect(!has(3_051_003, "4.14.0") && !has(3_046_001, "5.0.0") && !has(3_051_003, "4.13.0"))
    }
}
