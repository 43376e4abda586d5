import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

/// The error of a suspended database.
private func isSuspension(_ error: any Error) -> Bool { (error as? VaultError)?.code == .suspended }

@Suite struct SuspensionTests {
    let scratch = Scratch()

    private static let endless: SQL = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
        """

    /// The locks of this process on the files of the database `db`, as the system lists them for each of its descriptors.
    ///
    /// Not by `/proc/locks`: reading that stops all locking on the machine until each processor was in the kernel, which endless statements
    /// in other tests can put off for minutes.
    private func locks() throws -> Set<String> {
        #if os(Linux)
            // Links name the file itself: the directory may be behind one.
            let directory = try #require(
                realpath(scratch.path("."), nil).map { place in
                    defer { free(place) }
                    return String(cString: place)
                })
            let paths = ["db", "db-wal", "db-shm", "db-journal"].map { directory + "/" + $0 }
            var found: Set<String> = []
            for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
                guard
                    let path = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/" + descriptor),
                    paths.contains(path), let text = try? content(of: "/proc/self/fdinfo/" + descriptor)
                else { continue }
                // lock:   1: POSIX  ADVISORY  READ 18856 fe:00:16236581 128 128
                for line in text.split(separator: "\n") where line.hasPrefix("lock:") {
                    let words = line.split { $0 == " " || $0 == "\t" }
                    found.insert(words.dropFirst(2).joined(separator: " "))
                }
            }
            return found
        #else
            return []
        #endif
    }

    /// The whole of a file whose size is not known: the kernel returns a page at a time, which is not its end.
    private func content(of path: String) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Refused() }
        defer { close(file) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(file, &part, part.count), count > 0 { content += part[..<count] }
        return String(decoding: content, as: UTF8.self)
    }

    private enum Kind: CaseIterable { case pool, encryptedPool, queue, encryptedQueue }

    private func database(_ kind: Kind) throws -> DatabaseAccess {
        let key = kind == .encryptedPool || kind == .encryptedQueue ? try DatabaseKey.passphrase("a key") : nil
        let settings = key == nil ? CipherSettings() : fast
        switch kind {
        case .pool, .encryptedPool: return try scratch.pool(key: key, settings: settings)
        case .queue, .encryptedQueue:
            let queue = try DatabaseQueue(scratch.path("db"), key: key, settings: settings)
            try queue.write { try $0.execute(Scratch.content) }
            return queue
        }
    }

    @Test(arguments: EngineInfo.linked.encrypts ? Kind.allCases : [.pool, .queue])
    private func `a suspended database holds no lock, refuses every access, and works again when it is resumed`(
        kind: Kind
    ) async throws {
        let access = try database(kind)
        #expect(try await access.read { try $0.count() } == 3)
        let derivations = access.coordinator.keyDerivations
        let isPool = access is DatabasePool
        #if os(Linux)
            // What an idle connection to a database in WAL mode holds: SHARED on the file, and on -shm.
            if isPool { #expect(try await eventually { try locks().count >= 2 }) }
        #endif
        #expect(await access.suspend())
        #expect(access.isSuspended)
        #expect(try locks() == [])
        // Nothing was copied from the log into the file.
        #expect(FileManager.default.fileExists(atPath: scratch.path("db-wal")) == isPool)
        let copy = scratch.path("copy")
        await #expect(performing: { try await access.read { try $0.count() } }, throws: isSuspension)
        await #expect(performing: { try await access.write { try $0.insert("no") } }, throws: isSuspension)
        await #expect(performing: { try await access.barrier { try $0.insert("no") } }, throws: isSuspension)
        await #expect(
            performing: { try await access.readSnapshot(after: { try $0.insert("no") }) { db, _ in try db.count() } },
            throws: isSuspension)
        await #expect(performing: { try await access.backup(to: copy) }, throws: isSuspension)
        await #expect(performing: { try await access.vacuum() }, throws: isSuspension)
        #expect(performing: { try refusedHere(access) }, throws: isSuspension)
        #expect(!FileManager.default.fileExists(atPath: copy))
        access.releaseMemory()
        #expect(try locks() == [])
        access.resume()
        #expect(!access.isSuspended)
        #expect(try await access.read { try $0.count() } == 3)
        try await access.write { try $0.insert("yes") }
        #expect(try await access.read { try $0.count() } == 4)
        #expect(access.coordinator.keyDerivations == derivations || EngineInfo.linked.sqlcipherMajorVersion == 3)
        try await access.close()
    }

    /// The synchronous form, which an asynchronous test cannot call.
    private func refusedHere(_ access: DatabaseAccess) throws {
        try access.write { try $0.insert("no") }
    }

    @Test func `a write that runs is interrupted and rolled back, and its locks are released`() async throws {
        let pool = try scratch.pool()
        let running = Flag(false)
        let task = Task {
            try await pool.write { db in
                try db.insert("undone")
                running.set(true)
                return try db.value(Self.endless, as: Int64.self)
            }
        }
        #expect(await eventually { running.value })
        #expect(await pool.suspend(waiting: .seconds(600)))
        #expect(try locks() == [])
        await #expect(performing: { try await task.value }, throws: isSuspension)
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 3)
        // Many short statements instead of a long one.
        running.set(false)
        let short = Task {
            try await pool.write { db in
                while true {
                    try db.insert("undone")
                    running.set(true)
                }
            }
        }
        #expect(await eventually { running.value })
        #expect(await pool.suspend(waiting: .seconds(600)))
        #expect(try locks() == [])
        await #expect(performing: { try await short.value }, throws: isSuspension)
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 3)
    }

    @Test func `reads that run are interrupted, and no reader keeps its lock`() async throws {
        let pool = try scratch.pool()
        let tasks = (0..<3).map { _ in Task { try await pool.read { try $0.value(Self.endless, as: Int64.self) } } }
        #expect(await eventually { pool.coordinator.openReaderCount == 3 })
        #expect(await pool.suspend(waiting: .seconds(600)))
        #expect(try locks() == [])
        #expect(pool.coordinator.openReaderCount == 0)
        for task in tasks { await #expect(performing: { try await task.value }, throws: isSuspension) }
        pool.resume()
        // The first access after it is a read, which cannot open the log by itself.
        #expect(try await pool.read { try $0.count() } == 3)
    }

    @Test func `a write that ignores the suspension is not committed, and the locks go when it has returned`()
        async throws
    {
        let pool = try scratch.pool()
        let running = Flag(false)
        let goOn = Event()
        let task = Task {
            try await pool.write { db in
                try db.insert("undone")
                running.set(true)
                _ = goOn.wait()
                return (try? db.insert("refused")) != nil
            }
        }
        #expect(await eventually { running.value })
        // The closure is not executing a statement.
        #expect(await pool.suspend(waiting: .zero) == false)
        #expect(pool.isSuspended)
        goOn.signal()
        await #expect(performing: { try await task.value }, throws: isSuspension)
        #expect(await pool.suspend(waiting: .seconds(600)))
        #expect(try locks() == [])
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 3)
    }

    @Test func `a commit of a closure's own transaction is refused, and so is every further statement`() async throws {
        let pool = try scratch.pool()
        let running = Flag(false)
        let goOn = Event()
        let outcomes = Flag<[Bool]>([])
        let task = Task {
            try await pool.writeWithoutTransaction { db in
                try db.execute("BEGIN IMMEDIATE")
                try db.insert("undone")
                running.set(true)
                _ = goOn.wait()
                outcomes.update { $0.append((try? db.execute("COMMIT")) != nil) }
                outcomes.update { $0.append((try? db.insert("again")) != nil) }
                outcomes.update { $0.append((try? db.transaction { try db.insert("again") }) != nil) }
                outcomes.update { $0.append((try? db.prepare("SELECT 1").run()) != nil) }
            }
        }
        #expect(await eventually { running.value })
        #expect(await pool.suspend(waiting: .zero) == false)
        goOn.signal()
        await #expect(performing: { try await task.value }, throws: isSuspension)
        #expect(outcomes.value == [false, false, false, false])
        #expect(await pool.suspend(waiting: .seconds(600)))
        #expect(try locks() == [])
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 3)
    }

    @Test func `tasks and threads that wait for their turn get the error while the writer is still busy`() async throws
    {
        let pool = try scratch.pool()
        let running = Flag(false)
        let goOn = Event()
        let first = Task {
            try await pool.write { _ in
                running.set(true)
                _ = goOn.wait()
            }
        }
        #expect(await eventually { running.value })
        let task = Task { try await pool.write { try $0.insert("never") } }
        let refused = Flag(false)
        background {
            do { try pool.write { try $0.insert("never") } } catch { refused.set(isSuspension(error)) }
        }
        #expect(await pool.suspend(waiting: .zero) == false)
        await #expect(performing: { try await task.value }, throws: isSuspension)
        #expect(await eventually { refused.value })
        goOn.signal()
        await #expect(performing: { try await first.value }, throws: isSuspension)
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 3)
    }

    @Test func `suspending twice is ended by one resume, and resuming what is not suspended does nothing`() async throws
    {
        let pool = try scratch.pool()
        pool.resume()
        #expect(await pool.suspend())
        #expect(await pool.suspend())
        pool.resume()
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 3)
        #expect(await pool.suspend())
        #expect(try locks() == [])
        pool.resume()
        try await pool.write { try $0.insert("new") }
        #expect(try await pool.read { try $0.count() } == 4)
    }

    @Test func `inside an access, suspending does not wait, and ends that access`() async throws {
        let pool = try scratch.pool()
        await #expect(
            performing: {
                try await pool.write { db in
                    try db.insert("undone")
                    #expect(pool.suspend(waiting: .seconds(600)) == false)
                }
            }, throws: isSuspension)
        #expect(await pool.suspend(waiting: .seconds(600)))
        #expect(try locks() == [])
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 3)
    }

    @Test func `a suspended database can be closed, and is not suspended afterwards`() async throws {
        let pool = try scratch.pool()
        #expect(await pool.suspend())
        try await pool.close()
        #expect(!pool.isSuspended)
        await #expect(
            performing: { try await pool.read { try $0.count() } },
            throws: {
                ($0 as? VaultError)?.code == .closed
            })
        #expect(await pool.suspend())
        #expect(!pool.isSuspended)
        pool.resume()
        #expect(try locks() == [])
    }

    @Test func `a database in memory keeps its content, and its transaction is rolled back`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { try $0.execute(Scratch.content) }
        let running = Flag(false)
        let task = Task {
            try await queue.write { db in
                try db.insert("undone")
                running.set(true)
                return try db.value(Self.endless, as: Int64.self)
            }
        }
        #expect(await eventually { running.value })
        #expect(await queue.suspend(waiting: .seconds(600)))
        await #expect(performing: { try await task.value }, throws: isSuspension)
        queue.resume()
        running.set(false)
        // A read, which the writer must be able to write after; with a statement left in the middle of its rows.
        let read = Task {
            try await queue.read { db in
                let left = try db.prepare("SELECT a FROM t")
                _ = try left.nextValues()
                running.set(true)
                return try db.value(Self.endless, as: Int64.self)
            }
        }
        #expect(await eventually { running.value })
        #expect(await queue.suspend(waiting: .seconds(600)))
        await #expect(performing: { try await read.value }, throws: isSuspension)
        queue.resume()
        try await queue.write { try $0.insert("new") }
        #expect(try await queue.read { try $0.count() } == 4)
    }

    @Test func `H-SCH-17: a suspension during a migration leaves foreign keys enforced`() async throws {
        let queue = try DatabaseQueue()
        let running = Flag(false)
        let task = Task {
            var migrator = Migrator()
            migrator.registerMigration("endless") { db in
                running.set(true)
                _ = try db.value(Self.endless, as: Int64.self)
            }
            try await migrator.migrate(queue)
        }
        #expect(await eventually { running.value })
        #expect(await queue.suspend(waiting: .seconds(600)))
        await #expect(throws: (any Error).self) { try await task.value }
        queue.resume()
        #expect(try await queue.read { try $0.value("PRAGMA foreign_keys", as: Int64.self) } == 1)
    }

    @Test func `suspending at random moments loses no commit, and leaves no half of one`() async throws {
        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = 3
        configuration.synchronous = .off
        let pool = try scratch.pool(configuration: configuration)
        let commits = Flag(0)
        for round in 0..<40 {
            let tasks = (0..<6).map { index in
                Task {
                    if index % 3 == 0 {
                        try await pool.write { db in for _ in 0..<10 { try db.insert("\(round)") } }
                        commits.update { $0 += 1 }
                    } else {
                        let count = try await pool.read { try $0.count() }
                        #expect((count - 3) % 10 == 0)
                    }
                }
            }
            if round % 2 == 0 { try await Task.sleep(for: .microseconds(round * 50)) }
            #expect(await pool.suspend(waiting: .seconds(600)))
            #expect(try locks() == [])
            pool.resume()
            for task in tasks {
                if case .failure(let error) = await task.result { #expect(isSuspension(error), "\(error)") }
            }
        }
        #expect(await eventually { pool.coordinator.accessCount == 0 })
        #expect(try await pool.read { try $0.count() } == 3 + 10 * commits.value)
        #expect(try await pool.read { try $0.value("PRAGMA integrity_check", as: String.self) } == "ok")
        try await pool.close()
        #expect(!FileManager.default.fileExists(atPath: scratch.path("db-wal")))
    }
}

/// What is not an access, and ends with a suspension, too.
@Suite struct SuspendedOperationTests {
    let scratch = Scratch()

    @Test func `an observation emits after the resume what another connection has changed meanwhile`() async throws {
        let pool = try scratch.pool()
        let values = Flag<[Int]>([])
        let regions = Flag(0)
        let observations = [
            pool.observe(
                { try $0.count() }, onError: { Issue.record($0) },
                onChange: { count in values.update { $0.append(count) } }),
            pool.observe(.table("t"), onError: { Issue.record($0) }, onChange: { regions.update { $0 += 1 } }),
        ]
        #expect(await eventually { values.value == [3] && regions.value == 1 })
        #expect(await pool.suspend())
        let other = try Connection(scratch.path("db"))
        try other.insert("by another")
        try other.close()
        pool.resume()
        #expect(await eventually { values.value == [3, 4] && regions.value == 2 })
        try await pool.write { try $0.insert("here") }
        #expect(await eventually { values.value == [3, 4, 5] && regions.value == 3 })
        withExtendedLifetime(observations) {}
    }

    @Test func `an observation that begins during a suspension waits for its end, or for its cancellation`()
        async throws
    {
        let pool = try scratch.pool()
        #expect(await pool.suspend())
        let values = Flag<[Int]>([])
        let observation = pool.observe(
            { try $0.count() }, onError: { Issue.record($0) }, onChange: { count in values.update { $0.append(count) } }
        )
        let cancelled = Task {
            for try await _ in pool.values({ try $0.count() }) { return false }
            return true
        }
        cancelled.cancel()
        #expect(try await cancelled.value)
        #expect(values.value == [])
        pool.resume()
        #expect(await eventually { values.value == [3] })
        withExtendedLifetime(observation) {}
    }

    @Test func `an observation that waits for a resume ends with an error when the database is closed`() async throws {
        let pool = try scratch.pool()
        #expect(await pool.suspend())
        let ended = Flag("")
        let observation = pool.observe(
            { try $0.count() }, onError: { error in ended.set((error as? VaultError)?.code.rawValue ?? "\(error)") },
            onChange: { _ in })
        try await pool.close()
        #expect(await eventually { ended.value == "closed" })
        withExtendedLifetime(observation) {}
    }

    @Test func `a backup ends, and its destination does not exist`() async throws {
        let pool = try scratch.pool()
        let copy = scratch.path("copy")
        await #expect(
            performing: {
                try await pool.backup(to: copy) { _ in
                    // On a thread that is not inside an access: it does not wait for this one.
                    _ = pool.suspend(waiting: .zero)
                }
            }, throws: isSuspension)
        #expect(!FileManager.default.fileExists(atPath: copy))
        #expect(await pool.suspend(waiting: .seconds(600)))
        pool.resume()
        try await pool.backup(to: copy)
        #expect(try Connection(copy).count() == 3)
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts, "the linked engine does not encrypt"))
    func `a change of the key ends, and the old key stays in effect`() async throws {
        let key = try DatabaseKey.passphrase("old")
        let pool = try scratch.pool(key: key, settings: fast)
        await #expect(
            performing: {
                try await pool.rekey(to: .passphrase("new")) { _ in _ = pool.suspend(waiting: .zero) }
            }, throws: isSuspension)
        #expect(await pool.suspend(waiting: .seconds(600)))
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 3)
        try await pool.close()
        #expect(try Connection(scratch.path("db"), key: key, settings: fast).count() == 3)
    }

    @Test func `the chunks of a blob end with a suspension, and its connection is closed`() async throws {
        let pool = try scratch.pool()
        let content = [UInt8](repeating: 7, count: 3000)
        try await pool.write { try $0.run("INSERT INTO t (id, a) VALUES (10, ?)", with: content) }
        let stream = pool.chunks(of: BlobLocation("t", "a", rowid: 10), size: 1000)
        var suspended = stream.makeAsyncIterator()
        #expect(try await suspended.next() == Array(content.prefix(1000)))
        var resumed = stream.makeAsyncIterator()
        #expect(try await resumed.next() == Array(content.prefix(1000)))
        #expect(await pool.suspend())
        await #expect(performing: { _ = try await suspended.next() }, throws: isSuspension)
        pool.resume()
        await #expect(
            performing: { _ = try await resumed.next() },
            throws: {
                ($0 as? VaultError)?.code == .blobExpired
            })
        var all: [UInt8] = []
        for try await chunk in stream { all += chunk }
        #expect(all == content)
    }

    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 16), "older engines do not interrupt checkpoints"))
    func `a checkpoint that runs ends, and the commit before it stays`() async throws {
        var configuration = DatabaseConfiguration()
        configuration.prepare = { if !$0.isReadOnly { try $0.setPragma(.walAutoCheckpoint, to: 20) } }
        let pool = try scratch.pool(configuration: configuration)
        let checkpoints = Flag(0)
        try await pool.writeWithoutTransaction { writer in
            try FileTap.on(writer).beforeLock = {
                checkpoints.update { $0 += 1 }
                // Not inside the access, whose thread this is.
                let isSuspended = Event()
                background {
                    _ = pool.suspend(waiting: .zero)
                    isSuspended.signal()
                }
                _ = isSuspended.wait()
            }
        }
        let size = { [scratch] in
            try FileManager.default.attributesOfItem(atPath: scratch.path("db"))[.size] as? Int
        }
        let before = try size()
        try await pool.write { db in
            for _ in 0..<100 { try db.run("INSERT INTO t (a) VALUES (?)", with: [UInt8](repeating: 1, count: 4000)) }
        }
        #expect(checkpoints.value == 1)
        #expect(await pool.suspend(waiting: .seconds(600)))
        #expect(try size() == before)
        pool.resume()
        #expect(try await pool.read { try $0.count() } == 103)
    }
}
