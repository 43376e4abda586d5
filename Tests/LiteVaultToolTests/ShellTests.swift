import Foundation
import LiteVault
import Testing

/// `litevault shell`.
@Suite struct ShellTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        let database = try Connection(workspace.path("a.db"))
        try database.execute(
            """
            CREATE TABLE t (n, s); INSERT INTO t VALUES (1, 'one'), (2, NULL);
            CREATE TABLE "odd name" (x); CREATE VIEW v AS SELECT n FROM t; CREATE INDEX t_n ON t (n);
            """)
        try database.close()
    }

    private func shell(_ input: String, _ arguments: String...) throws -> Tool.Run {
        try workspace.tool.run(["shell"] + arguments, input: input)
    }

    private func count(_ table: String = "t", in name: String = "a.db") throws -> Int {
        try Connection(workspace.path(name)).value("SELECT count(*) FROM \(sql: table)", as: Int.self)
    }

    @Test func `H-SEC-20 a pragma that nobody knows does not reach the history with its value`() throws {
        let terminal = try Terminal(["shell", "a.db", "--history", "history"], in: workspace.directory)
        let statements = [
            "PRAGMA keyy = 'sesame';", "PRAGMA main.kye('sesame');", "SELECT 1; PRAGMA hexxkey=\"sesame\";",
            "PRAGMA cache_size = 100;", "SELECT 41 + 1 AS x;",
        ]
        for statement in statements {
            #expect(terminal.waitFor("litevault> "))
            terminal.type(statement)
        }
        #expect(terminal.waitFor("42"))
        let history = try String(contentsOfFile: workspace.path("history"), encoding: .utf8)
        #expect(!history.contains("sesame"))
        #expect(history.hasSuffix("PRAGMA cache_size = 100;\nSELECT 41 + 1 AS x;\n"))
    }

    @Test(arguments: ["table", "csv", "json", "jsonl", "line", "markdown", "box"])
    func `H-SEC-19 values with control characters do not reach a terminal raw, but a file as they are`(
        format: String
    ) throws {
        let sql = "SELECT 'a' || char(27) || '[2J' || char(0x202e) || 'b' || char(0x9b) AS x"
        let terminal = try Terminal(["query", "a.db", sql, "--format", format], in: workspace.directory)
        #expect(terminal.end() == 0)
        #expect(terminal.screen.contains("[2J"))
        #expect(!terminal.screen.unicodeScalars.contains { [0x1B, 0x202E, 0x9B].contains($0.value) })
        let run = try workspace.tool.run("query", "a.db", sql, "--format", "csv")
        #expect(run.output == "x\r\na\u{1B}[2J\u{202E}b\u{9B}\r\n")
    }

    @Test func `lines may end with CR and LF, and a literal of several lines keeps them`() throws {
        let run = try shell(".mode csv\r\nSELECT hex('a\r\nb') AS x;\r\n.print end\r\n", "a.db")
        #expect(run.status == 0 && run.output == "x\r\n610D0A62\r\nend\n", "\(run.output) \(run.errors)")
        let failed = try shell("SELECT 1,\r\n  nocol;\r\n", "a.db")
        #expect(failed.status == 64 && failed.errors.contains("no such column: nocol"), "\(failed.errors)")
    }

    @Test func `statements may take several lines, and several may be on one`() throws {
        let run = try shell(
            """
            -- a comment; with a semicolon
            SELECT n
              FROM t /* ; */ WHERE s IS NOT NULL;
            SELECT 'a;b' x; SELECT 'two
            lines' y;
            CREATE TRIGGER r AFTER DELETE ON t BEGIN
              SELECT 1;
              INSERT INTO "odd name" VALUES (old.n);
            END; DELETE FROM t WHERE n = 2; SELECT x FROM "odd name";
            """, "a.db", "--mode", "csv")
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.output == "n\r\n1\r\nx\r\na;b\r\ny\r\n\"two\nlines\"\r\nx\r\n2\r\n")
        #expect(try count() == 1)
    }

    @Test(arguments: [
        ("table", "n  s\n-  ----\n1  one\n2  NULL\n"),
        ("box", "┌───┬──────┐\n│ n │ s    │\n├───┼──────┤\n│ 1 │ one  │\n│ 2 │ NULL │\n└───┴──────┘\n"),
        ("line", "n = 1\ns = one\n\nn = 2\ns = NULL\n"),
        ("markdown", "| n   | s    |\n| --- | ---- |\n|   1 | one  |\n|   2 | NULL |\n"),
        ("csv", "n,s\r\n1,one\r\n2,\r\n"),
        ("json", "[{\"n\": 1, \"s\": \"one\"},\n {\"n\": 2, \"s\": null}]\n"),
    ])
    func `rows are printed as query prints them`(_ mode: String, _ expected: String) throws {
        let run = try shell(".mode \(mode)\nSELECT * FROM t;\n", "a.db")
        #expect(run.output == expected && run.status == 0)
        #expect(try shell("SELECT * FROM t;", "a.db", "--mode", mode).output == expected)
        #expect(try workspace.tool.run("query", "a.db", "SELECT * FROM t", "--format", mode).output == expected)
    }

    @Test func `a script ends at its first error, with the line, and without its open transaction`() throws {
        let run = try shell("SELECT 1 x;\n\nBEGIN; DELETE FROM t;\n\n-- next\nSELEC 2;\nCOMMIT;\n", "a.db")
        #expect(run.status == 64 && run.output == "x\n-\n1\n")
        #expect(run.errors.hasPrefix("error: line 6: ") && run.errors.contains("\nhint:"))
        #expect(try count() == 2)
        for (script, line) in [
            ("SELECT 1;\nSELECT 2", 2), (".mode none", 1), ("\n.unknown", 2), (".dump a b c", 1),
            ("INSERT INTO t\nVALUES (abs(-9223372036854775808), 1);", 1), ("SELECT 1;\n.schema 'x", 2),
        ] {
            let run = try shell(script, "a.db")
            #expect(run.status == 64 && run.errors.contains("line \(line): "), "\(script): \(run.errors)")
        }
    }

    @Test(arguments: [".quit", ".exit", ".q", ".open b.db"])
    func `an open transaction is an error, whatever ends the script`(_ line: String) throws {
        for options in [[], ["--no-bail"]] {
            let run = try workspace.tool.run(
                ["shell", "a.db"] + options, input: "BEGIN; INSERT INTO t VALUES (9, 'nine');\n\(line)\nSELECT 1;\n")
            #expect(run.status == 64 && run.errors.contains("transaction") && run.output.isEmpty, "\(run.errors)")
            #expect(try count() == 2)
        }
    }

    @Test func `a script that continues after errors ends with one, and stores no half of a transaction`() throws {
        let script = """
            CREATE TABLE u (n PRIMARY KEY); INSERT INTO u VALUES (1); INSERT INTO u VALUES (1); INSERT INTO u VALUES (2);
            SELEC;
            BEGIN; INSERT INTO u VALUES (3); INSERT INTO u VALUES (1); INSERT INTO u VALUES (4); COMMIT;
            SAVEPOINT s; INSERT INTO u VALUES (5); INSERT INTO u VALUES (1); ROLLBACK TO s; INSERT INTO u VALUES (6);
            RELEASE s; INSERT INTO u VALUES (7);
            CREATE TABLE w (a REFERENCES u DEFERRABLE INITIALLY DEFERRED); PRAGMA foreign_keys = ON;
            BEGIN; INSERT INTO w VALUES (99); COMMIT; INSERT INTO u VALUES (8);
            """
        for option in ["--no-bail", "-nobail"] {
            let run = try shell(script, "a.db", option)
            #expect(
                run.status == 64 && run.errors.contains("5 statements or commands of the script failed"),
                "\(run.errors)")
            #expect(
                run.errors.contains("the transaction was rolled back, and the statements up to its end are left out"))
            let kept = try shell(
                "SELECT group_concat(n) x FROM u; DROP TABLE w; DROP TABLE u;", "a.db", "--mode", "csv")
            #expect(kept.output == "x\r\n\"1,2,7,8\"\r\n", "\(kept.output) \(kept.errors)")
        }
        let other = try shell("BEGIN; SELEC;\n.open b.db\nSELECT 1;\n", "a.db", "--no-bail")
        #expect(other.status == 64 && other.output.isEmpty && other.errors.contains("'.open'"), "\(other.errors)")
        let switched = try shell(".bail off\nSELEC;\nSELECT 1 x;\n.bail on\nSELEC;\nSELECT 2;", "a.db")
        #expect(switched.output == "x\n-\n1\n" && switched.status == 64)
        #expect(try shell("SELEC;\nSELECT 1;", "a.db", "-bail").output.isEmpty)
    }

    @Test func `a script that ends inside a transaction is an error, and its rows are gone`() throws {
        let run = try shell("BEGIN; INSERT INTO t VALUES (9, 'nine');", "a.db")
        #expect(run.status == 64 && run.errors.contains("ended inside a transaction"), "\(run.errors)")
        #expect(try count() == 2)
        #expect(try shell("BEGIN; INSERT INTO t VALUES (9, 'nine'); COMMIT;", "a.db").status == 0)
        #expect(try count() == 3)
    }

    @Test func `a statement with a literal of many lines is read once`() throws {
        let lines = String(repeating: "color: red; -- /* no comment\n", count: 40_000)
        let run = try shell(
            "SELECT length('\(lines)') AS c; -- ;\n;;\nSELECT [a;b] FROM (SELECT 1 AS \"a;b\");\n", "a.db", "--mode",
            "csv")
        #expect(run.status == 0 && run.output == "c\r\n\(lines.utf8.count)\r\na;b\r\n1\r\n", "\(run.errors)")
        let open = try shell("SELECT 1 x; /* a comment\n.quit\n", "a.db")
        #expect(open.status == 64 && open.errors.contains("line 1: the comment that begins here does not end"))
        #expect(try shell("SELECT 1", "a.db").errors.contains("line 1: the last statement is not complete"))
    }

    @Test(arguments: [("'", "'"), ("\"", "\""), ("[", "]")])
    func `a quote that is not closed is reported where it opens`(_ opening: String, _ closing: String) throws {
        let run = try shell("SELECT 1;\nSELECT 2,\n \(opening)a;\nSELECT 3;\n.quit\n", "a.db")
        #expect(
            run.status == 64 && run.errors.contains("line 3: what is quoted from here on has no closing \(closing)"))
    }

    @Test(arguments: [".shell ls", ".system ls", ".excel", ".stats", ".cd /", ".load x", ".clone x"])
    func `a command of another shell is refused with what to use here`(_ line: String) throws {
        let run = try shell(line + "\n", "a.db")
        #expect(run.status == 64 && run.output.isEmpty)
        #expect(run.errors.contains("is a command of another shell\nhint:  "), "\(run.errors)")
        #expect(try shell(".nope\n", "a.db").errors.contains("unknown command"))
    }

    @Test func `the schema is shown`() throws {
        #expect(try shell(".tables", "a.db").output == "odd name\nt\nv\n")
        #expect(try shell(".schema T", "a.db").output == "CREATE TABLE t (n, s);\nCREATE INDEX t_n ON t (n);\n")
        #expect(try shell(".schema 'odd name'", "a.db").output == "CREATE TABLE \"odd name\" (x);\n")
        #expect(try shell(".explain SELECT * FROM t WHERE n = 'it''s'", "a.db").output.contains("t_n"))
        #expect(try shell(".help", "a.db").output.contains(".import FILE TABLE"))
    }

    @Test func `a dump and a backup have the same content as the database`() throws {
        let run = try shell(".backup b.db\n.dump a.sql\n.dump\n.quit\nSELEC;", "a.db")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try workspace.tool.run("diff", "a.db", "b.db").status == 0)
        let text = String(decoding: try workspace.bytes("a.sql"), as: UTF8.self)
        #expect(run.output.hasSuffix(text) && text.contains("INSERT INTO \"t\""))
        let mode = try FileManager.default.attributesOfItem(atPath: workspace.path("a.sql"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        for command in [".backup b.db", ".dump a.sql", ".backup a.db", ".dump missing/a.sql"] {
            #expect(try shell(command, "a.db").status != 0, "\(command)")
        }
        #expect(try shell("BEGIN; DELETE FROM t;\n.backup c.db", "a.db").status == 64)
        #expect(try count() == 2 && workspace.names() == ["a.db", "b.db", "a.sql"])
    }

    @Test func `a dump of tables is printed, and makes no file of their name`() throws {
        let run = try shell(".dump T\n", "a.db")
        #expect(run.status == 0 && run.output.contains("INSERT INTO \"t\"") && run.output.contains("t_n"))
        #expect(!run.output.contains("odd name"))
        #expect(try shell(".dump v 'odd name'", "a.db").output.contains("CREATE VIEW v"))
        #expect(try shell(".dump t none", "a.db").status == 64)
        #expect(try shell(".dump none none", "a.db").status == 64)
        #expect(try workspace.names() == ["a.db"])
    }

    @Test func `H-SH-05 a mistyped table is not a file with all of the database`() throws {
        let run = try shell(".dump nott\n", "a.db")
        #expect(run.status == 64 && run.output.isEmpty && run.errors.contains("no such table: nott"), "\(run.errors)")
        #expect(run.errors.contains("'.dump ./nott'"), "\(run.errors)")
        #expect(try workspace.names() == ["a.db"])
        let file = try shell(".dump ./nott\n.dump a.sql\n", "a.db")
        #expect(file.output == "Dumped to ./nott, unencrypted.\nDumped to a.sql, unencrypted.\n", "\(file.errors)")
        #expect(try workspace.names() == ["a.db", "nott", "a.sql"])
    }

    @Test(arguments: EngineInfo.linked.encrypts ? [false, true] : [false])
    func `with --create a new database is made, encrypted if a key is given`(_ isEncrypted: Bool) throws {
        try workspace.write("secret", to: "key")
        let key = isEncrypted ? ["--key-file", "key"] : []
        #expect(try shell("SELECT 1;", "new.db").errors.contains("add --create"))
        #expect(try workspace.tool.run("query", "new.db", "SELECT 1").errors.contains("add --create"))
        let made = try workspace.tool.run(["shell", "new.db", "--create"] + key, input: "CREATE TABLE n (a);")
        #expect(made.status == 0, "\(made.errors)")
        for number in 1...2 {
            let more = try workspace.tool.run(
                ["query", "new.db", "INSERT INTO n VALUES (\(number))", "--create"] + key)
            #expect(more.status == 0, "\(more.errors)")
        }
        let read = try workspace.tool.run(["query", "new.db", "SELECT sum(a) s FROM n", "--format", "csv"] + key)
        #expect(read.output == "s\r\n3\r\n", "\(read.errors)")
        let header = try Array(workspace.bytes("new.db").prefix(15))
        #expect((header == Array("SQLite format 3".utf8)) != isEncrypted)
        let mode = try FileManager.default.attributesOfItem(atPath: workspace.path("new.db"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let query = try workspace.tool.run(["query", "q.db", "CREATE TABLE q (a)", "--create"] + key)
        #expect(query.status == 0, "\(query.errors)")
        #expect(try shell("SELECT 1;", "c.db", "--create", "--read-only").status == 64)
        #expect(try shell(".open o.db --create\nCREATE TABLE o (a);", "a.db").status == 0)
        #expect(try workspace.names() == ["a.db", "key", "new.db", "o.db", "q.db"])
    }

    @Test func `what query prints as CSV is imported as the same rows`() throws {
        try workspace.write("n,s\r\n3,\r\n4,\"\"\r\n5,\"a, \"\"b\"\"\r\nc\"\r\n", to: "t.csv")
        let run = try shell(".import t.csv t\n.import t.csv 'new one'\n", "a.db")
        #expect(run.status == 0 && run.output == "3 rows imported.\n3 rows imported.\n", "\(run.errors)")
        let csv = try workspace.tool.run("query", "a.db", "SELECT * FROM \"new one\"", "--format", "csv").output
        #expect(csv == "n,s\r\n3,\r\n4,\"\"\r\n5,\"a, \"\"b\"\"\r\nc\"\r\n")
        for (text, reason) in [
            ("n,s\n\"1\n\",2\n3\n", "on line 4 has 1 field"), ("n,s\n1,\"open\n", "not closed"),
            ("n,missing\n1,2\n", "missing"),
            ("", "columns"),
        ] {
            try workspace.write(text, to: "bad.csv")
            let run = try shell("BEGIN;\n.import bad.csv t\n", "a.db")
            #expect(run.status == 64 && run.errors.contains(reason), "\(run.errors)")
        }
        #expect(try count() == 5)
        #expect(try shell(".import a.db t", "a.db").status == 64)
        #expect(try shell(".import none.csv t", "a.db").status == 66)
    }

    @Test func `with --read-only nothing is written`() throws {
        let writer = try Connection(workspace.path("a.db"))
        try writer.execute("PRAGMA journal_mode = wal; INSERT INTO t VALUES (3, 'in the log')")
        let (before, names) = (try workspace.bytes("a.db"), try workspace.names())
        let run = try shell("SELECT count(*) c FROM t;\n.tables\n.dump\n", "a.db", "--read-only", "--mode", "csv")
        #expect(run.status == 0 && run.output.hasPrefix("c\r\n3\r\n") && run.output.contains("in the log"))
        for sql in [
            "DELETE FROM t;", "CREATE TABLE u (a);", "PRAGMA user_version = 5;", "VACUUM;", "COMMIT;", "BEGIN;",
        ] {
            let run = try shell(sql, "a.db", "--read-only")
            #expect(run.status == 64 && run.errors.contains("line 1: "), "\(sql): \(run.errors)")
        }
        #expect(try workspace.bytes("a.db") == before && workspace.names() == names)
        let continued = try shell("DELETE FROM t;\nSELECT count(*) c FROM t;\n", "a.db", "--read-only", "--no-bail", "--mode", "csv")
        #expect(continued.status == 64 && continued.output == "c\r\n3\r\n", "\(continued.errors)")
        try writer.execute("INSERT INTO t VALUES (4, 'afterwards')")
    }

    @Test(arguments: [
        "PRAGMA key = 'SECRET';", "PRAGMA 1.key = 'SECRET';", "PRAGMA :key = 'SECRET';", "pragma main . rekey='SECRET';", "PRAGMA \"hexkey\"(SECRET);",
        "EXPLAIN PRAGMA key = 'SECRET';", "explain -- why\n query plan /* x */ Pragma key('SECRET');",
        "/* x */ ATTACH 'b.db' AS b KEY 'SECRET';",
        "ATTACH 'file:b.db?key=SECRET' AS b;", ".explain PRAGMA key = 'SECRET'", ".open a.db --key SECRET",
        ".open a.db SECRET", ".open a.db --key-format SECRET",
    ])
    func `a key in a statement or a command is refused, and not repeated`(_ line: String) throws {
        let run = try shell(line + "\n", "a.db")
        #expect(run.status == 64 && run.errors.contains("hint:"))
        #expect(!(run.output + run.errors).contains("SECRET"))
    }

    @Test func `a table or column called key or attach is allowed`() throws {
        let run = try shell("CREATE TABLE attach (key, pragma); SELECT key FROM attach; PRAGMA table_info(t);", "a.db")
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts)) func `an encrypted database is opened with its key, by .open too`() throws {
        try workspace.write("secret", to: "key")
        #expect(try workspace.tool.run("encrypt", "a.db", "v.db", "--key-file", "key").status == 0)
        let run = try shell("INSERT INTO t VALUES (3, 'new');\n.backup w.db\n", "v.db", "--key-file", "key")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try workspace.tool.run("diff", "v.db", "w.db", "--key-file", "key").status == 0)
        for more in [[], ["--read-only"]] {
            let run = try workspace.tool.run(
                ["shell", "a.db", "--mode", "csv"] + more,
                input: ".open v.db --key-file key\nSELECT count(*) c FROM t;\n.open a.db\nSELECT count(*) c FROM t;\n")
            #expect(run.status == 0 && run.output == "c\r\n3\r\nc\r\n2\r\n", "\(run.errors)")
        }
        try workspace.write("wrong", to: "other")
        #expect(try shell("SELECT 1;", "v.db", "--key-file", "other").status == 77)
        #expect(try shell(".open v.db --key-file other", "a.db").status == 77)
        #expect(try shell(".open missing.db", "a.db").status == 66)
        #expect(try shell("SELECT 1;", "missing.db").status == 66)
        #expect(try !workspace.names().contains("missing.db"))
    }

    @Test func `the SQL text of diff is run as a script`() throws {
        let copy = try shell(".backup b.db\n", "a.db")
        #expect(copy.status == 0)
        #expect(try shell("DELETE FROM t; INSERT INTO t VALUES (9, 'nine'); DROP VIEW v;", "b.db").status == 0)
        let script = try workspace.tool.run("diff", "a.db", "b.db", "--sql").output
        #expect(try shell(script, "a.db").status == 0)
        #expect(try workspace.tool.run("diff", "a.db", "b.db").status == 0)
    }

    @Test func `on a plain terminal an error does not end the shell`() throws {
        let terminal = try Terminal(["shell", "a.db"], in: workspace.directory, kind: "dumb")
        #expect(terminal.waitFor("litevault> "))
        terminal.type("SELEC 1;")
        #expect(terminal.waitFor("error:") && terminal.waitFor("litevault> "))
        terminal.type("SELECT 41 + 1")
        #expect(terminal.waitFor("...> "))
        terminal.type("AS answer;")
        #expect(terminal.waitFor("│ answer │") && terminal.waitFor("│     42 │"))
        terminal.type("BEGIN; DELETE FROM t;")
        #expect(terminal.waitFor("litevault*> "))
        for command in [".quit", ".open b.db", ".quit"] {
            terminal.type(command)
            #expect(terminal.waitFor("a transaction is open") && terminal.waitFor("ROLLBACK;"))
            #expect(terminal.waitFor("litevault*> "))
        }
        terminal.type(".quit")
        #expect(terminal.end() == 0)
        #expect(try count() == 2)
    }

    @Test func `on a terminal an open that fails keeps the database and the prompt`() throws {
        try workspace.write(String(repeating: "no database, but longer than a header ", count: 20), to: "text")
        let terminal = try Terminal(["shell", "a.db"], in: workspace.directory, kind: "dumb")
        #expect(terminal.waitFor("litevault> "))
        terminal.type("CREATE TEMP TABLE kept (a);")
        for name in ["none.db", "text"] {
            #expect(terminal.waitFor("litevault> "))
            terminal.type(".open \(name)")
            #expect(terminal.waitFor("error:"))
        }
        #expect(terminal.waitFor("litevault> "))
        terminal.type("SELECT count(*) + 50 AS x FROM kept; SELECT count(*) + 60 AS y FROM t;")
        #expect(terminal.waitFor("50") && terminal.waitFor("62") && terminal.waitFor("litevault> "))
        terminal.type("SELECT 1")
        #expect(terminal.waitFor("...> "))
        terminal.type("\u{4}")
        #expect(terminal.end() == 64)
        #expect(terminal.screen.contains("error: the last statement is not complete"))
    }

    @Test func `--json is refused, and a signal ends the shell`() throws {
        #expect(try shell("SELECT 1;", "a.db", "--json").status == 64)
        let terminal = try Terminal(["shell", "a.db"], in: workspace.directory, kind: "dumb")
        #expect(terminal.waitFor("litevault> "))
        terminal.interrupt()
        #expect(terminal.end() == 130)
    }
}
