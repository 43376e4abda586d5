internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A service of systemd, as its file and drop-ins describe it: a unit of its own, or an instance of a template.
package struct InstalledService {
    package let name: String
    /// The file that systemd reads.
    package let path: String
    private let files: UnitFiles
    private let settings: [(name: String, value: String)]
    /// The name by which specifiers get their values.
    private let unit: SystemdUnitName
    /// Why a file of it could not be read, with its path.
    private let unread: [String]
    private let timers: [String]
    /// Whether its file is that of a template.
    package let isInstance: Bool

    /// The name of the service that a link among the units leads to; its own for any other.
    package let target: String

    /// All of them. A link to a service of the administrator is another name of that one, and left out.
    ///
    /// - Parameter running: units that run: instances of templates are found by them, too.
    package static func all(_ files: UnitFiles = UnitFiles(), running: [String] = []) -> [InstalledService] {
        let timers = Dictionary(
            grouping: files.units(ofType: "timer", running: running), by: { started(by: $0, files) }
        ).mapValues { $0.map(\.text) }
        let instances = timers.keys.filter { SystemdUnitName($0).isInstance }
        let units = files.units(ofType: "service", running: running + instances)
        let names = Set(units.map(\.stem))
        return units.compactMap { InstalledService($0, files, timers[$0.text] ?? []) }.filter { service in
            guard service.target != service.name else { return true }
            return service.isInstance
                ? !names.contains(service.target)
                : !FileManager.default.fileExists(atPath: "\(files.own)/\(service.target).service")
        }
    }

    private static func started(by timer: SystemdUnitName, _ files: UnitFiles) -> String {
        let paths = ([files.path(of: timer.text)] + files.dropIns(of: timer.text)).compactMap(\.self)
        let settings = read(paths).texts.flatMap { Quoting.systemdSettings(in: $0) }
        let named = settings.last { $0.name == "Unit" && !$0.value.isEmpty }?.value
        return named.flatMap { try? Quoting.systemdText($0, of: timer) } ?? "\(timer.stem).service"
    }

    private init?(_ unit: SystemdUnitName, _ files: UnitFiles, _ timers: [String]) {
        guard let path = files.path(of: unit.text) else { return nil }
        (name, self.path, self.files, self.timers) = (unit.stem, path, files, timers)
        isInstance = unit.template.map { path.ends(withText: "/\($0)") } ?? false
        let file = SystemdUnitName(URL(fileURLWithPath: LocalDirectory.resolved(path)).lastPathComponent)
        let isAlias = file.type == "service" && files.path(of: file.text) != nil
        let leader = file.isTemplate ? "\(file.prefix)@\(unit.instance ?? "").service" : file.text
        self.unit = isAlias ? SystemdUnitName(leader) : unit
        target = self.unit.stem
        // Those of all its names apply.
        let others = isAlias && target != name ? files.dropIns(of: unit.text) : []
        let (texts, unread) = Self.read([path] + files.dropIns(of: self.unit.text) + others)
        self.unread = unread
        // Most services have nothing to do with this.
        let isOfInterest = texts.contains { text in
            ["schedule", "litevault", "EnvironmentFile"].contains { containsText(text, $0) }
        }
        settings = isOfInterest ? texts.flatMap { Quoting.systemdSettings(in: $0) } : []
    }

    package var user: String { last("User") ?? "root" }
    package var directoryName: String? { last("StateDirectory") }
    /// Whether it is among the administrator's units. One of a package exists whether it is wanted or not.
    package var isOwn: Bool { path.starts(withText: files.own + "/") }
    /// Whether it, or a timer of it, is enabled.
    package var isEnabled: Bool { units.contains(where: files.isEnabled) }
    /// The timers that start the service, and the service.
    package var units: [String] { Set(timers + Self.units(of: name, files).dropLast()).sorted() + ["\(name).service"] }
    /// The commands that remove it; those that only stop and disable it if its files are not the administrator's.
    package var removal: String { Self.removal(units, files) }

    /// The user of a service whose unit has this one, or none: drop-ins may change that.
    package static func user(of name: String, _ user: String?, _ files: UnitFiles = UnitFiles()) -> String {
        let settings = read(files.dropIns(of: "\(name).service")).texts.flatMap { Quoting.systemdSettings(in: $0) }
        return settings.last { $0.name == "User" }?.value ?? user ?? "root"
    }

    /// Whether it runs the jobs of a configuration, however its command is quoted, by whatever variables and specifiers, and whatever links
    /// lead to the file.
    package func runs(_ configuration: String) -> Bool {
        let path = ExactText(LocalDirectory.resolved(configuration))
        return commands.contains { command in
            command.runs { word in
                let named = word.utf8.first == UInt8(ascii: "/") ? word : "\(workingDirectory)/\(word)"
                return ExactText(LocalDirectory.resolved(named)) == path
                    || (try? FileMetadata.isSameFile(named, configuration)) == true
            }
        }
    }

    /// Why it cannot be said that it does not run some configuration: phrases.
    package var doubts: [String] { unread + commands.flatMap(\.doubts) }

    private var commands: [ServiceCommand] {
        let environment = ServiceEnvironment(settings, of: unit)
        return ServiceEnvironment.items("ExecStart", settings).map { ServiceCommand($0, environment, of: unit) }
    }

    /// Where relative paths of its commands start from.
    private var workingDirectory: String {
        guard let setting = last("WorkingDirectory") else { return "" }
        // Without it, the service may start all the same.
        let directory = setting.utf8.first == UInt8(ascii: "-") ? String(setting.dropFirst()) : setting
        return directory.utf8.first == UInt8(ascii: "/") ? directory : ""
    }

    private func last(_ name: String) -> String? {
        settings.last { $0.name == name }.map { (try? Quoting.systemdText($0.value, of: unit)) ?? $0.value }
    }

    package static func removal(of name: String, _ files: UnitFiles = UnitFiles()) -> String {
        removal(units(of: name, files), files)
    }

    private static func removal(_ units: [String], _ files: UnitFiles) -> String {
        let own = units.map { "\(files.own)/\($0)" }.filter { FileManager.default.fileExists(atPath: $0) }
        func words(_ items: [String]) -> String { items.map(Quoting.shellWordWhereNeeded).joined(separator: " ") }
        return "systemctl disable --now \(words(units))" + (own.isEmpty ? "" : "; rm \(words(own))")
    }

    private static func units(of name: String, _ files: UnitFiles) -> [String] {
        ["\(name).timer", "\(name).service"].filter { files.path(of: $0) != nil }
    }

    /// The texts of files, and why some of them could not be read. A mask is an empty file.
    private static func read(_ paths: [String]) -> (texts: [String], unread: [String]) {
        var (texts, unread): ([String], [String]) = ([], [])
        for path in paths where LocalDirectory.resolved(path) != "/dev/null" {
            do throws(SystemError) {
                texts.append(String(decoding: try InputFile(path: path).readToEnd(), as: UTF8.self))
            } catch {
                // What a link leads to may be missing for systemd, too.
                if error.code != ENOENT { unread.append("\(path) cannot be read: \(error)") }
            }
        }
        return (texts, unread)
    }
}
