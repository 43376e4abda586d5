/// How the write-ahead logs of a job's databases are followed: `follow: true`, or a mapping.
package struct FollowSettings: Sendable, Equatable {
    /// Seconds between two looks at a log: as exact are the points in time that can be restored.
    package var interval = 1.0
    /// Bytes of a log above which it is let go of.
    package var logLimit: Int64 = 256 << 20
    /// Bytes of one database that may wait to be stored.
    package var spoolLimit: Int64 = 1 << 30
    /// Databases that are followed at most.
    package var most = 32

    /// Of more, a process would run out of descriptors: each takes six of usually 1024.
    static let limit = 150

    /// Reads `follow`; nil where it is left out, or false.
    init?(_ section: ConfigurationSection) throws {
        guard section.isSection("follow") else {
            guard try section.flag("follow") ?? false else { return nil }
            return
        }
        guard
            let own = try section.section(
                "follow", known: ["interval", "log-limit", "spool-limit", "most"])
        else { return nil }
        interval = try own.span("interval", atLeast: 0.02) ?? interval
        guard interval <= 3600 else { throw own.error("interval", "is more than an hour", "Take snapshots instead.") }
        logLimit = try own.size("log-limit", atLeast: 1 << 20) ?? logLimit
        spoolLimit = try own.size("spool-limit", atLeast: 1 << 20) ?? spoolLimit
        guard spoolLimit <= 4 << 30 else { throw own.error("spool-limit", "can be 4GiB at most") }
        most = try own.number("most") ?? most
        guard most <= Self.limit else { throw own.error("most", "can be \(Self.limit) at most") }
    }
}
