import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

@Suite struct RecreateTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.setPragma(.foreignKeys, to: true)
        try db.execute(
            """
            CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, points TEXT, junk);
            CREATE INDEX by_name ON player (name COLLATE NOCASE);
            CREATE TABLE log (what);
            CREATE TRIGGER logged AFTER UPDATE ON player BEGIN INSERT INTO log VALUES (NEW.name); END;
            CREATE VIEW names AS SELECT name FROM player;
            CREATE TABLE child (id INTEGER PRIMARY KEY, player INTEGER NOT NULL REFERENCES player ON DELETE CASCADE);
            INSERT INTO player VALUES (3, 'a', '10', 1), (9, 'b', '20', 2);
            DELETE FROM player WHERE id = 9;
            INSERT INTO player VALUES (5, 'c', '30', 3);
            INSERT INTO child VALUES (1, 3), (2, 5);
            """)
    }

    @Test func `a table with another definition keeps rows, indexes, triggers, views and children`() throws {
        try db.recreate(
            table: "player", copying: ["score": SQL("CAST(points AS INTEGER)"), "rank": Column("id") * 2]
        ) { t in
            t.column("score", .integer).notNull().check { $0 > 0 }
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull().unique()
            t.column("rank", .integer).indexed()
            t.column("fresh", .text).notNull().defaults(to: "new")
        }
        #expect(
            try db.sql("player") == """
                CREATE TABLE "player" ("score" INTEGER NOT NULL CHECK ("score" > 0), \
                "id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL UNIQUE, "rank" INTEGER, \
                "fresh" TEXT NOT NULL DEFAULT 'new')
                """)
        #expect(
            try db.value("SELECT group_concat(id || name || score || rank || fresh) FROM player", as: String.self)
                == "3a106new,5c3010new")
        #expect(try db.names() == ["by_name", "child", "log", "logged", "names", "player", "player_on_rank"])
        #expect(try db.value("SELECT count(*) FROM child", as: Int.self) == 2)
        #expect(try db.value("SELECT name FROM names", as: String.self) == "a")
        try db.run("UPDATE player SET rank = 1 WHERE id = 3")
        #expect(try db.value("SELECT what FROM log", as: String.self) == "a")
        try db.run("INSERT INTO player (name, score) VALUES ('d', 1)")
        #expect(db.lastInsertedRowID == 10, "numbers are not used again")
        try db.run("DELETE FROM player WHERE id = 3")
        #expect(try db.value("SELECT count(*) FROM child", as: Int.self) == 1, "the reference still cascades")
        #expect(try db.schema.integrityCheck().isEmpty && db.schema.foreignKeyCheck().isEmpty && db.pragma(.foreignKeys))
    }

    @Test func `rows keep numbers that no column shows`() throws {
        try db.execute("CREATE TABLE t (a, b); INSERT INTO t (rowid, a) VALUES (7, 'x'), (4, 'y')")
        try db.recreate(table: "t") { t in
            t.column("b")
            t.column("a", .text)
        }
        #expect(try db.value("SELECT rowid FROM t WHERE a = 'x'", as: Int.self) == 7)
        try db.recreate(table: "t") { t in
            t.primaryKey("id", .integer)
            t.column("a", .text)
        }
        #expect(try db.value("SELECT group_concat(id || a) FROM t", as: String.self) == "4y,7x")
        try db.recreate(table: "t", copying: ["id": Column("id") + 100]) { t in
            t.primaryKey("id", .integer)
            t.column("a", .text)
        }
        #expect(try db.value("SELECT group_concat(id || a) FROM t", as: String.self) == "104y,107x")
        try db.recreate(table: "t", options: .withoutRowID) { t in
            t.primaryKey("a", .text)
            t.column("id", .integer)
        }
        #expect(try db.value("SELECT group_concat(id || a) FROM t", as: String.self) == "107x,104y")
    }

    @Test func `H-SCH-26 numbers that a rebuild copies are not given again`() throws {
        try db.create(table: "t") { t in t.autoIncrementedPrimaryKey("id") }
        try db.execute("INSERT INTO t VALUES (1), (3); DELETE FROM t WHERE id = 3")
        try db.recreate(table: "t") { t in t.autoIncrementedPrimaryKey("id") }
        try db.execute("INSERT INTO t DEFAULT VALUES")
        #expect(try db.all("SELECT id FROM t", as: Int.self) == [1, 4])
        try db.recreate(table: "t", copying: ["id": Column("id") + 1000]) { t in t.autoIncrementedPrimaryKey("id") }
        try db.execute("DELETE FROM t WHERE id = 1004; INSERT INTO t DEFAULT VALUES")
        #expect(try db.all("SELECT id FROM t", as: Int.self) == [1001, 1005])
    }

    @Test func `a temporary table stays temporary`() throws {
        try db.execute("CREATE TEMP TABLE t (a); INSERT INTO t VALUES (1)")
        try db.recreate(table: "t") { t in
            t.column("a", .integer).indexed()
            t.column("b")
        }
        #expect(try db.sql("t", temp: true) == #"CREATE TABLE "t" ("a" INTEGER, "b")"#)
        #expect(try db.sql("t") == nil)
        #expect(try db.value("SELECT a FROM t", as: Int.self) == 1)
    }

    @Test func `a change that would break another object is rejected, and nothing changes`() throws {
        let before = try db.schema.objectDefinitions()
        func refused(_ message: String, _ body: @escaping (TableSpecification) -> Void) throws {
            let error = #expect(throws: VaultError.self) { try db.recreate(table: "player", body: body) }
            #expect(error?.code == .schemaChangeRefused, "\(error.map(\.description) ?? "")")
            #expect(error?.description.contains(message) == true, "\(error.map(\.description) ?? "")")
        }
        try refused("by_name") { t in t.autoIncrementedPrimaryKey("id") }
        try db.drop(index: "by_name")
        try refused("logged") { t in t.autoIncrementedPrimaryKey("id") }
        try db.run("DROP TRIGGER logged")
        try refused("names") { t in t.autoIncrementedPrimaryKey("id") }
        try db.drop(view: "names")
        let unknown = #expect(throws: VaultError.self) {
            try db.recreate(table: "player", copying: ["x": Column("id")]) { t in t.primaryKey("id", .integer) }
        }
        #expect(unknown?.code == .schemaChangeRefused && unknown?.description.contains("\"x\"") == true)
        #expect(throws: DatabaseError.self) {
            try db.recreate(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text)
                t.column("needed").notNull()
            }
        }
        let orphaned = #expect(throws: VaultError.self) {
            try db.recreate(table: "player", copying: ["id": Column("id") + 1]) { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text)
            }
        }
        #expect(orphaned?.code == .foreignKeyViolation)
        #expect((orphaned?.cause as? SchemaReader.ViolatedForeignKeys)?.rows.isEmpty == false)
        #expect(throws: QueryError.noSuchTable(name: "absent")) {
            try db.recreate(table: "absent") { t in t.column("a") }
        }
        #expect(
            try db.schema.objectDefinitions() == before.filter { !["by_name", "names", "logged"].contains($0.name) })
        #expect(try db.value("SELECT count(*) FROM player", as: Int.self) == 2)
        #expect(try db.pragma(.foreignKeys))
    }

    @Test func `inside a transaction it needs foreign keys that are not enforced`() throws {
        let recreate = {
            try db.recreate(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text)
            }
        }
        #expect { try db.transaction { try recreate() } } throws: { ($0 as? VaultError)?.code == .insideTransaction }
        try db.setPragma(.foreignKeys, to: false)
        try db.transaction { try recreate() }
        #expect(try db.schema.columnDefinitions(table: "player").map(\.name) == ["id", "name"])
        #expect(try db.value("SELECT count(*) FROM child", as: Int.self) == 2)
    }

    @Test func `a full-text index keeps following its table`() throws {
        try db.create(virtualTable: "ft", using: FTS4()) { t in
            t.synchronize(withTable: "player")
            t.column("name")
        }
        try db.recreate(table: "player") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull()
        }
        try db.run("INSERT INTO player (name) VALUES ('needle')")
        #expect(try db.value(VirtualTable("ft").match("needle").count) == 1)
    }
}
