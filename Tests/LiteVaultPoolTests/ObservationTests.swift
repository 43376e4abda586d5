import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

@Suite struct ObservationTests {
    let scratch = Scratch()

    /// Counts the elements of an observation of a region, from the second one on.
    private func counting(
        _ region: DatabaseRegion, of access: DatabaseAccess, pollInterval: Duration? = nil
    ) async -> (Flag<Int>, DatabaseObservation) {
        let count = Flag(-1)
        let observation = access.observe(
            region, pollInterval: pollInterval, onError: { Issue.record($0) }, onChange: { count.update { $0 += 1 } })
        #expect(await eventually { count.value == 0 })
        return (count, observation)
    }

    /// Whether a change is reported, after a time in which it would have been.
    private func isTold(
        _ region: DatabaseRegion, _ change: @Sendable @escaping (Connection) throws -> Void
    ) async throws -> Bool {
        let place = Scratch()
        defer { withExtendedLifetime(place) {} }
        let pool = try place.pool()
        try await pool.write {
            try $0.execute(
                """
                CREATE TABLE other (id INTEGER PRIMARY KEY, b UNIQUE); INSERT INTO other (b) VALUES (1), (2), (3);
                CREATE TABLE sentinel (x); CREATE TABLE named (name TEXT PRIMARY KEY) WITHOUT ROWID;
                CREATE TABLE child (parent REFERENCES other ON DELETE CASCADE); INSERT INTO child VALUES (1);
                CREATE TRIGGER fired AFTER UPDATE ON t BEGIN INSERT INTO sentinel VALUES (new.id); END;
                """)
        }
        var iterator = pool.changes(in: region.union(.table("last"))).makeAsyncIterator()
        _ = try await iterator.next()
        try? await pool.writeWithoutTransaction(change)
        let seen = Flag(false)
        let told = Task { [iterator] in
            var iterator = iterator
            // nil: cancelled.
            if try await iterator.next() != nil { seen.set(true) }
        }
        // Told without being asked for: at once, or not at all. A read in between lets it happen.
        for _ in 0..<30 where !seen.value {
            _ = try await pool.read { try $0.count() }
            try await Task.sleep(for: .milliseconds(20))
        }
        told.cancel()
        _ = await told.result
        return seen.value
    }

    @Test func `a committed change of the table notifies`() async throws {
        #expect(try await isTold(.table("T")) { try $0.insert("new") })
        #expect(try await isTold(.table("t")) { try $0.execute("UPDATE t SET a = 1 WHERE id = 2") })
        #expect(try await isTold(.table("t")) { try $0.execute("DELETE FROM t WHERE id = 2") })
        #expect(try await isTold(.everything) { try $0.insert("new") })
    }

    @Test func `a change of another table notifies nobody`() async throws {
        #expect(try await !isTold(.table("other")) { try $0.insert("new") })
        #expect(try await !isTold(.table("t")) { try $0.execute("INSERT INTO other (b) VALUES (10)") })
    }

    @Test func `changes that the update hook does not report notify`() async throws {
        #expect(try await isTold(.table("named")) { try $0.execute("INSERT INTO named VALUES ('a')") })
        #expect(try await isTold(.table("t")) { try $0.execute("DELETE FROM t") })
        #expect(try await isTold(.table("t")) { try $0.execute("ALTER TABLE t ADD COLUMN c") })
    }

    @Test func `changes by triggers and foreign keys notify`() async throws {
        #expect(try await isTold(.table("sentinel")) { try $0.execute("UPDATE t SET a = 1") })
        #expect(try await isTold(.table("child")) { try $0.execute("DELETE FROM other WHERE id = 1") })
    }

    @Test func `a rolled-back change never notifies`() async throws {
        #expect(
            try await !isTold(.table("t")) { db in
                try db.transaction {
                    try db.insert("undone")
                    throw Refused()
                }
            })
        #expect(
            try await !isTold(.table("t")) { db in
                try db.transaction {
                    try? db.withSavepoint(named: "a 'quoted' name") {
                        try db.insert("undone")
                        throw Refused()
                    }
                    try db.execute("INSERT INTO other (b) VALUES (10)")
                }
            })
        // A statement that fails undoes itself, not the transaction.
        #expect(
            try await !isTold(.table("other")) { db in
                try db.transaction {
                    try? db.execute("INSERT INTO other (b) VALUES (20), (1)")
                    try db.insert("kept")
                }
            })
    }

    @Test func `a released savepoint notifies`() async throws {
        #expect(
            try await isTold(.table("t")) { db in
                try db.withSavepoint { try db.withSavepoint { try db.insert("kept") } }
            })
    }

    @Test func `rows are observed by their rowids, however they change or go`() async throws {
        #expect(try await isTold(.rows([2], of: "t")) { try $0.execute("UPDATE t SET a = 1 WHERE id = 2") })
        #expect(try await !isTold(.rows([2], of: "t")) { try $0.execute("UPDATE t SET a = 1 WHERE id = 1") })
        #expect(try await !isTold(.rows([2], of: "t")) { try $0.insert("new") })
        #expect(try await isTold(.rows([4], of: "t")) { try $0.insert("new") })
        // The engine tells neither of these of row 2.
        #expect(try await isTold(.rows([2], of: "t")) { try $0.execute("UPDATE t SET id = 20 WHERE id = 2") })
        #expect(try await isTold(.rows([2], of: "other")) { try $0.execute("REPLACE INTO other VALUES (9, 2)") })
    }

    @Test func `a value is emitted now, and whenever it changes`() async throws {
        for access in [try scratch.pool() as DatabaseAccess, try DatabaseQueue()] {
            try await access.write { try $0.execute("DROP TABLE IF EXISTS t;" + Scratch.content) }
            var values = access.values { try $0.count() }.makeAsyncIterator()
            #expect(try await values.next() == 3)
            try await access.write { try $0.insert("new") }
            #expect(try await values.next() == 4)
            // Not another value, another table, nothing committed: none of it is given.
            try await access.write { try $0.execute("UPDATE t SET a = 'other'") }
            try? await access.write { db in
                try db.insert("undone")
                throw Refused()
            }
            try await access.write {
                try $0.insert("a")
                try $0.insert("b")
            }
            #expect(try await values.next() == 6)
        }
    }

    @Test func `the tables that a value reads may change between reads`() async throws {
        let pool = try scratch.pool()
        try await pool.write {
            try $0.execute("CREATE TABLE which (name); INSERT INTO which VALUES ('t'); CREATE TABLE u (a)")
        }
        var values = pool.values { db in
            let name = try db.first("SELECT name FROM which") { try $0.get(0, as: String.self) } ?? "t"
            return try db.first("SELECT count(a) FROM \(sql: name)") { try $0.get(0, as: Int.self) } ?? -1
        }.makeAsyncIterator()
        #expect(try await values.next() == 3)
        try await pool.write { try $0.execute("UPDATE which SET name = 'u'") }
        #expect(try await values.next() == 0)
        try await pool.write { try $0.execute("INSERT INTO u VALUES (1)") }
        #expect(try await values.next() == 1)
    }

    @Test func `many commits during one iteration are coalesced into one value`() async throws {
        let pool = try scratch.pool()
        var values = pool.values { try $0.count() }.makeAsyncIterator()
        #expect(try await values.next() == 3)
        for _ in 0..<20 { try await pool.write { try $0.insert("x") } }
        #expect(try await values.next() == 23)
    }

    @Test func `callbacks are called until the observation is released`() async throws {
        let pool = try scratch.pool()
        let seen = Flag([Int]())
        var observation: DatabaseObservation? = pool.observe(
            { try $0.count() }, onError: { Issue.record($0) }, onChange: { count in seen.update { $0.append(count) } })
        #expect(await eventually { seen.value == [3] })
        try await pool.write { try $0.insert("x") }
        #expect(await eventually { seen.value == [3, 4] })
        withExtendedLifetime(observation) {}
        observation = nil
        #expect(await eventually { !pool.coordinator.isObserved })
        try await pool.write { try $0.insert("x") }
        #expect(seen.value == [3, 4])
    }

    @Test func `an error of the read ends the observation and is reported`() async throws {
        let pool = try scratch.pool()
        let failed = Flag(false)
        let observation = pool.observe(
            { db in try db.count() }, onError: { _ in failed.set(true) }, onChange: { _ in })
        try await pool.write { try $0.execute("DROP TABLE t") }
        #expect(await eventually { failed.value })
        withExtendedLifetime(observation) {}
    }

    @Test func `changes of another process notify if polling is on`() async throws {
        let pool = try scratch.pool()
        let (count, observation) = await counting(.table("t"), of: pool, pollInterval: .milliseconds(20))
        let other = try Connection(scratch.path("db"))
        try other.insert("from elsewhere")
        #expect(await eventually { count.value >= 1 })
        withExtendedLifetime(observation) {}
        var values = pool.values(pollInterval: .milliseconds(20)) { try $0.count() }.makeAsyncIterator()
        #expect(try await values.next() == 4)
        try other.insert("from elsewhere")
        #expect(try await values.next() == 5)
    }

    @Test func `the hooks of the user are called beside the observation`() async throws {
        let changes = Flag([String]())
        var configuration = DatabaseConfiguration()
        configuration.prepare = { db in
            db.updateHook { _, _, table, rowid in changes.update { $0.append("\(table) \(rowid)") } }
            db.commitHook { changes.update { $0.append("commit") } }
            db.rollbackHook { changes.update { $0.append("rollback") } }
        }
        let pool = try scratch.pool(configuration: configuration)
        let (count, observation) = await counting(.table("t"), of: pool)
        changes.set([])
        try await pool.write { try $0.insert("x") }
        try? await pool.write { _ in throw Refused() }
        #expect(await eventually { count.value == 1 })
        #expect(changes.value.starts(with: ["t 4", "commit"]))
        withExtendedLifetime(observation) {}
    }
}
