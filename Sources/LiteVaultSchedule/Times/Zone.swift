internal import LiteVaultQuoting
package import LiteVaultSystem

/// A time zone of a schedule.
///
/// `TimeZone` knows names such as Europe/Berlin only in programs that link all of Foundation with ICU, which the tool does not.
/// A zone that is named comes from the system's time zone database, and a `TimeZone` answers only for what that lacks.
package struct Zone: Sendable, Equatable {
    private enum Source: Sendable, Equatable {
        case file(ZoneFile)
        case foundation(TimeZone)
    }

    /// What the zone is called, or the path of its file.
    package let name: String
    private let source: Source

    /// The zone of a caller: the one of its name in the system's database, if that has it.
    package init(_ zone: TimeZone) {
        if let named = Zone(named: zone.identifier) {
            self = named
        } else {
            name = zone.identifier
            source = .foundation(zone)
        }
    }

    /// The zone named `name`, such as Europe/Berlin or UTC; nil if neither the system nor Foundation knows it.
    package init?(named name: String) {
        self.init(named: name, directories: Self.directories)
    }

    /// - Parameter directories: where the time zone database may be.
    init?(named name: String, directories: [String]) {
        self.name = name
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain =
            name.utf8.count <= 64
            && parts.allSatisfy { part in
                !part.isEmpty && !part.hasPrefix(".")
                    && part.utf8.allSatisfy { Quoting.isLetterOrDigit($0) || "+-_".utf8.contains($0) }
            }
        guard isPlain else { return nil }
        if name == "UTC" || name == "GMT" {
            source = .foundation(.gmt)
        } else if let file = directories.lazy.compactMap({ ZoneFile(path: "\($0)/\(name)") }).first {
            source = .file(file)
        } else if let zone = TimeZone(identifier: name) {
            source = .foundation(zone)
        } else {
            return nil
        }
    }

    private init(_ name: String, _ file: ZoneFile) {
        self.name = name
        source = .file(file)
    }

    /// The zone of the variable TZ, or that of the system; UTC if neither is set.
    package static var current: Zone { current(variable: getenv("TZ").map { String(cString: $0) }) }

    /// - Parameter variable: the value of TZ: a name, a path or a rule, as tzset(3) describes them.
    static func current(variable: String?, system: String = "/etc/localtime") -> Zone {
        guard let variable else {
            return ZoneFile(path: system).map { Zone(system, $0) } ?? Zone(.current)
        }
        let name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        if name.hasPrefix("/"), let file = ZoneFile(path: name) { return Zone(name, file) }
        // Like the C library, which takes what it does not know for UTC.
        return Zone(named: name) ?? ZoneRule(name).map { Zone(name, ZoneFile(rule: $0)) } ?? Zone(.gmt)
    }

    /// The seconds by which local time is ahead of UTC at `time` (seconds since 1970).
    package func offset(at time: Int) -> Int {
        switch source {
        case .file(let file): file.offset(at: time)
        case .foundation(let zone): zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
        }
    }

    /// The zone as Foundation has it. Where Foundation does not know it, GMT.
    var timeZone: TimeZone {
        if case .foundation(let zone) = source { return zone }
        return TimeZone(identifier: name) ?? .gmt
    }

    /// Where systems have their time zone database.
    private static let directories = [
        "/usr/share/zoneinfo", "/var/db/timezone/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo",
    ]
}
