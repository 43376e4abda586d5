internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultQuoting
internal import LiteVaultSchedule
internal import LiteVaultSupport

/// A service among the administrator's units, as its file and drop-ins describe it.
struct InstalledService {
    let name: String
    private let settings: [String: String]

    /// All of them that can be read.
    static var all: [InstalledService] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: ServiceManager.folder)) ?? []
        return names.sorted().filter { $0.hasSuffix(".service") }.map { InstalledService(String($0.dropLast(8))) }
    }

    private init(_ name: String) {
        self.name = name
        settings = Self.settings(Self.path(of: name)).merging(Self.dropIns(of: name)) { $1 }
    }

    var path: String { Self.path(of: name) }
    var user: String { settings["User"] ?? "root" }
    /// The name of its state directory.
    var directoryName: String? { settings["StateDirectory"] }
    /// The commands that remove it.
    var removal: String { Self.removal(of: name) }

    /// The user of a service whose unit has this one, or none: drop-ins may change that.
    static func user(of name: String, _ user: String?) -> String { dropIns(of: name)["User"] ?? user ?? "root" }

    /// Whether it runs the jobs of a configuration, whatever links lead to it.
    func runs(_ configuration: String) -> Bool {
        guard let command = settings["ExecStart"], command.firstRange(ofText: " schedule run") != nil else {
            return false
        }
        let word = " " + Quoting.systemdWord(configuration, isCommand: true)
        if command.utf8.suffix(word.utf8.count).elementsEqual(word.utf8) { return true }
        let path = ExactText(LocalDirectory.resolved(configuration))
        return Self.parts(command, at: " ").dropFirst().contains {
            $0.hasPrefix("/") && ExactText(LocalDirectory.resolved($0)) == path
        }
    }

    static func removal(of name: String) -> String {
        let units = ["\(name).timer", "\(name).service"].filter {
            FileManager.default.fileExists(atPath: "\(ServiceManager.folder)/\($0)")
        }
        return "systemctl disable --now \(units.joined(separator: " ")); rm "
            + units.map { "\(ServiceManager.folder)/\($0)" }.joined(separator: " ")
    }

    private static func path(of name: String) -> String { "\(ServiceManager.folder)/\(name).service" }

    private static func dropIns(of name: String) -> [String: String] {
        let folder = path(of: name) + ".d"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().filter { $0.hasSuffix(".conf") }.reduce(into: [:]) {
            $0.merge(settings("\(folder)/\($1)")) { $1 }
        }
    }

    /// The settings of a file; the last one of each name.
    private static func settings(_ path: String) -> [String: String] {
        guard let bytes = try? InputFile(path: path).read(upTo: 1 << 16) else { return [:] }
        let pairs = parts(String(decoding: bytes, as: UTF8.self), at: "\n").compactMap { line -> (String, String)? in
            guard let sign = line.utf8.firstIndex(of: UInt8(ascii: "=")), !line.hasPrefix("#") else { return nil }
            return (String(line[..<sign]), String(line[line.utf8.index(after: sign)...]))
        }
        return Dictionary(pairs) { $1 }
    }

    private static func parts(_ text: String, at separator: Unicode.Scalar) -> [String] {
        text.utf8.split(separator: UInt8(ascii: separator)).map { String(decoding: $0, as: UTF8.self) }
    }
}
