import Foundation
import LiteVault
import Testing

import LiteVaultTool

/// What a script of `litevault shell` does when what it reads, or what it writes, fails.
@Suite struct ShellScriptTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        let database = try Connection(workspace.path("a.db"))
        try database.execute("CREATE TABLE t (n, s); INSERT INTO t VALUES (1, 'one'), (2, NULL);")
        try database.close()
    }

    private func shell(_ input: String, _ arguments: String...) throws -> Tool.Run {
        try workspace.tool.run(["shell", "a.db"] + arguments, input: input)
    }

    private func count(in name: String = "a.db") throws -> Int {
        try Connection(workspace.path(name)).value("SELECT count(*) FROM t", as: Int.self)
    }

    @Test(arguments: [0xFF, 0x00] as [UInt8], ["--no-bail", ".bail off", ""])
    func `H-SH-01 a line of a file that is not text ends the file, and nothing of its statement runs`(byte: UInt8, continuing: String) throws {
        let lines = ["INSERT INTO t VALUES (3, 'three');", "DELETE FROM t", "WHERE s = '?'", ";", "DELETE FROM t;"].joined(separator: "\n")
        try workspace.write(Data(lines.utf8.map { $0 == UInt8(ascii: "?") ? byte : $0 }), to: "s.sql")
        let isOption = continuing.hasPrefix("--")
        let script = (isOption ? "" : continuing + "\n") + ".read s.sql\nINSERT INTO t VALUES (4, 'four');\n"
        let run = try workspace.tool.run(["shell", "a.db"] + (isOption ? [continuing] : []), input: script)
        #expect(run.status == 64 && run.errors.contains("s.sql, line 3: the input is not text in UTF-8"), "\(run.errors)")
        #expect(try count() == (continuing.isEmpty ? 3 : 4))
        // The transaction around it is rolled back.
        let inside = try workspace.tool.run(
            ["shell", "a.db", "--no-bail"], input: "BEGIN;\nINSERT INTO t VALUES (5, 'five');\n.read s.sql\nDELETE FROM t;\nCOMMIT;\n")
        #expect(inside.status == 64 && inside.errors.contains("rolled back"), "\(inside.errors)")
        #expect(try count() == (continuing.isEmpty ? 3 : 4))
    }

    @Test(arguments: [
        (".read a.db", "a.db"), (".read link", "a.db"), (".read a.db-shm", "a.db"), (".read b.db", "b.db"), (".import b.db t", "b.db"),
        (".open b.db --key-file a.db", "a.db"),
    ])
    func `H-SH-02 a command that names a file of an open database leaves its locks`(command: String, locked: String) throws {
        let database = try Connection(workspace.path("a.db"))
        try database.execute("PRAGMA journal_mode = wal")
        try database.close()
        let attached = try Connection(workspace.path("b.db"))
        try attached.execute("CREATE TABLE t (n, s)")
        try attached.close()
        try FileManager.default.createSymbolicLink(atPath: workspace.path("link"), withDestinationPath: "a.db")
        let terminal = try Terminal(["shell", "a.db"], in: workspace.directory, kind: "dumb")
        #expect(terminal.waitFor("litevault> "))
        terminal.type("ATTACH 'b.db' AS b; BEGIN IMMEDIATE; INSERT INTO main.t VALUES (3, 'three'); INSERT INTO b.t VALUES (1, 'one');")
        #expect(terminal.waitFor("litevault*> "))
        terminal.type(command)
        #expect(terminal.waitFor("error: ") && terminal.waitFor("database that is open") && terminal.waitFor("litevault*> "))
        let other = try Connection(workspace.path(locked))
        other.lockTimeout = .milliseconds(50)
        #expect(throws: (any Error).self) { try other.execute("BEGIN IMMEDIATE") }
        terminal.type("COMMIT;")
        #expect(terminal.waitFor("litevault> "))
        try other.execute("BEGIN IMMEDIATE; ROLLBACK")
        terminal.type(".quit")
        #expect(terminal.end() == 0)
    }

    @Test func `H-SH-03 a script runs to its end when nobody reads its output any more, unless it only reads`() throws {
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c;\n"
        func run(_ script: String, _ option: String) throws -> String {
            try workspace.write(script, to: "s.sql")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.currentDirectoryURL = workspace.directory
            process.environment = ProcessInfo.processInfo.environment.merging(["TOOL": Tool.executable.path]) { $1 }
            process.arguments = [
                "-c", #"{ "$TOOL" shell a.db --mode csv \#(option) <s.sql; echo "status $?" >&2; } | head -n 2 >/dev/null"#,
            ]
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let messages = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: messages, as: UTF8.self)
        }
        let changes = "BEGIN;\nINSERT INTO t VALUES (3, 'three');\n\(endless)INSERT INTO t VALUES (4, 'four');\nCOMMIT;\n"
        #expect(try run(changes, "") == "status 0\n")
        #expect(try count() == 4)
        #expect(try run(endless + "SELEC;\n", "").hasSuffix("status 64\n"))
        #expect(try run(endless + "SELEC;\n", "--read-only") == "status 0\n")
    }

    @Test func `a line and a statement that are read have a limit of bytes`() throws {
        try workspace.write("SELECT 1;\n12345678901234567890\n1", to: "s.sql")
        let input = try ShellInput(path: workspace.path("s.sql"), limit: 30)
        let lines = try (1...4).map { _ in try input.next() }
        #expect(lines == ["SELECT 1;", "12345678901234567890", "1", nil])
        try workspace.write(String(repeating: "x", count: 200_000), to: "long.sql")
        let long = try ShellInput(path: workspace.path("long.sql"), limit: 100_000)
        #expect(throws: Failure.self) { try long.next() }

        var buffer = StatementBuffer(limit: 30)
        let complete = buffer.add("SELECT 1; SELECT 2; SELECT 3; SELECT 4;", line: 1)
        #expect(complete.count == 4 && buffer.excess?.line == nil)
        let first = buffer.add("SELECT", line: 2)
        #expect(first.isEmpty && buffer.excess?.line == nil)
        let second = buffer.add("123456789012345678901234567890", line: 3)
        #expect(second.isEmpty)
        #expect(buffer.excess?.line == 2 && buffer.excess?.limit == 30)
    }
}
