import Foundation
import LiteVault
import Testing

/// `schedule restore`: the databases of a job, found by its configuration.
@Suite struct ScheduleRestoreTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for name in ["app/a.db", "app/b.db", "app/test.db", "other/c.db"] {
            try FileManager.default.createDirectory(
                at: URL(fileURLWithPath: workspace.path(name)).deletingLastPathComponent(),
                withIntermediateDirectories: true)
            try workspace.makeDatabase(name)
        }
        try workspace.write("the secret of the repository", to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: workspace.path("secret"))
        try workspace.write(
            """
            repository: repository
            repository-secret-file: secret
            state-directory: state
            jobs:
              - {name: app, sources: app/*.db, exclude: 'test*', every: 1s, allow-plaintext: yes}
              - {name: other, sources: other/c.db, every: 1s, allow-plaintext: yes}
              - {name: none, sources: none/*, every: 1h, allow-none: yes}

            """, to: "backup.yml")
        let run = try workspace.tool.run(["schedule", "run-due", "backup.yml", "--json", "--quiet"])
        #expect(run.status == 0, "\(run.errors)")
    }

    private func restore(_ arguments: String..., status: Int32 = 0, location: SourceLocation = #_sourceLocation) throws
        -> [String: Any]
    {
        let run = try workspace.tool.run(["schedule", "restore", "backup.yml"] + arguments + ["--json"])
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

    @Test func `the databases of a job are restored when the machine has nothing but the configuration`() throws {
        let before = try ["a.db", "b.db"].map { try workspace.bytes("app/" + $0) }
        for name in ["app", "other", "state"] {
            try FileManager.default.removeItem(atPath: workspace.path(name))
        }
        let result = try restore("app", "out")
        #expect(states(result) == ["a.db": "restored", "b.db": "restored"])
        #expect(try ["a.db", "b.db"].map { try workspace.bytes("out/" + $0) } == before)
        #expect(states(try restore("other", "more", "--dry-run")) == ["c.db": "ready"])
        #expect(!FileManager.default.fileExists(atPath: workspace.path("more")))
    }

    @Test func `each goes back to the path that it came from, and nothing is overwritten`() throws {
        let before = try workspace.bytes("app/a.db")
        try FileManager.default.removeItem(atPath: workspace.path("app/a.db"))
        let kept = try workspace.bytes("app/b.db")
        let refused = try restore("app", "--to-sources", status: 73)
        #expect(states(refused) == ["a.db": "restored", "b.db": "failed"])
        #expect(refused["directory"] is NSNull)
        #expect(try workspace.bytes("app/a.db") == before)
        try FileManager.default.removeItem(atPath: workspace.path("app/a.db"))
        #expect(states(try restore("app", "--to-sources", "--if-missing")) == ["a.db": "restored", "b.db": "present"])
        #expect(try workspace.bytes("app/b.db") == kept)
    }

    @Test(arguments: ["file", "empty file", "directory", "link", "dangling link", "-wal", "-journal", "nothing"])
    func `a dry run refuses what the restore refuses, whatever has the path of a database`(state: String) throws {
        let (path, files) = (workspace.path("app/a.db"), FileManager.default)
        if state != "file" { try files.removeItem(atPath: path) }
        switch state {
        case "empty file": try workspace.write("", to: "app/a.db")
        case "directory": try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "link": try files.createSymbolicLink(atPath: path, withDestinationPath: workspace.path("other/c.db"))
        case "dangling link": try files.createSymbolicLink(atPath: path, withDestinationPath: workspace.path("gone"))
        case "-wal", "-journal": try workspace.write("of another database", to: "app/a.db" + state)
        default: break
        }
        try files.removeItem(atPath: workspace.path("app/b.db"))
        let there = Set(files.subpaths(atPath: workspace.path("app")) ?? [])
        for more in [[], ["--at", "2020-01-01T00:00:00Z"], ["--if-missing"]] as [[String]] {
            let words = ["schedule", "restore", "backup.yml", "app", "--to-sources", "--json"] + more
            let planned = try workspace.tool.run(words + ["--dry-run"])
            #expect(Set(files.subpaths(atPath: workspace.path("app")) ?? []) == there)
            let done = try workspace.tool.run(words)
            #expect(planned.status == done.status, "\(more): \(planned.errors) \(done.errors)")
            let same = try states(planned.json()).mapValues { $0 == "ready" ? "restored" : $0 }
            let after = try states(done.json())
            #expect(same == after, "\(more)")
            if more.isEmpty { #expect(planned.status == (state == "nothing" ? 0 : 73), "\(planned.errors)") }
            for name in ["a.db", "b.db"] where after[name] == "restored" {
                try files.removeItem(atPath: workspace.path("app/" + name))
            }
        }
    }

    @Test func `a source below a symbolic link is found by the path in the configuration`() throws {
        try FileManager.default.moveItem(atPath: workspace.path("app"), toPath: workspace.path("real"))
        try FileManager.default.createSymbolicLink(
            atPath: workspace.path("app"), withDestinationPath: workspace.path("real"))
        try workspace.makeDatabase("app/linked.db")
        let run = try workspace.tool.run(
            ["schedule", "run-due", "backup.yml", "--json", "--quiet", "--state-directory", "another"])
        #expect(run.status == 0, "\(run.errors)")
        // Those from before the link were backed up from the path itself.
        let result = try restore("app", "out")
        #expect(states(result) == ["a.db": "restored", "b.db": "restored", "linked.db": "restored"])
    }

    @Test func `a moment is chosen, and a database without a snapshot then is left out`() throws {
        let result = try restore("app", "out", "--at", "2020-01-01T00:00:00Z")
        #expect(states(result) == ["a.db": "absent", "b.db": "absent"])
    }

    @Test(arguments: [
        (["nobody", "out"], 66, "no-input", "no job 'nobody'"),
        (["none", "out"], 66, "no-input", "from the sources of the job 'none'"),
        (["app", "app"], 73, "cannot-create", "is not empty"),
    ])
    func `what cannot be restored is said, and what to do`(
        _ arguments: [String], _ status: Int, _ code: String, _ message: String
    ) throws {
        let run = try workspace.tool.run(["schedule", "restore", "backup.yml", "--json"] + arguments)
        #expect(Int(run.status) == status)
        #expect(try run.failureCode() == code)
        #expect(run.errors.contains(message))
    }

    @Test func `either a directory or the sources' own paths have to be given`() throws {
        #expect(try workspace.tool.run(["schedule", "restore", "backup.yml", "app"]).status == 64)
        #expect(
            try workspace.tool.run(["schedule", "restore", "backup.yml", "app", "out", "--to-sources"]).status == 64)
    }
}
