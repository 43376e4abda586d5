import Foundation
import Testing

import LiteVaultTool

/// `schedule install` before systemd has a part in it, and beside one that does not answer.
@Suite struct ScheduleInstallTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    @Test(
        arguments: ["sftp://me:hunter2@host/x", "SFTP://me:hunter2@host:2222/x", "s3://me:hunter2@bucket/x"],
        [[], ["--dry-run"]])
    func `H-SEC-29 an address with a password is not written into a configuration, nor repeated`(
        address: String, more: [String]
    ) throws {
        let path = workspace.path("backup.yml")
        let run = try workspace.tool.run(
            ["schedule", "install", path, "--source", "/srv/app/*.db", "--repository", address] + more)
        #expect(run.status == 64 && run.errors.contains("password"), "\(run.errors)")
        #expect(!(run.output + run.errors).contains("hunter2"))
        #expect(try workspace.names().isEmpty)
    }

    @Test func `a dry run has the text of every file that would be written`() throws {
        let path = workspace.path("backup.yml")
        try workspace.copy(fixture: Fixture.encrypted, to: "vault.db")
        let run = try workspace.tool.run(
            "schedule", "install", path, "--name", "mine", "--user", "app", "--source", workspace.path("*.db"), "--repository",
            "/backup/x",
            "--dry-run", "--json")
        #expect(run.status == 0, "\(run.errors)")
        let files = try #require(try run.json()["files"] as? [[String: String]])
        #expect(
            files.map { $0["path"] } == [path, "/etc/systemd/system/mine.service", "/etc/systemd/system/mine.timer"])
        let texts = try files.map { try #require($0["text"]) }
        #expect(texts[0].contains("repository: \"/backup/x\"\n"))
        #expect(texts[1].hasPrefix("# mine.service\n\(ServiceManager.mark)\n[Unit]\n"))
        #expect(texts[1].contains("\nUser=app\n") && texts[1].contains(" schedule run-due \(path)\n"))
        // Its own, or systemd would give that of another service to this user.
        #expect(texts[1].contains("\nStateDirectory=litevault-mine\nCacheDirectory=litevault-mine\n"))
        #expect(texts[2].hasPrefix("# mine.timer\n\(ServiceManager.mark)\n") && texts[2].contains("OnCalendar="))
        #expect((try run.json()["sources"] as? [Any])?.isEmpty == true)
        #expect(try workspace.names() == ["vault.db"])
    }

    @Test(arguments: [
        ("plain.db", "is not encrypted, and plaintext is not allowed", "allow-plaintext"),
        ("*.sqlite", "no database matches the pattern", "allow-none"), ("none.db", "no such file", "Check the path"),
        ("text.db", "is not a database", "Exclude"),
    ])
    func `a dry run says what of the sources the jobs would refuse, and fails as they would`(
        source: String, message: String, remedy: String
    ) throws {
        try workspace.makeDatabase("plain.db")
        try workspace.write(String(repeating: "no database\n", count: 500), to: "text.db")
        func dry(_ more: String...) throws -> Tool.Run {
            try workspace.tool.run(
                ["schedule", "install", workspace.path("backup.yml"), "--source", workspace.path(source), "--repository",
                 workspace.path("r"), "--dry-run", "--json"] + more)
        }
        let run = try dry()
        let found = try #require(try run.json()["sources"] as? [[String: Any]])
        #expect(found.map { $0["message"] as? String } == [message] && found[0]["job"] as? String == "nightly")
        #expect((found[0]["remedy"] as? String)?.contains(remedy) == true, "\(found)")
        #expect(run.errors.contains("\"warning\"") && run.errors.contains(message), "\(run.errors)")
        // Another user may not see all files.
        #expect(run.status == (getuid() == 0 || source == "plain.db" || source == "text.db" ? 1 : 0), "\(run.errors)")
        guard source == "plain.db" else { return }
        #expect(try dry("--allow-plaintext").status == 0)
        try workspace.write("a secret of a repository", to: "secret")
        #expect(try dry("--repository-secret-file", workspace.path("secret")).status == 0)
    }

    @Test func `a configuration that is wrong is refused with line and column`() throws {
        try workspace.write("repository: /r\njobs:\n  - {name: a, sources: /x, every: never}\n", to: "bad.yml")
        let run = try workspace.tool.run("schedule", "install", workspace.path("bad.yml"), "--dry-run")
        #expect(run.status == 78 && run.errors.contains("line 3, column 35: every: invalid duration"), "\(run.errors)")
    }

    @Test(arguments: [("", true), (", follow: true", false)])
    func `an endpoint that a timer would not serve is a warning`(follow: String, isWarned: Bool) throws {
        try workspace.copy(fixture: Fixture.encrypted, to: "vault.db")
        try workspace.write(
            "listen: 9464\nrepository: \(workspace.path("r"))\njobs:\n  - {name: a, sources: \(workspace.path("*.db")), every: 1h\(follow)}\n",
            to: "listening.yml")
        let run = try workspace.tool.run("schedule", "install", workspace.path("listening.yml"), "--dry-run")
        #expect(run.status == 0 && run.errors.contains("'listen' is not served") == isWarned, "\(run.errors)")
    }

    @Test func `systemd that does not answer is an error after the time limit`() throws {
        let command = try workspace.write("#!/bin/sh\nsleep 600\n", to: "systemctl")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: command)
        var systemd = ServiceManager()
        systemd.command = command
        systemd.limit = .seconds(1)
        let began = ContinuousClock.now
        for call in [
            { try systemd.reload() }, { try systemd.enable("x.timer") },
            { _ = try systemd.start("x.service", runsOn: false) },
        ] {
            let failure = #expect(throws: Failure.self) { try call() }
            #expect(
                failure?.code == .inputOutput && failure?.message.contains("does not respond") == true,
                "\(String(describing: failure))")
        }
        #expect(ContinuousClock.now - began < .seconds(60))
    }

    @Test func `a step that fails says what was done before it, and what to do now`() {
        let failure = Failure(.inputOutput, "systemd does not respond", path: "x.timer", remedy: "Look at the log.")
        var steps = InstallationSteps()
        #expect(steps.completing(failure, again: "again", removal: nil) == failure)
        steps.configuration = "/etc/my backup.yml"
        var completed = steps.completing(failure, again: "again", removal: nil)
        #expect(completed.message == "systemd does not respond; before that, /etc/my backup.yml was written")
        #expect(
            completed.remedy
                == "Look at the log. To complete the installation, run 'again'. To remove it instead: rm '/etc/my backup.yml'"
        )
        steps.directories = ["/backup"]
        steps.units = [.init(path: "/u/x.service", changed: false), .init(path: "/u/x.timer", changed: true)]
        steps.removed = ["/u/y.timer"]
        (steps.enabled, steps.started) = ("x.timer", "x.service")
        completed = steps.completing(failure, again: "again", removal: "systemctl disable --now x.timer; rm /u/x.timer")
        #expect(
            completed.message
                == "x.timer: systemd does not respond; before that, /etc/my backup.yml and /u/x.timer were written, "
                + "/u/x.service was up to date, /backup was created, /u/y.timer was removed, x.timer was enabled and "
                + "systemd was asked to start x.service")
        #expect(
            completed.remedy?.hasSuffix(
                " To remove it instead: systemctl disable --now x.timer; rm /u/x.timer; rm '/etc/my backup.yml'")
                == true)
        #expect((completed.code, completed.path) == (failure.code, failure.path))
    }

    @Test func `an interruption says what was done, and nothing where nothing was`() throws {
        func shown(_ steps: InstallationSteps, _ unanswered: String?) -> (message: String, remedy: String)? {
            steps.interruption(unanswered: unanswered, again: "again", status: "status", removal: "rm x")
        }
        var steps = InstallationSteps()
        #expect(shown(steps, "systemctl show") == nil)
        steps.units = [.init(path: "/u/x.service", changed: true)]
        var (message, remedy) = try #require(shown(steps, nil))
        #expect(message == "/u/x.service was written")
        #expect(remedy == "To complete the installation, run 'again'. To remove it instead: rm x")
        (message, remedy) = try #require(shown(steps, "systemctl enable"))
        #expect(
            message == "/u/x.service was written; 'systemctl enable' had not answered, and may take effect yet")
        steps.started = "x.service"
        (message, remedy) = try #require(shown(steps, nil))
        #expect(message == "/u/x.service was written and systemd was asked to start x.service")
        #expect(remedy == "Its jobs were not waited for: 'status' shows them. To remove it instead: rm x")
    }

    @Test func `a record is shown once, as it is then`() {
        let record = InstallationRecord()
        record.note { $0.enabled = "x.timer" }
        var shown: [String?] = []
        for _ in 1...2 { record.announce { shown.append($0.enabled) } }
        #expect(shown == ["x.timer"])
    }

    @Test func `a file is up to date if its bytes are`() throws {
        let path = try workspace.write("caf\u{E9}\n", to: "x.service")
        #expect(try PublicText.isWritten("caf\u{E9}\n", at: path))
        for other in ["cafe\u{301}\n", "caf\u{E9}", "caf\u{E9}\n\n", ""] {
            #expect(try !PublicText.isWritten(other, at: path), "\(other)")
        }
        #expect(try !PublicText.isWritten("", at: workspace.path("missing")))
    }
}
