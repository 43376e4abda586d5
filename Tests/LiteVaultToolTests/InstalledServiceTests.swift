import Foundation
import Testing

import LiteVaultTool

/// Which services run a configuration, by the files of their units.
@Suite struct InstalledServiceTests {
    private let workspace: Workspace
    private var files = UnitFiles()
    /// The path of a configuration.
    private let configuration: String

    init() throws {
        workspace = try Workspace()
        files.directories = ["etc", "run", "usr"].map(workspace.path)
        for directory in files.directories + [workspace.path("conf")] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        configuration = try workspace.write("jobs: []\n", to: "conf/back up.yml")
    }

    private func unit(_ name: String, _ text: String) throws {
        let path = workspace.path(name)
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try workspace.write(text, to: name)
    }

    private func link(_ name: String, to target: String) throws {
        let path = workspace.path(name)
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private var running: [String] { InstalledService.all(files).filter { $0.runs(configuration) }.map(\.name) }

    @Test(
        arguments: [
            #"/usr/bin/litevault schedule run-due "CONF/back up.yml""#,
            #"/usr/bin/litevault schedule run-due 'CONF/back up.yml'"#,
            #"/usr/bin/litevault schedule run-due CONF/back\x20up.yml"#,
            #"/usr/bin/litevault schedule run --quiet CONF/back\sup.yml --log json"#,
            #"-@"/opt/my tools/litevault" lv "schedule" 'run' "CONF/./../conf/back up.yml""#,
            #"/usr/bin/litevault schedule run-due "CONF/link.yml""#,
            #"/usr/bin/litevault schedule run-due "ROOT/elsewhere/back up.yml""#,
            #"/bin/sh -c "exec litevault schedule run-due 'CONF/back up.yml'""#,
            "/usr/bin/litevault schedule \\\n  run-due \\\n# a comment\n  \"CONF/back up.yml\"",
            "/usr/bin/true\nExecStart=/usr/bin/litevault schedule run-due \"CONF/back up.yml\"",
            "\nWorkingDirectory=CONF\nExecStart=/usr/bin/litevault schedule run-due 'back up.yml'",
        ])
    func `a quoted path, and one through links, is that of the configuration`(command: String) throws {
        try link("conf/link.yml", to: "back up.yml")
        try link("elsewhere", to: "conf")
        let text = command.replacingOccurrences(of: "CONF", with: workspace.path("conf"))
            .replacingOccurrences(of: "ROOT", with: workspace.directory.path)
        try unit("etc/mine.service", "[Service]\nExecStart=\(text)\n")
        #expect(running == ["mine"], "\(text)")
    }

    @Test(
        arguments: [
            #"/usr/bin/litevault schedule run-due "CONF/other.yml""#,
            #"/usr/bin/litevault schedule status "CONF/back up.yml""#,
            #"/usr/bin/litevault schedule run-due "CONF/back up.yml"#,
            #"/usr/bin/litevault schedule run-due "CONF/back%%up.yml""#,
            "/usr/bin/litevault schedule run-due \"CONF/back up.yml\"\nExecStart=\nExecStart=/usr/bin/true",
            "/usr/bin/true\n#ExecStart=/usr/bin/litevault schedule run-due \"CONF/back up.yml\"",
        ])
    func `another command or configuration is not`(command: String) throws {
        let text = command.replacingOccurrences(of: "CONF", with: workspace.path("conf"))
        try unit("etc/mine.service", "[Service]\nExecStart=\(text)\n")
        #expect(running.isEmpty, "\(text)")
    }

    private func service(_ more: String = "") -> String {
        "[Service]\nExecStart=/usr/bin/litevault schedule run-due \"\(configuration)\"\nStateDirectory=litevault\n\(more)"
    }

    @Test func `a packaged service is seen, whether it is enabled, and how it is disabled`() throws {
        try unit("usr/packaged.service", service())
        try unit("usr/packaged.timer", "[Timer]\nOnCalendar=daily\n")
        var found = try #require(InstalledService.all(files).first)
        #expect(found.runs(configuration) && !found.isOwn && !found.isEnabled && found.user == "root")
        #expect(found.directoryName == "litevault")
        #expect(found.removal == "systemctl disable --now packaged.timer packaged.service")
        try unit("etc/packaged.service.d/10-user.conf", "[Service]\nUser=app\n")
        try unit("usr/packaged.service.d/10-user.conf", "[Service]\nUser=nobody\n")
        try unit("run/packaged.service.d/05-user.conf", "[Service]\nUser=early\n")
        // A link that leads nowhere, as systemd takes it.
        try link("etc/timers.target.wants/packaged.timer", to: "/usr/lib/systemd/system/packaged.timer")
        found = try #require(InstalledService.all(files).first)
        #expect(found.isEnabled && found.user == "app" && InstalledService.user(of: "packaged", nil, files) == "app")
        #expect(InstalledService.user(of: "other", "me", files) == "me")
    }

    @Test func `the administrator's unit takes the place of a packaged one, and a mask does`() throws {
        try unit("usr/packaged.service", service())
        try unit("etc/packaged.service", service("User=app\n"))
        let found = InstalledService.all(files)
        #expect(found.map(\.name) == ["packaged"] && found[0].isOwn && found[0].user == "app")
        #expect(
            found[0].removal
                == "systemctl disable --now packaged.service; rm \(workspace.path("etc"))/packaged.service")
        try FileManager.default.removeItem(atPath: workspace.path("etc/packaged.service"))
        try link("etc/packaged.service", to: "/dev/null")
        #expect(running.isEmpty)
    }

    @Test func `another name of a service is not a second one`() throws {
        try unit("etc/mine.service", service())
        try unit("usr/packaged.service", service())
        try link("etc/alias.service", to: workspace.path("etc/mine.service"))
        try link("etc/backup.service", to: workspace.path("usr/packaged.service"))
        // One that is kept elsewhere is a service of its own.
        try unit("conf/away.service", service())
        try link("etc/away.service", to: workspace.path("conf/away.service"))
        let found = InstalledService.all(files)
        #expect(found.map(\.name) == ["away", "backup", "mine", "packaged"])
        #expect(found.map(\.target) == ["away", "packaged", "mine", "packaged"])
        #expect(found.allSatisfy { $0.runs(configuration) })
    }

    private func template(_ more: String = "") -> String {
        "[Service]\nExecStart=/usr/bin/litevault schedule run-due \"\(workspace.path("conf"))/%I.yml\"\n\(more)"
    }

    @Test func `H-JOB-15 an instance of a template counts if it is enabled or runs, by its own name`() throws {
        try unit("etc/litevault@.service", template("User=%p\nStateDirectory=litevault-%i\n"))
        #expect(InstalledService.all(files).isEmpty)
        let name = #"litevault@back\x20up"#
        var found = try #require(InstalledService.all(files, running: ["\(name).service", "other@x.service"]).first)
        #expect(found.runs(configuration) && found.isInstance && !found.isEnabled && found.name == name)
        #expect((found.user, found.directoryName) == ("litevault", #"litevault-back\x20up"#))
        #expect(found.removal == "systemctl disable --now '\(name).service'")
        try link("etc/multi-user.target.wants/\(name).service", to: workspace.path("etc/litevault@.service"))
        try link("etc/multi-user.target.wants/litevault@other.service", to: workspace.path("etc/litevault@.service"))
        found = try #require(InstalledService.all(files).first { $0.runs(configuration) })
        #expect(found.isEnabled && found.name == name && running == [name])
    }

    @Test func `a timer starts an instance: of its name, or as it says`() throws {
        let name = #"litevault@back\x20up"#
        try unit("usr/litevault@.service", template())
        try unit("usr/litevault@.timer", "[Timer]\nOnCalendar=daily\n")
        try link("etc/timers.target.wants/\(name).timer", to: workspace.path("usr/litevault@.timer"))
        var found = try #require(InstalledService.all(files).first)
        #expect(found.runs(configuration) && found.isEnabled && found.units == ["\(name).timer", "\(name).service"])
        try FileManager.default.removeItem(atPath: workspace.path("etc/timers.target.wants/\(name).timer"))
        #expect(InstalledService.all(files).isEmpty)
        try unit("usr/nightly@.timer", "[Timer]\nOnCalendar=daily\nUnit=litevault@%i.service\n")
        try link(#"etc/timers.target.wants/nightly@back\x20up.timer"#, to: workspace.path("usr/nightly@.timer"))
        found = try #require(InstalledService.all(files).first)
        #expect(found.name == name && found.isEnabled && found.runs(configuration))
        #expect(found.units.contains(#"nightly@back\x20up.timer"#))
    }

    @Test func `drop-ins of an instance, its template and its prefix apply to it`() throws {
        try unit("usr/lite-vault@.service", template())
        let name = #"lite-vault@back\x20up"#
        try link("etc/a.target.wants/\(name).service", to: workspace.path("usr/lite-vault@.service"))
        #expect(running == [name])
        try unit("etc/lite-vault@.service.d/50.conf", "[Service]\nExecStart=\nExecStart=/usr/bin/true\nUser=template\n")
        #expect(running.isEmpty)
        try unit("etc/\(name).service.d/50.conf", "[Service]\nUser=instance\n")
        try unit("etc/lite-@.service.d/60.conf", "[Service]\nStateDirectory=prefix\n")
        try unit("etc/service.d/60.conf", "[Service]\nStateDirectory=all\n")
        let found = try #require(InstalledService.all(files).first)
        // The instance's file takes the place of that of the template, which has the same name.
        #expect(found.runs(configuration) && found.user == "instance" && found.directoryName == "prefix")
    }

    @Test func `another name of a template is not a second one`() throws {
        try unit("usr/litevault@.service", template())
        try link("etc/nightly@.service", to: workspace.path("usr/litevault@.service"))
        for name in ["litevault", "nightly"] {
            try link(
                "etc/a.target.wants/\(name)@back\\x20up.service", to: workspace.path("usr/litevault@.service"))
        }
        #expect(running == [#"litevault@back\x20up"#])
    }

    @Test(
        arguments: [
            ("Environment=CONF=CONF/back\\x20up.yml", "${CONF}"), (#"Environment="A=b c" 'CONF=CONF/back up.yml'"#, "${CONF}"),
            (#"Environment="CONF='CONF/back up.yml'""#, "--quiet $CONF"), ("Environment=D=CONF", #""${D}/back up.yml""#),
            ("Environment=CONF=/x\nEnvironmentFile=ROOT/env", "${CONF}"), ("EnvironmentFile=ROOT/e*v", "${CONF}"),
            ("EnvironmentFile=-ROOT/none\nEnvironmentFile=-ROOT/env", "${CONF}"),
            (#"Environment=N=%N "CONF=CONF/back up.yml""#, "${CONF}"),
            ("EnvironmentFile=ROOT/env", "; /bin/sh -c 'litevault schedule run-due \"$$CONF\"'"),
            ("EnvironmentFile=/none\nEnvironmentFile=\nEnvironmentFile=ROOT/env", "${CONF}"),
            ("EnvironmentFile=/none\nEnvironmentFile=ROOT/env", "${CONF}"),
        ])
    func `H-JOB-15 a configuration in a variable is seen`(settings: String, word: String) throws {
        try workspace.write("CONF=\"\(configuration)\"\n", to: "env")
        let text = "[Service]\n\(settings)\nExecStart=/usr/bin/litevault schedule run-due \(word)\n"
            .replacingOccurrences(of: "=CONF/", with: "=\(workspace.path("conf"))/")
            .replacingOccurrences(of: "'CONF/", with: "'\(workspace.path("conf"))/")
            .replacingOccurrences(of: "D=CONF", with: "D=\(workspace.path("conf"))")
            .replacingOccurrences(of: "ROOT", with: workspace.directory.path)
        try unit("etc/mine.service", text)
        #expect(running == ["mine"], "\(text)")
    }

    @Test(
        arguments: [
            ("Environment=CONF=/x", "${CONF}", nil), ("Environment=CONF=/x\nUnsetEnvironment=CONF", "${CONF}", nil),
            ("", "${CONF}", "$CONF has no value in its files"), ("PassEnvironment=CONF", "$CONF", "$CONF has no value"),
            ("Environment=CONF=/x\nEnvironment=", "${CONF}", "no value"), ("", "/etc/%m.yml", "%m is not known"),
            ("EnvironmentFile=ROOT/none", "${CONF}", "none, which cannot be read"),
            ("Environment=CONF=/x\nEnvironmentFile=-ROOT/conf", "${CONF}", "conf, which cannot be read"),
            ("Environment=CONF=/x\nEnvironmentFile=ROOT/%m", "${CONF}", "%m is not known"), ("", "$$CONF", nil),
            ("Environment=CONF=%m", "${CONF}", "%m is not known"), ("EnvironmentFile=-ROOT/none", "/x", nil),
        ] as [(String, String, String?)])
    func `what cannot be found out is said`(settings: String, word: String, reason: String?) throws {
        let text = "[Service]\n\(settings)\nExecStart=/usr/bin/litevault schedule run-due \(word)\n"
        try unit("etc/mine.service", text.replacingOccurrences(of: "ROOT", with: workspace.directory.path))
        let found = try #require(InstalledService.all(files).first)
        #expect(!found.runs(configuration))
        #expect(found.doubts.count == (reason == nil ? 0 : 1), "\(found.doubts)")
        if let reason { #expect(found.doubts.first?.contains(reason) == true, "\(found.doubts)") }
    }

    @Test(
        arguments: [
            ("/usr/sbin/cron -f $EXTRA", 0), ("/usr/bin/litevault verify $DB --key-file /k", 0), ("/usr/bin/litevault $ARGS", 1),
            ("/usr/bin/litevault schedule $VERB /x.yml", 1), (#"/bin/sh -c "litevault schedule run-due $$(cat /x)""#, 1),
        ])
    func `only a command that may run jobs is doubted`(command: String, count: Int) throws {
        try unit("etc/mine.service", "# litevault\n[Service]\nExecStart=\(command)\n")
        let found = try #require(InstalledService.all(files).first)
        #expect(!found.runs(configuration) && found.doubts.count == count, "\(found.doubts)")
    }
}
