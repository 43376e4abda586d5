import LiteVaultCore
import Testing

@Suite struct TraceTests {
    let db: Connection
    let seen = Shared<[String]>([])

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(x)")
        db.setTrace { [seen] sql in seen.update { $0.append(sql) } }
    }

    @Test func `a trace receives each statement that runs, with its values`() throws {
        try db.run("INSERT INTO t VALUES (?)", with: "it's")
        try db.execute("DELETE FROM t")
        try db.execute("SELECT 1")
        _ = try db.first("SELECT ?", with: 5) { try $0.get(0, as: Int.self) }
        #expect(seen.value == ["INSERT INTO t VALUES ('it''s')", "DELETE FROM t", "SELECT 1", "SELECT 5"])
    }

    @Test func `preparing alone is not traced`() throws {
        _ = try db.prepare("SELECT 2")
        #expect(seen.value == [])
    }

    @Test func `a trace that was removed is not called any more`() throws {
        db.setTrace(nil)
        try db.run("SELECT 1")
        #expect(seen.value == [])
    }

    @Test func `statements of a trigger are traced`() throws {
        try db.execute("CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t WHERE x = 'none'; END")
        seen.update { $0 = [] }
        try db.run("INSERT INTO t VALUES (1)")
        #expect(seen.value.first == "INSERT INTO t VALUES (1)")
        // Old engines announce the trigger, not its statements.
        #expect(seen.value.contains { $0.contains("DELETE FROM t WHERE x = 'none'") || $0 == "-- TRIGGER g" })
    }

    @Test func `a trace can remove itself`() throws {
        db.setTrace { [unowned db, seen] sql in
            seen.update { $0.append(sql) }
            db.setTrace(nil)
        }
        try db.run("SELECT 1")
        try db.run("SELECT 2")
        #expect(seen.value == ["SELECT 1"])
    }

    @Test func `transactions of this library are traced`() throws {
        try db.transaction { try db.run("SELECT 1") }
        #expect(seen.value == ["BEGIN DEFERRED TRANSACTION", "SELECT 1", "COMMIT TRANSACTION"])
    }
}
