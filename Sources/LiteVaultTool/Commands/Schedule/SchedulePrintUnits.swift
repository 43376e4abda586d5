internal import ArgumentParser
internal import Foundation
internal import LiteVaultSchedule

/// `litevault schedule print-units`: what to install by hand.
struct SchedulePrintUnits: VaultCommand {
    static let configuration = configured(
        "print-units", "Print systemd units, and a line for cron, that run a configuration.",
        "Nothing is installed. Each unit begins with a comment that is its file's name.",
        examples: ["litevault schedule print-units /etc/litevault/backup.yml"])

    @OptionGroup var schedule: ScheduleOptions

    @Option(help: .init("The units' name, without a suffix.", valueName: "name"))
    var name = "litevault-backup"

    @Option(help: .init("The program's path (default: this one's).", valueName: "path"))
    var tool: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        guard !name.isEmpty,
            name.utf8.allSatisfy({
                ("a"..."z").contains(Character(Unicode.Scalar($0)))
                    || ("A"..."Z").contains(Character(Unicode.Scalar($0))) || (48...57).contains($0) || $0 == 45
                    || $0 == 95 || $0 == 46
            })
        else { throw ValidationError("a unit's name has letters, digits, '-', '_' and '.'") }
    }

    func perform(_ session: Session) throws -> Report {
        let configuration = try schedule.configuration()
        let units = SystemdUnits(
            name: name, tool: tool ?? Bundle.main.executablePath ?? "/usr/local/bin/litevault",
            configuration: configuration)
        var report = Report()
        report.set("config", .string(configuration.path))
        report.set("name", .string(name))
        report.set("service", .string(units.service))
        report.set("timer", JSONValue(units.timer))
        report.set("cron", .string(units.cron))
        report.say(units.service)
        if let timer = units.timer { report.say(timer) }
        report.say("# or, for cron:\n# \(units.cron)")
        return report
    }
}
