import Foundation
import LiteVault
import Testing

/// What `copy` and `check` say about damage, and that what they say helps.
@Suite struct CopyStateTests {
    let workspace: Workspace
    private let local = ["--state-directory", "state", "--cache-directory", "cache"]

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("a.db")
        try workspace.makeDatabase("b.db")
    }

    @discardableResult
    private func run(_ arguments: [String], status: Int32 = 0) throws -> Tool.Run {
        let run = try workspace.tool.run(arguments + local)
        #expect(run.status == status, "\(arguments): \(run.output)\(run.errors)")
        return run
    }

    private func take(_ name: String) throws {
        try run(["snapshot", name, "--repository", "r", "--allow-plaintext"])
    }

    private func change(_ name: String) throws {
        let db = try Connection(workspace.path(name))
        try db.execute("CREATE TABLE IF NOT EXISTS more (a); INSERT INTO more VALUES (randomblob(20000))")
        try db.close()
    }

    private func packs() throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: workspace.path("r/data")).filter { $0.count > 32 })
    }

    /// The commands that a hint names, in the words of the tool.
    private func commands(in hint: String) -> [String] {
        let parts = hint.split(separator: "'", omittingEmptySubsequences: false)
        let quoted = parts.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
        return quoted.filter { $0.hasPrefix("litevault ") }.map { String($0.dropFirst("litevault ".count)) }
    }

    private func remedy(_ run: Tool.Run) throws -> String {
        let error = try #require(run.jsonErrors().last?["error"] as? [String: Any])
        return try #require(error["remedy"] as? String)
    }

    @Test func `H-REP-17 what the hint of a copy names completes it`() throws {
        try take("a.db")
        let before = try packs()
        try change("a.db")
        try take("a.db")
        let pack = try #require(try packs().subtracting(before).first)
        try FileManager.default.removeItem(atPath: workspace.path("r/data/" + pack))
        try run(["check", "--repository", "r"], status: 65)
        // The snapshot is stored, and says what else is wrong.
        _ = try workspace.tool.run(["snapshot", "a.db", "--repository", "r", "--allow-plaintext"] + local)
        let failed = try run(["copy", "r", "far", "--json"], status: 65)
        let named = commands(in: try remedy(failed))
        #expect(named == ["repair", "copy"], "\(failed.errors)")
        #expect(try run(["check", "--repository", "far", "--json"]).json()["intact"] as? Bool == true)
        let listed = try run(["snapshots", "--repository", "far"])
        #expect(
            listed.errors.contains("not in this copy") && listed.errors.contains("'litevault copy'"), "\(listed.errors)"
        )
        for command in named {
            switch command {
            case "repair": try run(["repair", "--repository", "r"], status: 65)
            default: try run(["copy", "r", "far"])
            }
        }
        #expect(try run(["copy", "r", "far", "--json"]).json()["lost"] as? Int == 1)
        #expect(try run(["check", "--repository", "far", "--read-data"]).output.contains("far: intact"))
        #expect(try run(["snapshots", "--repository", "far"]).errors == "")
    }

    @Test func `H-REP-18 a copy without the newest snapshot of a database fails, and names it and what to do`() throws {
        try take("b.db")
        let before = try packs()
        try take("a.db")
        let pack = try #require(try packs().subtracting(before).first)
        try FileManager.default.removeItem(atPath: workspace.path("r/data/" + pack))
        try run(["repair", "--repository", "r"], status: 65)
        for round in 0..<2 {
            let failed = try run(["copy", "r", "far", "--json"], status: 65)
            #expect(try failed.json()["snapshots"] as? Int == (round == 0 ? 1 : 0))
            let error = try #require(failed.jsonErrors().last?["error"] as? [String: Any])
            let message = try #require(error["message"] as? String)
            #expect(
                error["code"] as? String == "damaged" && message.contains("no snapshot of 'a.db' at all"), "\(message)")
            #expect(commands(in: try remedy(failed)) == ["snapshot", "copy"])
        }
        try take("a.db")
        #expect(try run(["copy", "r", "far"]).output.contains("1 snapshot left out"))
        try run(["check", "--repository", "far"])
    }

    @Test func `H-REP-16 the verdicts of a copy are shown as those of the original`() throws {
        try take("a.db")
        try run(["check", "--repository", "r", "--restore-test"])
        let copied = try run(["copy", "r", "far", "--json"]).json()
        #expect(copied["verifications"] as? Int == 1)
        #expect(try run(["snapshots", "--repository", "far"]).output.contains("restore ok (original)"))
        let listed = try run(["snapshots", "--repository", "far", "--json"]).json()["snapshots"] as? [[String: Any]]
        let verification = try #require(listed?.first?["verification"] as? [String: Any])
        #expect(verification["copied"] as? Bool == true && verification["level"] as? String == "restore")
        try run(["check", "--repository", "far", "--restore-test"])
        #expect(try !run(["snapshots", "--repository", "far"]).output.contains("original"))
    }

    @Test func `a check says that it recorded nothing only if it did not record the results of any database`() throws {
        try take("a.db")
        try take("b.db")
        #expect(try !run(["check", "--repository", "r"]).output.contains("recorded"))
        let lists = try FileManager.default.contentsOfDirectory(atPath: workspace.path("r/verified")).sorted()
        try #require(lists.count == 2)
        for (list, wanted) in zip(lists, ["not all: verified/\(lists[0]): ", "nothing: verified/"]) {
            var bytes = try workspace.bytes("r/verified/" + list)
            bytes[60] ^= 1
            try workspace.write(bytes, to: "r/verified/" + list)
            let checked = try run(["check", "--repository", "r"], status: 65)
            #expect(checked.output.contains("recorded") && checked.output.contains(wanted), "\(checked.output)")
        }
    }

    @Test func `what fails in the content of a snapshot is not to be repaired in the repository`() throws {
        try take("b.db")
        try take("a.db")
        try run(["check", "--repository", "r", "--restore-test"])
        try change("a.db")
        try take("a.db")
        let wrong = ["--assert", "SELECT count(*) = 0 FROM sqlite_master WHERE name = 'more'"]
        let failed = try run(["check", "--repository", "r", "--restore-test", "--json"] + wrong, status: 65)
        let problems = try #require(try failed.json()["problems"] as? [[String: Any]])
        #expect(problems.map { $0["cause"] as? String } == ["content"])
        let remedy = try remedy(failed)
        #expect(remedy.contains("'litevault repair' does not help"), "\(remedy)")
        #expect(remedy.contains("litevault forget --snapshot"), "\(remedy)")
        // Neither as thorough: it has not that assertion, nor looks at more than the structure.
        for more in [["--restore-test"], []] {
            let again = try run(["check", "--repository", "r"] + more, status: 65)
            #expect(
                again.errors.contains("1 snapshot failed a check before, which this one did not repeat as thoroughly"),
                "\(again.errors)")
            #expect(!again.errors.contains("more thorough"))
            #expect(again.output.contains("but it failed before") == !more.isEmpty, "\(again.output)")
        }
        // What the hint names is a way out of it.
        let command = try #require(commands(in: remedy).last)
        let id = String(try #require(command.split(separator: " ").last))
        try run(["forget", "--repository", "r", "--snapshot", id])
        try run(["check", "--repository", "r"])
    }

    @Test func `what fails in the repository is to be repaired there`() throws {
        try take("a.db")
        for pack in try packs() { try FileManager.default.removeItem(atPath: workspace.path("r/data/" + pack)) }
        let failed = try run(["check", "--repository", "r", "--restore-test", "--json"], status: 65)
        let problems = try #require(try failed.json()["problems"] as? [[String: Any]])
        #expect(problems.allSatisfy { $0["cause"] as? String == "objects" } && !problems.isEmpty)
        #expect(
            try remedy(failed).contains("See 'litevault repair'") || remedy(failed).contains("see 'litevault repair'"))
        let listed = try workspace.tool.run(["snapshots", "--repository", "r"] + local)
        #expect(
            listed.errors.contains("cannot be restored") && !listed.errors.contains("not an intact database"),
            "\(listed.errors)")
    }
}
