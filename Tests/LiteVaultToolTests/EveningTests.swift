import Foundation
import LiteVault
import Testing

/// What an operator meets in an evening: names, times, hints and owners that need no second look.
@Suite struct EveningTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try FileManager.default.createDirectory(atPath: workspace.path("data"), withIntermediateDirectories: true)
        try workspace.makeDatabase("data/v3.db")
        try FileManager.default.createDirectory(atPath: workspace.path("app"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: workspace.path("app/current.db"), withDestinationPath: workspace.path("data/v3.db"))
    }

    private func configure(_ jobs: [String], named name: String = "backup.yml") throws {
        let lines = jobs.map { "  - {\($0), allow-plaintext: yes}" }.joined(separator: "\n")
        try workspace.write("repository: r\nstate-directory: state\njobs:\n\(lines)\n", to: name)
    }

    private func run(_ arguments: String..., status: Int32 = 0, location: SourceLocation = #_sourceLocation) throws
        -> Tool.Run
    {
        let run = try workspace.tool.run(arguments)
        #expect(run.status == status, "\(arguments): \(run.output)\(run.errors)", sourceLocation: location)
        return run
    }

    @Test(arguments: ["app/current.db", "'app/*.db'", "app/../app/current.db"])
    func `H-JOB-11 a link to a file has one name and one history, by hand and in a schedule, and is found again`(
        source: String
    ) throws {
        try configure(["name: app, sources: \(source), every: 1s"])
        let byHand = [
            "snapshot", "app/current.db", "--allow-plaintext", "--repository", "r", "--state-directory", "state",
        ]
        #expect(try workspace.tool.run(byHand).status == 0)
        // An unchanged database is not stored again.
        let database = try Connection(workspace.path("data/v3.db"))
        try database.execute("INSERT INTO note (title) VALUES ('by the schedule')")
        try database.close()
        func names() throws -> [String?] {
            let listed = try run("snapshots", "--repository", "r", "--state-directory", "state", "--json").json()
            return (listed["snapshots"] as? [[String: Any]] ?? []).map { $0["database"] as? String }
        }
        // What was stored by hand counts: the job is due a second later.
        let end = Date(timeIntervalSinceNow: 300)
        while try names().count < 2, Date() < end {
            _ = try run("schedule", "run-due", "backup.yml")
            usleep(100_000)
        }
        #expect(try names() == ["current.db", "current.db"])
        let restored = try run("schedule", "restore", "backup.yml", "app", "out", "--json").json()
        #expect(restored["restored"] as? Int == 1)
        #expect(try workspace.bytes("out/current.db") == workspace.bytes("data/v3.db"))
        // Back to the file that the link leads to.
        try FileManager.default.removeItem(atPath: workspace.path("data/v3.db"))
        if !source.contains("*") {
            _ = try run("schedule", "restore", "backup.yml", "app", "--to-sources")
            #expect(try workspace.bytes("app/current.db") == workspace.bytes("out/current.db"))
        } else {
            // Nothing tells that a pattern had matched a link that is gone.
            try FileManager.default.removeItem(atPath: workspace.path("app/current.db"))
            let left = try run("schedule", "restore", "backup.yml", "app", "others", status: 66)
            #expect(left.errors.contains("'current.db'") && left.errors.contains("belongs to no job"))
        }
    }

    @Test func `units have the directories of links and of what they lead to, without '..'`() throws {
        try configure(["name: app, sources: [app/current.db, 'app/*.db', data/../data/v3.db], every: 1h"])
        let unit = try run("schedule", "print-units", "backup.yml").output
        let real = URL(fileURLWithPath: workspace.directory.path).resolvingSymlinksInPath().path
        for name in ["app", "data", "r", "state"] {
            #expect(unit.contains("ReadWritePaths=-\(real)/\(name)\n"), "\(name)")
        }
        #expect(!unit.contains(".."))
    }

    @Test func `a service reads its configuration again on SIGHUP, says what changed, and status knows if it has not`()
        throws
    {
        try configure(["name: one, sources: data/v3.db, every: 1h"])
        let log = workspace.path("log")
        #expect(FileManager.default.createFile(atPath: log, contents: nil))
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = ["schedule", "run", "backup.yml"]
        process.currentDirectoryURL = workspace.directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: log)
        try process.run()
        defer { process.terminate() }
        func waitFor(_ text: String) throws {
            let end = Date(timeIntervalSinceNow: 300)
            while Date() < end, process.isRunning {
                if try String(contentsOfFile: log, encoding: .utf8).contains(text) { return }
                usleep(50_000)
            }
            Issue.record("'\(text)' is not in the log: \(try String(contentsOfFile: log, encoding: .utf8))")
        }
        try waitFor("job done failed=0 job=one")
        #expect(!(try run("schedule", "status", "backup.yml").output.contains("older configuration")))
        try configure(["name: one, sources: data/v3.db, every: 2h", "name: two, sources: app/current.db, every: 1h"])
        #expect(try run("schedule", "status", "backup.yml").output.contains("older configuration"))
        kill(process.processIdentifier, SIGHUP)
        try waitFor("added=two changed=one")
        try waitFor("job done failed=0 job=two")
        #expect(!(try run("schedule", "status", "backup.yml").output.contains("older configuration")))
        // A mistake does not end the service.
        try workspace.write("jobs: [", to: "backup.yml")
        kill(process.processIdentifier, SIGHUP)
        try waitFor("the configuration is kept as it was")
        #expect(process.isRunning)
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 143)
    }

    @Test func `where the only database cannot be restored, nothing is said of others, and its own hint is given`()
        throws
    {
        try configure(["name: app, sources: data/v3.db, every: 1h"])
        _ = try run("schedule", "run-due", "backup.yml")
        let failed = try run("schedule", "restore", "backup.yml", "app", "--to-sources", status: 73)
        #expect(!failed.errors.contains("The others"))
        #expect(failed.errors.contains("hint:"))
    }

    @Test func `the times of forget are those of snapshots`() throws {
        try configure(["name: app, sources: data/v3.db, every: 1h"])
        _ = try run("schedule", "run-due", "backup.yml")
        func times(_ words: String...) throws -> [String?] {
            let found = try workspace.tool.run(words + ["--repository", "r", "--state-directory", "state", "--json"])
                .json()
            return (found["snapshots"] as? [[String: Any]] ?? []).map { $0["time"] as? String }
        }
        #expect(try times("forget", "--keep-last", "1", "--dry-run") == times("snapshots"))
    }

    @Test func `a restore that lacks a pack says what to do`() throws {
        try configure(["name: app, sources: data/v3.db, every: 1h"])
        _ = try run("schedule", "run-due", "backup.yml")
        for name in try FileManager.default.subpathsOfDirectory(atPath: workspace.path("r/data")) {
            let path = workspace.path("r/data/" + name)
            var isDirectory: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue {
                try FileManager.default.removeItem(atPath: path)
            }
        }
        let failed = try run("restore", "x.db", "--repository", "r", "--state-directory", "state", status: 65)
        #expect(failed.errors.contains("hint:") && failed.errors.contains("copy of the repository"))
    }

    @Test func `a copy from before a rotation is named as such, and a copy to an empty place works`() throws {
        try workspace.write("the first secret of all", to: "old")
        let state = ["--state-directory", "state"]
        let old = ["--repository-secret-file", "old"] + state
        let snapshot = ["snapshot", "data/v3.db", "--allow-plaintext", "--repository", "r"]
        #expect(try workspace.tool.run(snapshot + old).status == 0)
        #expect(try workspace.tool.run(["copy", "r", "far"] + old).status == 0)
        let rotated = try workspace.tool.run(
            ["secret", "rotate", "--yes", "--repository", "r"] + old)
        #expect(rotated.status == 0, "\(rotated.errors)")
        let failed = try workspace.tool.run(["copy", "r", "far"] + old)
        #expect(failed.status == 65)
        #expect(failed.errors.contains("secret rotate") && failed.errors.contains("empty place"))
        #expect(try workspace.tool.run(["copy", "r", "far2"] + old).status == 0)
        // As the hint says, the old copy still opens.
        #expect(try workspace.tool.run(["restore", "x.db", "--repository", "far"] + old).status == 0)
    }

    @Test func `a journal from which nothing is replayed does not keep a name from being used`() throws {
        for (name, bytes) in [("a.db", Data()), ("b.db", Data(count: 512))] {
            try workspace.write(bytes, to: name + "-journal")
            _ = try run("backup", "data/v3.db", name)
            #expect(try Connection(workspace.path(name)).value("SELECT count(*) FROM note", as: Int.self) == 100)
        }
        try workspace.write(
            Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]) + Data(count: 504), to: "c.db-journal")
        #expect(try run("backup", "data/v3.db", "c.db", status: 73).errors.contains("replayed"))
    }

    @Test func `the list of exit statuses fits a terminal, with its continuations indented`() throws {
        let help = try run("help", "topics").output + run("--help").output
        let lines = help.split(separator: "\n").drop { !$0.hasPrefix("EXIT STATUS") }
        #expect(lines.contains { $0.hasPrefix("  73   the destination exists") })
        #expect(lines.allSatisfy { $0.count <= 80 })
        let index = try #require(lines.firstIndex { $0.hasPrefix("  73   ") })
        #expect(lines[index + 1].hasPrefix("       "))
        for group in ["DATABASES SUBCOMMANDS:", "REPOSITORIES SUBCOMMANDS:"] {
            #expect(help.uppercased().contains(group))
        }
    }

    @Test func `a dump names the table that only its application can read`() throws {
        let database = try Connection(workspace.path("data/v3.db"))
        try database.createCollation("backwards") { $1.compare($0) }
        try database.execute("CREATE TABLE w (a TEXT COLLATE backwards PRIMARY KEY) WITHOUT ROWID")
        try database.close()
        let failed = try run("dump", "data/v3.db", status: 69)
        #expect(failed.errors.contains("'w'") && !failed.errors.contains("no query solution"))
        #expect(try run("dump", "data/v3.db", "--table", "note").output.contains("INSERT INTO"))
    }

    @Test(.enabled(if: getuid() == 0, "only root gives files away"))
    func `what root restores belongs to the owner that is named, or to that of the directory it goes back to`() throws {
        try configure(["name: app, sources: data/v3.db, every: 1h"])
        _ = try run("schedule", "run-due", "backup.yml")
        func owner(_ name: String) throws -> Int? {
            let found = try FileManager.default.attributesOfItem(atPath: workspace.path(name))
            return (found[.ownerAccountID] as? NSNumber)?.intValue
        }
        let nobody = Int(try #require(getpwnam("nobody")).pointee.pw_uid)
        let store = ["--repository", "r", "--state-directory", "state"]
        #expect(try workspace.tool.run(["restore", "x.db", "--owner", "nobody"] + store).status == 0)
        #expect(try workspace.tool.run(["restore", "y.db"] + store).status == 0)
        #expect(try workspace.tool.run(["restore", "z.db", "--owner", "nobody-at-all"] + store).status == 66)
        #expect(try owner("x.db") == nobody && owner("y.db") == 0)
        try FileManager.default.removeItem(atPath: workspace.path("data/v3.db"))
        #expect(chown(workspace.path("data"), uid_t(nobody), gid_t(nobody)) == 0)
        _ = try run("schedule", "restore", "backup.yml", "app", "--to-sources")
        #expect(try owner("data/v3.db") == nobody)
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
    func `a rejected key mentions the keyring beside the database, and no temporary file`() throws {
        try workspace.write("a passphrase of many words", to: "words")
        try workspace.write("wrong", to: "wrong")
        let encrypted = try workspace.tool.run(
            ["encrypt", "data/v3.db", "e.db", "--new-keyring", "e.db.keys", "--key-file", "words", "--allow-weak"])
        try #require(encrypted.status == 0, "\(encrypted.errors)")
        let failed = try run("verify", "e.db", "--key-file", "wrong", status: 77)
        #expect(failed.errors.contains("--keyring") && failed.errors.contains("e.db.keys"))
        let store = ["--repository", "r", "--state-directory", "state"]
        #expect(try workspace.tool.run(["snapshot", "e.db"] + store).status == 0)
        let restored = try workspace.tool.run(
            ["restore", "out.db", "--verify-with-key", "--key-file", "wrong"] + store)
        #expect(restored.status == 77)
        #expect(restored.errors.contains("out.db") && !restored.errors.contains(".litevault-"))
    }

    /// Removes or flips the packs of a repository.
    private func damagePacks(_ repository: String, removing: Bool) throws -> [String] {
        var packs: [String] = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: workspace.path(repository + "/data")) {
            let path = workspace.path("\(repository)/data/\(name)")
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue else {
                continue
            }
            packs.append("data/" + name)
            if removing {
                try FileManager.default.removeItem(atPath: path)
            } else {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
                var bytes = try #require(FileManager.default.contents(atPath: path))
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: URL(fileURLWithPath: path))
            }
        }
        return packs
    }

    @Test(arguments: [true, false])
    func `a copy of a repository that lacks a pack is damaged, as is one with a flipped pack`(isMissing: Bool) throws {
        try configure(["name: app, sources: data/v3.db, every: 1h"])
        _ = try run("schedule", "run-due", "backup.yml")
        _ = try damagePacks("r", removing: isMissing)
        let failed = try run("copy", "r", "far", "--state-directory", "state", status: 65)
        #expect(failed.errors.contains("was not copied"), "\(failed.errors)")
    }

    @Test func `where nothing was restored, restore-all speaks of no others, and names the object that is missing`()
        throws
    {
        let common = ["--repository", "r", "--state-directory", "state"]
        let snapshot = ["snapshot", "data/v3.db", "--allow-plaintext"] + common
        #expect(try workspace.tool.run(snapshot + ["--database", "a.db"]).status == 0)
        let listed = try workspace.tool.run(["snapshots", "--json"] + common).json()["snapshots"] as? [[String: Any]]
        let time = try #require(listed?.first?["time"] as? String)
        let packs = try damagePacks("r", removing: true)
        Thread.sleep(forTimeInterval: 0.01)
        #expect(try workspace.tool.run(snapshot + ["--database", "b.db"]).status == 0)
        let failed = try workspace.tool.run(["restore-all", "out", "--at", time] + common)
        #expect(failed.status == 65)
        #expect(packs.contains { failed.output.contains("a.db: failed: \($0): is missing") }, "\(failed.output)")
        #expect(
            failed.output.contains("Nothing was restored: 1 without a snapshot then, 1 failed."), "\(failed.output)")
        #expect(!failed.errors.contains("The others"), "\(failed.errors)")
        // Now there is another one.
        let some = try workspace.tool.run(["restore-all", "out2"] + common)
        #expect(some.status == 65 && some.output.contains("Restored 1 database"))
        #expect(some.errors.contains("The others are."), "\(some.errors)")
    }

    @Test
    func `H-VER-11 a database that only its application can check is not called intact without what was not checked`()
        throws
    {
        let database = try Connection(workspace.path("c.db"))
        try database.createCollation("backwards") { $1.compare($0) }
        try database.execute("CREATE TABLE t (a TEXT COLLATE backwards UNIQUE); CREATE TABLE u (b)")
        try database.close()
        let text = try run("verify", "c.db").output
        #expect(text.hasPrefix("c.db: no damage found") && text.contains("not checked"), "\(text)")
        // Before SQLite 3.33 no single table can be checked.
        let what =
            EngineInfo.linked.isAtLeast(3, 33)
            ? "structure of table 't'" : "structure"
        #expect(text.contains("The \(what) could not be checked") && !text.contains("intact"), "\(text)")
        let unchecked = try run("verify", "c.db", "--json").json()["unchecked"] as? [String]
        #expect(unchecked?.contains { $0.contains("backwards") } == true)
        let common = ["--repository", "r", "--state-directory", "state"]
        #expect(try workspace.tool.run(["snapshot", "c.db", "--allow-plaintext"] + common).status == 0)
        let tested = try workspace.tool.run(["check", "--restore-test"] + common)
        #expect(
            tested.status == 0 && tested.output.contains("no damage found, not all was checked"), "\(tested.output)")
        #expect(tested.output.hasPrefix("r: no damage found"), "\(tested.output)")
        #expect(try workspace.tool.run(["snapshots"] + common).output.contains("data ok"))
        let restored = try workspace.tool.run(["restore", "x.db", "--verify-with-key"] + common)
        #expect(restored.status == 0 && restored.errors.contains("not verified: The \(what)"), "\(restored.errors)")
    }

    @Test func `H-REP-15 restore and restore-all warn of a snapshot that failed its verification, and end as before`()
        throws
    {
        let common = ["--repository", "r", "--state-directory", "state"]
        #expect(
            try workspace.tool.run(["snapshot", "data/v3.db", "--allow-plaintext", "--database", "a.db"] + common)
                .status == 0)
        #expect(try workspace.tool.run(["check", "--restore-test", "--assert", "SELECT 0"] + common).status == 65)
        for command in [["restore", "x.db", "--database", "a.db"], ["restore-all", "out"]] {
            let run = try workspace.tool.run(command + common)
            #expect(run.status == 0)
            #expect(
                run.errors.contains("warning:") && run.errors.contains("by its verification (restore)"), "\(run.errors)"
            )
        }
    }
}
