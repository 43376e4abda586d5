import Foundation
import LiteVault
import Testing

/// What `check` and `restore --verify-with-key` say about the snapshots that they looked at, and no others.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt")) struct CheckedSnapshotTests {
    let workspace: Workspace
    private let common = ["--repository", "repository", "--state-directory", "state", "--cache-directory", "cache"]
    /// Of two databases: `a.db` before and after a rekey, and `b.db`.
    private let ids: [String]

    init() throws {
        workspace = try Workspace()
        for name in ["key", "new"] {
            try workspace.write("the passphrase '\(name)'", to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: workspace.path(name))
        }
        try workspace.makeDatabase("plain.db")
        let steps = [
            ["encrypt", "plain.db", "a.db", "--key-file", "key"], ["encrypt", "plain.db", "b.db", "--key-file", "new"],
            ["snapshot", "a.db"] + common, ["snapshot", "b.db"] + common,
            ["rekey", "a.db", "--key-file", "key", "--new-key-file", "new"], ["snapshot", "a.db"] + common,
        ]
        for step in steps { #expect(try workspace.tool.run(step).status == 0, "\(step)") }
        let listed = try workspace.tool.run(["snapshots", "--json"] + common).json()
        let snapshots = try #require(listed["snapshots"] as? [[String: Any]])
        let sorted = snapshots.sorted { ($0["database"] as? String ?? "") < ($1["database"] as? String ?? "") }
        ids = sorted.compactMap { $0["id"] as? String }
    }

    @Test func `a restore test of one snapshot tells of that one, whatever is known of others`() throws {
        let test = ["check", "--restore-test"] + common
        // Recorded before: that is not what the next check has looked at.
        #expect(try workspace.tool.run(test + ["--database", "b.db", "--key-file", "new"]).status == 0)
        let one = ["--database", "a.db", "--snapshot", ids[0], "--key-file", "key"]
        let text = try workspace.tool.run(test + one)
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("1 database restored"))
        let rows = text.output.split(separator: "\n").filter { $0.contains("restored  ") }
        #expect(rows.count == 1 && rows.allSatisfy { $0.contains("a.db \(ids[0]): intact") }, "\(text.output)")
        let told = try workspace.tool.run(test + one + ["--json"]).json()
        let levels = try #require(told["snapshots"] as? [[String: Any]]).reduce(into: [String: String]()) {
            $0[$1["id"] as? String ?? ""] = $1["checked"] as? String
        }
        #expect(levels == [ids[0]: "restore", ids[1]: "structure", ids[2]: "structure"])
    }

    @Test func `snapshots that no key opens are not among those that were restored`() throws {
        let run = try workspace.tool.run(["check", "--restore-test", "--key-file", "key"] + common)
        #expect(run.status == 77)
        #expect(run.output.contains("0 databases restored") && run.output.contains("no damage found"), "\(run.output)")
    }

    private let verified = ["restore", "--database", "a.db", "--verify-with-key", "out.db"]

    @Test func `a restore that is to be verified, and has no key for it, is refused before a block is read`() throws {
        // Each block that is read would be an error of its own.
        try FileManager.default.moveItem(atPath: workspace.path("repository/data"), toPath: workspace.path("data"))
        let run = try workspace.tool.run(verified + ["--json"] + common)
        #expect(run.status == 77, "\(run.errors)")
        #expect(try run.failureCode() == "key-rejected")
        #expect(try !workspace.names().contains("out.db"))
    }

    @Test func `a restore that is to be verified asks for the key on a terminal`() throws {
        let terminal = try Terminal(verified + common, in: workspace.directory)
        #expect(terminal.waitFor("Passphrase for a.db: "))
        terminal.type("the passphrase 'new'")
        #expect(terminal.end() == 0, "\(terminal.screen)")
        #expect(try workspace.bytes("out.db") == workspace.bytes("a.db"))
    }

    @Test func `a key that does not open a snapshot may be from after a rekey, and the error says what shows that`()
        throws
    {
        for (command, key) in [
            (["restore", "--database", "a.db", "--snapshot", ids[0], "--verify-with-key", "out.db"], "new"),
            (["check", "--restore-test", "--database", "a.db", "--snapshot", ids[0]], "new"),
        ] {
            let run = try workspace.tool.run(command + ["--key-file", key, "--json"] + common)
            #expect(run.status == 77)
            let error = try #require(run.jsonErrors().last?["error"] as? [String: Any])
            let remedy = try #require(error["remedy"] as? String)
            #expect(remedy.contains("before a rekey") && remedy.contains("litevault key audit"), "\(remedy)")
        }
        #expect(!FileManager.default.fileExists(atPath: workspace.path("out.db")))
        #expect(try workspace.tool.run(["key", "audit"] + common).status == 0)
    }
}
