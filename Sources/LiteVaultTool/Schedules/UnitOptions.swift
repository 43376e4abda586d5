internal import ArgumentParser
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// What the units of a configuration are made of.
struct UnitOptions: ParsableArguments {
    @Option(help: .init("Name of the units, without a suffix.", valueName: "name"))
    var name = SystemdUnits.standardName

    @Option(help: .init("User to run the service as; it should own the databases (default: root).", valueName: "user"))
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
        !text.isEmpty && text.first != "-" && text.first != "."
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
                default: others.unicodeScalars.contains(scalar)
                }
            }
    }

    /// The units of a configuration.
    ///
    /// - Parameter present: the present service that 'schedule install' has made: what is not given is as there.
    func units(_ configuration: ScheduleConfiguration, as present: String? = nil) throws -> SystemdUnits {
        func kept(_ key: String) -> String? {
            present?.utf8.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
                .first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.utf8.count + 1)) }
        }
        let given = tool.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        return try SystemdUnits(
            name: name, tool: given ?? Platform.programPath ?? "/usr/local/bin/litevault", configuration: configuration,
            user: user ?? kept("User"), failureUnit: onFailure ?? kept("OnFailure"),
            directoryName: kept("StateDirectory"))
    }

    /// The options that lead to the same units.
    func words(of units: SystemdUnits) -> [String] {
        (name == SystemdUnits.standardName ? [] : ["--name", name]) + (tool.map { ["--tool", $0] } ?? [])
            + (units.user.map { ["--user", $0] } ?? []) + (onFailure.map { ["--on-failure", $0] } ?? [])
    }
}
