import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

@Suite struct PoolTests {
    let scratch = Scratch()

    @Test func `a read sees what was committed before it began, whatever is written meanwhile`() throws {
        let pool = try scratch.pool()
        let counts = try pool.read { db in
            let before = try db.count()
            let written = Event()
            background {
                try? pool.write { try $0.insert("meanwhile") }
                written.signal()
            }
            #expect(written.wait())
            return [before, try db.count()]
        }
        #expect(counts == [3, 3])
        #expect(try pool.read { try $0.count() } == 4)
    }

    @Test func `a write that throws leaves nothing, and the pool usable`() throws {
        let pool = try scratch.pool()
        #expect(throws: Refused.self) {
            try pool.write { db in
                try db.insert("undone")
                throw Refused()
            }
        }
        #expect(try pool.read { try $0.count() } == 3)
        try pool.write { try $0.insert("kept") }
        #expect(try pool.read { try $0.count() } == 4)
    }

    @Test func `a reader cannot write`() throws {
        let pool = try scratch.pool()
        #expect { try pool.read { try $0.insert("no") } } throws: {
            ($0 as? DatabaseError)?.resultCode.primary == .readOnly
        }
        #expect(try pool.read { try $0.count() } == 3)
    }

    @Test func `readers are opened when they are needed, at most as many as configured`() throws {
        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = 2
        let pool = try scratch.pool(configuration: configuration)
        #expect(pool.coordinator.openReaderCount == 0)
        _ = try pool.read { try $0.count() }
        _ = try pool.read { try $0.count() }
        #expect(pool.coordinator.openReaderCount == 1)
        let all = DispatchGroup()
        for _ in 0..<20 {
            all.enter()
            background {
                _ = try? pool.read { try $0.count() }
                all.leave()
            }
        }
        all.wait()
        #expect((1...2).contains(pool.coordinator.openReaderCount))
        #expect(pool.coordinator.accessCount == 0)
    }

    @Test func `readers read at the same time`() throws {
        let pool = try scratch.pool()
        let inside = Event()
        let other = Event()
        try pool.read { _ in
            background {
                try? pool.read { _ in
                    other.signal()
                    _ = inside.wait()
                }
                other.signal()
            }
            #expect(other.wait())
        }
        inside.signal()
        #expect(other.wait())
    }

    @Test func `idle readers are closed after the configured time, and by releaseMemory`() async throws {
        var configuration = DatabaseConfiguration()
        configuration.idleReaderTimeout = .milliseconds(50)
        let pool = try scratch.pool(configuration: configuration)
        _ = try await pool.read { try $0.count() }
        #expect(await eventually { pool.coordinator.openReaderCount == 0 })
        configuration.idleReaderTimeout = nil
        let kept = try DatabasePool(scratch.path("db"), configuration: configuration)
        _ = try await kept.read { try $0.count() }
        #expect(kept.coordinator.openReaderCount == 1)
        kept.releaseMemory()
        #expect(kept.coordinator.openReaderCount == 0)
        #expect(try await kept.read { try $0.count() } == 3)
    }

    @Test func `an access inside an access of the same pool is refused`() throws {
        let pool = try scratch.pool()
        let refusal: (any Error) -> Bool = { ($0 as? VaultError)?.code == .reentrant }
        #expect(performing: { try pool.write { _ in try pool.read { _ in } } }, throws: refusal)
        #expect(performing: { try pool.write { _ in try pool.write { _ in } } }, throws: refusal)
        #expect(performing: { try pool.read { _ in try pool.read { _ in } } }, throws: refusal)
        #expect(performing: { try pool.read { _ in try pool.barrier { _ in } } }, throws: refusal)
        #expect(performing: { try pool.barrier { _ in try pool.close() } }, throws: refusal)
        let other = try DatabaseQueue()
        #expect(try pool.write { _ in try other.read { try $0.value("SELECT 1", as: Int64?.self) } } == 1)
        #expect(try pool.read { try $0.count() } == 3)
    }

    @Test func `a transaction that a closure leaves open is rolled back and reported`() throws {
        let pool = try scratch.pool()
        #expect {
            try pool.writeWithoutTransaction { db in
                try db.execute("BEGIN")
                try db.insert("undone")
            }
        } throws: {
            ($0 as? VaultError)?.code == .transactionLeftOpen
        }
        #expect(try pool.read { try $0.count() } == 3)
        try pool.write { try $0.insert("kept") }
    }

    @Test func `a statement that leaves its closure pins no snapshot`() throws {
        let pool = try scratch.pool()
        let statement = try pool.read { db in
            let statement = try db.prepare("SELECT a FROM t")
            _ = try statement.advance()
            return statement
        }
        try pool.write { try $0.insert("new") }
        #expect(try pool.read { try $0.count() } == 4)
        withExtendedLifetime(statement) {}
    }

    @Test func `a snapshot after a write is of that write, and lets others write`() throws {
        let pool = try scratch.pool()
        let count = try pool.readSnapshot(after: { try $0.insert("mine") }) { db, _ in
            let written = Event()
            background {
                try? pool.write { try $0.insert("other") }
                written.signal()
            }
            #expect(written.wait())
            return try db.count()
        }
        #expect(count == 4)
        #expect(try pool.read { try $0.count() } == 5)
        #expect(pool.coordinator.accessCount == 0)
    }

    @Test func `a barrier waits for the readers and keeps others out`() throws {
        let pool = try scratch.pool()
        let reading = Event()
        let goOn = Event()
        let done = Event()
        let isReading = Flag(true)
        background {
            try? pool.read { _ in
                reading.signal()
                _ = goOn.wait()
                isReading.set(false)
            }
            done.signal()
        }
        #expect(reading.wait())
        background { goOn.signal() }
        try pool.barrier { _ in #expect(!isReading.value) }
        #expect(done.wait())
        #expect(pool.coordinator.accessCount == 0)
    }

    @Test func `safe defaults hold on every connection, and each can be changed`() throws {
        let pool = try scratch.pool()
        #expect(try pool.read { try $0.pragma(.foreignKeys) && $0.lockTimeout == .seconds(5) && $0.isReadOnly })
        #expect(
            try pool.write {
                try $0.pragma(.foreignKeys) && $0.pragma(.journalMode) == .wal && $0.pragma(.synchronous) == .full
            })
        var configuration = DatabaseConfiguration()
        configuration.foreignKeys = false
        configuration.lockTimeout = .seconds(1)
        configuration.synchronous = .normal
        configuration.writeMode = .deferred
        let other = try DatabasePool(scratch.path("db"), configuration: configuration)
        #expect(try other.read { try !$0.pragma(.foreignKeys) && $0.lockTimeout == .seconds(1) })
        #expect(try other.write { try $0.pragma(.synchronous) == .normal })
        // A deferred transaction lets another one begin: an immediate one would wait.
        try other.write { _ in try pool.write { try $0.insert("meanwhile") } }
    }

    @Test func `prepare runs on every connection, and functions can be added later`() throws {
        let prepared = Flag(0)
        var configuration = DatabaseConfiguration()
        configuration.prepare = { db in
            prepared.update { $0 += 1 }
            try db.defineFunction("twice", argumentCount: 1, deterministic: true) { arguments in
                (arguments[0] as? Int64).map { $0 * 2 }
            }
        }
        let pool = try scratch.pool(configuration: configuration)
        #expect(try pool.read { try $0.value("SELECT twice(21)", as: Int64?.self) } == 42)
        #expect(prepared.value == 2)
        let traced = Flag([String]())
        try pool.onEveryConnection { db in
            try db.defineFunction("thrice", argumentCount: 1, deterministic: true) { arguments in
                (arguments[0] as? Int64).map { $0 * 3 }
            }
            try db.createCollation("backwards") { left, right in
                left == right ? .orderedSame : left < right ? .orderedDescending : .orderedAscending
            }
            db.setTrace { sql in traced.update { $0.append(sql) } }
        }
        let sql: SQL = "SELECT thrice(14), (SELECT a FROM t ORDER BY a COLLATE backwards LIMIT 1)"
        let result = { (db: Connection) in
            try db.first(sql) { "\(try $0.get(0, as: Int.self))\(try $0.get(1, as: String.self))" }
        }
        #expect(try pool.read(result) == "42z")
        #expect(try pool.write(result) == "42z")
        #expect(traced.value.filter { $0 == sql.template }.count == 2)
    }

    @Test func `a backup of a pool in use is the database of one moment`() throws {
        let pool = try scratch.pool()
        try pool.read { db in
            _ = try db.count()
            try pool.backup(to: scratch.path("copy"))
        }
        #expect(try Connection(scratch.path("copy")).count() == 3)
        try pool.read { db in
            let target = try Connection(.inMemory)
            let backup = try Backup(sourceConnection: db, targetConnection: target)
            try backup.step()
            backup.finish()
            #expect(try target.count() == 3)
        }
    }

    @Test func `a vacuum waits for the readers and leaves a small file`() throws {
        let pool = try scratch.pool()
        try pool.write { db in
            for _ in 0..<200 { try db.run("INSERT INTO t (a) VALUES (zeroblob(4000))") }
        }
        try pool.write { try $0.execute("DELETE FROM t WHERE id > 3") }
        _ = try pool.read { try $0.count() }
        try pool.vacuum()
        let size = try FileManager.default.attributesOfItem(atPath: scratch.path("db"))[.size] as? Int ?? .max
        #expect(size < 100_000)
        #expect(try pool.read { try $0.count() } == 3)
    }

    @Test func `migrations run through a pool, and its readers see the new schema`() throws {
        let pool = try scratch.pool()
        let before = try pool.read { try $0.count() }
        var migrator = Migrator()
        migrator.registerMigration("a second table") { db in
            try db.execute("CREATE TABLE second (id INTEGER PRIMARY KEY); INSERT INTO second VALUES (7)")
        }
        try pool.writeWithoutTransaction { try migrator.migrate($0) }
        let second = try pool.read { try $0.value("SELECT id FROM second", as: Int64?.self) }
        #expect(before == 3 && second == 7)
    }

    @Test func `a closed pool rejects accesses, and its files are intact`() throws {
        let pool = try scratch.pool()
        _ = try pool.read { try $0.count() }
        try pool.close()
        try pool.close()
        #expect { _ = try pool.read { try $0.count() } } throws: { ($0 as? VaultError)?.code == .closed }
        #expect { _ = try pool.write { try $0.count() } } throws: { ($0 as? VaultError)?.code == .closed }
        #expect(!FileManager.default.fileExists(atPath: scratch.path("db-wal")))
        #expect(try Connection(scratch.path("db")).count() == 3)
    }

    @Test func `close waits for an idle reader that is being closed`() async throws {
        let began = Flag(false)
        var configuration = DatabaseConfiguration()
        configuration.idleReaderTimeout = .milliseconds(10)
        configuration.prepare = { db in
            guard db.isReadOnly else { return }
            try FileTap.on(db).beforeClose = {
                began.set(true)
                Thread.sleep(forTimeInterval: 0.3)
            }
        }
        let pool = try scratch.pool(configuration: configuration)
        _ = try await pool.read { try $0.count() }
        #expect(await eventually { began.value })
        try await pool.close()
        #expect(!FileManager.default.fileExists(atPath: scratch.path("db-wal")))
    }

    @Test func `a queue over one connection has the same face`() throws {
        for queue in [try DatabaseQueue(), try DatabaseQueue(scratch.path("queue"))] {
            let access: DatabaseAccess = queue
            try access.write { try $0.execute(Scratch.content) }
            #expect { try access.read { try $0.insert("no") } } throws: {
                ($0 as? DatabaseError)?.resultCode.primary == .readOnly
            }
            try access.write { try $0.insert("yes") }
            #expect(try access.readSnapshot(after: { try $0.insert("and") }) { db, _ in try db.count() } == 5)
            #expect(try access.barrier { try $0.count() } == 5)
            try access.vacuum()
            #expect { try access.read { _ in try access.read { _ in } } } throws: {
                ($0 as? VaultError)?.code == .reentrant
            }
        }
    }
}

/// A value that several threads use.
final class Flag<T>: @unchecked Sendable {  // `stored` only under `lock`
    private let lock = NSLock()
    private var stored: T
    init(_ value: T) { stored = value }
    var value: T { lock.withLock { stored } }
    func set(_ value: T) { lock.withLock { stored = value } }
    func update(_ body: (inout T) -> Void) { lock.withLock { body(&stored) } }
}
