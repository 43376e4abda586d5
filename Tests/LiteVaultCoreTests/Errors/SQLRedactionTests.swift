import LiteVaultCore
import Testing

/// Keys that people write into SQL text are in no error, no description and no trace.
@Suite struct SQLRedactionTests {
    /// Texts with a key, which is "hunter2" or holds it.
    static let texts = [
        "PRAGMA key = 'hunter2'", "PRAGMA key='hunter2'", "pragma KEY(\"hunter2\")", "PRAGMA main.key = 'hunter2'",
        "PRAGMA \"main\".\"key\" = 'hunter2'", "PRAGMA [main] . [key] = 'hunter2'", "PRAGMA `key` = 'hunter2'",
        "PRAGMA 'key' = 'hunter2'", "PRAGMA key = hunter2", "PRAGMA rekey = 'hunter2'", "PRAGMA key = \"x'hunter2'\"",
        "PRAGMA hexkey = 'hunter2'", "PRAGMA hexrekey = 'hunter2'", "PRAGMA textkey = 'hunter2'",
        "PRAGMA cipher_salt = \"x'hunter2'\"", "PRAGMA cipher_license = 'hunter2'",
        "PRAGMA/**/key='hunter2'", "PRAGMA -- why\n key = 'hunter2'", "/* first */ PRAGMA key = 'hunter2'",
        "-- first\nPRAGMA key = 'hunter2'", "PRAGMA key = 'hunter2' -- it was 'hunter2'",
        "PRAGMA \u{0b}key = 'hunter2'",
        "PRAGMA \u{0c}key = 'hunter2'", "\u{feff}PRAGMA key = 'hunter2'", "EXPLAIN PRAGMA key = 'hunter2'",
        "PRAGMA key = 'it''s;hunter2'", "PRAGMA key = 'a\"b;hunter2'", "PRAGMA key = 'hunter2",
        "PRAGMA key = /* 'x' */ 'hunter2'", "PRAGMA 1.key = 'hunter2'", "PRAGMA :key = 'hunter2'",
        "PRAGMA @rekey = 'hunter2'",
        "ATTACH ? AS ?KEY 'hunter2'",
        "PRAGMA key = -hunter2", "PRAGMA key = 'é hunter2'",
        "SELECT 1; PRAGMA key = 'hunter2'; SELECT 2", "SELECT ';'; PRAGMA key = 'hunter2'",
        "ATTACH ':memory:' AS a KEY 'hunter2'", "ATTACH ':memory:' AS a KEY \"hunter2\"",
        "ATTACH ':memory:' AS a KEY x'68756e74657232hunter2'",
        "attach database ':memory:' as a key hunter2", "ATTACH ':memory:' AS a KEY ('hun' || 'hunter2')",
        "ATTACH ':memory:' AS a KEY/**/'hunter2'",
        "ATTACH ':memory:' AS a KEY [hunter2]", "ATTACH ':memory:' AS a KEY `hunter2`",
        "ATTACH ':memory:' AS a KEY 'it''s hunter2'",
        "ATTACH ':memory:' AS a KEY 'hunter2'; SELECT 1", "ATTACH 'file::memory:?key=hunter2' AS a",
        "ATTACH \"file::memory:?hexkey=hunter2\" AS a", "ATTACH 'file::memory:?%6bey=hunter2' AS a",
        "ATTACH 'file::memory:?mode=ro&KEY=hunter2' AS a",
        "ATTTACH ':memory:' AS a KEY 'hunter2'", "/* PRAGMA key = 'hunter2' */ SELECT 1",
        "SELECT 1 -- PRAGMA key = 'hunter2'",
        "-- PRAGMA key = 'hunter2'\nSELECT 1",
    ]

    @Test(arguments: texts) func `H-SEC-05 a key in a text is replaced`(sql: String) {
        let redacted = SQLRedaction.redacted(sql)
        #expect(!redacted.contains("hunter2"), "\(redacted)")
        #expect(redacted.contains("<redacted>"))
    }

    @Test(arguments: [
        "SELECT key FROM t WHERE key = ?", "CREATE TABLE t(id INTEGER PRIMARY KEY, x DEFAULT 'plain')",
        "SELECT 'monkey'",
        "PRAGMA foreign_keys = ON", "PRAGMA foreign_key_list('t')", "PRAGMA user_version = 3", "SELECT 1; SELECT 'x'",
        "CREATE TABLE t(a, b REFERENCES u(x), FOREIGN KEY (a) REFERENCES u(y), c CHECK (c <> 'no'))", "SELECT '' -- é",
        "ATTACH ':memory:' AS a", "ATTACH 'file::memory:' AS a",
    ])
    func `a text without a key is unchanged`(sql: String) {
        #expect(SQLRedaction.redacted(sql) == sql)
    }

    @Test func `the rest of a text can still be read`() {
        #expect(SQLRedaction.redacted("PRAGMA key = 'a'; SELECT 1") == "PRAGMA key = <redacted>; SELECT 1")
        #expect(
            SQLRedaction.redacted("ATTACH ':memory:' AS a KEY 'b'").hasPrefix("ATTACH ':memory:' AS a KEY <redacted>"))
    }

    @Test(arguments: texts) func `an error about a text with a key does not show it`(sql: String) throws {
        let db = try Connection()
        let broken = [sql + "; SELECT nonesuch", sql + " hunter2", sql + " hunter2 hunter2", "nonesuch; " + sql]
        for broken in broken where !SQLRedaction.redacted(broken).contains("hunter2") {
            do { try db.execute(broken) } catch {
                #expect(!"\(error)".contains("hunter2"), "\(error)")
                #expect(!String(reflecting: error).contains("hunter2"))
            }
            do { try db.run(SQL(sql: broken)) } catch {
                #expect(!"\(error) \(String(reflecting: error))".contains("hunter2"))
            }
        }
    }

    @Test(arguments: texts) func `a trace of a text with a key does not show it`(sql: String) throws {
        let db = try Connection()
        let traced = Shared<[String]>([])
        db.setTrace { text in traced.update { $0.append(text) } }
        try? db.execute(sql)
        _ = try? db.run(SQL(sql: sql))
        #expect(!traced.value.joined().contains("hunter2"), "\(traced.value)")
    }

    @Test func `a description of a statement with a key does not show it`() throws {
        let db = try Connection()
        let statement = try db.prepare("ATTACH ':memory:' AS a KEY 'hunter2'")
        #expect(statement.description == "ATTACH ':memory:' AS a KEY <redacted>")
    }

    @Test func `keys that are bound are in no error and no trace`() throws {
        let db = try Connection()
        let traced = Shared<[String]>([])
        db.setTrace { text in traced.update { $0.append(text) } }
        do { try db.run("ATTACH ? AS a KEY ?", with: "/nonesuch/x.db", "hunter2") } catch {
            #expect(!"\(error)".contains("hunter2"))
        }
        _ = try? db.run("EXPLAIN ATTACH ? AS a KEY ?", with: "/nonesuch/x.db", "hunter2")
        _ = try? db.run("/* c */ ATTACH ? AS a KEY :key", with: Bindings([":key": "hunter2"]))
        #expect(!traced.value.joined().contains("hunter2"), "\(traced.value)")
        #expect(!traced.value.isEmpty)
    }

    @Test func `the path in an error leaves the parameters of a URI out`() throws {
        let error = #expect(throws: DatabaseError.self) { try Connection("file:/nonesuch/a.db?mode=ro&key=hunter2") }
        #expect(error?.path == "file:/nonesuch/a.db")
        #expect(error.map { "\($0) \(String(reflecting: $0))".contains("hunter2") } == false)
    }

    @Test func `an ordinary error of a text that names a key keeps the engine's message`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE kv(key PRIMARY KEY, value)")
        let exists = #expect(throws: DatabaseError.self) {
            try db.run("CREATE TABLE kv(key PRIMARY KEY, value DEFAULT 'x')")
        }
        #expect(exists?.message == "table kv already exists")
        try db.run("INSERT INTO kv VALUES ('alpha', 'beta')")
        let unique = #expect(throws: DatabaseError.self) {
            try db.run("INSERT INTO kv(key, value) VALUES ('alpha', 'gamma')")
        }
        #expect(unique?.message == "UNIQUE constraint failed: kv.key")
    }
}
