import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

@Suite struct AsyncTests {
    let scratch = Scratch()

    private static let endless: SQL = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
        """

    @Test func `tasks read and write, more of them than there are readers`() async throws {
        let pool = try scratch.pool()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<50 {
                group.addTask {
                    if index % 5 == 0 { try await pool.write { try $0.insert("\(index)") } }
                    return try await pool.read { try $0.count() }
                }
            }
            for try await count in group { #expect((3...13).contains(count)) }
        }
        #expect(try await pool.read { try $0.count() } == 13)
        #expect(await eventually { pool.coordinator.accessCount == 0 })
        #expect(try await pool.readSnapshot(after: { try $0.insert("last") }) { db, _ in try db.count() } == 14)
        #expect(try await pool.barrier { try $0.count() } == 14)
    }

    @TaskLocal static var request = "none"

    @Test func `closures have the task-local values of the task that calls, and see that it is cancelled`() async throws
    {
        let pool = try scratch.pool()
        let queue = try DatabaseQueue(scratch.path("queue.db"))
        let seen = try await Self.$request.withValue("42") {
            [
                try await pool.read { _ in Self.request }, try await pool.write { _ in Self.request },
                try await pool.writeWithoutTransaction { _ in Self.request },
                try await pool.barrier { _ in Self.request },
                try await pool.readSnapshot(after: { _ in Self.request }) { _, made in made + Self.request },
                try await queue.read { _ in Self.request }, try await queue.write { _ in Self.request },
            ]
        }
        #expect(seen == ["42", "42", "42", "42", "4242", "42", "42"])
        #expect(try await pool.read { _ in Self.request } == "none")
        #expect(try await pool.read { _ in Task.isCancelled } == false)

        let (running, noticed) = (Flag(false), Flag(false))
        let task = Task {
            try await pool.writeWithoutTransaction { _ in
                running.set(true)
                while !Task.isCancelled { usleep(1000) }
                noticed.set(true)
            }
        }
        #expect(await eventually { running.value })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(noticed.value)
    }

    @Test func `closures that block, more of them than processors, leave the threads of other tasks alone`()
        async throws
    {
        let count = ProcessInfo.processInfo.activeProcessorCount * 4
        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = count
        let pool = try scratch.pool(configuration: configuration)
        let mayEnd = Flag(false)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await pool.read { _ in
                        // Without threads of their own nothing would end them. Other suites may keep the threads of tasks for a while.
                        for _ in 0..<300_000 where !mayEnd.value { usleep(1000) }
                        return mayEnd.value
                    }
                }
            }
            #expect(await eventually { pool.coordinator.accessCount == count })
            await Task.detached { mayEnd.set(true) }.value
            for try await ended in group { #expect(ended) }
        }
    }

    @Test func `tasks that wait have their own values, too, and those that are refused get their errors`() async throws
    {
        let pool = try scratch.pool()
        let (running, mayEnd) = (Flag(false), Flag(false))
        let holder = Task {
            try await pool.write { _ in
                running.set(true)
                while !mayEnd.value { usleep(1000) }
            }
        }
        #expect(await eventually { running.value })
        let waiting = (0..<200).map { index in
            Task { try await Self.$request.withValue("\(index)") { try await pool.write { _ in Self.request } } }
        }
        for task in waiting.prefix(100) { task.cancel() }
        for task in waiting.prefix(100) { await #expect(throws: CancellationError.self) { try await task.value } }
        mayEnd.set(true)
        try await holder.value
        for (index, task) in waiting.enumerated().dropFirst(100) { #expect(try await task.value == "\(index)") }
        #expect(await eventually { pool.coordinator.accessCount == 0 })
    }

    @Test func `an access leaves nothing behind, whether it ran, waited or was cancelled`() async throws {
        final class Token: Sendable {}
        weak var token: Token?
        let pool = try scratch.pool()
        do {
            let own = Token()
            token = own
            try await pool.read { _ in _ = own }
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await pool.write { _ in _ = own }
            }
            await #expect(throws: CancellationError.self) { try await cancelled.value }
        }
        // What is resumed without a permit, or has just ended, may still hold it for a moment.
        for _ in 0..<60_000 where token != nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(token == nil)
    }

    @Test func `cancelling a read interrupts its statement`() async throws {
        let pool = try scratch.pool()
        let running = Flag(false)
        let task = Task {
            try await pool.read { db in
                running.set(true)
                return try db.value(Self.endless, as: Int64.self)
            }
        }
        #expect(await eventually { running.value })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await eventually { pool.coordinator.accessCount == 0 })
        #expect(try await pool.read { try $0.count() } == 3)
    }

    @Test func `more endless statements than processors keep no task from running, and all can be cancelled`()
        async throws
    {
        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = ProcessInfo.processInfo.activeProcessorCount + 2
        let pool = try scratch.pool(configuration: configuration)
        let tasks = (0..<configuration.maximumReaderCount).map { _ in
            Task { try await pool.read { try $0.value(Self.endless, as: Int64.self) } }
        }
        #expect(await eventually { pool.coordinator.accessCount == tasks.count })
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(await eventually { pool.coordinator.accessCount == 0 })
    }

    @Test func `cancelling a write rolls it back, also between short statements`() async throws {
        let pool = try scratch.pool()
        let running = Flag(false)
        let task = Task {
            try await pool.write { db in
                while true {
                    try db.insert("undone")
                    running.set(true)
                }
            }
        }
        #expect(await eventually { running.value })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await pool.read { try $0.count() } == 3)
        try await pool.write { try $0.insert("kept") }
        #expect(try await pool.read { try $0.count() } == 4)
    }

    @Test func `a write that ignores its cancellation is rolled back all the same`() async throws {
        let pool = try scratch.pool()
        let running = Flag(false)
        let cancelled = Event()
        let task = Task {
            try await pool.write { db in
                try db.insert("undone")
                running.set(true)
                _ = cancelled.wait()
                return 1
            }
        }
        #expect(await eventually { running.value })
        task.cancel()
        cancelled.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await pool.read { try $0.count() } == 3)
    }

    @Test func `a cancelled task stops waiting for its turn`() async throws {
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
        let second = Task { try await pool.write { try $0.insert("never") } }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        goOn.signal()
        try await first.value
        #expect(try await pool.read { try $0.count() } == 3)
        #expect(await eventually { pool.coordinator.accessCount == 0 })
    }

    @Test func `cancellation at random moments leaves no transaction, no access and no connection behind`() async throws
    {
        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = 3
        configuration.synchronous = .off
        let pool = try scratch.pool(configuration: configuration)
        for round in 0..<60 {
            let tasks = (0..<6).map { index in
                Task {
                    if index % 3 == 0 {
                        try await pool.write { db in
                            for _ in 0..<10 { try db.insert("\(round)") }
                        }
                    } else {
                        _ = try await pool.read { db in
                            try db.all("SELECT a FROM t") { try $0.get(0, as: String.self) }
                        }
                    }
                }
            }
            if round % 2 == 0 { try await Task.sleep(for: .microseconds(round * 20)) }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
        }
        #expect(await eventually { pool.coordinator.accessCount == 0 })
        #expect(pool.coordinator.openReaderCount <= 3)
        let count = try await pool.read { try $0.count() }
        #expect((count - 3) % 10 == 0)
        #expect(try await pool.writeWithoutTransaction { $0.isInTransaction } == false)
        try await pool.close()
        #expect(!FileManager.default.fileExists(atPath: scratch.path("db-wal")))
    }
}
