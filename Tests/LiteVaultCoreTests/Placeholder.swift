import LiteVaultCore
import Testing

@Suite struct Smoke {
    @Test func `everything at once`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, x REAL, d BLOB)")
        var insert: Statement? = try db.prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
        try insert?.run(1, "a\0b", 1.5, Blob(bytes: [1, 2]))
        try insert?.run(with: 2, "bé", 2.5, nil as Blob?)
        try db.run("INSERT INTO t VALUES (:id, :n, NULL, NULL)", [":id": 3, ":n": "c"])
        try db.run("INSERT INTO t VALUES (?, ?, NULL, NULL)", with: 4, "d")
        #expect(try db.scalar("SELECT count(*) FROM t") as? Int64 == 4)
        let names = try db.all("SELECT id, name FROM t ORDER BY id") { try $0.get("name", as: String.self) }
        #expect(names == ["a\0b", "bé", "c", "d"])
        let one = try db.first("SELECT x FROM t WHERE id = ?", with: 2) { try $0.get(0, as: Double.self) }
        #expect(one == 2.5)
        #expect(try Array(try db.prepare("SELECT id FROM t")).count == 4)
        let sum = try db.transaction { try db.transaction { try db.scalar("SELECT sum(id) FROM t") as? Int64 } }
        #expect(sum == 10)
        try db.defineAggregation("cat", initialValue: "", step: { $0 += ($1[0] as? String) ?? "" }, result: { $0 })
        #expect(try db.scalar("SELECT cat(name) FROM t WHERE id > 2") as? String == "cd")
        db.createFunction("twice") { ($0[0] as? Int64).map { $0 * 2 } }
        #expect(try db.scalar("SELECT twice(21)") as? Int64 == 42)
        let other = try Connection()
        try db.backup(usingConnection: other).step()
        #expect(try other.scalar("SELECT count(*) FROM t") as? Int64 == 4)
        insert = nil
        try db.close()
        print(EngineInfo.linked.encryption, EngineInfo.linked.sqliteVersion)
    }
}
