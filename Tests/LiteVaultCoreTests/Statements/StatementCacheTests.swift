import LiteVaultCore
import LiteVaultEngine
import Testing

@Suite struct StatementCacheTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(x)")
    }

    /// The statements that the connection has prepared and not finalized, in use or not.
    private func prepared() throws -> [String] {
        try db.withHandle { handle in
            var texts: [String] = []
            var next = sqlite3_next_stmt(handle, nil)
            while let statement = next {
                texts.append(String(cString: sqlite3_sql(statement)))
                next = sqlite3_next_stmt(handle, statement)
            }
            return texts.sorted()
        }
    }

    @Test(arguments: [
        "SELECT 1", "VALUES (1)", "WITH a AS (SELECT 1) SELECT * FROM a", "INSERT INTO t VALUES (1)",
        "REPLACE INTO t VALUES (1)", "UPDATE t SET x = 2", "DELETE FROM t", "/* c */ select 2", "-- c\n  SELECT 3",
    ])
    func `queries and changes are kept`(sql: String) throws {
        try db.run(SQL(sql: sql))
        #expect(try prepared() == [sql])
        try db.forEach(SQL(sql: sql)) { _ in }
        #expect(try prepared() == [sql])
    }

    @Test(arguments: [
        "PRAGMA user_version", "PRAGMA user_version = 3", "ATTACH ':memory:' AS a", "CREATE TABLE u(x)",
        "ALTER TABLE t RENAME TO v", "DROP TABLE t", "CREATE INDEX i ON t(x)", "ANALYZE", "REINDEX", "SAVEPOINT s",
        "EXPLAIN SELECT 1", "/* SELECT */ PRAGMA user_version", "-- SELECT\nPRAGMA user_version",
    ])
    func `pragmas, attach and changes of the schema are never kept`(sql: String) throws {
        try db.run(SQL(sql: sql))
        #expect(try prepared() == [])
    }

    @Test func `a cached statement keeps no bound value`() throws {
        try db.run("INSERT INTO t VALUES (?)", with: "secret")
        let insert = try db.prepare("INSERT INTO t VALUES (?)")
        _ = try insert.runBound()
        #expect(try db.column("SELECT x FROM t ORDER BY rowid") == ["secret", "NULL"])
    }

    @Test func `a cached statement holds no lock`() throws {
        try db.run("INSERT INTO t VALUES (1), (2)")
        _ = try db.first("SELECT x FROM t") { try $0.get(0, as: Int.self) }
        _ = try db.value("SELECT x FROM t", as: StoredValue.self)
        do {
            let select = try db.prepare("SELECT x FROM t")
            #expect(try select.advance())
        }
        try db.execute("DROP TABLE t")
    }

    @Test func `a statement in use is not handed to others`() throws {
        let mine = try db.prepare("SELECT ?")
        try mine.setBindings(["mine"])
        let yours = try db.prepare("SELECT ?")
        try yours.setBindings(["yours"])
        #expect(try db.value("SELECT ?", with: "theirs", as: String.self) == "theirs")
        #expect(try db.first("SELECT ?", with: "fast") { try $0.get(0, as: String.self) } == "fast")
        #expect(try mine.valueOfBound() as? String == "mine")
        #expect(try yours.valueOfBound() as? String == "yours")
    }

    @Test func `the same text nested in itself uses statements of its own`() throws {
        try db.run("INSERT INTO t VALUES (1), (2)")
        func depth(_ level: Int) throws -> Int {
            try db.first("SELECT x FROM t WHERE x > ?", with: 0) { _ in level == 0 ? 1 : try depth(level - 1) + 1 } ?? 0
        }
        #expect(try depth(5) == 6)
        #expect(try prepared().filter { $0.hasPrefix("SELECT x") }.count == 1)
    }

    @Test func `the cache keeps a bounded number of statements, the most recently used ones`() throws {
        for number in 0..<300 {
            try db.run("SELECT \(sql: String(number))")
            _ = try db.first("SELECT 'often'") { _ in }
        }
        let kept = try prepared()
        #expect(kept.count == 64)
        #expect(kept.contains("SELECT 'often'"))
        #expect(kept.contains("SELECT 299"))
        #expect(!kept.contains("SELECT 0"))
    }

    @Test func `texts that differ only in how an accent is written are different statements`() throws {
        let composed = "SELECT '\u{e9}'"
        let decomposed = "SELECT 'e\u{301}'"
        for _ in 1...2 {
            for sql in [composed, decomposed] {
                let expected = Array(sql.utf8.dropFirst(8).dropLast())
                #expect(Array((try db.value(SQL(sql: sql), as: String.self)).utf8) == expected)
                let typed = try db.first(SQL(sql: sql)) { try $0.get(0, as: String.self) }
                #expect(Array((typed ?? "").utf8) == expected)
            }
        }
        #expect(try db.number("SELECT 1 AS K -- \u{212a}") == 1)
    }

    @Test func `closing empties the cache`() throws {
        try db.run("SELECT 1")
        try db.close()
    }
}
