import Foundation
import Testing

@testable import LiteVaultTool

/// Which services run a configuration, by the files of their units.
@Suite struct InstalledServiceTests {
    private let workspace: Workspace
    private let files: UnitFiles
    /// The path of a configuration.
    private let configuration: String

    init() throws {
        workspace = try Workspace()
        files = UnitFiles(directories: ["etc", "run", "usr"].map(workspace.path))
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
}
