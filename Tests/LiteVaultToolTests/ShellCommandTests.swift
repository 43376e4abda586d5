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

    @Test(.enabled(if: Engine.showsPlaces)) func `an error shows the place with line, column and a caret`() throws {
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
}
