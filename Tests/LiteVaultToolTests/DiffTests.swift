import Foundation
import LiteVault
import Testing

/// `litevault diff`.
@Suite struct DiffTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func make(_ name: String, _ sql: String) throws {
        let database = try Connection(workspace.path(name))
        try database.execute(sql)
        try database.close()
    }

    private func tables(_ arguments: String...) throws -> [String: [String: Any]] {
        let json = try workspace.tool.run(["diff"] + arguments + ["--json"]).json()
        let list = try #require(json["tables"] as? [[String: Any]])
        return Dictionary(uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "", $0) })
    }

    private func counts(_ table: [String: Any]?) -> [Int] {
        ["added", "removed", "changed"].map { table?[$0] as? Int ?? -1 }
    }

    @Test(arguments: [true, false])
    func `a table in the order of an application's collation is an error, and no difference`(isFirst: Bool) throws {
        let database = try Connection(workspace.path("app.db"))
        try database.createCollation("backwards") { $1.compare($0) }
        try database.execute("CREATE TABLE w (a TEXT COLLATE backwards PRIMARY KEY) WITHOUT ROWID")
        try database.close()
        try make("plain.db", "CREATE TABLE w (a TEXT PRIMARY KEY) WITHOUT ROWID")
        let run = try workspace.tool.run(["diff"] + (isFirst ? ["app.db", "plain.db"] : ["plain.db", "app.db"]))
        #expect(run.status == 69 && run.errors.contains("app.db: the table 'w'"), "\(run.status) \(run.errors)")
    }

    /// Turns a copy of one database into the other by the SQL text, and expects them to be equal.
    private func expectScript(from a: String, to b: String, _ location: SourceLocation = #_sourceLocation) throws {
        let script = try workspace.tool.run("diff", a, b, "--sql")
        #expect(script.status == 1 && script.errors.isEmpty, "\(script.errors)", sourceLocation: location)
        try FileManager.default.copyItem(atPath: workspace.path(a), toPath: workspace.path("turned.db"))
        defer { try? FileManager.default.removeItem(atPath: workspace.path("turned.db")) }
        try make("turned.db", script.output)
        let equal = try workspace.tool.run("diff", "turned.db", b)
        #expect(equal.status == 0, "\(equal.output) after \(script.output)", sourceLocation: location)
        let dumps = try ["turned.db", b].map { try workspace.tool.run("dump", $0, "--preserve-rowids").output }
        #expect(dumps[0] == dumps[1], sourceLocation: location)
        let database = try Connection(workspace.path("turned.db"))
        #expect(try database.value("PRAGMA integrity_check", as: String.self) == "ok", sourceLocation: location)
    }

    private static let schema = """
        CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT UNIQUE, "odd ' name" BLOB);
        CREATE TABLE plain (a, b);
        CREATE TABLE tag (k TEXT COLLATE NOCASE, n, v, PRIMARY KEY (n DESC, k)) WITHOUT ROWID;
        CREATE TABLE hidden (rowid, oid, _rowid_);
        CREATE INDEX note_title ON note (title DESC);
        CREATE VIEW titles AS SELECT title FROM note;
        CREATE TRIGGER touched AFTER INSERT ON note BEGIN INSERT INTO plain VALUES ('trigger', new.id); END;
        """

    @Test func `databases with the same content are equal, however their files are laid out`() throws {
        let rows = "INSERT INTO note VALUES (1, 'é', x'00'), (7, NULL, 1e300); INSERT INTO tag VALUES ('a', 1, 2);"
        try make("a.db", Self.schema + rows)
        try make(
            "b.db",
            "PRAGMA page_size = 512; CREATE TABLE gone (x);" + Self.schema + rows
                + "DROP TABLE gone; ANALYZE; PRAGMA journal_mode = wal;")
        let run = try workspace.tool.run("diff", "a.db", "b.db")
        #expect(run.status == 0 && run.output == "a.db and b.db are equal.\n")
        #expect(try workspace.tool.run("diff", "a.db", "a.db").status == 0)
        let script = try workspace.tool.run("diff", "a.db", "b.db", "--sql")
        #expect(script.status == 0 && script.output.isEmpty)
        #expect(try workspace.tool.run("diff", "a.db", "b.db", "--json").json()["equal"] as? Bool == true)
    }

    @Test func `rows that were added, removed and changed are counted for each table`() throws {
        let rows = """
            INSERT INTO note VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
            INSERT INTO tag VALUES ('x', 1, 1), ('y', 1, 1), ('z', 2, 1), ('b', 2, 1);
            INSERT INTO hidden VALUES (1, 2, 3);
            """
        try make("a.db", Self.schema + rows)
        try make("b.db", Self.schema + rows)
        try make(
            "b.db",
            """
            UPDATE note SET title = 'changed' WHERE id = 2; DELETE FROM note WHERE id = 3;
            DELETE FROM plain; INSERT INTO plain (rowid, a) VALUES (9, 1), (10, 2);
            INSERT INTO tag VALUES ('A', 1, 5), ('zz', 3, 5); DELETE FROM tag WHERE k = 'y';
            UPDATE tag SET v = 9 WHERE k = 'B';
            INSERT INTO hidden VALUES (4, 5, 6);
            PRAGMA user_version = 3;
            """)
        let run = try workspace.tool.run("diff", "a.db", "b.db")
        #expect(run.status == 1 && run.errors.isEmpty)
        #expect(run.output.contains("user_version: 0 -> 3\n"))
        #expect(run.output.contains("table note: rows: 1 removed, 1 changed\n"))
        let found = try tables("a.db", "b.db")
        #expect(Set(found.keys) == ["note", "plain", "tag", "hidden"])
        #expect(counts(found["note"]) == [0, 1, 1] && counts(found["plain"]) == [2, 3, 0])
        #expect(counts(found["tag"]) == [2, 1, 1])
        #expect(counts(found["hidden"]) == [2, 1, 0] && found["hidden"]?["matched"] as? Bool == false)
        let list = try workspace.tool.run("diff", "a.db", "b.db", "--format", "csv")
        #expect(list.status == 1)
        #expect(list.output.hasPrefix("name,definition,added,removed,changed\r\nhidden,,2,1,0\r\nnote,,0,1,1\r\n"))
        try expectScript(from: "a.db", to: "b.db")
        try expectScript(from: "b.db", to: "a.db")
    }

    @Test func `the SQL text changes definitions, too, and does not run triggers`() throws {
        try make(
            "a.db",
            Self.schema + """
                CREATE TABLE gone (x); CREATE INDEX gone_x ON gone (x); INSERT INTO gone VALUES (1);
                CREATE TABLE other (x UNIQUE); CREATE INDEX other_x ON other (x); INSERT INTO other VALUES (1), (2);
                CREATE TABLE Letters (x);
                INSERT INTO note (title) VALUES ('one'), ('two'), ('three');
                """)
        try make(
            "b.db",
            Self.schema + """
                DROP TRIGGER touched; DROP VIEW titles; DROP INDEX note_title;
                CREATE TABLE other (x, y DEFAULT 5); CREATE INDEX other_x ON other (x); INSERT INTO other (x) VALUES (2), (2);
                CREATE TABLE letters (x); INSERT INTO letters VALUES (1);
                CREATE TABLE new (id INTEGER PRIMARY KEY AUTOINCREMENT, x);
                INSERT INTO new (id, x) VALUES (50, 'it''s' || char(0) || 'nul'), (70, CAST(x'ff27' AS TEXT)); DELETE FROM new WHERE id = 70;
                INSERT INTO note (title) VALUES ('two'), ('one'), ('four');
                CREATE INDEX note_title ON note (title);
                CREATE VIEW titles AS SELECT upper(title) AS title FROM note;
                CREATE TRIGGER titled INSTEAD OF INSERT ON titles BEGIN INSERT INTO note (title) VALUES (new.title); END;
                CREATE TRIGGER touched AFTER DELETE ON note BEGIN DELETE FROM plain; END;
                PRAGMA application_id = -5;
                """)
        let json = try workspace.tool.run("diff", "a.db", "b.db", "--json").json()
        let objects = try #require(json["objects"] as? [[String: Any]]).map {
            "\($0["type"] ?? "") \($0["name"] ?? ""): \($0["change"] ?? "")"
        }
        #expect(
            objects == [
                "index gone_x: removed", "index note_title: changed", "trigger titled: added",
                "trigger touched: changed",
                "view titles: changed",
            ])
        try expectScript(from: "a.db", to: "b.db")
        try expectScript(from: "b.db", to: "a.db")
    }

    @Test func `any rows are turned into any others`() throws {
        var generator = SystemRandomNumberGenerator()
        func fill(_ name: String) throws {
            let database = try Connection(workspace.path(name))
            try database.execute(Self.schema)
            try database.transaction {
                for table in ["note (id, title)", "plain (rowid, a)", "tag (n, k)", "hidden (oid, _rowid_)"] {
                    for _ in 0..<60 {
                        let (one, other) = (
                            Int.random(in: -20...20, using: &generator), Int.random(in: 0...9, using: &generator)
                        )
                        let text = ["x", "X", "é", "'", "\u{0}", "", "a", "B", "b\n", "ä"][other]
                        try database.run(
                            "INSERT OR REPLACE INTO \(sql: table) VALUES (?, ?)", with: one,
                            table.hasPrefix("note") ? text + String(one) : text)
                    }
                }
            }
            try database.close()
        }
        try fill("a.db")
        try fill("b.db")
        try expectScript(from: "a.db", to: "b.db")
    }

    /// "é" is one character, and "e" with an accent: one key for Swift, and two for the engine. So are a text that is not valid and its repair.
    @Test(arguments: [
        ("UTF-8", ["c3a9"], ["65cc81"], [1, 1, 0]), ("UTF-8", ["80", "c3a9"], ["c3a9"], [0, 1, 0]),
        ("UTF-8", ["80", "efbfbd"], ["81", "efbfbd"], [1, 1, 0]), ("UTF-16le", ["00d8"], ["01d8"], [1, 1, 0]),
        ("UTF-16le", ["fffe6100", "6100"], ["6100"], [0, 1, 0]), ("UTF-16be", ["fffe6100", "6100"], ["fffe6100"], [0, 1, 0]),
        ("UTF-16be", ["feff", "d800"], ["d800", "dc00"], [1, 1, 0]),
    ])
    func `H-TXT-13 texts are one key if their bytes are the same, valid or not`(
        encoding: String, left: [String], right: [String], expected: [Int]
    ) throws {
        for (name, keys) in [("a.db", left), ("b.db", right)] {
            try make(
                name,
                "PRAGMA encoding = '\(encoding)'; CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES "
                    + keys.map { "(CAST(x'\($0)' AS TEXT), 1)" }.joined(separator: ", "))
        }
        #expect(try counts(tables("a.db", "b.db")["w"]) == expected)
        try expectScript(from: "a.db", to: "b.db")
        try expectScript(from: "b.db", to: "a.db")
    }

    @Test(arguments: ["UTF-16le", "UTF-16be"])
    func `H-TXT-11 the SQL text finds rows by keys that are not valid UTF-16`(encoding: String) throws {
        for (name, value) in [("a.db", 1), ("b.db", 2)] {
            let rows = DumpTests.unusual.enumerated().map { "(CAST(x'\($1)' AS TEXT), \($0), \(value))" }
            try make(
                name,
                """
                PRAGMA encoding = '\(encoding)'; CREATE TABLE w (k TEXT, n, v, PRIMARY KEY (k COLLATE NOCASE, n)) WITHOUT ROWID;
                INSERT INTO w VALUES \(rows.joined(separator: ", "))
                """)
        }
        #expect(try counts(tables("a.db", "b.db")["w"]) == [0, 0, DumpTests.unusual.count])
        try expectScript(from: "a.db", to: "b.db")
    }

    @Test func `the rows of a virtual table are compared by its own tables`() throws {
        let sql = "CREATE VIRTUAL TABLE search USING fts4(body); INSERT INTO search VALUES ('hello'), ('world');"
        try make("a.db", sql)
        try make("b.db", sql + "INSERT INTO search VALUES ('again'); DELETE FROM search WHERE rowid = 1")
        try expectScript(from: "a.db", to: "b.db")
        try make("c.db", sql.replacingOccurrences(of: "(body)", with: "(title)"))
        #expect(try workspace.tool.run("diff", "a.db", "c.db").output.contains("virtual table search: changed"))
        let run = try workspace.tool.run("diff", "a.db", "c.db", "--sql")
        #expect(run.status == 69 && run.output.isEmpty && run.errors.contains("hint:"))
    }

    @Test func `another text encoding is a difference that SQL text cannot change`() throws {
        try make("a.db", "CREATE TABLE t (x); INSERT INTO t VALUES ('é')")
        try make("b.db", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (x); INSERT INTO t VALUES ('é')")
        let json = try workspace.tool.run("diff", "a.db", "b.db", "--json").json()
        #expect((json["tables"] as? [Any])?.isEmpty == true && json["equal"] as? Bool == false)
        #expect(try workspace.tool.run("diff", "a.db", "b.db", "--sql").status == 69)
    }

    /// U+0100 is behind "z" in UTF-8 and before it in UTF-16le; U+FF5E is before U+1F600 in UTF-8 and behind it in UTF-16be.
    @Test(arguments: ["UTF-16le", "UTF-16be"], [false, true])
    func `rows are matched by keys whose order depends on the text encoding`(encoding: String, isFirst: Bool) throws {
        let table = "CREATE TABLE w (k TEXT, n, v, PRIMARY KEY (k DESC, n)) WITHOUT ROWID; INSERT INTO w VALUES "
        let same = ["a", "Ā", "z", "～", "😀", ""].map { "('\($0)', 1, x'01'), ('\($0)', 2.5, '\($0)')" }
            .joined(separator: ", ")
        try make(isFirst ? "b.db" : "a.db", table + same)
        try make(isFirst ? "a.db" : "b.db", "PRAGMA encoding = '\(encoding)'; " + table + same)
        #expect(try tables("a.db", "b.db").isEmpty)
        try make("a.db", "INSERT INTO w VALUES ('Ā', 3, 1), ('b', 1, 1), ('～', 'x', 1)")
        try make("b.db", "INSERT INTO w VALUES ('Ā', 3, 2), ('c', 1, 1); DELETE FROM w WHERE k = '😀'")
        #expect(try counts(tables("a.db", "b.db")["w"]) == [1, 4, 1])
    }

    @Test func `databases in use are compared with their logs, and nothing is written`() throws {
        let writer = try Connection(workspace.path("a.db"))
        try writer.execute("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        try make("b.db", "CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        let before = try workspace.bytes("a.db")
        #expect(try counts(tables("b.db", "a.db")["t"]) == [1, 0, 0])
        #expect(try workspace.tool.run("diff", "a.db", "a.db").status == 0)
        #expect(try workspace.bytes("a.db") == before)
        try writer.execute("INSERT INTO t VALUES (3)")
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts)) func `each of the databases may have a key of its own`() throws {
        try workspace.makeDatabase("p.db")
        for key in ["one", "two"] { try workspace.write(key, to: "\(key).key") }
        #expect(try workspace.tool.run("encrypt", "p.db", "a.db", "--key-file", "one.key").status == 0)
        #expect(try workspace.tool.run("encrypt", "p.db", "b.db", "--key-file", "two.key").status == 0)
        let both = ["--key-file", "one.key", "--to-key-file", "two.key"]
        #expect(try workspace.tool.run(["diff", "a.db", "b.db"] + both).status == 0)
        #expect(try workspace.tool.run("diff", "a.db", "p.db", "--key-file", "one.key").status == 0)
        #expect(try workspace.tool.run("diff", "p.db", "b.db", "--to-key-file", "two.key").status == 0)
        #expect(try workspace.tool.run("diff", "a.db", "a.db", "--key-file", "one.key").status == 0)
        // Without one of its own, B has the key of A: here a wrong one.
        for arguments in [["a.db", "b.db", "--key-file", "one.key"], ["b.db", "a.db"] + both, ["p.db", "b.db"]] {
            let run = try workspace.tool.run(["diff"] + arguments + ["--json"])
            #expect(try run.status == 77 && run.failureCode() == "key-rejected", "\(arguments)")
        }
        let first = try workspace.tool.run("diff", "p.db", "b.db", "--key-file", "two.key")
        #expect(first.status != 0 && first.errors.contains("--to-key-file"), "\(first.errors)")
        let second = try workspace.tool.run("diff", "a.db", "p.db", "--key-file", "one.key", "--to-key-file", "one.key")
        #expect(second.status != 0 && second.errors.contains("for B"), "\(second.errors)")
        let plain = try workspace.tool.run("diff", "p.db", "p.db", "--to-key-file", "two.key", "--json")
        #expect(try plain.failureCode() == "wrong-kind")
    }

    @Test func `a missing or damaged database is a failure, not a difference`() throws {
        try workspace.makeDatabase("a.db", rows: 2000)
        #expect(try workspace.tool.run("diff", "a.db", "missing.db").status == 66)
        #expect(try workspace.tool.run("diff", "missing.db", "a.db").status == 66)
        var bytes = try workspace.bytes("a.db")
        for page in 3..<bytes.count / 4096 {
            bytes.replaceSubrange(page * 4096..<page * 4096 + 100, with: Data(repeating: 255, count: 100))
        }
        try workspace.write(bytes, to: "b.db")
        let run = try workspace.tool.run("diff", "a.db", "b.db", "--json")
        #expect(try run.status == 65 && run.failureCode() == "damaged" && run.output.isEmpty)
        for options in [["--json", "--sql"], ["--format", "csv", "--sql"], ["--format", "csv", "--json"]] {
            #expect(try workspace.tool.run(["diff", "a.db", "a.db"] + options).status == 64)
        }
    }
}
