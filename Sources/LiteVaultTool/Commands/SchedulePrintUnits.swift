internal import ArgumentParser
internal import LiteVaultFoundation
internal import LiteVaultSchedule
internal import LiteVaultSupport

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
                config: configuration.name, name: units.name, service: units.service, timer: units.timer,
                cron: units.cron))
        report.appendLine(units.service)
        if let timer = units.timer { report.appendLine(timer) }
        report.appendLine("# or, for cron:\n# \(units.cron)")
        return report
    }
}

/// What the units of a configuration are made of.
struct UnitOptions: ParsableArguments {
    @Option(help: .init("Name of the units, without a suffix.", valueName: "name"))
    var name = "litevault-backup"

    @Option(help: .init("User of the service, who owns the databases (default: root).", valueName: "user"))
    var user: String?

    @Option(help: .init("Unit to start when the service fails, such as 'notify@%n.service'.", valueName: "unit"))
    var onFailure: String?

    @Option(help: .init("Path of the program (default: the running one).", valueName: "path"))
    var tool: String?

    func validate() throws {
        guard Self.isName(name, and: "") else {
            throw ValidationError("invalid unit name: use letters, digits, '-', '_' and '.'")
        }
        guard user.map({ Self.isName($0, and: "") }) ?? true else {
            throw ValidationError("invalid user name: use letters, digits, '-', '_' and '.'")
        }
        guard onFailure.map({ Self.isName($0, and: "@%:\\") && $0.contains(".") }) ?? true else {
            throw ValidationError("--on-failure needs the name of a unit with its suffix, such as 'notify@%n.service'")
        }
    }

    private static func isName(_ text: String, and others: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
                default: others.unicodeScalars.contains(scalar)
                }
            }
    }

    /// The units of a configuration.
    func units(_ configuration: ScheduleConfiguration) throws -> SystemdUnits {
        try SystemdUnits(
            name: name, tool: tool ?? Platform.programPath ?? "/usr/local/bin/litevault", configuration: configuration,
            user: user, failureUnit: onFailure)
    }

    /// The account of the user; nil without one.
    ///
    /// - Throws: `no-input` for one that does not exist here.
    var account: passwd? {
        get throws {
            guard let user else { return nil }
            guard let found = getpwnam(user) else {
                throw Failure(.noInput, "there is no user '\(user)' here", remedy: "Give --user another name.")
            }
            return found.pointee
        }
    }
}
