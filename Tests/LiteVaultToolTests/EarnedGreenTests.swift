import Foundation
import LiteVault
import Testing

/// A schedule's green light was earned: what did not happen is not shown as well, and what a remedy says works as it is printed.
@Suite struct EarnedGreenTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("app.db")
        try configure("every: 1m")
    }

    private func configure(_ job: String, _ top: String = "repository: r", sources: String = "app.db") throws {
        try workspace.write(
            """
            \(top)
            state-directory: state
            jobs:
              - {name: app, sources: \(sources), allow-plaintext: yes, \(job)}

            """, to: "backup.yml")
    }

    private func schedule(_ command: String, _ more: String...) throws -> Tool.Run {
        try workspace.tool.run(["schedule", command, "backup.yml"] + more)
    }

    /// Sets a file's time of modification back.
    private func age(_ name: String, _ seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: workspace.path(name))
    }

    /// Sets the times of the last run in the state file back, on a machine that was started since.
    private func age(stateBy seconds: Double) throws {
        let name = try #require(workspace.files("state").first { $0.hasPrefix("schedule-") && $0.hasSuffix(".json") })
        let path = workspace.path("state/" + name)
        var state = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))) as? [String: Any])
        var jobs = try #require(state["jobs"] as? [String: [String: Any]])
        for (job, value) in jobs {
            jobs[job] = value.filter { !["lastUptime", "lastBoot"].contains($0.key) }
                .mapValues { ($0 as? Double).map { $0 > 1e9 ? $0 - seconds : $0 } ?? $0 }
        }
        state["jobs"] = jobs
        try JSONSerialization.data(withJSONObject: state).write(to: URL(fileURLWithPath: path))
    }

    @Test func `H-JOB-05 a job that never ran is red an hour after it was configured`() throws {
        #expect(try schedule("status", "--check").status == 0)
        try age("backup.yml", 3700)
        let found = try schedule("status", "--check")
        #expect(found.status == 1)
        #expect(found.output.contains("app: NEVER RAN"))
        #expect(found.errors.contains("did not run in time"))
        #expect(try workspace.tool.run("doctor", "backup.yml").output.contains("did not run"))
        // What the hint names runs it.
        #expect(try schedule("run-due").status == 0)
        #expect(try schedule("status", "--check").status == 0)
    }

    @Test func `H-JOB-06 a job that has not run for days is red, and one that is an hour late is not`() throws {
        #expect(try schedule("run-due").status == 0)
        try age(stateBy: 1800)
        #expect(try schedule("status", "--check").status == 0)
        try age(stateBy: 6 * 86_400)
        let found = try schedule("status", "--check", "--json")
        #expect(found.status == 1)
        let job = try #require((found.json()["jobs"] as? [[String: Any]])?.first)
        #expect(job["overdue_since"] is String && job["last_failures"] as? Int == 0)
        #expect(try schedule("status").output.contains("app: OVERDUE"))
        #expect(try workspace.tool.run("doctor", "backup.yml").status == 1)
        #expect(try schedule("run-due").status == 0)
        #expect(try schedule("status", "--check").status == 0)
    }

    @Test(arguments: [
        "s3:bucket", "s3:/bucket/x", "sftp:host/x", "backup@nas:/srv", "rclone:remote", "~/backups", "'${BACKUPS}/x'",
        "$BACKUPS/x", "/srv/$NAME/x", "ftp://host/x", "file:///srv/x",
    ])
    func
        `H-JOB-07 a repository that is neither a directory nor a known URL is refused by the file as by the command line`(
            location: String
        ) throws
    {
        try configure("every: 1m", "repository: \(location)")
        let before = try workspace.names()
        for command in ["run-due", "status"] {
            let found = try schedule(command)
            #expect(found.status == 78, "\(found.output)")
            #expect(found.errors.contains("line 1") && found.errors.contains("hint:"))
        }
        #expect(try workspace.tool.run("doctor", "backup.yml").status == 1)
        let plain = location.filter { $0 != "'" }
        let found = try workspace.tool.run("snapshot", "app.db", "--allow-plaintext", "--repository", plain)
        #expect([64, 69].contains(found.status))
        #expect(try workspace.names() == before)
    }

    @Test(arguments: [
        "state-directory: ~/state", "metrics-file: $HOME/m.prom", "repository-secret-file: '${S}/secret'",
    ])
    func `no path of a configuration is taken literally that a shell would have replaced`(line: String) throws {
        try workspace.write(
            "repository: r\n\(line)\njobs: [{name: a, sources: app.db, every: 1h}]\n", to: "backup.yml")
        let found = try schedule("run-due")
        #expect(found.status == 78 && found.errors.contains("line 2"))
        try configure("every: 1h", sources: "'~/app.db'")
        #expect(try schedule("run-due").errors.contains("is not replaced"))
    }

    @Test(arguments: [false, true])
    func `H-JOB-08 what is printed after a repository was removed or exchanged works as it is`(isExchanged: Bool) throws
    {
        #expect(try schedule("run-due").status == 0)
        try FileManager.default.removeItem(atPath: workspace.path("r"))
        if isExchanged {
            let other = try workspace.tool.run("init", "--repository", "r", "--state-directory", "another")
            #expect(other.status == 0, "\(other.errors)")
        }
        try age(stateBy: 3600)
        let failed = try schedule("run-due")
        #expect(failed.status == 1)
        let hint = try #require(failed.output.split(separator: "\n").first { $0.contains("--accept-repository") })
        let command = try #require(hint.range(of: "litevault ").map { String(hint[$0.upperBound...]) })
        #expect(try workspace.tool.run("doctor", "backup.yml").output.contains(command))
        let words = command.split(separator: " ").map { $0.filter { $0 != "'" } }
        let accepted = try workspace.tool.run(words)
        #expect(accepted.status == 0, "\(command)\n\(accepted.errors)")
        try age(stateBy: 3600)
        #expect(try schedule("run-due").status == 0)
        #expect(try workspace.tool.run("doctor", "backup.yml").status == 0)
    }

    @Test(arguments: [false, true])
    func `H-JOB-08 what a running service says of an exchanged or removed repository works as it is`(isGone: Bool)
        throws
    {
        try configure("every: 1s, retry: 1s")
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = ["schedule", "run", "backup.yml", "--quiet"]
        process.currentDirectoryURL = workspace.directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { process.terminate() }
        func waitFor(_ condition: () throws -> Bool) throws -> Bool {
            let end = Date(timeIntervalSinceNow: 300)
            while Date() < end, process.isRunning {
                if try condition() { return true }
                usleep(100_000)
            }
            return false
        }
        #expect(try waitFor { try workspace.names().contains("r") && schedule("status", "--check").status == 0 })
        try FileManager.default.moveItem(atPath: workspace.path("r"), toPath: workspace.path("away"))
        if !isGone {
            #expect(try workspace.tool.run("init", "--repository", "r", "--state-directory", "another").status == 0)
        }
        var failures: [[String: Any]] = []
        #expect(
            try waitFor {
                let jobs = try schedule("status", "--json").json()["jobs"] as? [[String: Any]] ?? []
                failures = jobs.flatMap { $0["failures"] as? [[String: Any]] ?? [] }
                    .filter { ($0["message"] as? String)?.contains("while it was in use") == true }
                    // A run may have begun while there was none.
                    .filter { ($0["remedy"] as? String)?.contains(isGone ? "init " : "snapshots ") == true }
                return !failures.isEmpty
            })
        process.terminate()
        process.waitUntilExit()
        let remedy = try #require(failures.first?["remedy"] as? String)
        let command = try #require(remedy.range(of: "litevault ").map { String(remedy[$0.upperBound...]) })
        let accepted = try workspace.tool.run(command.split(separator: " ").map { $0.filter { $0 != "'" } })
        #expect(accepted.status == 0, "\(command)\n\(accepted.errors)")
        try age(stateBy: 3600)
        #expect(try schedule("run-due").status == 0)
    }

    @Test func `what the last run says names no snapshot that its own retention has removed`() throws {
        try configure("every: 1m, retention: {last: 1}")
        #expect(try schedule("run-due").status == 0)
        let options = ["--repository", "r", "--state-directory", "state"]
        func ids() throws -> [String] {
            let found = try workspace.tool.run(["snapshots", "--json"] + options).json()
            return (found["snapshots"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
        }
        let removed = try #require(try ids().first)
        let pack = try #require(workspace.files("r/data").first)
        let files = try #require(FileManager.default.subpaths(atPath: workspace.path("r/data/" + pack))?.first)
        try FileManager.default.removeItem(atPath: workspace.path("r/data/\(pack)/\(files)"))
        #expect(try workspace.tool.run(["check", "--read-data"] + options).status == 65)
        try age(stateBy: 3600)
        #expect(try schedule("run-due").status == 1)
        #expect(try !ids().contains(removed))
        for found in [try schedule("status"), try workspace.tool.run("doctor", "backup.yml")] {
            let lines = found.output.split(separator: "\n").filter { $0.contains(removed) }
            #expect(!lines.isEmpty)
            #expect(lines.allSatisfy { $0.contains("retention has removed snapshot \(removed) since") }, "\(lines)")
        }
    }

    @Test func `that nearly all of a database differs is said without a guess why`() throws {
        try workspace.makeDatabase("large.db", rows: 3000)
        let options = ["--repository", "r", "--state-directory", "state"]
        func snapshot() throws -> String {
            try workspace.tool.run(["snapshot", "large.db", "--allow-plaintext"] + options).output
        }
        #expect(try !snapshot().contains("differ"))
        let database = try Connection(workspace.path("large.db"))
        try database.execute("UPDATE note SET title = hex(randomblob(20)), body = randomblob(200)")
        try database.close()
        for text in [try snapshot(), try workspace.tool.run(["snapshots"] + options).output] {
            #expect(text.lowercased().contains("nearly all blocks differ"), "\(text)")
            #expect(!text.contains("VACUUM") && !text.contains("rekey"))
        }
    }

    @Test func `with a log in JSON, every line of standard error is JSON`() throws {
        try configure("every: 1m", sources: "nothing.db")
        for command in ["run-due"] {
            let found = try schedule(command, "--log", "json")
            #expect(found.status == 1)
            #expect(try !found.jsonErrors().isEmpty)
            #expect(found.output.contains("app: 0 databases"))
        }
    }

    @Test func `a repository that exists is a conflict, not a reason to try again`() throws {
        let words = ["init", "--repository", "r", "--state-directory", "state", "--json"]
        #expect(try workspace.tool.run(words).status == 0)
        let again = try workspace.tool.run(words)
        #expect(again.status == 73)
        #expect(try again.failureCode() == "conflict")
    }

    @Test func `a text with several statements is refused in terms of the tool`() throws {
        let found = try workspace.tool.run("query", "app.db", "SELECT 1; SELECT 2")
        #expect(found.status == 64)
        #expect(!found.errors.contains("execute(") && found.errors.contains("litevault shell"))
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
    func `encrypting many small tables shows its progress from the start`() throws {
        let database = try Connection(workspace.path("many.db"))
        try database.transaction {
            for number in 1...600 {
                try database.execute("CREATE TABLE t\(number) (a); INSERT INTO t\(number) VALUES (1)")
            }
        }
        try database.close()
        try workspace.write("secret", to: "key")
        let found = try workspace.tool.run("encrypt", "many.db", "e.db", "--key-file", "key", "--progress", "--json")
        #expect(found.status == 0)
        let first = try #require(try found.jsonErrors().compactMap { $0["progress"] as? [String: Any] }.first)
        #expect(first["phase"] as? String == "copying")
        #expect((first["done"] as? Double ?? 1) < (first["total"] as? Double ?? 0) / 2)
    }

    @Test(.enabled(if: getuid() == 0, "only root can look with the eyes of another user"))
    func `H-JOB-09 doctor finds what the user of the backups may not lock, and root can ask for that user`() throws {
        let database = try Connection(workspace.path("app.db"))
        defer { try? database.close() }
        try database.execute("PRAGMA journal_mode = WAL; INSERT INTO note (title) VALUES ('x')")
        for (path, mode) in [
            ("", 0o755), ("backup.yml", 0o644), ("app.db", 0o644), ("app.db-wal", 0o644), ("app.db-shm", 0o644),
        ] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: workspace.path(path))
        }
        try FileManager.default.createDirectory(atPath: workspace.path("r"), withIntermediateDirectories: true)
        #expect(try workspace.tool.run("doctor", "backup.yml").output.contains("1 database can be backed up"))
        let found = try workspace.tool.run("doctor", "backup.yml", "--as", "nobody")
        #expect(found.status == 1)
        #expect(found.output.contains("-shm") && !found.output.contains("can be backed up"), "\(found.output)")
        #expect(try workspace.tool.run("doctor", "backup.yml", "--as", "nobody-at-all").status == 66)
    }
}

extension Workspace {
    fileprivate func files(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(directory))
    }
}
