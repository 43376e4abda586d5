internal import DurableFile
internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultQuoting
internal import LiteVaultSchedule
internal import LiteVaultSupport

/// A service of systemd, as its file and drop-ins describe it.
struct InstalledService {
    let name: String
    /// The file that systemd reads.
    let path: String
    private let files: UnitFiles
    private let settings: [(name: String, value: String)]

    /// The name of the service that a link among the units leads to; its own for any other.
    let target: String

    /// All of them. A link to a service of the administrator is another name of that one, and left out.
    static func all(_ files: UnitFiles = UnitFiles()) -> [InstalledService] {
        files.services.compactMap { InstalledService($0, files) }.filter { service in
            service.target == service.name
                || !FileManager.default.fileExists(atPath: "\(files.own)/\(service.target).service")
        }
    }

    private init?(_ name: String, _ files: UnitFiles) {
        guard let path = files.path(of: "\(name).service") else { return nil }
        (self.name, self.path, self.files) = (name, path, files)
        let file = URL(fileURLWithPath: LocalDirectory.resolved(path)).lastPathComponent
        let isAlias = file.hasSuffix(".service") && files.path(of: file) != nil
        target = isAlias ? String(file.dropLast(8)) : name
        let texts = Self.texts([path] + files.dropIns(of: "\(name).service"))
        // Most services have nothing to do with this.
        let isOfInterest = texts.contains { containsText($0, "schedule") || containsText($0, "litevault") }
        settings = isOfInterest ? texts.flatMap { Quoting.systemdSettings(in: $0) } : []
    }

    var user: String { last("User") ?? "root" }
    /// The name of its state directory.
    var directoryName: String? { last("StateDirectory") }
    /// Whether it is among the administrator's units. One of a package exists whether it is wanted or not.
    var isOwn: Bool { path.hasPrefix(files.own + "/") }
    /// Whether it, or its timer, is enabled.
    var isEnabled: Bool { units.contains(where: files.isEnabled) }
    /// The service and its timer, without what does not exist.
    var units: [String] { Self.units(of: name, files) }
    /// The commands that remove it; those that only stop and disable it if its files are not the administrator's.
    var removal: String { Self.removal(of: name, files) }

    /// The user of a service whose unit has this one, or none: drop-ins may change that.
    static func user(of name: String, _ user: String?, _ files: UnitFiles = UnitFiles()) -> String {
        let settings = texts(files.dropIns(of: "\(name).service")).flatMap { Quoting.systemdSettings(in: $0) }
        return settings.last { $0.name == "User" }?.value ?? user ?? "root"
    }

    /// Whether it runs the jobs of a configuration, however its command is quoted and whatever links lead to the file.
    func runs(_ configuration: String) -> Bool {
        let path = ExactText(LocalDirectory.resolved(configuration))
        return commands.contains { command in
            let words = Self.words(command)
            let pairs = zip(words, words.dropFirst())
            guard pairs.contains(where: { $0 == "schedule" && ["run", "run-due"].contains($1) }) else { return false }
            return words.contains { word in
                let named = word.utf8.first == UInt8(ascii: "/") ? word : "\(workingDirectory)/\(word)"
                return ExactText(LocalDirectory.resolved(named)) == path
                    || (try? FileMetadata.isSameFile(named, configuration)) == true
            }
        }
    }

    /// Its commands. An empty assignment drops those before it.
    private var commands: [String] {
        settings.filter { $0.name == "ExecStart" }.reduce(into: []) { commands, setting in
            if setting.value.isEmpty { commands = [] } else { commands.append(setting.value) }
        }
    }

    /// Where relative paths of its commands start from.
    private var workingDirectory: String {
        guard let directory = last("WorkingDirectory"), directory.utf8.first == UInt8(ascii: "/") else { return "" }
        return directory
    }

    private func last(_ name: String) -> String? { settings.last { $0.name == name }.map(\.value) }

    /// The words of a command, and of a command within one of them, as `sh -c` has it.
    private static func words(_ command: String) -> [String] {
        let words = Quoting.systemdWords(of: command) ?? []
        let inner = words.filter { containsText($0, "schedule ") }.flatMap { Quoting.systemdWords(of: $0) ?? [] }
        return words + inner
    }

    static func removal(of name: String, _ files: UnitFiles = UnitFiles()) -> String {
        let units = units(of: name, files)
        let own = units.map { "\(files.own)/\($0)" }.filter { FileManager.default.fileExists(atPath: $0) }
        return "systemctl disable --now \(units.joined(separator: " "))"
            + (own.isEmpty ? "" : "; rm \(own.joined(separator: " "))")
    }

    private static func units(of name: String, _ files: UnitFiles) -> [String] {
        ["\(name).timer", "\(name).service"].filter { files.path(of: $0) != nil }
    }

    private static func texts(_ paths: [String]) -> [String] {
        paths.compactMap { try? InputFile(path: $0).read(upTo: 1 << 16) }.map { String(decoding: $0, as: UTF8.self) }
    }
}
