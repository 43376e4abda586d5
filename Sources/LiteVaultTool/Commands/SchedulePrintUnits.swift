internal import ArgumentParser
internal import LiteVaultFoundation
internal import LiteVaultSchedule

/// `litevault schedule print-units`: prints systemd units and a crontab line.
struct SchedulePrintUnits: VaultCommand {
    static let configuration = configured(
        "print-units", "Print systemd units, and a crontab line, that run a configuration.",
        "Nothing is installed: 'install' does that. Each unit begins with a comment that names its file.",
        examples: ["litevault schedule print-units /etc/litevault/backup.yml"])

    @OptionGroup var schedule: ScheduleOptions

    @OptionGroup(title: "Units") var units: UnitOptions

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let config: String
        let name: String
        let service: String
        @Nullable var timer: String?
        let cron: String
    }

    func perform(_ session: Session) throws -> Report {
        let configuration = try schedule.configuration()
        let units = try self.units.units(configuration)
        var report = Report(
            Result(
                config: configuration.name, name: units.name, service: units.service, timer: units.timer, cron: units.cron))
        report.appendLine(units.service)
        if let timer = units.timer { report.appendLine(timer) }
        report.appendLine("# or, for cron:\n# \(units.cron)")
        return report
    }
}
