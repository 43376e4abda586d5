import Foundation
import LiteVault
import Testing

/// `litevault stats`.
@Suite struct StatsTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func make(_ name: String, _ sql: String) throws {
        let database = try Connection(workspace.path(name))
        try database.execute(sql)
        try database.close()
    }

    private func stats(_ name: String, _ arguments: String...) throws -> [String: Any] {
        try workspace.tool.run(["stats", name, "--json"] + arguments).json()
    }

    private func trees(_ json: [String: Any]) throws -> [String: [String: Any]] {
        let list = try #require(json["trees"] as? [[String: Any]])
        return Dictionary(uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "", $0) })
    }

    @Test func `each table and index is listed with its rows, and the pages add up`() throws {
        try workspace.makeDatabase("a.db", rows: 500)
        try make("a.db", "CREATE TABLE gone (x); INSERT INTO gone VALUES (zeroblob(40000)); DROP TABLE gone;")
        let json = try stats("a.db")
        let trees = try trees(json)
        #expect(Set(trees.keys) == ["sqlite_schema", "note", "note_title"])
        #expect(trees["note"]?["rows"] as? Int == 500)
        #expect(trees["note_title"]?["type"] as? String == "index")
        #expect(trees["note_title"]?["table"] as? String == "note")
        #expect(try #require(json["free_pages"] as? Int) >= 9)
        let size = try #require(json["page_size"] as? Int)
        #expect(json["size"] as? Int == size * (json["page_count"] as? Int ?? 0))
        if json["measured"] as? String == "pages" {
            let pages = try trees.values.map { try #require($0["pages"] as? Int) }.reduce(0, +)
            let others = try #require(json["other_pages"] as? Int) + #require(json["free_pages"] as? Int)
            #expect(pages + others == json["page_count"] as? Int)
            #expect(json["other_pages"] as? Int == 0)
            // 200 bytes of zeros in each row.
            #expect(try #require(trees["note"]?["payload"] as? Int) > 500 * 200)
        } else {
            #expect(json["measured"] as? String == "values")
            let titles = (1...500).map { "a title nobody should see \($0)".utf8.count }.reduce(0, +)
            // The identifier is an alias of the rowid; as a value it is a number.
            #expect(trees["note"]?["payload"] as? Int == 500 * (200 + 8) + titles)
            #expect(trees["note"]?["pages"] is NSNull && trees["note_title"]?["size"] is NSNull)
        }
        #expect((json["trees"] as? [[String: Any]])?.first?["name"] as? String == "note")
    }

    @Test func `unusual tables are measured, and virtual ones by their own tables`() throws {
        try make(
            "a.db",
            """
            PRAGMA auto_vacuum = 1;
            CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
            INSERT INTO w VALUES ('a', NULL), ('é', 1.5);
            CREATE TABLE "odd "" name" ("rowid", "a ' b");
            CREATE VIRTUAL TABLE search USING fts4(body);
            INSERT INTO search VALUES ('hello');
            """)
        let json = try stats("a.db")
        let found = try trees(json)
        #expect(found["w"]?["rows"] as? Int == 2 && found["odd \" name"]?["rows"] as? Int == 0)
        #expect(found["search"] == nil && found["search_content"]?["rows"] as? Int == 1)
        if json["measured"] as? String == "pages" {
            #expect(try #require(json["other_pages"] as? Int) > 0, "pointer maps")
        } else {
            #expect(found["w"]?["payload"] as? Int == 1 + 2 + 8)
        }
        let run = try workspace.tool.run("stats", "a.db")
        #expect(run.status == 0 && run.output.contains("odd \" name"))
    }

    @Test func `the list alone is printed in the format asked for`() throws {
        try workspace.makeDatabase("a.db", rows: 3)
        let run = try workspace.tool.run("stats", "a.db", "--format", "csv")
        let lines = run.output.components(separatedBy: "\r\n")
        #expect(run.status == 0 && lines.first == "name,type,table,rows,pages,size,share")
        #expect(lines.count == 5 && lines.contains { $0.hasPrefix("note,table,note,3,") })
        #expect(try workspace.tool.run("stats", "a.db", "--format", "csv", "--json").failureCode() == "usage")
    }

    @Test func `a database in use is read with its log, and nothing is written`() throws {
        let writer = try Connection(workspace.path("a.db"))
        try writer.execute("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)")
        let before = try workspace.bytes("a.db")
        let json = try stats("a.db")
        #expect(try trees(json)["t"]?["rows"] as? Int == 2)
        #expect(try #require(json["wal_size"] as? Int) > 0)
        #expect(try workspace.bytes("a.db") == before)
        try writer.execute("INSERT INTO t VALUES (3)")
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts)) func `an encrypted database is measured with its key`() throws {
        try workspace.makeDatabase("a.db")
        try workspace.write("secret", to: "key")
        #expect(try workspace.tool.run("encrypt", "a.db", "v.db", "--key-file", "key").status == 0)
        #expect(try trees(stats("v.db", "--key-file", "key"))["note"]?["rows"] as? Int == 100)
        try workspace.write("wrong", to: "other")
        let run = try workspace.tool.run("stats", "v.db", "--key-file", "other", "--json")
        #expect(try run.status == 77 && run.failureCode() == "key-rejected")
    }

    @Test func `a file that is missing, or not a database, is refused`() throws {
        #expect(try workspace.tool.run("stats", "missing.db", "--json").failureCode() == "no-input")
        try workspace.write(String(repeating: "text ", count: 1000) + "!", to: "text")
        #expect(try workspace.tool.run("stats", "text", "--json").status != 0)
    }
}
