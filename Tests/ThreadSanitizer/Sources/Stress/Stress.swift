import Foundation
import LiteVault

/// Stress SECONDS: 8 reading and 2 writing tasks on one pool, with cancellations at random moments, a task that swallows the
/// errors of its cancelled writes, observers, a thread that uses the synchronous calls, and now and then a barrier, a vacuum, a
/// backup and released memory. Invariants are checked all the time; a data race is
/// reported by the sanitizer, which ends the process with its own status.
@main
enum Stress {
    static func main() async throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 20
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("litevault-stress-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("accounts.db").path
        let key =
            EngineInfo.linked.encryption == .none ? nil : try DatabaseKey.passphrase("a passphrase for the stress test")

        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = 4
        configuration.synchronous = .off
        configuration.idleReaderTimeout = .milliseconds(200)
        configuration.prepare = { db in
            try db.defineFunction("half", argumentCount: 1, deterministic: true) { arguments in
                (arguments[0] as? Int64).map { $0 / 2 }
            }
        }
        let pool = try DatabasePool(
            path, key: key, settings: CipherSettings(kdfIterations: 1000), configuration: configuration)
        try await pool.write { db in
            try db.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount >= 0), owner TEXT)")
            for _ in 0..<100 { try db.run("INSERT INTO account (amount) VALUES (1000)") }
        }

        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        let counts = Counts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { while clock.now < end { try await read(pool, counts) } } }
            for _ in 0..<2 { group.addTask { while clock.now < end { try await transfer(pool, counts) } } }
            group.addTask { try await observe(pool, counts, until: end) }
            group.addTask { while clock.now < end { try await swallow(pool, counts) } }
            group.addTask { try await observeColumn(pool, counts, until: end) }
            group.addTask {
                while clock.now < end {
                    try await Task.sleep(for: .milliseconds(150))
                    pool.releaseMemory()
                    try await pool.barrier { _ in }
                    try await maintain(pool, path + ".copy", counts)
                }
            }
            let thread = Thread {
                while clock.now < end {
                    do {
                        try requireTotal(try pool.read { try total($0) })
                        try pool.write { try move($0) }
                    } catch { fail("a synchronous access: \(error)") }
                }
            }
            thread.start()
            try await group.waitForAll()
        }
        try requireTotal(try await pool.read { try total($0) })
        guard try await pool.writeWithoutTransaction({ !$0.isInTransaction }) else { fail("a transaction is open") }
        try await pool.close()
        // A connection that was forgotten would keep the log.
        guard !FileManager.default.fileExists(atPath: path + "-wal") else {
            fail("the log is left, and these are open: \(openFiles(path))")
        }
        print(counts.summary)
        guard counts.isComplete else { fail("something of this was never done") }
    }

    /// The descriptors of this process for a database and its companions.
    private static func openFiles(_ path: String) -> [String] {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
            .filter { $0.contains(path) }
    }

    private static func read(_ pool: DatabasePool, _ counts: Counts) async throws {
        let task = Task {
            try await pool.read { db in
                let first = try total(db)
                let second = try total(db)
                guard first == second else { fail("two reads of one transaction differ: \(first), \(second)") }
                return first
            }
        }
        if Int.random(in: 0..<4) == 0 {
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<300)))
            task.cancel()
        }
        do {
            try requireTotal(try await task.value)
            counts.add(\.reads)
        } catch is CancellationError { counts.add(\.cancelledReads) }
    }

    private static func transfer(_ pool: DatabasePool, _ counts: Counts) async throws {
        let task = Task { try await pool.write { try move($0) } }
        if Int.random(in: 0..<4) == 0 {
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<500)))
            task.cancel()
        }
        do {
            try await task.value
            counts.add(\.writes)
        } catch is CancellationError { counts.add(\.cancelledWrites) }
        let sum = try await pool.readSnapshot(after: { try move($0) }, { db, _ in try total(db) })
        try requireTotal(sum)
    }

    /// A write that catches its errors and continues: cancelled or not, it moves all of the money or none of it.
    private static func swallow(_ pool: DatabasePool, _ counts: Counts) async throws {
        let task = Task {
            try await pool.write { db in
                // Half of it in each statement: alone, either would change the total.
                for _ in 0..<20 {
                    try? db.run("UPDATE account SET amount = amount + 1 WHERE id <= 50")
                    try? db.run("UPDATE account SET amount = amount - 1 WHERE id > 50 AND amount > 0")
                }
                // Puts the total right again, of what is left to the transaction.
                let sum = try total(db)
                try db.run("UPDATE account SET amount = amount + ? WHERE id = 1", with: 100_000 - sum)
            }
        }
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<2000)))
        task.cancel()
        do {
            try await task.value
            counts.add(\.writes)
        } catch is CancellationError {
            counts.add(\.cancelledWrites)
        } catch let error as DatabaseError where error.resultCode.primary == .constraint {
            // Account 1 has not enough: nothing was moved.
        }
        try requireTotal(try await pool.read { try total($0) })
        try await Task.sleep(for: .milliseconds(5))
    }

    /// An observer of a column that nobody sets reads it once, and after each vacuum.
    private static func observeColumn(
        _ pool: DatabasePool, _ counts: Counts, until end: ContinuousClock.Instant
    ) async throws {
        let reads = Counts()
        let observation = pool.observe(
            { db in
                reads.add(\.observed)
                return try db.all("SELECT owner FROM account") { try $0.get(0, as: String?.self) }.count
            }, onError: { fail("observing: \($0)") }, onChange: { _ in counts.add(\.observed) })
        while ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(100)) }
        withExtendedLifetime(observation) {}
        // A vacuum counts for everything; the first value was read, and one vacuum may be under way.
        if reads.observedCount > counts.maintenanceCount + 3 {
            fail("a column that nobody set was read \(reads.observedCount) times, with \(counts.maintenanceCount) vacuums")
        }
    }

    /// What closes or needs every connection, cancelled as often as not.
    private static func maintain(_ pool: DatabasePool, _ copy: String, _ counts: Counts) async throws {
        let which = Int.random(in: 0..<2)
        let task = Task {
            if which == 0 { try await pool.vacuum() } else { try await pool.backup(to: copy) }
        }
        if Bool.random() {
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<3000)))
            task.cancel()
        }
        do {
            try await task.value
            counts.add(\.maintained)
        } catch is CancellationError { counts.add(\.cancelledMaintenance) }
        if which == 1, FileManager.default.fileExists(atPath: copy) { try FileManager.default.removeItem(atPath: copy) }
    }

    private static func observe(_ pool: DatabasePool, _ counts: Counts, until end: ContinuousClock.Instant) async throws {
        // Differs with every transfer, so that each state is given.
        let values = pool.values(pollInterval: .milliseconds(100)) { db in
            [try total(db), try db.first("SELECT sum(id * amount) FROM account") { try $0.get(0, as: Int64.self) } ?? -1]
        }
        for try await value in values {
            try requireTotal(value[0])
            counts.add(\.observed)
            if ContinuousClock.now >= end { return }
        }
    }

    /// Moves money from one account to another: the total stays.
    private static func move(_ db: Connection) throws {
        let from = Int64.random(in: 1...100)
        let to = Int64.random(in: 1...100)
        guard let amount = try db.first("SELECT half(amount) FROM account WHERE id = ?", with: from, transform: { try $0.get(0, as: Int64.self) })
        else { fail("account \(from) is gone") }
        try db.run("UPDATE account SET amount = amount - ? WHERE id = ?", with: amount, from)
        try db.run("UPDATE account SET amount = amount + ? WHERE id = ?", with: amount, to)
    }

    private static func total(_ db: Connection) throws -> Int64 {
        try db.first("SELECT sum(amount) FROM account") { try $0.get(0, as: Int64.self) } ?? -1
    }

    private static func requireTotal(_ total: Int64) throws {
        if total != 100_000 { fail("the total is \(total)") }
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("stress: \(message)\n".utf8))
        exit(1)
    }
}
