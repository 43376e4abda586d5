import Foundation
import LiteVault
import Testing

/// The commands of `litevault shell` that people know from SQLite's shell, and how errors and wide values are shown.
@Suite struct ShellCommandTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        let database = try Connection(workspace.path("a.db"))
        try database.execute(
            "CREATE TABLE t (n, s); INSERT INTO t VALUES (1, 'one'), (2, NULL); CREATE INDEX t_n ON t (n);")
        try database.close()
    }

    private func shell(_ input: String, _ arguments: String...) throws -> Tool.Run {
        try workspace.tool.run(["shell", "a.db"] + arguments, input: input)
    }

    @Test(arguments: [
        (".mode list", "n|s\n1|one\n2|\n"), (".mode tabs", "n\ts\n1\tone\n2\t\n"),
        (".mode quote", "'n','s'\n1,'one'\n2,NULL\n"),
        (
            ".mode insert x",
            "INSERT INTO \"x\" (\"n\", \"s\") VALUES (1, 'one');\nINSERT INTO \"x\" (\"n\", \"s\") VALUES (2, NULL);\n"
        ),
        (".mode column", "n  s\n-  ----\n1  one\n2  NULL\n"), (".headers on", "n  s\n-  ----\n1  one\n2  NULL\n"),
        (".headers off\n.mode list", "1|one\n2|\n"), (".header off\n.mode column\n.nullvalue -", "1  one\n2  -\n"),
        (".mode list\n.nullvalue ?", "n|s\n1|one\n2|?\n"),
        (
            ".mode box\n.width 0 2",
            "┌───┬────┐\n│ n │ s  │\n├───┼────┤\n│ 1 │ on │\n│   │ e  │\n│ 2 │ NU │\n│   │ LL │\n└───┴────┘\n"
        ),
    ])
    func `formats and their settings`(_ commands: String, _ expected: String) throws {
        let run = try shell(commands + "\nSELECT * FROM t;\n")
        #expect(run.status == 0 && run.output == expected, "\(run.output) \(run.errors)")
    }

    @Test(arguments: [
        (".mode list\n.separator ;", "n;s\n1;one\n2;\n"), (".mode list\n.separator '\\t' X", "n\tsX1\toneX2\tX"),
        (".mode quote\n.separator \"\\174\"", "'n'|'s'\n1|'one'\n2|NULL\n"),
        // A field with a separator is in quotes.
        (".mode csv\n.separator o", "nos\r\n1o\"one\"\r\n2o\r\n"), (".separator ;\n.mode list", "n|s\n1|one\n2|\n"),
        (".separator ;\n.mode jsonl", "{\"n\": 1, \"s\": \"one\"}\n{\"n\": 2, \"s\": null}\n"),
    ])
    func `.separator sets what is between values and rows until the next .mode`(
        _ commands: String, _ expected: String
    ) throws {
        let run = try shell(commands + "\nSELECT * FROM t;\n")
        #expect(run.status == 0 && run.output == expected, "\(run.output) \(run.errors)")
    }

    @Test(arguments: [
        ("", "n,s\n3,x\n", "3|x"), ("--csv", "s,n\nx,3\n", "3|x"), ("--skip 1", "a,b\n3,x\n", "3|x"),
        ("-skip 0", "3,x\n4,\"y,\"\n", "3|x\n4|y,"), ("--ascii --skip 0", "3\u{1F}\"x\ry\u{1E}", "3|\"x\ry"),
        ("--skip 9", "n,s\n3,x\n", ""), ("--schema temp", "n,s\n3,x\n", ""),
    ])
    func `.import takes the options of SQLite's shell`(_ options: String, _ text: String, _ rows: String) throws {
        try workspace.write(text, to: "rows")
        let run = try shell(".import \(options) rows t\n.mode list\n.headers off\nSELECT * FROM main.t WHERE n > 2;\n")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.split(separator: "\n").dropFirst().joined(separator: "\n") == rows, "\(run.output)")
    }

    @Test(arguments: [
        // A CR belongs to the end of a line, or of the file, only where it is the last byte before it.
        ("n,s\n3,a\rb\r\n4,\"c\"\r", "3|61'0D'62 4|63"), ("n,s\r\n3,\r\ra\r\r\n\r\n4,\"x\r\ny\"\n", "3|'0D0D'61'0D' 4|78'0D0A'79"),
        // So does a byte order mark to the start of the file, whatever is behind it.
        ("\u{FEFF}n,s\n3,\u{FEFF}x\n", "3|EFBBBF78"), ("\u{FEFF}\"n\",\"s\"\r\n3,x\r\n", "3|78"), ("\u{FEFF}", ""), ("\u{FEFF}\n", ""),
    ])
    func `H-TXT-14 .import keeps each byte of a field, and no byte order mark`(text: String, rows: String) throws {
        try workspace.write(text, to: "rows")
        let read = "SELECT n || '|' || hex(s) FROM t WHERE n > 2 ORDER BY n;\n"
        let run = try shell(".import rows t\n.mode list\n.headers off\n\(read)")
        let wanted = rows.replacingOccurrences(of: "'", with: "").split(separator: " ").joined(separator: "\n")
        guard !rows.isEmpty else {
            #expect(run.status == 64 && run.errors.contains("first line"), "\(run.errors)")
            return
        }
        #expect(run.status == 0 && run.output.split(separator: "\n").dropFirst().joined(separator: "\n") == wanted, "\(run.output) \(run.errors)")
    }

    @Test(arguments: ["--skip 0 -csv", "--csv --skip 0"])
    func `H-TXT-14 a byte order mark is not a part of the first value`(options: String) throws {
        try workspace.write("\u{FEFF}3,x\n4,y\n", to: "rows")
        try workspace.write("\u{FEFF}\"id\",\"name\"\n1,a\n", to: "quoted")
        let run = try shell(
            ".mode list\n.headers off\n.import \(options) rows t\nSELECT hex(n), s FROM t WHERE s IN ('x', 'y');\n"
                + ".import --csv quoted new\nSELECT id, name FROM new;\n")
        #expect(run.status == 0 && run.output == "2 rows imported.\n33|x\n34|y\n1 row imported.\n1|a\n", "\(run.output) \(run.errors)")
    }

    @Test func `H-TXT-14 a file whose lines end with CR alone is refused, and no table is made of it`() throws {
        try workspace.write("id,name\r1,a\r2,b\r", to: "rows")
        for arguments in ["rows new", "--skip 1 rows t"] {
            let run = try shell(".import --csv \(arguments)\n")
            #expect(run.status == 64 && run.errors.contains("CR") && run.errors.contains("Convert its line ends"), "\(run.errors)")
        }
        #expect(try shell(".tables\n").output == "t\n")
        // All of it is a value of one column, with quotes or without.
        for text in ["1\r2\r3\r", "1\r2", "\"1\"\r\"2\"\r"] {
            try workspace.write(text, to: "values")
            let run = try shell("CREATE TABLE one (a);\n.import --csv --skip 0 values one\n")
            #expect(run.status == 64 && run.errors.contains("Convert its line ends"), "\(run.errors)")
            #expect(try shell("SELECT count(*) AS n FROM one;\nDROP TABLE one;\n").output.hasSuffix("0\n"))
        }
        // With a line feed, a CR is a part of its field, and in quotes in any file.
        for (text, rows) in [("1\r2\n3\r", "310D32\n33\n"), ("\"1\r2\"", "310D32\n"), ("1\r", "31\n")] {
            try workspace.write(text, to: "values")
            let run = try shell(
                ".mode list\n.headers off\nCREATE TABLE one (a);\n.import --csv --skip 0 values one\nSELECT hex(a) FROM one;\nDROP TABLE one;\n")
            #expect(run.status == 0 && run.output.hasSuffix("imported.\n\(rows)"), "\(run.output) \(run.errors)")
        }
        // A name in quotes may have one.
        try workspace.write("\"i\rd\"\r\n1\r\n", to: "quoted")
        #expect(try shell(".mode list\n.headers off\n.import --csv quoted new\nSELECT * FROM new;\n").output == "1 row imported.\n1\n")
    }

    @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"], ["quote", "insert"])
    func `H-TXT-12 a text with NUL is printed as SQL that stands for it in each encoding`(encoding: String, mode: String) throws {
        let database = try Connection(workspace.path("nul.db"))
        try database.execute("PRAGMA encoding = '\(encoding)'; CREATE TABLE t (s)")
        try database.run("INSERT INTO t VALUES (?)", with: "a\0b'é")
        try database.run("INSERT INTO t VALUES (?)", with: String(repeating: "\0{0}", count: 1500))
        try database.close()
        let printed = [
            try workspace.tool.run("query", "nul.db", "SELECT s FROM t", "--format", mode),
            try workspace.tool.run("shell", "nul.db", input: ".mode \(mode)\nSELECT s FROM t;\n"),
        ]
        for rows in printed.map(\.output) {
            let lines = rows.split(separator: "\n")
            let statements = mode == "insert" ? lines.map(String.init) : lines.dropFirst().map { "INSERT INTO t VALUES (\($0));" }
            try? FileManager.default.removeItem(atPath: workspace.path("copy.db"))
            try FileManager.default.copyItem(atPath: workspace.path("nul.db"), toPath: workspace.path("copy.db"))
            let text = statements.joined(separator: "\n").replacingOccurrences(of: "\"table\"", with: "t") + "\n"
            #expect(try workspace.tool.run("shell", "copy.db", input: text).status == 0)
            let copy = try Connection(workspace.path("copy.db"))
            #expect(try copy.value("SELECT count(*) FROM t", as: Int.self) == 4)
            #expect(try copy.value("SELECT count(DISTINCT hex(s)) FROM t", as: Int.self) == 2)
        }
    }

    @Test func `.import takes the separator that was set, or that of the format`() throws {
        try workspace.write("n;s\n3;\"a;b\"\n", to: "semicolons")
        try workspace.write("n\ts\n4\ttab,\n", to: "tabs")
        try workspace.write("n|s\n5|bar,\n", to: "bars")
        let run = try shell(
            ".separator ;\n.import -v semicolons t\n.mode tabs\n.import tabs t\n.mode list\n.import bars t\n.headers off\n"
                + "SELECT * FROM t WHERE n > 2;\n")
        #expect(run.status == 0, "\(run.errors)")
        let insert = "INSERT INTO \"t\" (\"n\", \"s\") VALUES (?, ?)\n1 row imported.\n"
        #expect(run.output == insert + "1 row imported.\n1 row imported.\n3|a;b\n4|tab,\n5|bar,\n")
    }

    @Test(arguments: [
        ("--skip x rows t", "needs a number"), ("--skip", "wrong arguments"), ("--schema rows t --schema", "needs the name"),
        ("-x rows t", "unknown option"), ("rows", "wrong arguments"), ("'|ls' t", "not the name of a file"),
        ("--skip 0 rows absent", "has 1 field"), ("--skip 0 rows t", "has 1 field"), ("--schema none rows t", "none"),
    ])
    func `.import refuses what it cannot do, and imports nothing`(_ arguments: String, _ reason: String) throws {
        try workspace.write("a,b\n1\n", to: "rows")
        let run = try shell(".import \(arguments)\n")
        #expect([64, 66].contains(run.status) && run.errors.contains(reason), "\(run.errors)")
        let read = try workspace.tool.run("query", "a.db", "SELECT count(*) AS n FROM t", "--format", "csv")
        #expect(read.output == "n\r\n2\r\n")
        #expect(try shell(".import rows t\n").errors.contains("give --skip 0"))
        #expect(try shell(".separator ab\n.import rows t\n").errors.contains("one byte"))
    }

    @Test func `in a transaction that was rolled back, .import is left out however it is shortened, and no other command`() throws {
        try workspace.write("n,s\n3,x\n", to: "rows.csv")
        for name in [".import", ".im", ".impo"] {
            let run = try shell("BEGIN;\nSELEC 1;\n\(name) rows.csv t\n.indexes\nCOMMIT;\nSELECT count(*) FROM t;\n", "--no-bail", "--mode", "csv")
            #expect(run.status == 64 && run.output == "t_n\ncount(*)\r\n2\r\n", "\(run.output) \(run.errors)")
            #expect(run.errors.contains("left out"), "\(run.errors)")
        }
    }

    @Test func `a blob and a text that looks like it are told apart`() throws {
        let sql = "SELECT x'00ff' AS b, 'x''00ff''' AS t"
        let run = try workspace.tool.run("query", "a.db", sql, "--format", "typed-json")
        #expect(run.output == "[{\"b\": {\"blob\": \"00ff\"}, \"t\": \"x'00ff'\"}]\n")
    }

    @Test func `parameters are bound by name`() throws {
        let run = try shell(
            """
            .mode quote
            .headers off
            .parameter set :a 41 + 1
            .parameter set @b 'it''s 1'
            .parameter set $c x'00ff'
            .parameter set ?4 plain words
            .parameter set :e '1'
            .parameter list
            SELECT :a, @b, $c, ?4, :e;
            .parameter unset :a
            SELECT @b, :a;
            """)
        let list = "$c x'00ff'\n:a 42\n:e '1'\n?4 'plain words'\n@b 'it''s 1'\n"
        #expect(run.output == list + "42,'it''s 1',x'00ff','plain words','1'\n", "\(run.output) \(run.errors)")
        #expect(run.status == 64 && run.errors.contains("':a' has no value"))
        #expect(run.errors.contains(".parameter set :a"))
        #expect(try shell(".parameter set :a 1\n.parameter clear\nSELECT :a;").status == 64)
        #expect(try shell("SELECT ?;").errors.contains(".parameter"))
        #expect(try shell(".parameter set a 1").status == 64)
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: workspace.path(name)) }

    @Test func `a file is read, with its own lines in errors`() throws {
        try workspace.write("SELECT 7 AS x;\n.mode csv\n", to: "more.sql")
        try workspace.write("\nSELECT nope;\n", to: "bad.sql")
        try workspace.write(".read self.sql\n", to: "self.sql")
        #expect(try shell(".read more.sql\nSELECT 8 AS y;").output == "x\n-\n7\ny\r\n8\r\n")
        let bad = try shell(".read bad.sql\nSELECT 8;")
        #expect(bad.status == 64 && bad.errors.contains("bad.sql, line 2: ") && bad.output.isEmpty)
        #expect(try shell(".read bad.sql\nSELECT 8 AS y;", "--no-bail").output == "y\n-\n8\n")
        #expect(try shell(".read self.sql").errors.contains("too many files"))
        #expect(try shell(".read none.sql").status == 66)
        for command in [".read |ls", ".once |cat", ".output |cat", ".once -x"] {
            #expect(try shell(command).errors.contains("not the name of a file"), "\(command)")
        }
    }

    @Test func `results go to a new private file, and never over another one`() throws {
        let before = try workspace.bytes("a.db")
        let run = try shell(
            ".mode csv\n.once o\nSELECT 1 AS a; SELECT 2 AS b;\n.output p\nSELECT 3 AS c;\n.print text\n.output\n.print end\n"
        )
        #expect(run.status == 0 && run.output == "b\r\n2\r\nend\n", "\(run.output) \(run.errors)")
        #expect(try workspace.bytes("o") == Data("a\r\n1\r\n".utf8))
        #expect(try workspace.bytes("p") == Data("c\r\n3\r\ntext\n".utf8))
        let mode = try FileManager.default.attributesOfItem(atPath: workspace.path("o"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(symlink("a.db", workspace.path("link")) == 0)
        for name in ["a.db", "o", "link"] {
            #expect(try shell(".once \(name)\nSELECT 1;").status == 73, "\(name)")
            #expect(try shell(".output \(name)\nSELECT 1;").status == 73, "\(name)")
        }
        #expect(try shell(".once new\nSELEC;").status == 64)
        #expect(!exists("new"))
        #expect(try workspace.bytes("a.db") == before)
    }

    @Test func `H-SEC-20 a pragma that nobody knows is not echoed with its value`() throws {
        let run = try shell(".echo on\nPRAGMA keyy = 'opensesame';\nSELECT 1 AS x;\n")
        #expect(run.status == 0 && run.output.contains("SELECT 1 AS x;"), "\(run.output) \(run.errors)")
        #expect(!run.output.contains("opensesame") && !run.errors.contains("opensesame"))
    }

    @Test func `names are shown, shortened and corrected`() throws {
        let names = try shell(".indexes\n.indexes none\n.tables x%\n.tables T\n.ta\n.print a  'b  c'\n")
        #expect(names.output == "t_n\nt\nt\na b  c\n", "\(names.errors)")
        #expect(try shell(".databases").output.hasSuffix("/a.db r/w\n"))
        #expect(try shell(".tabls").errors.contains("Did you mean '.tables'?"))
        #expect(try shell(".s").errors.contains(".save, .schema"))
        let run = try shell(".changes on\n.echo on\n.timer on\n.eqp on\nUPDATE t SET s = 'x' WHERE n = 1;\n")
        #expect(run.output.hasPrefix("UPDATE t SET s = 'x' WHERE n = 1;\nSEARCH "), "\(run.output)")
        #expect(run.output.hasSuffix("\nchanges: 1   total_changes: 1\n") && run.errors.contains("Run time: "))
    }

    @Test(arguments: [
        ("'it''s'", "it's"), ("\"a\"\"b\" ''", "a\"b "), ("''''", "'"), ("'a b''c d' x", "a b'c d x"), ("'a\"\"b'", "a\"\"b"),
        // For SQL, a combining mark does not change the quote before it.
        ("'a b'\u{301} c", "a b\u{301} c"),
    ])
    func `a doubled quote within quotes stands for itself`(_ typed: String, _ printed: String) throws {
        #expect(try shell(".print \(typed)\n").output == printed + "\n")
    }

    @Test func `a file with a quote in its name is named with a doubled one`() throws {
        #expect(try shell(".output 'it''s.txt'\nSELECT 1 AS x;\n").status == 0)
        #expect(exists("it's.txt") && !exists("its.txt"))
        #expect(try shell(".print 'it''\n").errors.contains("a quote is not closed"))
    }

    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 38))) func `an error shows the place with line, column and a caret`() throws {
        let script = try shell("SELECT 1 x; SELECT n,\n  nope FROM t;\n")
        let place = "error: line 1: no such column: nope\n  nope FROM t;\n  ^ line 2, column 3\nhint:"
        #expect(script.errors.contains(place), "\(script.errors)")
        let second = try shell("SELECT 1 x; SELECT nope;\n")
        #expect(
            second.errors.contains("\n  SELECT nope;\n         ^ line 1, column 20\n"), "\(second.errors)")
        let query = try workspace.tool.run("query", "a.db", "SELECT '日本', nope")
        let caret = "\n  SELECT '日本', nope\n                 ^ line 1, column 14\n"
        #expect(query.errors.contains(caret), "\(query.errors)")
        let (left, right) = (String(repeating: "日", count: 500), String(repeating: "x", count: 500))
        let long = try shell("SELECT '\(left)', nope, '\(right)';")
        #expect(long.errors.split(separator: "\n").allSatisfy { $0.count < 100 }, "\(long.errors)")
        // A misspelled key is not repeated.
        #expect(try !shell("PRAGM key = 'sesame';").errors.contains("sesame"))
        let terminal = try Terminal(["shell", "a.db"], in: workspace.directory, kind: "dumb")
        #expect(terminal.waitFor("litevault> "))
        terminal.type("SELECT nope;")
        #expect(terminal.waitFor("^ line 1, column 8") && terminal.waitFor("litevault> "))
        terminal.type(".quit")
        #expect(terminal.end() == 0)
    }

    @Test func `wide values keep the lines of a box, and nothing of them is lost in a pipe`() throws {
        let text = String(repeating: "0123456789", count: 12)
        let run = try shell(".mode box\nSELECT '\(text)' AS a, '日本' AS b UNION ALL SELECT 'x', 'y';\n")
        #expect(run.output.contains(text))
        #expect(run.output.contains("│ 日本 │") && run.output.contains("│ y    │"), "\(run.output)")
        // Rows behind those that were measured take several lines.
        let rows = try shell(
            ".mode box\nWITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1001)"
                + " SELECT CASE WHEN n = 1001 THEN '0123456789' ELSE 'x' END AS abcd FROM c;\n")
        #expect(
            rows.output.hasSuffix("│ 0123 │\n│ 4567 │\n│ 89   │\n└──────┘\n"), "\(rows.output.suffix(200))")
    }

    @Test(arguments: ["table", "box", "markdown"])
    func `columns are measured by the first rows, of a MiB of text at most`(mode: String) throws {
        let sql = "SELECT 'x' AS abc, hex(zeroblob(600000)) AS b UNION ALL SELECT '0123456789', 'y';"
        let names = try shell(".mode \(mode)\n\(sql)\n").output.split(separator: "\n").first { $0.contains("abc") } ?? ""
        #expect(["abc  b", "│ abc │ b", "| abc | b"].contains { names.hasPrefix($0) }, "\(names.prefix(40))")
    }

    @Test func `real numbers of .mode insert and .mode quote are read back as the same numbers`() throws {
        var numbers: [Double] = [958242.646213, 131.562697, 9.2967797230575, 1234.5678, 0.1, 1.0 / 3, 1e15, -1e16, -0.5, .greatestFiniteMagnitude]
        numbers += (0..<2000).compactMap { _ in Double("\(Int64.random(in: 1..<1_000_000_000_000_000))e-\(Int.random(in: 0..<16))") }
        let database = try Connection(workspace.path("a.db"))
        try database.execute("CREATE TABLE r (i INTEGER PRIMARY KEY, x)")
        try database.transaction {
            for number in numbers { try database.run("INSERT INTO r (x) VALUES (?)", with: number) }
        }
        try database.close()
        for mode in ["insert r", "quote"] {
            let printed = try shell(".mode \(mode)\n.headers off\nSELECT x FROM r ORDER BY i;\n").output
            let lines = printed.split(separator: "\n").map(String.init)
            let copy = try Connection(workspace.path("\(mode.prefix(1)).db"))
            try copy.execute("CREATE TABLE r (x)")
            try copy.transaction {
                for line in lines { try copy.execute(mode == "quote" ? "INSERT INTO r VALUES (\(line))" : line) }
            }
            let found = try copy.all("SELECT x FROM r ORDER BY rowid", as: Double.self)
            let wrong = zip(numbers, found).filter { $0.bitPattern != $1.bitPattern }
            #expect(found.count == numbers.count && wrong.isEmpty, "\(wrong.prefix(3))")
        }
        let json = try shell("SELECT 958242.646213 AS x;\n", "--mode", "json")
        #expect(json.output.hasPrefix("[{\"x\": 958242.646") && !json.output.contains("*"), "\(json.output)")
    }
}
