import LiteVault
import Testing

/// What an index has after rows of its table were replaced, or would have been.
@Suite struct FullTextReplacementTests {
    struct Index: CustomTestStringConvertible {
        let isFTS5: Bool
        let isRecursive: Bool
        var testDescription: String { "\(isFTS5 ? "FTS5" : "FTS4")\(isRecursive ? ", recursive triggers" : "")" }
        static let all = [false, true].flatMap { isFTS5 in
            [false, true].map { Index(isFTS5: isFTS5, isRecursive: $0) }
        }
        .filter { hasFTS5 || !$0.isFTS5 }
    }

    private static let words = ["minus", "one", "alpha", "beta", "two", "gamma", "three", "omega"]

    private static let writes = [
        "INSERT OR REPLACE INTO document VALUES (1, 'new', 9, 9, 'omega')",
        "REPLACE INTO document VALUES (9, 'A', 9, 9, 'omega')",
        "INSERT OR REPLACE INTO document VALUES (9, 'new', 1, 1, 'omega')",
        "INSERT OR REPLACE INTO document VALUES (9, 'new', 1, 2, 'omega')",
        "INSERT OR REPLACE INTO document VALUES (1, 'B', 3, 3, 'omega')",
        "INSERT OR REPLACE INTO document VALUES (NULL, 'B', 3, 3, 'omega')",
        "INSERT OR REPLACE INTO document VALUES (NULL, NULL, NULL, NULL, 'omega')",
        "INSERT OR REPLACE INTO document VALUES (-1, 'new', 9, 9, 'omega')",
        "INSERT OR ABORT INTO document VALUES (NULL, 'new', 9, 9, 'omega')",
        "INSERT OR IGNORE INTO document VALUES (1, 'B', 3, 3, 'omega')",
        "INSERT OR IGNORE INTO document VALUES (8, 'new', 8, 8, 'omega'), (1, 'z', 7, 7, 'omega')",
        "UPDATE OR REPLACE document SET id = 2 WHERE id = 1",
        "UPDATE OR REPLACE document SET email = 'B', text = 'omega' WHERE id = 1",
        "UPDATE OR REPLACE document SET a = 3, b = 3 WHERE id = 1",
        "UPDATE OR IGNORE document SET id = 2 WHERE id = 1",
        "UPDATE OR IGNORE document SET email = 'b', text = 'omega'",
        "UPDATE document SET text = 'omega'",
        "DELETE FROM document WHERE id > 1",
    ]

    private func makeDatabase(_ index: Index) throws -> Connection {
        let db = try Connection()
        try db.execute("PRAGMA recursive_triggers = \(index.isRecursive ? 1 : 0)")
        try db.execute(
            """
            CREATE TABLE document (id INTEGER PRIMARY KEY, email TEXT, a INT, b INT, text TEXT, UNIQUE (a, b));
            CREATE UNIQUE INDEX address ON document (email COLLATE NOCASE);
            INSERT INTO document VALUES (-1, 'm', -1, -1, 'minus one'), (1, 'a', 1, 1, 'alpha one'),
                (2, 'b', 2, 2, 'beta two'), (3, 'c', 3, 3, 'gamma three');
            """)
        try synchronize(db, index)
        return db
    }

    private func synchronize(_ db: Connection, _ index: Index) throws {
        if index.isFTS5 {
            try db.create(virtualTable: "ft", options: .ifNotExists, using: FTS5()) { t in
                t.synchronize(withTable: "document")
                t.column("text")
            }
        } else {
            try db.create(virtualTable: "ft", options: .ifNotExists, using: FTS4()) { t in
                t.synchronize(withTable: "document")
                t.column("text")
            }
        }
    }

    /// Compares the index with the texts.
    private func expectInStep(_ db: Connection, _ comment: Comment) throws {
        #expect(throws: Never.self, comment) { try db.run(VirtualTable("ft").command("integrity-check")) }
        for word in Self.words {
            let rows = try db.all(
                "SELECT id FROM document WHERE ' ' || text || ' ' LIKE ? ORDER BY 1", with: "% \(word) %"
            ) { try $0.get(0, as: Int64.self) }
            let found = try db.all("SELECT rowid FROM ft WHERE ft MATCH ? ORDER BY 1", with: word) {
                try $0.get(0, as: Int64.self)
            }
            #expect(found == rows, "\(comment): \(word)")
        }
    }

    @Test(arguments: Index.all, writes)
    func `H-SCH-11 an index has no entries of replaced rows, and all others`(index: Index, write: String) throws {
        let db = try makeDatabase(index)
        for _ in 1...2 {
            // The second time, some of them violate a constraint.
            _ = try? db.run(SQL(sql: write))
            try expectInStep(db, "\(write)")
        }
    }

    // With FTS4 of SQLite 3.15, rows of one statement that replace each other leave stale entries.
    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 40)), arguments: Index.all)
    func `H-SCH-11 an index stays in step with statements of any policy, in any order`(index: Index) throws {
        let db = try makeDatabase(index)
        var random = Random(state: 33)
        for step in 1...250 {
            let policy = random.pick([
                "", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR ABORT", "OR FAIL", "OR ROLLBACK",
            ])
            let rows = (0...random.below(3)).map { _ in
                let id = random.pick(["NULL", "-1", "1", "2", "3", "4", "5"])
                let email = random.pick(["NULL", "'a'", "'B'", "'c'", "'D'"])
                return "(\(id), \(email), \(random.below(3)), \(random.below(3)), '\(random.pick(Self.words))')"
            }
            let change = random.pick([
                "id = id + 1", "id = -1", "email = 'b'", "a = \(random.below(3)), b = 1",
                "text = '\(random.pick(Self.words))'",
                "id = 2, text = 'omega', email = NULL",
            ])
            let write = random.pick([
                "INSERT \(policy) INTO document VALUES \(rows.joined(separator: ", "))",
                "UPDATE \(policy) document SET \(change) WHERE id > \(random.below(4))",
            ])
            _ = try? db.run(SQL(sql: step % 20 == 0 ? "DELETE FROM document WHERE id % 2" : write))
            try expectInStep(db, "\(step): \(write)")
        }
    }

    @Test(arguments: Index.all)
    func `H-SCH-11 an upsert leaves the index in step`(index: Index) throws {
        guard EngineInfo.linked.isAtLeast(3, 24) else { return }
        let db = try makeDatabase(index)
        for action in ["NOTHING", "UPDATE SET text = excluded.text", "UPDATE SET id = 20, text = excluded.text"] {
            try db.run("INSERT INTO document VALUES (2, 'new', 9, 9, 'omega') ON CONFLICT (id) DO \(sql: action)")
            try expectInStep(db, "\(action)")
        }
    }

    // SQLite 3.15 damages such indexes itself when rows are replaced.
    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 40)), arguments: Index.all)
    func `H-SCH-11 conflicts in partial indexes and indexes of expressions are found`(index: Index) throws {
        let db = try makeDatabase(index)
        try db.execute(
            """
            CREATE UNIQUE INDEX partial ON document (b) WHERE a > '5';
            CREATE UNIQUE INDEX expression ON document (upper(text));
            INSERT INTO document VALUES (7, 'g', 7, 7, 'alpha three');
            """)
        // The triggers are made for the new indexes.
        try synchronize(db, index)
        for write in [
            "INSERT OR REPLACE INTO document VALUES (10, 'new', 6, 7, 'omega')",
            "INSERT OR REPLACE INTO document VALUES (11, 'newer', 4, 7, 'omega two')",
            "INSERT OR REPLACE INTO document VALUES (12, 'newest', 12, 12, 'ALPHA one')",
        ] {
            try db.run(SQL(sql: write))
            try expectInStep(db, "\(write)")
        }
        let rows = try db.all("SELECT id FROM document ORDER BY 1") { try $0.get(0, as: Int.self) }
        #expect(rows == [-1, 2, 3, 10, 11, 12])
    }

    @Test(arguments: Index.all)
    func `H-SCH-11 an index follows a table whose unique indexes and columns change`(index: Index) throws {
        let db = try makeDatabase(index)
        let replace = "INSERT OR REPLACE INTO document (email, text) VALUES ('B', 'omega')"
        // Without the index, the row replaces none.
        try db.drop(index: "address")
        try db.run(SQL(sql: replace))
        try expectInStep(db, "without the index")
        try db.run("DELETE FROM document WHERE email = 'B'")
        try db.create(
            index: "address", on: "document", expressions: [SQLExpression<String>("email").collate(.nocase)],
            options: .unique)
        try db.run(SQL(sql: replace))
        try expectInStep(db, "with the index")
        try db.alter(table: "document") { t in t.add(column: "code", .text).unique() }
        try db.run("UPDATE document SET code = 'c' || id")
        try db.run("INSERT OR REPLACE INTO document (code, text) VALUES ('c1', 'gamma')")
        try expectInStep(db, "with another column")
        try db.drop(index: "address")
        try db.alter(table: "document") { t in
            t.drop(column: "code")
            t.drop(column: "email")
        }
        try db.run("UPDATE OR REPLACE document SET a = 3, b = 3, text = 'omega'")
        try expectInStep(db, "without these columns")
        try db.recreate(table: "document", copying: ["text": SQLExpression<String>("text") + " alpha"]) { t in
            t.column("id", .integer).primaryKey()
            t.column("text", .text)
        }
        #expect(throws: VaultError.self) { try db.alter(table: "document") { $0.drop(column: "text") } }
        if index.isFTS5 {
            #expect(throws: VaultError.self) {
                try db.recreate(table: "document") { t in
                    t.column("number", .integer).primaryKey()
                    t.column("text", .text)
                }
            }
        }
        try expectInStep(db, "recreated, with other texts")
    }

    @Test(
        arguments: Index.all,
        [
            "UPDATE OR IGNORE document SET email = NULL, text = 'omega'",
            "UPDATE OR FAIL document SET email = NULL, text = 'omega'",
            "UPDATE OR IGNORE document SET a = a + 98, text = 'omega'",
            "UPDATE OR FAIL document SET a = a + 98, text = 'omega'",
            "UPDATE OR IGNORE document SET b = NULL, text = 'omega'",
            "UPDATE OR REPLACE document SET email = NULL, text = 'omega'",
            "UPDATE OR REPLACE document SET b = NULL, text = 'omega'",
            "UPDATE OR REPLACE document SET b = NULL, id = id + 1, text = 'omega'",
            "UPDATE document SET b = NULL, text = 'omega'", "UPDATE OR IGNORE document SET text = NULL",
            "UPDATE document SET a = 50",
            "UPDATE OR IGNORE document SET email = 'a', b = NULL, text = 'two'",
            "UPDATE OR FAIL document SET added = NULL, text = 'omega'",
        ])
    func `H-SCH-14 an index keeps the entry of a row whose update violates a constraint`(index: Index, write: String)
        throws
    {
        let db = try Connection()
        try db.execute("PRAGMA recursive_triggers = \(index.isRecursive ? 1 : 0)")
        try db.execute(
            """
            CREATE TABLE document (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE,
                a INT CHECK (a < 100 /* ) */ -- and (
                ), b INT NOT NULL DEFAULT 7, text TEXT, CONSTRAINT "check" CHECK (a IS NULL OR "a" <> 99 AND (document.b > -9)),
                CHECK (rowid > -9), CHECK (text IS NOT 'zz' OR "text" <> 'z"z'));
            INSERT INTO document VALUES (1, 'a', 1, 1, 'alpha one'), (2, 'b', 2, 2, 'beta two'), (3, 'c', 3, 3, 'gamma three');
            """)
        try synchronize(db, index)
        try db.alter(table: "document") { t in t.add(column: "added", .integer).notNull().defaults(to: 0) }
        for _ in 1...2 {
            _ = try? db.run(SQL(sql: write))
            try expectInStep(db, "\(write)")
        }
        try db.run("UPDATE document SET text = 'three omega', a = 5 WHERE id = (SELECT max(id) FROM document)")
        try expectInStep(db, "afterwards")
    }

    @Test(arguments: Index.all)
    func `H-SCH-15 an index stays in step with triggers of the application, which run after its own`(index: Index)
        throws
    {
        let db = try makeDatabase(index)
        try db.execute(
            """
            CREATE TRIGGER touch AFTER INSERT ON document BEGIN UPDATE document SET a = a + 10 WHERE id = new.id; END;
            CREATE TRIGGER again AFTER UPDATE OF email ON document BEGIN UPDATE document SET b = b + 10 WHERE id = new.id; END;
            """)
        // Makes the triggers of the index the newest ones, which run first.
        try synchronize(db, index)
        let made = try db.schema.objectDefinitions(type: .trigger)
        try synchronize(db, index)
        #expect(try db.schema.objectDefinitions(type: .trigger) == made, "once")
        for write in [
            "INSERT INTO document VALUES (7, 'g', 7, 7, 'omega')",
            "INSERT OR REPLACE INTO document VALUES (NULL, 'B', 3, 3, 'omega')",
            "INSERT OR REPLACE INTO document VALUES (1, 'C', 8, 8, 'two')",
            "UPDATE OR REPLACE document SET email = 'm', text = 'beta' WHERE id = 1",
            "UPDATE OR IGNORE document SET email = 'M', text = 'alpha'", "DELETE FROM document WHERE id = 7",
        ] {
            try db.run(SQL(sql: write))
            try expectInStep(db, "\(write)")
        }
    }

    @Test(arguments: Index.all)
    func `H-SCH-11 an index that an earlier version made gets the triggers, and loses stale entries`(
        index: Index
    ) throws {
        let db = try makeDatabase(index)
        try db.execute("DROP TRIGGER __ft_bi; DROP TRIGGER __ft_bu; DROP TABLE __ft_replaced")
        try db.execute("DROP TRIGGER __ft_ai; DROP TRIGGER __ft_au; DROP TRIGGER __ft_\(index.isFTS5 ? "ad" : "bd")")
        try db.run("DELETE FROM document WHERE id = 1")
        try synchronize(db, index)
        try expectInStep(db, "made again")
    }
}

/// The same numbers in every run.
private struct Random {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }

    mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }
}
