internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The files from which systemd reads units, by their directories.
package struct UnitFiles {
    /// The directories that have units, the first of which wins: those of the administrator, of this boot, and of packages
    /// (systemd.unit(5)).
    package var directories = [
        ServiceManager.directory, "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]

    package init() {}

    /// The directory of the administrator's units.
    var own: String { directories.first ?? ServiceManager.directory }

    /// The units of a type that have files of their own, and the instances of templates that links have started with others.
    ///
    /// - Parameter running: units that run, which need neither.
    func units(ofType type: String, running: [String] = []) -> [SystemdUnitName] {
        let names = (directories + groups).flatMap(Self.names) + running
        return Set(names.filter { $0.hasSuffix(".\(type)") }).sorted().map { SystemdUnitName($0) }
            .filter { !$0.isTemplate && path(of: $0.text) != nil }
    }

    /// The file of a unit, which is that of the template for an instance without one; nil if it does not exist.
    func path(of unit: String) -> String? {
        let names = [unit, SystemdUnitName(unit).template].compactMap(\.self)
        return names.lazy.flatMap { name in directories.map { "\($0)/\(name)" } }
            .first { FileManager.default.fileExists(atPath: $0) }
    }

    /// The drop-ins of a unit, in the order in which they apply. Of two with one name, the first directory's applies.
    func dropIns(of unit: String) -> [String] {
        let names = SystemdUnitName(unit).dropInNames
        // Those of the type apply only where nothing more specific has their name.
        let specific = directories.flatMap { directory in names.dropLast().map { "\(directory)/\($0).d" } }
        var paths: [String: String] = [:]
        for directory in specific + directories.map({ "\($0)/\(names[names.count - 1]).d" }) {
            for name in Self.names(directory) where name.hasSuffix(".conf") && paths[name] == nil {
                paths[name] = "\(directory)/\(name)"
            }
        }
        return paths.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
    }

    /// Whether a link has the unit started with others, as with the machine: it is enabled.
    func isEnabled(_ unit: String) -> Bool {
        groups.contains { (try? FileMetadata(path: "\($0)/\(unit)")) != nil }
    }

    /// The directories of links by which a unit starts others.
    private var groups: [String] {
        directories.flatMap { directory in
            Self.names(directory).filter { $0.hasSuffix(".wants") || $0.hasSuffix(".requires") }
                .map { "\(directory)/\($0)" }
        }
    }

    private static func names(_ directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }
}
