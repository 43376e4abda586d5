import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

/// Rekey, vacuum, backup and close by tasks.
@Suite struct AsyncMaintenanceTests {
    let scratch = Scratch()

    /// Holds a reader until it is released.
    private func holdingReader<T>(of pool: DatabasePool, _ body: () async throws -> T) async throws -> T {
        let reading = Flag(false)
        let goOn = Event()
        let reader = Task {
            try await pool.read { db in
                reading.set(true)
                _ = goOn.wait()
                return try db.count()
            }
        }
        #expect(await eventually { reading.value })
        let result = try await body()
        goOn.signal()
        #expect(try await reader.value == 3)
        return result
    }

    @Test func `each works through a pool and through a queue`() async throws {
        for access in [try scratch.pool() as DatabaseAccess, try DatabaseQueue(scratch.path("queue"))] {
            try await access.write { try $0.execute("DROP TABLE IF EXISTS t; " + Scratch.content) }
            let copy = access.path + ".copy"
            let steps = Flag(0)
            try await access.backup(to: copy) { _ in steps.update { $0 += 1 } }
            #expect(steps.value > 0)
            #expect(try Connection(copy).count() == 3)
            try await access.vacuum()
            #expect(try await access.read { try $0.count() } == 3)
            try await access.close()
            try await access.close()
            await #expect { _ = try await access.read { try $0.count() } } throws: {
                ($0 as? VaultError)?.code == .closed
            }
            await #expect { try await access.backup(to: copy + "2") } throws: {
                ($0 as? VaultError)?.code == .closed
            }
            #expect(!FileManager.default.fileExists(atPath: copy + "2"))
        }
    }

    @Test func `each waits for readers without keeping a thread of the tasks, and a cancelled wait changes nothing`()
        async throws
    {
        let pool = try scratch.pool()
        // More of them than there are threads for tasks.
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        try await holdingReader(of: pool) {
            let waits: [@Sendable () async throws -> Void] = [
                { try await pool.close() }, { try await pool.vacuum() }, { try await pool.barrier { _ in } },
                { try await pool.rekey(to: .passphrase("never")) },
            ]
            let tasks = (0..<count * waits.count).map { index in Task { try await waits[index % waits.count]() } }
            #expect(await eventually { pool.coordinator.accessCount >= 2 })
            for task in tasks { task.cancel() }
            for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
            // While the reader keeps reading.
            #expect(await eventually { pool.coordinator.accessCount == 1 })
        }
        try await pool.write { try $0.insert("open") }
        #expect(try await pool.read { try $0.count() } == 4)
        #expect(await eventually { pool.coordinator.accessCount == 0 })
    }

    @Test func `a close that waits lets no new access in, and one that gives up lets them in again`() async throws {
        let pool = try scratch.pool()
        try await holdingReader(of: pool) {
            let closing = Task { try await pool.close() }
            #expect(await eventually { pool.coordinator.accessCount > 1 })
            let done = Flag(false)
            let late = Task {
                let count = try await pool.write { try $0.count() }
                done.set(true)
                return count
            }
            try await Task.sleep(for: .milliseconds(50))
            #expect(!done.value)
            closing.cancel()
            #expect(try await late.value == 3)
            await #expect(throws: CancellationError.self) { try await closing.value }
        }
    }

    @Test func `a cancelled vacuum leaves the database unchanged`() async throws {
        let pool = try scratch.pool()
        try await pool.write { db in
            try db.execute(
                """
                INSERT INTO t (a) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
                SELECT hex(randomblob(50)) FROM n
                """)
        }
        func expectUnchanged() async throws {
            #expect(try await pool.read { try $0.count() } == 20_003)
            #expect(try await pool.read { try $0.value("PRAGMA integrity_check", as: String?.self) } == "ok")
        }
        for pause in [0, 1, 5, 20] {
            let task = Task { try await pool.vacuum() }
            try await Task.sleep(for: .milliseconds(pause))
            task.cancel()
            // It may have been done before.
            if case .failure(let error) = await task.result { #expect(error is CancellationError) }
            try await expectUnchanged()
        }
        // And one that nobody cancels still works, however long it takes.
        try await pool.vacuum()
        try await expectUnchanged()
        #expect(await eventually { pool.coordinator.accessCount == 0 })
    }

    @Test func `a backup that is cancelled leaves no copy`() async throws {
        let pool = try scratch.pool()
        let running = Flag(false)
        let goOn = Event()
        let task = Task {
            try await pool.backup(to: scratch.path("copy")) { _ in
                if !running.value {
                    running.set(true)
                    _ = goOn.wait()
                }
            }
        }
        #expect(await eventually { running.value })
        task.cancel()
        goOn.signal()
        // The last report may have been the one that waited: then there is a copy, and no error.
        if case .failure(let error) = await task.result {
            #expect(error is CancellationError)
            #expect(!FileManager.default.fileExists(atPath: scratch.path("copy")))
        } else {
            #expect(try Connection(scratch.path("copy")).count() == 3)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.directory).allSatisfy {
                !$0.contains("tmp")
            })
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts))
    func `a rekey that is cancelled leaves the old key, one that is done the new one`() async throws {
        let old = try DatabaseKey.passphrase("old")
        let pool = try scratch.pool(key: old, settings: fast)
        for cancels in [true, false] {
            let running = Flag(false)
            let goOn = Event()
            let task = Task {
                try await pool.rekey(to: .passphrase("new")) { _ in
                    if !running.value {
                        running.set(true)
                        _ = goOn.wait()
                    }
                }
            }
            #expect(await eventually { running.value })
            if cancels { task.cancel() }
            goOn.signal()
            let result = await task.result
            let key: DatabaseKey
            switch result {
            case .success: key = try .passphrase("new")
            case .failure(let error):
                #expect(error is CancellationError && cancels)
                key = old
            }
            #expect(try await pool.read { try $0.count() } == 3)
            let connection = try Connection(scratch.path("db"), key: key, settings: fast)
            #expect(try connection.count() == 3)
            try connection.close()
        }
        try await pool.write { try $0.insert("new") }
        #expect(try await pool.read { try $0.count() } == 4)
    }

    @Test func `inside an access each is refused`() throws {
        let pool = try scratch.pool()
        #expect { try pool.read { _ in try pool.vacuum() } } throws: {
            ($0 as? VaultError)?.code == .reentrant
        }
        #expect { try pool.write { _ in try pool.close() } } throws: {
            ($0 as? VaultError)?.code == .reentrant
        }
        #expect(try pool.read { try $0.count() } == 3)
    }
}
