import Foundation
import LiteVault
import Testing

/// `litevault info`.
@Suite struct InfoTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    @Test(arguments: [
        ("v4-4.6.1-default.db", "encrypted"), ("v3-3.4.1-default.db", "encrypted"),
        ("v4-4.6.1-plainheader32.db", "plaintext-header"), ("plain-3.40.1.db", "plain"),
        ("hostile/zero-length.db", "empty"), ("hostile/magic-only.db", "not-a-database"),
    ])
    func `the kind of a file is determined without a key, on every engine`(_ fixture: String, _ kind: String) throws {
        try workspace.copy(fixture: fixture, to: "file.db")
        let before = try workspace.bytes("file.db")
        let run = try workspace.tool.run("info", "file.db", "--json")
        #expect(run.status == 0)
        let report = try run.json()
        #expect(report["schema"] as? Int == 1)
        #expect(report["command"] as? String == "info")
        #expect(report["kind"] as? String == kind)
        #expect(report["size"] as? Int == before.count)
        #expect(try workspace.tool.run("info", "file.db").output.hasPrefix("file.db: \(kind)"))
        #expect(try workspace.bytes("file.db") == before)
        #expect(try workspace.names() == ["file.db"])
    }

    @Test func `for a plain database it shows sizes, versions and a summary of the schema`() throws {
        try workspace.makeDatabase("notes.db")
        let report = try workspace.tool.run("info", "notes.db", "--json").json()
        #expect(report["opened"] as? Bool == true)
        #expect(report["user_version"] as? Int == 7)
        #expect(report["application_id"] as? Int == 1_196_444_487)
        #expect(report["encoding"] as? String == "UTF-8")
        let contents = try #require(report["contents"] as? [String: Any])
        #expect(contents["tables"] as? [String] == ["note"])
        #expect(contents["views"] as? [String] == ["titles"])
        #expect(contents["indexes"] as? Int == 1)
        #expect(contents["triggers"] as? Int == 0)
    }

    @Test(arguments: ["info", "stats"])
    func `the log of a database is that beside the file that a link leads to`(_ command: String) throws {
        let writer = try Connection(workspace.path("a.db"))
        try writer.execute("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        #expect(mkdir(workspace.path("links"), 0o700) == 0)
        #expect(symlink("../a.db", workspace.path("links/b.db")) == 0)
        let report = try workspace.tool.run(command, "links/b.db", "--json").json()
        #expect(try #require(report["wal_size"] as? Int) > 0)
        try writer.execute("INSERT INTO t VALUES (3)")
    }

    @Test func `a key for a plain database is refused`() throws {
        try workspace.makeDatabase("notes.db")
        try workspace.write("secret", to: "key")
        let run = try workspace.tool.run("info", "notes.db", "--key-file", "key", "--json")
        #expect(run.status == (EngineInfo.linked.encrypts ? 66 : 69))
        #expect(try run.failureCode() == (EngineInfo.linked.encrypts ? "wrong-kind" : "no-encryption"))
    }

    @Test func `a missing file ends with 66`() throws {
        let run = try workspace.tool.run("info", "missing.db", "--json")
        #expect(run.status == 66)
        #expect(try run.failureCode() == "no-input")
    }

    @Test func `control characters of a file name do not reach the terminal`() throws {
        try workspace.makeDatabase("a\u{1B}[31mb.db")
        let run = try workspace.tool.run("info", "a\u{1B}[31mb.db")
        #expect(run.status == 0)
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test func `a name that looks like a URI is a file name`() throws {
        try workspace.makeDatabase("file:notes.db?mode=ro")
        #expect(try workspace.tool.run("info", "file:notes.db?mode=ro", "--json").json()["kind"] as? String == "plain")
        #expect(try workspace.tool.run("info", ":memory:").status == 66)
    }
}
