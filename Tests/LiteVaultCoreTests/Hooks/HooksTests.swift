import LiteVaultCore
import Testing

@Suite struct HooksTests {
    let db: Connection
    let seen = Shared<[String]>([])

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
    }

    @Test func `an update hook is called for every row`() throws {
        db.updateHook { [seen] operation, schema, table, rowid in
            seen.update { $0.append("\(operation) \(schema) \(table) \(rowid)") }
        }
        try db.run("INSERT INTO t VALUES (7, 'a'), (8, 'b')")
        try db.run("UPDATE t SET x = 'c' WHERE id = 7")
        try db.run("DELETE FROM t WHERE id = 8")
        #expect(seen.value == ["insert main t 7", "insert main t 8", "update main t 7", "delete main t 8"])
    }

    @Test func `a hook that was removed or replaced is not called any more`() throws {
        db.updateHook { [seen] _, _, _, _ in seen.update { $0.append("first") } }
        db.updateHook { [seen] _, _, _, _ in seen.update { $0.append("second") } }
        try db.run("INSERT INTO t VALUES (1, 1)")
        db.updateHook(nil)
        try db.run("INSERT INTO t VALUES (2, 2)")
        #expect(seen.value == ["second"])
    }

    @Test func `a commit hook is called before each commit`() throws {
        db.commitHook { [seen] in seen.update { $0.append("commit") } }
        try db.run("INSERT INTO t VALUES (1, 1)")
        try db.transaction {
            try db.run("INSERT INTO t VALUES (2, 2)")
            try db.run("INSERT INTO t VALUES (3, 3)")
        }
        #expect(seen.value == ["commit", "commit"])
        db.commitHook(nil)
        try db.run("INSERT INTO t VALUES (4, 4)")
        #expect(seen.value.count == 2)
    }

    @Test func `a commit hook that throws makes the commit fail and rolls back`() throws {
        db.commitHook { throw Mishap() }
        db.rollbackHook { [seen] in seen.update { $0.append("rollback") } }
        let error = #expect(throws: DatabaseError.self) {
            try db.transaction { try db.run("INSERT INTO t VALUES (1, 1)") }
        }
        #expect(error?.resultCode.primary == .constraint)
        #expect(throws: DatabaseError.self) { try db.run("INSERT INTO t VALUES (1, 1)") }
        #expect(!db.isInTransaction)
        #expect(seen.value == ["rollback", "rollback"])
        db.commitHook(nil)
        #expect(try db.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `a rollback hook is called after each rollback`() throws {
        db.rollbackHook { [seen] in seen.update { $0.append("rollback") } }
        #expect(throws: Mishap()) { try db.transaction { throw Mishap() } }
        try db.execute("BEGIN; INSERT INTO t VALUES (1, 1); ROLLBACK")
        #expect(seen.value == ["rollback", "rollback"])
        db.rollbackHook(nil)
        try db.execute("BEGIN; ROLLBACK")
        #expect(seen.value.count == 2)
    }

    @Test func `the connection cannot be used from a hook, and is fine afterwards`() throws {
        let codes = Shared<[ResultCode?]>([])
        let attempt: () -> Void = { [unowned db] in
            for attempt in [
                { try db.execute("SELECT 1") }, { try db.run("SELECT 1") },
                { _ = try db.value("SELECT 1", as: StoredValue.self) },
                { _ = try db.prepare("SELECT 1") }, { try db.forEach("SELECT 1") { _ in } }, { try db.close() },
                { try db.transaction {} }, { try db.withHandle { _ in } },
            ] as [() throws -> Void] {
                do {
                    try attempt()
                    codes.update { $0.append(nil) }
                } catch { codes.update { $0.append((error as? DatabaseError)?.resultCode) } }
            }
        }
        db.updateHook { _, _, _, _ in attempt() }
        db.commitHook { attempt() }
        db.rollbackHook { attempt() }
        db.setTrace { _ in attempt() }
        try db.run("INSERT INTO t VALUES (1, 1)")
        try db.execute("BEGIN; ROLLBACK")
        #expect(codes.value.count >= 5 * 8)
        #expect(codes.value.allSatisfy { $0 == .misuse })
        db.setTrace(nil)
        #expect(try db.number("SELECT count(*) FROM t") == 1)
    }

    @Test func `numbers of the connection can be read in a hook`() throws {
        db.updateHook { [unowned db, seen] _, _, _, _ in
            seen.update { $0.append("\(db.isInTransaction) \(db.lastInsertedRowID)") }
        }
        try db.run("INSERT INTO t VALUES (5, 1)")
        #expect(seen.value.count == 1)
    }

    @Test func `a statement released in a hook is finalized later, and nothing is left of it`() throws {
        let held = Shared<Handed<Statement?>>(Handed(value: try db.prepare("SELECT 1")))
        db.updateHook { _, _, _, _ in held.update { $0.value = nil } }
        try db.run("INSERT INTO t VALUES (1, 1)")
        try db.close()
    }
}
