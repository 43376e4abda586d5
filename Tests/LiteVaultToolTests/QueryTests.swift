import Foundation
import LiteVault
import Testing

/// `litevault query`.
@Suite struct QueryTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        let database = try Connection(workspace.path("a.db"))
        try database.execute(
            """
            CREATE TABLE t (n, s, b);
            INSERT INTO t VALUES (1, 'it''s, "x"', x'0aff'), (-2.5, NULL, NULL), (9e999, 'two' || char(10) || 'lines', '');
            """)
        try database.close()
    }

    @Test(arguments: [
        (
            "csv",
            "n,s,b\r\n1,\"it's, \"\"x\"\"\",x'0aff'\r\n-2.5,,\r\nInf,\"two\nlines\",\"\"\r\n"
        ),
        (
            "json",
            #"""
            [{"n": 1, "s": "it's, \"x\"", "b": "x'0aff'"},
             {"n": -2.5, "s": null, "b": null},
             {"n": 9e999, "s": "two\nlines", "b": ""}]

            """#
        ),
        (
            "jsonl",
            #"""
            {"n": 1, "s": "it's, \"x\"", "b": "x'0aff'"}
            {"n": -2.5, "s": null, "b": null}
            {"n": 9e999, "s": "two\nlines", "b": ""}

            """#
        ),
        (
            "table",
            #"""
            n     s              b
            ----  -------------  -------
               1  it's, "x"      x'0aff'
            -2.5  NULL           NULL
             Inf  two\u{a}lines

            """#
        ),
        (
            "markdown",
            #"""
            | n    | s             | b       |
            | ---- | ------------- | ------- |
            |    1 | it's, "x"     | x'0aff' |
            | -2.5 | NULL          | NULL    |
            |  Inf | two\u{a}lines |         |

            """#
        ),
    ])
    func `rows are printed in the format asked for`(_ format: String, _ expected: String) throws {
        let run = try workspace.tool.run("query", "a.db", "SELECT * FROM t", "--format", format)
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(run.output == expected)
    }

    /// What the application defines is missing, and nothing is wrong with the statement: `unsupported`, as `diff` has it.
    @Test(arguments: [
        ("SELECT a FROM c ORDER BY a", 69, "the collation 'backwards', which the engine lacks", "COLLATE BINARY"),
        ("SELECT a FROM c WHERE a = 'x'", 69, "the collation 'backwards', which the engine lacks", "COLLATE BINARY"),
        ("SELECT max(a), b FROM c", 69, "the collation 'backwards', which the engine lacks", "COLLATE BINARY"),
        ("SELECT k FROM w", 69, "collation", ""),
        ("SELECT s FROM v", 69, "the function 'slug', which the engine lacks", "without the view"),
        ("SELECT * FROM m", 69, "a virtual table of the module 'absent', which the engine lacks", "Read other tables"),
        ("SELECT b FROM c ORDER BY b", 0, "", ""),
        ("SELECT a FROM c ORDER BY a COLLATE BINARY", 0, "", ""),
        ("SELECT b FROM c ORDER BY b COLLATE missing", 64, "no such collation sequence: missing", "Check the statement"),
        ("SELECT slag(b) FROM c", 64, "no such function: slag", "Check the statement"),
        ("SELECT b FROM d", 64, "no such table: d", "Check the statement"),
    ])
    func `what a statement lacks of its application is told from mistakes in it`(
        sql: String, status: Int32, message: String, hint: String
    ) throws {
        let database = try Connection(workspace.path("app.db"))
        try database.createCollation("backwards") { $1.compare($0) }
        try database.execute(
            """
            CREATE TABLE c (a TEXT COLLATE backwards, b); INSERT INTO c VALUES ('x', 1), ('y', 2);
            CREATE TABLE w (k TEXT COLLATE backwards PRIMARY KEY) WITHOUT ROWID;
            CREATE VIEW v AS SELECT slug(a) AS s FROM c;
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
                VALUES ('table', 'm', 'm', 0, 'CREATE VIRTUAL TABLE m USING absent(x)');
            """)
        try database.close()
        for arguments in [["query", "app.db", sql], ["shell", "app.db"]] {
            let run = try workspace.tool.run(arguments, input: arguments.count == 2 ? sql + ";\n" : "")
            #expect(run.status == status && (message.isEmpty || run.errors.contains(message)), "\(run.status) \(run.errors)")
            #expect(arguments.count == 2 || hint.isEmpty || run.errors.contains(hint), "\(run.errors)")
        }
        guard status != 0 else { return }
        let run = try workspace.tool.run("query", "app.db", sql, "--json")
        #expect(try run.failureCode() == (status == 69 ? "unsupported" : "usage"))
    }

    @Test func `with --json, an error of SQL has the line and the column`() throws {
        for (sql, line, column) in [
            ("SELECT nocol FROM t", 1, 8), ("SELECT n,\n  'é' || nocol\nFROM t", 2, 10), ("SELEC 1", 1, 1),
        ] {
            let run = try workspace.tool.run("query", "a.db", sql, "--json")
            let body = try JSONSerialization.jsonObject(with: Data(run.errors.utf8)) as? [String: Any]
            let error = try #require(body?["error"] as? [String: Any])
            guard error["line"] != nil else {
                // Before 3.38, SQLite does not tell it.
                #expect(!EngineInfo.linked.isAtLeast(3, 38))
                continue
            }
            #expect(error["line"] as? Int == line && error["column"] as? Int == column, "\(sql): \(run.errors)")
        }
        let other = try workspace.tool.run("query", "absent.db", "SELECT 1", "--json")
        #expect(!other.errors.contains("\"line\""))
    }

    @Test func `--json prints one object with columns and rows`() throws {
        let json = try workspace.tool.run("query", "a.db", "SELECT n, s FROM t LIMIT 2", "--json").json()
        #expect(json["command"] as? String == "query")
        #expect(json["columns"] as? [String] == ["n", "s"])
        let rows = try #require(json["rows"] as? [[Any]])
        #expect(rows.count == 2 && rows[0][1] as? String == #"it's, "x""# && rows[1][1] is NSNull)
    }

    @Test(arguments: [("csv", "n,s\r\n"), ("json", "[]\n"), ("jsonl", ""), ("table", "n  s\n-  -\n")])
    func `no rows leave a valid result`(_ format: String, _ expected: String) throws {
        let run = try workspace.tool.run("query", "a.db", "SELECT n, s FROM t WHERE 0", "--format", format)
        #expect(run.status == 0 && run.output == expected)
    }

    @Test func `values are bound by name, numbers as numbers`() throws {
        let run = try workspace.tool.run(
            "query", "a.db", "SELECT typeof(:i) i, typeof(:r) r, typeof(:t) t, :t text, typeof(:h) h", "--bind", "i=-7",
            "--bind",
            "r=1e3", "--bind", "t=a=b'c", "--bind", "h=0x10", "--format", "csv")
        #expect(run.output == "i,r,t,text,h\r\ninteger,real,text,a=b'c,text\r\n")
        #expect(try workspace.tool.run("query", "a.db", "SELECT 1", "--bind", "x").status == 64)
        #expect(try workspace.tool.run("query", "a.db", "SELECT :a", "--bind", "b=1").status != 0)
    }

    @Test func `the statement may come from standard input`() throws {
        let run = try workspace.tool.run(
            ["query", "a.db", "-", "--format", "csv"], input: "-- how many\nSELECT count(*) AS c FROM t;\n")
        #expect(run.status == 0 && run.output == "c\r\n3\r\n")
    }

    @Test func `without --write nothing can be changed`() throws {
        let before = try workspace.bytes("a.db")
        for sql in [
            "DELETE FROM t", "CREATE TABLE u (a)", "PRAGMA user_version = 5", "VACUUM",
            "SELECT writefile('x', 'y')",
        ] {
            let run = try workspace.tool.run("query", "a.db", sql, "--json")
            #expect(run.status != 0, "\(sql)")
        }
        #expect(try workspace.tool.run("query", "a.db", "DELETE FROM t", "--json").failureCode() == "usage")
        #expect(try workspace.bytes("a.db") == before)
        #expect(try workspace.names() == ["a.db"])
    }

    @Test func `with --write the change is committed`() throws {
        let run = try workspace.tool.run("query", "a.db", "DELETE FROM t WHERE s IS NULL", "--write")
        #expect(run.status == 0 && run.output == "1 row changed.\n")
        let json = try workspace.tool.run("query", "a.db", "UPDATE t SET b = 1", "--write", "--json").json()
        #expect(json["changes"] as? Int == 2)
        let database = try Connection(workspace.path("a.db"))
        #expect(try database.value("SELECT count(*) FROM t", as: Int.self) == 2)
    }

    @Test(arguments: ["SELEC", "SELECT 1; SELECT 2", "SELECT * FROM missing", "", "; -- nothing"])
    func `a wrong statement is a usage error`(_ sql: String) throws {
        let run = try workspace.tool.run("query", "a.db", sql, "--json")
        #expect(run.status == 64)
        #expect(try run.failureCode() == "usage")
    }

    @Test func `what the engine refuses while it runs is a usage error, and changes nothing`() throws {
        let database = try Connection(workspace.path("a.db"))
        try database.execute("CREATE UNIQUE INDEX once ON t (n)")
        try database.close()
        for sql in ["SELECT abs(-9223372036854775808)", "INSERT INTO t SELECT n, 'again', s FROM t", "SELECT :missing"] {
            let run = try workspace.tool.run("query", "a.db", sql, "--write", "--json")
            #expect(try run.status == 64 && run.failureCode() == "usage", "\(sql): \(run.errors)")
        }
        #expect(try workspace.tool.run("query", "a.db", "SELECT abs(-9223372036854775808)").status == 64)
        let count = try workspace.tool.run("query", "a.db", "SELECT count(*) c FROM t", "--format", "csv")
        #expect(count.output == "c\r\n3\r\n")
    }

    @Test func `a database in use is read with its log`() throws {
        let writer = try Connection(workspace.path("a.db"))
        try writer.execute("PRAGMA journal_mode = wal; INSERT INTO t VALUES (4, 'in the log', NULL)")
        let run = try workspace.tool.run("query", "a.db", "SELECT s FROM t WHERE n = 4", "--format", "csv")
        #expect(run.output == "s\r\nin the log\r\n")
        try writer.execute("INSERT INTO t VALUES (5, 'afterwards', NULL)")
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts)) func `an encrypted database is read with its key`() throws {
        try workspace.write("secret", to: "key")
        #expect(try workspace.tool.run("encrypt", "a.db", "v.db", "--key-file", "key").status == 0)
        let run = try workspace.tool.run(
            "query", "v.db", "SELECT count(*) c FROM t", "--key-file", "key", "--format", "csv")
        #expect(run.output == "c\r\n3\r\n")
        try workspace.write("wrong", to: "other")
        #expect(
            try workspace.tool.run("query", "v.db", "SELECT 1", "--key-file", "other", "--json").failureCode()
                == "key-rejected")
    }

    @Test(arguments: ["PRAGMA key = 'SECRET'", "EXPLAIN PRAGMA rekey('SECRET')", "ATTACH 'b.db' AS b KEY 'SECRET'"])
    func `a key in the statement is refused, and not repeated`(_ sql: String) throws {
        for (arguments, input) in [(["a.db", sql], ""), (["a.db", "-"], sql), (["new.db", sql, "--create"], "")] {
            let run = try workspace.tool.run(["query"] + arguments, input: input)
            #expect(run.status == 64 && run.errors.contains("a key does not belong in SQL"), "\(run.errors)")
            #expect(!(run.output + run.errors).contains("SECRET"))
        }
        #expect(try workspace.names() == ["a.db"])
    }

    @Test func `H-SEC-34 SQL on standard input that is not UTF-8 is refused, and stores no repaired text`() throws {
        let before = try workspace.bytes("a.db")
        for text in ["INSERT INTO t (s) VALUES ('caf?')", "SELECT 1 -- caf?"] {
            // "é" of Latin-1.
            let bytes = Data(text.utf8.map { $0 == UInt8(ascii: "?") ? 0xE9 : $0 })
            let run = try workspace.tool.run(["query", "a.db", "-", "--write"], bytes: bytes)
            #expect(run.status == 64 && run.errors.contains("UTF-8"), "\(run.errors)")
            #expect(try workspace.tool.run(["shell", "a.db"], bytes: bytes + Data(";".utf8)).status == 64)
        }
        #expect(try workspace.bytes("a.db") == before)
        let written = try workspace.tool.run(["query", "a.db", "-", "--write"], input: "INSERT INTO t (s) VALUES ('café')")
        #expect(written.status == 0, "\(written.errors)")
    }

    @Test(arguments: [
        ("SELECT 1 AS n, NULL AS s UNION ALL SELECT 2, ''", "n,s\r\n1,\r\n2,\"\"\r\n"),
        // Readers skip empty lines: no row may be lost.
        ("SELECT NULL AS s UNION ALL SELECT ''", "s\r\n\"\"\r\n\"\"\r\n"),
    ])
    func `NULL is an empty field in CSV, except in a row of one column, as help says`(_ sql: String, _ csv: String) throws {
        #expect(try workspace.tool.run("query", "a.db", sql, "--format", "csv").output == csv)
        let help = try workspace.tool.run("query", "--help").output
        #expect(
            help.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("a row of one column has \"\" for NULL"))
    }

    @Test func `a reader that closes the pipe ends the query`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.currentDirectoryURL = workspace.directory
        process.environment = ProcessInfo.processInfo.environment.merging(["TOOL": Tool.executable.path]) { $1 }
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
        process.arguments = [
            "-c", #"{ "$TOOL" query a.db '\#(endless)' --format csv; echo "status $?" >&2; } | head -n 2"#,
        ]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let lines = output.fileHandleForReading.readDataToEndOfFile()
        let messages = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(String(decoding: lines, as: UTF8.self) == "x\r\n1\r\n")
        #expect(String(decoding: messages, as: UTF8.self) == "status 0\n")
    }
}
