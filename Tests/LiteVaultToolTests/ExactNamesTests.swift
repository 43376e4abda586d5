import Foundation
import LiteVault
import Testing

/// Two files whose names are canonically equal: one for Swift, two for the file system and SQLite.
@Suite struct ExactNamesTests {
    let workspace: Workspace
    private let common = ["--repository", "r", "--state-directory", "state", "--cache-directory", "cache", "--json"]
    private let names = ["caf\u{e9}.db", "cafe\u{301}.db"]

    init() throws {
        workspace = try Workspace()
        for name in names { try workspace.makeDatabase(name) }
    }

    private func run(_ words: [String], _ location: SourceLocation = #_sourceLocation) throws -> [String: Any] {
        let run = try workspace.tool.run(words + common)
        #expect(run.status == 0, "\(words): \(run.errors)", sourceLocation: location)
        return try run.json(location)
    }

    @Test func `H-SEC-27 two databases with canonically equal names are restored, verified and kept as two`() throws {
        for round in 0..<2 {
            for (index, name) in names.enumerated() {
                let database = try Connection(workspace.path(name))
                try database.execute("UPDATE note SET title = '\(round) of \(index)'")
                try database.close()
                _ = try run(["snapshot", name, "--allow-plaintext"])
            }
        }
        #expect(try run(["restore-all", "all"])["restored"] as? Int == 2)
        let checked = try run(["check", "--restore-test"])["snapshots"] as? [[String: Any]] ?? []
        #expect(checked.count { $0["checked"] as? String == "restore" } == 2)
        _ = try run(["forget", "--keep-last", "1"])
        let left = try run(["snapshots"])["snapshots"] as? [[String: Any]] ?? []
        #expect(left.count == 2)
        for (index, name) in names.enumerated() {
            _ = try run(["restore", "--database", name, "out\(index).db"])
            #expect(try workspace.bytes("out\(index).db") == workspace.bytes(name))
            #expect(try workspace.bytes("all/" + name) == workspace.bytes(name))
        }
    }

    @Test func `H-SEC-27 two parameters with canonically equal names have two values`() throws {
        let sql = "SELECT :caf\u{e9} AS a, :cafe\u{301} AS b"
        for (first, second) in [(1, 2), (2, 1)] {
            let run = try workspace.tool.run([
                "query", names[0], sql, "--bind", "caf\u{e9}=\(first)", "--bind", "cafe\u{301}=\(second)", "--format",
                "csv",
            ])
            #expect(run.status == 0 && run.output == "a,b\r\n\(first),\(second)\r\n", "\(run.errors)")
        }
    }
}
