import Foundation
import LiteVault
import Testing

/// Which databases `rekey` takes for those of a list, or of a pattern.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
struct FleetMembersTests {
    let workspace: Workspace
    private let keys = ["--key-file", "old", "--new-key-file", "new", "--json"]

    init() throws {
        workspace = try Workspace()
        try workspace.write("the old passphrase", to: "old")
        try workspace.write("the new passphrase", to: "new")
        try workspace.makeDatabase("plain.db", rows: 3)
        try encrypt("a.db")
    }

    private func encrypt(_ name: String) throws {
        let run = try workspace.tool.run("encrypt", "plain.db", name, "--key-file", "old")
        #expect(run.status == 0, "\(run.errors)")
    }

    /// The paths of a run, with their states.
    private func states(_ run: Tool.Run) throws -> [String: String] {
        let items = try #require(try run.json()["items"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: items.compactMap { item in
                (item["path"] as? String).map { ($0, item["state"] as? String ?? "") }
            })
    }

    @Test(arguments: ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"])
    func `H-TXT-26 only LF and CRLF end a line of a list, and what follows another separator is part of the name`(
        separator: String
    ) throws {
        let name = "b\(separator)a.db"
        try encrypt(name)
        try encrypt("c.db")
        let before = try workspace.bytes("a.db")
        try workspace.write("# a list\n\n \t\r\n\(name)\r\nc.db", to: "list")
        let run = try workspace.tool.run(["rekey", "--from-file", "list"] + keys)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try states(run) == [name: "done", "c.db": "done"])
        #expect(try workspace.bytes("a.db") == before)
    }

    @Test func `H-REK-24 a pattern takes no file beside a database for one, so that the change ends and its journal is removed`()
        throws
    {
        try FileManager.default.createDirectory(
            atPath: workspace.path("f"), withIntermediateDirectories: true)
        // The last one is a database that somebody has called so.
        for name in ["f/a.db", "f/b.db", "f/b.db.standby"] { try encrypt(name) }
        for name in ["a.db.keys", "a.db.keys.lock", "a.db.keys.replaced", "a.db.standby", "a.db.promoted"] {
            try workspace.write("{\"version\": 1, \"of\": \"\(String(repeating: name, count: 100))\"}", to: "f/" + name)
        }
        for ending in ["-wal", "-shm", "-journal"] { try workspace.write("of a database that is gone", to: "f/c.db" + ending) }
        let run = try workspace.tool.run(["rekey", "--glob", "f/*", "--journal", "journal"] + keys)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try states(run) == ["f/a.db": "done", "f/b.db": "done", "f/b.db.standby": "done"])
        #expect(try !workspace.names().contains("journal"))
    }
}
