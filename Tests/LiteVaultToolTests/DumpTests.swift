import Foundation
import LiteVault
import Testing

/// `litevault dump`.
@Suite struct DumpTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func make(_ name: String, _ sql: String) throws {
        let database = try Connection(workspace.path(name))
        try database.execute(sql)
        try database.close()
    }

    private func dump(_ arguments: String...) throws -> String {
        let run = try workspace.tool.run(["dump"] + arguments)
        #expect(run.status == 0, "\(run.errors)")
        return run.output
    }

    @Test func `a dump has no user_version and no application_id, as its help says, and diff compares them`() throws {
        for (name, version) in [("a.db", 1), ("b.db", 2)] {
            try make(name, "CREATE TABLE t (x); PRAGMA user_version = \(version); PRAGMA application_id = \(version)")
        }
        #expect(try dump("a.db") == dump("b.db"))
        let found = try workspace.tool.run("diff", "a.db", "b.db", "--json").json()["settings"] as? [[String: Any]]
        #expect(Set(found?.compactMap { $0["name"] as? String } ?? []) == ["user_version", "application_id"])
        let help = try workspace.tool.run("dump", "--help").output
        #expect(help.contains("user_version") && help.contains("litevault diff"))
    }

    private static let everything = """
        CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL COLLATE NOCASE, "odd name" BLOB);
        INSERT INTO note VALUES (1, 'it''s', x'0aff'), (5, 'two' || char(10) || 'lines', NULL), (9, '', 0.1);
        CREATE TABLE plain (a, b);
        INSERT INTO plain (rowid, a, b) VALUES (7, 1, 9e999), (9, 'nul' || char(0) || 'x', -1e-300);
        CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO w VALUES ('z', 1), ('a', -9223372036854775808);
        CREATE TABLE "rowid" (rowid, oid, _rowid_);
        INSERT INTO "rowid" VALUES (3, 2, 1);
        CREATE INDEX note_title ON note (title DESC) WHERE id > 0;
        CREATE VIEW titles AS SELECT title FROM note;
        CREATE TRIGGER titled INSTEAD OF INSERT ON titles BEGIN INSERT INTO note (title) VALUES (new.title); END;
        CREATE TRIGGER touched AFTER INSERT ON note BEGIN UPDATE plain SET b = b + 1; END;
        CREATE VIRTUAL TABLE search USING fts4(title, body);
        INSERT INTO search VALUES ('hello', 'world');
        ANALYZE;
        """

    @Test func `run in an empty database, a dump makes the same schema and rows`() throws {
        try make("a.db", Self.everything)
        let text = try dump("a.db")
        try make("b.db", text)
        #expect(try dump("b.db") == text)
        let copy = try Connection(workspace.path("b.db"))
        #expect(try copy.value("SELECT count(*) FROM search WHERE search MATCH 'world'", as: Int.self) == 1)
        #expect(try copy.value("SELECT seq FROM sqlite_sequence", as: Int.self) == 9)
        #expect(try copy.value("SELECT hex(a) FROM plain WHERE b < 0", as: String.self) == "6E756C0078")
        #expect(try copy.value("SELECT b FROM plain WHERE a = 1", as: Double.self) == .infinity)
        #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test func `H-TXT-16 definitions that end in comments can be run from a dump, diff --sql, .schema and .dump`() throws {
        try make(
            "a.db",
            """
            CREATE TABLE w (a PRIMARY KEY) WITHOUT ROWID -- note
            ; CREATE INDEX i ON w (a) -- note
            ; CREATE VIEW v AS SELECT a FROM w -- note
            ; INSERT INTO w VALUES (1); CREATE VIEW u AS SELECT a FROM w /* open
            """)
        let (whole, schema) = (try dump("a.db"), try dump("a.db", "--schema-only"))
        try make("empty.db", "CREATE TABLE x (a); DROP TABLE x")
        let texts = [
            "dump.db": whole, "schema.db": schema,
            "diff.db": try workspace.tool.run("diff", "empty.db", "a.db", "--sql").output,
            "shell-schema.db": try workspace.tool.run("shell", "a.db", input: ".schema\n").output,
            "shell-dump.db": try workspace.tool.run("shell", "a.db", input: ".dump\n").output,
        ]
        for (name, text) in texts {
            try make(name, text)
            #expect(try dump(name, "--schema-only") == schema, "\(name)")
            if !name.contains("schema") { #expect(try dump(name) == whole, "\(name)") }
        }
    }

    @Test func `H-SEC-44 .schema and dump write no SQL that follows a definition`() throws {
        try make(
            "a.db",
            """
            CREATE TABLE keep (a); CREATE TABLE t (a); PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = sql || '; DELETE FROM keep' WHERE name = 't';
            """)
        for run in [
            try workspace.tool.run("dump", "a.db"), try workspace.tool.run("dump", "a.db", "--schema-only"),
            try workspace.tool.run("shell", "a.db", input: ".schema\n"),
            try workspace.tool.run("shell", "a.db", input: ".dump\n"),
        ] {
            #expect(run.status == 69, "\(run.arguments) \(run.errors)")
            #expect(!run.output.contains("DELETE"), "\(run.arguments)")
        }
    }

    @Test func `text that is not UTF-8 keeps its bytes`() throws {
        try make("a.db", "CREATE TABLE t (x); INSERT INTO t VALUES (CAST(x'ff27fe' AS TEXT))")
        try make("b.db", try dump("a.db"))
        let copy = try Connection(workspace.path("b.db"))
        #expect(try copy.value("SELECT typeof(x) || hex(x) FROM t", as: String.self) == "textFF27FE")
    }

    /// SQLite's shell drops a CR at the end of each line that it reads.
    @Test(arguments: [1, 2000]) func `lines that end with CR and LF keep the CR`(count: Int) throws {
        let text = String(repeating: "line\r\n", count: count) + "{0} it's \u{0}\r"
        let database = try Connection(workspace.path("a.db"))
        try database.execute("CREATE TABLE t (x)")
        try database.run("INSERT INTO t VALUES (?)", with: text)
        try database.close()
        let dump = try dump("a.db")
        #expect(!dump.utf8.contains(UInt8(ascii: "\r")))
        try make("b.db", dump)
        let copy = try Connection(workspace.path("b.db"))
        #expect(try copy.value("SELECT hex(x) FROM t", as: String.self) == text.utf8.map { String(format: "%02X", $0) }.joined())
    }

    @Test func `a database in UTF-16 stays in UTF-16`() throws {
        try make(
            "a.db", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (x); INSERT INTO t VALUES ('é' || char(0) || '🔑')")
        try make("b.db", try dump("a.db"))
        let copy = try Connection(workspace.path("b.db"))
        #expect(try copy.value("PRAGMA encoding", as: String.self) == "UTF-16le")
        #expect(try copy.value("SELECT hex(x) FROM t", as: String.self) == "E900000" + "03DD811DD")
    }

    /// `CAST(x'…' AS TEXT)` is the one literal for half of a character, for U+FFFE and for U+FFFF. A text that begins with a byte order mark
    /// keeps it.
    static let unusual = ["00d8", "00d86100", "00dc3d00", "feff", "ffff", "fffe6100", "feff6100", "61006200", "6100000062000d00", "3dd811dd", ""]

    @Test(arguments: ["UTF-16le", "UTF-16be"])
    func `H-TXT-11 text in UTF-16 keeps its bytes, valid or not`(encoding: String) throws {
        let values = Self.unusual.map { "(CAST(x'\($0)' AS TEXT))" }.joined(separator: ", ")
        try make("a.db", "PRAGMA encoding = '\(encoding)'; CREATE TABLE t (x); INSERT INTO t VALUES \(values)")
        let text = try dump("a.db")
        // Nothing was repaired on the way here.
        #expect(!text.contains("\u{FFFD}"))
        #expect(try workspace.tool.run("shell", "b.db", "--create", input: text).status == 0)
        let (source, copy) = (try Connection(workspace.path("a.db")), try Connection(workspace.path("b.db")))
        let sql = "SELECT typeof(x) || hex(CAST(x AS BLOB)) FROM t ORDER BY rowid"
        #expect(try copy.all(SQL(sql: sql), as: String.self) == source.all(SQL(sql: sql), as: String.self))
        #expect(try copy.value("PRAGMA encoding", as: String.self) == encoding)
    }

    /// The engine keeps the table when the last table with AUTOINCREMENT is dropped, and no statement creates it.
    @Test(arguments: ["", "INSERT INTO sqlite_sequence VALUES ('é', 7), ('u', 'text');"])
    func `H-DUMP-11 a database that had a table with AUTOINCREMENT has a dump that can be run`(rows: String) throws {
        try make(
            "a.db",
            """
            CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE u (x, "autoincrement" DEFAULT 'autoincrement' /* AUTOINCREMENT */);
            INSERT INTO u (x) VALUES (5); DROP TABLE t; CREATE TABLE litevault_sequence (x); \(rows)
            """)
        let text = try dump("a.db")
        try make("empty.db", "PRAGMA user_version = 0; CREATE TABLE u (x); DROP TABLE u")
        for run in [
            try workspace.tool.run("shell", "b.db", "--create", input: text),
            try workspace.tool.run("shell", "c.db", "--create", input: try workspace.tool.run("diff", "empty.db", "a.db", "--sql").output),
        ] { #expect(run.status == 0, "\(run.errors)") }
        #expect(try dump("b.db") == text)
        for name in ["b.db", "c.db"] {
            #expect(try workspace.tool.run("diff", "a.db", name).status == 0)
            #expect(try workspace.tool.run("query", name, "SELECT x FROM u", "--format", "csv").output == "x\r\n5\r\n")
        }
    }

    @Test func `every real number is read back as the same number`() throws {
        var generator = SystemRandomNumberGenerator()
        var numbers = (0..<2000).map { _ in Double(bitPattern: generator.next()) }.filter(\.isFinite)
        numbers += [.leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 1.0 / 3, 1e15, 1e16, -0.5]
        // Some engines misread the last, and others the next to last, of these: of decimals, one in some thousands.
        numbers += [1234.5678, 9.2967797230575, 131.562697, 958242.646213]
        for decimals in 0..<16 {
            for _ in 0..<1250 {
                let digits = Int64.random(in: 1..<1_000_000_000_000_000)
                numbers.append(try #require(Double("\(digits)e-\(decimals)")))
            }
        }
        let database = try Connection(workspace.path("a.db"))
        try database.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, x)")
        try database.transaction {
            for number in numbers { try database.run("INSERT INTO t (x) VALUES (?)", with: number) }
        }
        try database.close()
        try make("b.db", try dump("a.db"))
        let copy = try Connection(workspace.path("b.db"))
        let found = try copy.all("SELECT x FROM t ORDER BY i", as: Double.self)
        let wrong = zip(numbers, found).filter { $0 != $1 }
        #expect(found.count == numbers.count && wrong.isEmpty, "\(wrong.prefix(3))")
    }

    @Test func `implicit rowids are kept on request`() throws {
        try make("a.db", "CREATE TABLE t (x); INSERT INTO t (rowid, x) VALUES (7, 'a'), (9, 'b')")
        try make("new.db", try dump("a.db"))
        try make("kept.db", try dump("a.db", "--preserve-rowids"))
        for (name, expected) in [("new.db", [1, 2]), ("kept.db", [7, 9])] {
            let copy = try Connection(workspace.path(name))
            #expect(try copy.all("SELECT rowid FROM t ORDER BY rowid", as: Int.self) == expected)
        }
    }

    @Test func `tables can be chosen, and rows left out`() throws {
        try make("a.db", Self.everything)
        let note = try dump("a.db", "--table", "NOTE")
        #expect(note.contains("CREATE TABLE note") && note.contains("note_title") && note.contains("touched"))
        #expect(!note.contains("plain (") && !note.contains("sqlite_sequence"))
        let schema = try dump("a.db", "--schema-only")
        #expect(schema.contains("CREATE TABLE note") && !schema.contains("INSERT INTO \"note\""))
        let run = try workspace.tool.run("dump", "a.db", "--table", "missing", "--json", "--output", "x.sql")
        #expect(run.status == 64)
        #expect(try run.failureCode() == "usage")
        #expect(try workspace.names() == ["a.db"])
    }

    /// Shadow tables without what their module writes into new ones are damage to it: `CREATE VIRTUAL TABLE` has to make them.
    @Test(arguments: ["fts3", "fts4", "fts5", "rtree"])
    func `a schema with virtual tables, run in a transaction, makes tables that work`(module: String) throws {
        let arguments = module == "rtree" ? "a, b, c" : "a"
        guard (try? Connection().execute("CREATE VIRTUAL TABLE f USING \(module)(\(arguments))")) != nil else { return }
        try make(
            "a.db",
            """
            CREATE VIRTUAL TABLE f USING \(module)(\(arguments)); INSERT INTO f VALUES (1\(module == "rtree" ? ", 2, 3" : ""));
            CREATE TABLE f_mine (x); CREATE TABLE z (a)
            """)
        let schema = try dump("a.db", "--schema-only")
        #expect(!schema.contains("BEGIN") && !schema.contains("writable_schema") && !schema.contains("INSERT"))
        try make("b.db", "BEGIN; \(schema) COMMIT")
        #expect(try dump("b.db", "--schema-only") == schema)
        let copy = try Connection(workspace.path("b.db"))
        #expect(try copy.value("SELECT count(*) FROM f", as: Int.self) == 0)
        try copy.execute("INSERT INTO f VALUES (\(module == "rtree" ? "1, 2, 3" : "'word'"))")
        #expect(try copy.value("SELECT count(*) FROM f", as: Int.self) == 1)
        #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    /// Neither its name nor the engine says whether a table belongs to a module that is not there.
    @Test func `tables of an unknown module are made unless it makes them`() throws {
        try make(
            "a.db",
            """
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
                VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING unknown(x)');
            CREATE TABLE v_rows (x); CREATE TABLE w (x)
            """)
        #expect(
            try dump("a.db", "--schema-only").split(separator: "\n") == [
                "CREATE TABLE w (x);", "CREATE VIRTUAL TABLE v USING unknown(x);", "CREATE TABLE IF NOT EXISTS v_rows (x);",
            ])
    }

    @Test func `a virtual table that is chosen comes with what it contains`() throws {
        try make("a.db", Self.everything)
        try make("b.db", try dump("a.db", "--table", "SEARCH"))
        let copy = try Connection(workspace.path("b.db"))
        #expect(try copy.value("SELECT count(*) FROM search WHERE search MATCH 'world'", as: Int.self) == 1)
        #expect(try copy.value("SELECT count(*) FROM sqlite_master WHERE name = 'note'", as: Int.self) == 0)
    }

    @Test func `a file is complete, for its owner only, and never overwritten`() throws {
        try make("a.db", Self.everything)
        let json = try workspace.tool.run("dump", "a.db", "--output", "a.sql", "--json").json()
        let text = try dump("a.db")
        #expect(String(decoding: try workspace.bytes("a.sql"), as: UTF8.self) == text)
        #expect(json["size"] as? Int == text.utf8.count)
        let mode = try FileManager.default.attributesOfItem(atPath: workspace.path("a.sql"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try workspace.tool.run("dump", "a.db", "--output", "a.sql", "--json").failureCode() == "cannot-create")
        #expect(try workspace.tool.run("dump", "a.db", "--json").failureCode() == "usage")
        let nowhere = try workspace.tool.run("dump", "a.db", "--output", "missing/a.sql", "--json")
        #expect(try ["no-input", "cannot-create"].contains(nowhere.failureCode() ?? ""))
        #expect(try workspace.names() == ["a.db", "a.sql"])
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts))
    func `databases under different keys have equal dumps if their content is equal`() throws {
        try make("a.db", Self.everything)
        try workspace.write("secret", to: "key")
        #expect(try workspace.tool.run("encrypt", "a.db", "v.db", "--key-file", "key").status == 0)
        #expect(try dump("v.db", "--key-file", "key") == dump("a.db"))
    }
}
