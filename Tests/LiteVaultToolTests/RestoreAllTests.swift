import Foundation
import LiteVault
import Testing

/// `restore-all`: all databases of a repository, as they were at one moment.
@Suite struct RestoreAllTests {
    let workspace: Workspace
    private let common = ["--repository", "r", "--state-directory", "state", "--cache-directory", "cache", "--json"]

    init() throws {
        workspace = try Workspace()
        for name in ["a.db", "b.db"] {
            try workspace.makeDatabase(name)
            try take(name)
        }
    }

    private func take(_ path: String, as name: String? = nil) throws {
        let run = try workspace.tool.run(
            ["snapshot", path, "--allow-plaintext"] + (name.map { ["--database", $0] } ?? []) + common)
        #expect(run.status == 0, "\(run.errors)")
    }

    private func change(_ name: String) throws {
        let database = try Connection(workspace.path(name))
        try database.execute("UPDATE note SET title = 'changed'")
        try database.close()
    }

    private func restore(_ arguments: String..., status: Int32 = 0, location: SourceLocation = #_sourceLocation) throws
        -> [String: Any]
    {
        let run = try workspace.tool.run(["restore-all"] + arguments + common)
        #expect(run.status == status, "\(run.errors)", sourceLocation: location)
        return try run.json(location)
    }

    private func states(_ result: [String: Any]) -> [String: String] {
        let items = result["items"] as? [[String: Any]] ?? []
        return Dictionary(
            uniqueKeysWithValues: items.compactMap { item in
                (item["database"] as? String).map { ($0, item["state"] as? String ?? "") }
            })
    }

    /// A time after everything that was stored so far, to the millisecond, as times of the tool have.
    private func moment() throws -> String {
        let listed = try workspace.tool.run(["snapshots"] + common).json()["snapshots"] as? [[String: Any]]
        return try #require(listed?.compactMap { $0["time"] as? String }.max())
    }

    @Test func `every database is restored to its newest state, in a new directory`() throws {
        try change("a.db")
        try take("a.db")
        let result = try restore("new/out")
        #expect(states(result) == ["a.db": "restored", "b.db": "restored"])
        #expect(result["restored"] as? Int == 2)
        for name in ["a.db", "b.db"] { #expect(try workspace.bytes("new/out/" + name) == workspace.bytes(name)) }
    }

    @Test func `at a moment, each database has its last state before it, and one that did not exist is left out`()
        throws
    {
        let before = try (workspace.bytes("a.db"), workspace.bytes("b.db"))
        let moment = try moment()
        try change("a.db")
        try take("a.db")
        try workspace.makeDatabase("c.db")
        try take("c.db")
        let result = try restore("--at", moment, "out")
        #expect(states(result) == ["a.db": "restored", "b.db": "restored", "c.db": "absent"])
        #expect(result["wanted"] as? String == moment)
        #expect(try workspace.bytes("out/a.db") == before.0)
        #expect(try workspace.bytes("out/b.db") == before.1)
        #expect(!FileManager.default.fileExists(atPath: workspace.path("out/c.db")))
    }

    @Test func `names choose databases, and become paths below the directory`() throws {
        try take("a.db", as: "users/1/a.db")
        try take("b.db", as: "users/2/a.db")
        let result = try restore("--database", "users/*", "out")
        #expect(states(result) == ["users/1/a.db": "restored", "users/2/a.db": "restored"])
        #expect(try workspace.bytes("out/users/2/a.db") == workspace.bytes("b.db"))
        let run = try workspace.tool.run(["restore-all", "--database", "nobody", "other"] + common)
        #expect(run.status == 66)
        #expect(try run.failureCode() == "no-input")
    }

    @Test func `a name that leads out of the directory is refused, and the others are restored`() throws {
        try take("a.db", as: "../outside.db")
        let result = try restore("out", status: 73)
        #expect(states(result) == ["../outside.db": "failed", "a.db": "restored", "b.db": "restored"])
        #expect(try !workspace.names().contains("outside.db"))
    }

    @Test func `a name that SQLite would take for the log of another database is refused`() throws {
        try take("b.db", as: "a.db-wal")
        let result = try restore("out", status: 73)
        #expect(states(result) == ["a.db": "restored", "a.db-wal": "failed", "b.db": "restored"])
        #expect(try workspace.bytes("out/a.db") == workspace.bytes("a.db"))
        #expect(!FileManager.default.fileExists(atPath: workspace.path("out/a.db-wal")))
    }

    @Test func `a directory that cannot be created is reported as such, and none means no other directory`() throws {
        try workspace.write("a file", to: "file")
        let result = try restore("file/out", status: 73)
        let items = try #require(result["items"] as? [[String: Any]])
        #expect(items.map { $0["code"] as? String } == ["cannot-create", "cannot-create"])
        let run = try workspace.tool.run(["restore-all", ""] + common)
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
    }

    @Test func `a damaged database keeps no other from being restored`() throws {
        let repository = workspace.directory.appendingPathComponent("r/data")
        let files = try #require(FileManager.default.enumerator(at: repository, includingPropertiesForKeys: nil))
        var packs: [URL] = []
        for case let file as URL in files {
            let isFile = try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile ?? false
            if isFile { packs.append(file) }
        }
        // The data of c.db is what is new.
        try workspace.makeDatabase("c.db", rows: 321)
        try take("c.db")
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: repository, includingPropertiesForKeys: nil))
        {
            let isFile = try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile ?? false
            if isFile, !packs.contains(file) { try FileManager.default.removeItem(at: file) }
        }
        let result = try restore("out", status: 65)
        #expect(states(result) == ["a.db": "restored", "b.db": "restored", "c.db": "failed"])
        #expect(try workspace.bytes("out/a.db") == workspace.bytes("a.db"))
        #expect(!FileManager.default.fileExists(atPath: workspace.path("out/c.db")))
    }

    @Test func `a directory with content is refused, unless only what is missing is to be restored`() throws {
        _ = try restore("out")
        try FileManager.default.removeItem(atPath: workspace.path("out/b.db"))
        try change("a.db")
        try take("a.db")
        let there = try workspace.bytes("out/a.db")
        let run = try workspace.tool.run(["restore-all", "out"] + common)
        #expect(run.status == 73)
        #expect(try run.failureCode() == "cannot-create")
        let result = try restore("--if-missing", "out")
        #expect(states(result) == ["a.db": "present", "b.db": "restored"])
        #expect(try workspace.bytes("out/a.db") == there)
        #expect(try workspace.bytes("out/b.db") == workspace.bytes("b.db"))
    }

    @Test func `a dry run says what would be restored, and creates nothing`() throws {
        let result = try restore("--dry-run", "out")
        #expect(states(result) == ["a.db": "ready", "b.db": "ready"])
        #expect(try !workspace.names().contains("out"))
        _ = try restore("out")
        #expect(try workspace.tool.run(["restore-all", "--dry-run", "out"] + common).status == 73)
    }
}
