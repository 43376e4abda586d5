import Foundation
import LiteVault
import Testing

/// What was asked for and does not exist is an error, never a success with nothing done.
@Suite struct AskedForTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db")
        let run = try self.run("snapshot", "notes.db", "--allow-plaintext", "--repository", "r")
        try #require(run.status == 0, "\(run.errors)")
    }

    private func run(_ arguments: String...) throws -> Tool.Run {
        try workspace.tool.run(arguments + ["--state-directory", "state", "--cache-directory", "cache"])
    }

    @Test(arguments: [
        ["forget", "--keep-last", "1", "--repository", "r"], ["snapshots", "--repository", "r"],
        ["compact", "--repository", "r"], ["repair", "--repository", "r"], ["copy", "r", "far"],
        ["check", "--repository", "r"], ["check", "--restore-test", "--repository", "r"],
        ["restore", "x.db", "--repository", "r"],
        ["restore-all", "all", "--database", "notes.db", "--repository", "r"],
    ])
    func `a database that the repository does not have ends every command with 66, and is named`(
        command: [String]
    ) throws {
        let found = try workspace.tool.run(
            command + ["--database", "nope.db", "--state-directory", "state", "--cache-directory", "cache"])
        #expect(found.status == 66, "\(found.output)\(found.errors)")
        #expect(found.errors.contains("nope.db"))
        #expect(try workspace.names().isDisjoint(with: ["far", "x.db"]))
    }

    @Test func `options of 0.x are understood under the names that they had`() throws {
        let former = ["--state-folder", "old-state", "--cache-folder=old-cache", "--spool-folder", "old-spool"]
        let found = try workspace.tool.run(["restore", "-d", "notes.db", "again.db", "--repository", "r"] + former)
        #expect(found.status == 0, "\(found.errors)")
        #expect(try workspace.names().isSuperset(of: ["again.db", "old-state"]))
        let help = try workspace.tool.run(["topics", "repositories"]).output
        #expect(help.contains("--state-directory") && !help.contains("--state-folder"))
    }

    @Test func `the environment names the repository, unless the option does`() throws {
        var tool = workspace.tool
        tool.environment = ["LITEVAULT_REPOSITORY": workspace.path("r")]
        let folders = ["--state-directory", "state", "--cache-directory", "cache"]
        let found = try tool.run(["snapshots", "-d", "notes.db", "--json"] + folders)
        #expect(found.status == 0 && found.output.contains("notes.db"), "\(found.errors)")
        #expect(try tool.run(["snapshots", "-r", "nowhere"] + folders).status == 66)
        tool.environment = ["LITEVAULT_REPOSITORY": ""]
        let missing = try tool.run(["snapshots"] + folders)
        #expect(missing.status == 64 && missing.errors.contains("--repository"), "\(missing.errors)")
    }

    @Test
    func `schedule check reports every mistake of a configuration with its place, and print-units names who is told`()
        throws
    {
        let (good, bad) = (workspace.path("good.yml"), workspace.path("bad.yml"))
        try Data("repository: r\njobs: [{name: a, sources: notes.db, every: 1h}]\n".utf8).write(
            to: URL(fileURLWithPath: good))
        try Data("repository: r\njobs:\n- {name: a, sources: notes.db, evry: x}\n".utf8).write(
            to: URL(fileURLWithPath: bad))
        #expect(try workspace.tool.run("schedule", "check", good).output.contains("valid, 1 job\n"))
        let found = try workspace.tool.run("schedule", "check", bad)
        #expect(found.status == 78 && found.errors.contains("litevault-schedule.yml(5)"))
        #expect(
            found.output.contains("bad.yml:3:32: unknown key 'evry'")
                && found.output.contains("bad.yml:3:38: every: invalid"))
        for unit in ["notify", "a b.service", "x\n.service", ""] {
            #expect(
                try workspace.tool.run("schedule", "print-units", good, "--on-failure", unit).status == 64, "\(unit)")
        }
        let units = try workspace.tool.run("schedule", "print-units", good, "--on-failure", "notify@%n.service")
        #expect(units.output.contains("\nOnFailure=notify@%n.service\n"), "\(units.errors)")
        let mistakes = try workspace.tool.run("schedule", "check", bad, "--json").json()["mistakes"] as? [[String: Any]]
        #expect(mistakes?.map { $0["column"] as? Int } == [32, 38])
    }

    @Test func `check does not ignore a database or snapshot that it would not look at alone`() throws {
        #expect(try run("check", "--repository", "r", "--database", "notes.db").status == 64)
        #expect(try run("check", "--repository", "r", "--snapshot", "00").status == 64)
        #expect(try run("check", "--repository", "r", "--database", "notes.db", "--restore-test").status == 0)
    }

    @Test func `a copy is neither inside its repository nor around it, by whatever path`() throws {
        try FileManager.default.createSymbolicLink(
            atPath: workspace.path("link"), withDestinationPath: workspace.path("r"))
        for place in ["r", "r/inside", "./r/../r/a/b", "link/inside", "."] {
            let found = try run("copy", "r", place)
            #expect(found.status == 78, "\(place)")
            #expect(found.errors.contains("is the repository itself") || found.errors.contains("the repository\n"))
        }
        #expect(try run("check", "--repository", "r", "--json").json()["warnings"] as? [String] == [])
        #expect(try run("copy", "r", "r2").status == 0)
    }

    @Test(arguments: ["restore", "restore-all"])
    func `--if-missing leaves a database alone, and does not take a directory or an empty file for one`(
        command: String
    ) throws {
        let destination = command == "restore" ? "new.db" : "all"
        let target = command == "restore" ? "new.db" : "all/notes.db"
        func restore() throws -> Tool.Run { try run(command, destination, "--if-missing", "--repository", "r") }
        try FileManager.default.createDirectory(atPath: workspace.path(target), withIntermediateDirectories: true)
        #expect(try restore().status == 73)
        try FileManager.default.removeItem(atPath: workspace.path(target))
        try workspace.write("", to: target)
        let empty = try restore()
        #expect(empty.status == 73)
        // What the remedy says works.
        #expect((empty.errors + empty.output).contains("Remove it"))
        try FileManager.default.removeItem(atPath: workspace.path(target))
        #expect(try restore().status == 0)
        let bytes = try workspace.bytes(target)
        #expect(try restore().status == 0)
        #expect(try workspace.bytes(target) == bytes)
    }

    @Test(arguments: [
        ("2027-02-30", "day"), ("2027-00-10", "month"), ("2027-13-01", "month"), ("2027-02-00", "day"),
        ("2025-02-29", "day"), ("0000-01-01", "year"), ("27-01-01", "year"), ("2027-1-1", "month"),
        ("2027-01", "month"),
        ("2027-01-01T25:00", "hour"), ("2027-01-01T24:00", "hour"), ("2027-01-01T99:00", "hour"),
        ("2027-01-01T10:60", "minute"), ("2027-01-01T10", "hour"), ("2027-01-01T10:00:60Z", "second"),
        ("2027-01-01T10:00:00.Z", "fraction"), ("2027-01-01T10:00+25:00", "zone"), ("2027-01-01T10:00+01:75", "zone"),
        ("2027-01-01T10:00:00ZZ", "at its end"), ("2027-01-01T10:00 tomorrow", "at its end"), ("20270101", "year"),
        ("2027-01-01x", "day"), ("2027-01-01 10:00Z local", "zone"), ("", "year"), ("yesterday", "year"),
    ])
    func `a malformed time is rejected, naming the part that is wrong`(text: String, part: String) throws {
        let found = try run("restore", "x.db", "--repository", "r", "--at", text)
        #expect(found.status == 64)
        #expect(found.errors.contains(part), "\(found.errors)")
    }

    @Test(arguments: [
        ("2096-02-29", "2096-02-29T00:00:00.000Z"), ("2101-01-01T10:00", "2101-01-01T10:00:00.000Z"),
        ("2101-01-01 10:00:05.25", "2101-01-01T10:00:05.250Z"),
        ("2101-01-01T10:00:00+01:30", "2101-01-01T08:30:00.000Z"),
        ("2101-01-01T10:00:00-0100", "2101-01-01T11:00:00.000Z"), ("2101-01-01T10:00+01", "2101-01-01T09:00:00.000Z"),
        ("2101-01-01T23:59:59.999Z", "2101-01-01T23:59:59.999Z"),
    ])
    func `a time is what it says`(text: String, wanted: String) throws {
        let found = try run("restore", "x.db", "--repository", "r", "--at", text, "--dry-run", "--json")
        #expect(try found.json()["wanted"] as? String == wanted)
    }

    @Test(arguments: ["200ms", "1h30m", "90s", "0.5s", "2 days"])
    func `a duration is written as in a configuration`(text: String) throws {
        #expect(try run("compact", "--repository", "r", "--grace", text).status == 0)
        #expect(try run("compact", "--repository", "r", "--grace", text + "x").status == 64)
    }
}
