import Foundation
import LiteVault
import Testing

/// `restore --if-missing --if-backed-up`: how a container begins, the first time and later.
@Suite struct RestoreStartTests {
    let workspace: Workspace
    private let common = ["--repository", "r", "--state-directory", "state", "--cache-directory", "cache", "--json"]

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("app.db")
    }

    private func take(_ path: String) throws {
        let run = try workspace.tool.run(["snapshot", path, "--allow-plaintext"] + common)
        #expect(run.status == 0, "\(run.errors)")
    }

    private func restore(_ arguments: String..., status: Int32 = 0, location: SourceLocation = #_sourceLocation) throws
        -> [String: Any]
    {
        let run = try workspace.tool.run(["restore"] + arguments + common)
        #expect(run.status == status, "\(run.errors)", sourceLocation: location)
        return status == 0 ? try run.json(location) : [:]
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: workspace.path(name)) }

    @Test func `without a repository nothing is restored, with status 0, and none is created`() throws {
        let result = try restore("--if-missing", "--if-backed-up", "new.db")
        #expect(result["restored"] as? Bool == false)
        #expect(result["reason"] as? String == "no-snapshot")
        #expect(!exists("new.db") && !exists("r"))
        _ = try restore("--if-missing", "new.db", status: 66)
        _ = try restore("--if-backed-up", "--at", "latest-reachable", "new.db")
        _ = try restore("--if-backed-up", "--dry-run")
    }

    @Test func `without a snapshot of the database nothing is restored, and with one it is`() throws {
        try take("app.db")
        try workspace.makeDatabase("other.db")
        let result = try restore("--if-backed-up", "--database", "other.db", "new.db")
        #expect(result["reason"] as? String == "no-snapshot")
        #expect(!exists("new.db"))
        _ = try restore("--database", "other.db", "new.db", status: 66)
        try take("other.db")
        #expect(
            try restore("--if-missing", "--if-backed-up", "--database", "other.db", "new.db")["restored"] as? Bool
                == true)
        #expect(try workspace.bytes("new.db") == workspace.bytes("other.db"))
        let again = try restore("--if-missing", "--if-backed-up", "--database", "other.db", "new.db")
        #expect(again["reason"] as? String == "destination-exists")
    }

    @Test func `other reasons for which nothing can be restored stay errors`() throws {
        try take("app.db")
        try workspace.makeDatabase("other.db")
        try take("other.db")
        // Several databases, a time before the first snapshot.
        _ = try restore("--if-backed-up", "new.db", status: 66)
        _ = try restore("--if-backed-up", "--database", "app.db", "--at", "2001-01-01", "new.db", status: 66)
        // This machine knows the repository, and snapshots in it.
        try FileManager.default.moveItem(atPath: workspace.path("r"), toPath: workspace.path("moved"))
        _ = try restore("--if-backed-up", "--database", "app.db", "new.db", status: 65)
        try FileManager.default.createDirectory(atPath: workspace.path("r"), withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            atPath: workspace.path("moved/repository.json"), toPath: workspace.path("r/repository.json"))
        _ = try restore("--if-backed-up", "--database", "app.db", "new.db", status: 65)
        #expect(!exists("new.db"))
    }

    @Test func `it cannot be combined with what asks for a certain snapshot, or for standard output`() throws {
        _ = try restore("--if-backed-up", "--snapshot", "0123", "new.db", status: 64)
        let run = try workspace.tool.run(["restore", "--repository", "r", "--if-backed-up", "--to-stdout"])
        #expect(run.status == 64 && run.errors.contains("--if-backed-up"))
    }
}
