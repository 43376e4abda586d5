internal import LiteVaultFoundation

/// The files from which systemd reads units, by their directories.
struct UnitFiles {
    /// The directories that have units, the first of which wins: those of the administrator, of this boot, and of packages
    /// (systemd.unit(5)).
    var directories = [
        ServiceManager.folder, "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]

    /// The directory of the administrator's units.
    var own: String { directories.first ?? ServiceManager.folder }

    /// The names of all services, without the suffix.
    var services: [String] {
        let names = directories.flatMap(Self.names).filter { $0.hasSuffix(".service") }
        return Set(names.map { String($0.dropLast(8)) }).sorted()
    }

    /// The file of a unit; nil if it does not exist.
    func path(of unit: String) -> String? {
        directories.map { "\($0)/\(unit)" }.first { FileManager.default.fileExists(atPath: $0) }
    }

    /// The drop-ins of a unit, in the order in which they apply. Of two with one name, the first directory's applies.
    func dropIns(of unit: String) -> [String] {
        var paths: [String: String] = [:]
        for directory in directories.map({ "\($0)/\(unit).d" }) {
            for name in Self.names(directory) where name.hasSuffix(".conf") && paths[name] == nil {
                paths[name] = "\(directory)/\(name)"
            }
        }
        return paths.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
    }

    /// Whether a link has the unit started with others, as with the machine: it is enabled.
    func isEnabled(_ unit: String) -> Bool {
        directories.contains { directory in
            let groups = Self.names(directory).filter { $0.hasSuffix(".wants") || $0.hasSuffix(".requires") }
            return groups.contains { group in
                var status = stat()
                return lstat("\(directory)/\(group)/\(unit)", &status) == 0
            }
        }
    }

    private static func names(_ directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }
}
