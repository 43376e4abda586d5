internal import Foundation
package import LiteVaultBackup
internal import LiteVaultSupport
internal import Yams

/// A job: which databases are backed up, when, into which repository, and what else is done.
package struct Job: Sendable {
    package let name: String
    /// Absolute paths of databases, which may contain the wildcards `*`, `?` and `[…]`.
    package let sources: [String]
    /// Patterns of the paths or file names to skip.
    package let exclude: [String]
    /// Whether a pattern may match no file.
    package let allowsNone: Bool
    package let recurrence: Recurrence
    /// The recurrence as written in the configuration.
    package let recurrenceText: String
    /// The maximum random delay of a run.
    package let jitter: Duration
    /// The time until a failed run is retried.
    package let retry: Duration
    package let repository: RepositoryReference
    /// The template of the database names in the repository: `{file}`, `{stem}`, `{parent}` and `{path}` stand for parts of the
    /// path.
    package let database: String
    package let allowsPlaintext: Bool
    /// How write-ahead logs are followed between snapshots; nil to take snapshots only.
    package let following: FollowSettings?
    /// The time after which a database is read as a whole again; zero always does.
    package let fullRead: Duration
    package let concurrency: Int?
    package let retention: RetentionPolicy?
    /// Whether unreferenced packs are removed after retention.
    package let prunes: Bool
    /// How long unreferenced packs are kept before they are deleted.
    package let grace: Duration
    package let verification: Verification?
    package let hooks: Hooks
    package let heartbeat: String?
    package let limits: TimeLimits

    /// The shell commands around a run.
    package struct Hooks: Sendable, Equatable {
        package var before: String?
        package var after: String?
        package var failed: String?
    }

    /// Whether write-ahead logs are followed between snapshots.
    package var follows: Bool { following != nil }

    private static let known =
        [
            "name", "sources", "exclude", "allow-none", "every", "at", "time-zone", "jitter", "retry", "repository",
            "s3",
            "database", "allow-plaintext", "follow", "full-read", "concurrency", "retention", "verify", "hooks",
            "heartbeat",
            "limits",
        ] + KeyReference.keys("repository-secret")

    init(_ node: Node, _ defaults: JobDefaults, file: String) throws {
        let section = try ConfigurationSection(node, "the job", known: Self.known, file: file)
        name = try section.requiredText("name")
        guard name.utf8.count <= 64, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 34 && $0 != 92 && $0 != 47 })
        else {
            throw section.error("name", "must have at most 64 ASCII characters, without spaces, quotes and slashes")
        }
        let directory = defaults.directory
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }
        sources = try section.texts("sources").map(absolute)
        guard !sources.isEmpty else { throw section.error(nil, "'sources' is missing in the job '\(name)'") }
        exclude = try section.texts("exclude")
        allowsNone = try section.flag("allow-none") ?? false
        let zone = try section.has("time-zone") ? JobDefaults.zone(section) : defaults.timeZone
        (recurrence, recurrenceText) = try Self.recurrence(section, name, zone)
        jitter = try section.span("jitter") ?? .zero
        retry = try section.span("retry", atLeast: .seconds(1)) ?? .seconds(900)
        limits = try TimeLimits(section, inherited: defaults.limits)
        guard var repository = try RepositoryReference(section, directory: directory, inherited: defaults.repository)
        else {
            throw section.error(nil, "'repository' is missing in the job '\(name)' and in the configuration")
        }
        repository.timeLimit = limits.store
        self.repository = repository
        database = try section.text("database") ?? "{file}"
        allowsPlaintext = try section.flag("allow-plaintext") ?? false
        following = try FollowSettings(section)
        fullRead = try section.span("full-read") ?? .seconds(7 * 86_400)
        concurrency = try section.number("concurrency")
        let retention = try section.section(
            "retention",
            known: ["last", "hourly", "daily", "weekly", "monthly", "yearly", "within", "prune", "grace"])
        self.retention = try retention.map(Self.policy)
        prunes = try retention?.flag("prune") ?? true
        grace = try retention?.span("grace") ?? .seconds(86_400)
        verification = try Verification(section, directory: directory)
        let hooks = try section.section("hooks", known: ["before", "after", "failed"])
        self.hooks = Hooks(
            before: try hooks?.text("before"), after: try hooks?.text("after"), failed: try hooks?.text("failed"))
        heartbeat = try section.text("heartbeat")
        if let heartbeat, !(heartbeat.hasPrefix("https://") || heartbeat.hasPrefix("http://")) {
            throw section.error("heartbeat", "must be an http or https URL")
        }
    }

    private static func recurrence(
        _ section: ConfigurationSection, _ name: String, _ zone: TimeZone
    ) throws -> (Recurrence, String) {
        let span = try section.span("every", atLeast: .seconds(1))
        let text = try section.text("at")
        switch (span, text) {
        case (let span?, nil): return (.interval(span), "every \(TimeSpan.text(span))")
        case (nil, let text?):
            do {
                return (.calendar(try CalendarExpression(parsing: text, timeZone: zone)), text)
            } catch {
                throw section.error(
                    "at", error.message, "Write 'Mon..Fri 02:30', '*-*-01 04:00', 'hourly', or five cron fields.")
            }
        case (nil, nil): throw section.error(nil, "'every' or 'at' is missing in the job '\(name)'")
        default: throw section.error("at", "cannot be combined with 'every'", "Keep one of the two.")
        }
    }

    private static func policy(_ section: ConfigurationSection) throws -> RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = try section.number("last")
        policy.hourly = try section.number("hourly")
        policy.daily = try section.number("daily")
        policy.weekly = try section.number("weekly")
        policy.monthly = try section.number("monthly")
        policy.yearly = try section.number("yearly")
        policy.within = try section.span("within", atLeast: .seconds(1))
        guard !policy.isEmpty else {
            throw section.error(nil, "no retention rule is set", "Set at least one: last, daily, within …")
        }
        return policy
    }
}

/// The settings that jobs inherit from the configuration.
struct JobDefaults {
    let repository: RepositoryReference?
    let timeZone: TimeZone
    /// The directory of the configuration file.
    let directory: String
    let limits: TimeLimits

    /// The time zone that a section names, or the system's.
    static func zone(_ section: ConfigurationSection) throws -> TimeZone {
        guard let name = try section.text("time-zone") else { return .current }
        guard let zone = TimeZone(identifier: name) else {
            throw section.error(
                "time-zone", "unknown time zone '\(name)'", "Write Europe/Berlin or UTC, for example.")
        }
        return zone
    }
}

/// How the write-ahead logs of a job's databases are followed: the setting `follow`.
package struct FollowSettings: Sendable, Equatable {
    /// The time between two reads of a log, and so the resolution of point-in-time restores.
    package var interval = Duration.seconds(1)
    /// The size in bytes above which a log is released, so that a checkpoint can reset it.
    package var logLimit: Int64 = 256 << 20
    /// The maximum size of one database's unstored segments, in bytes.
    package var spoolLimit: Int64 = 1 << 30
    /// The maximum number of databases to follow.
    package var most = 32

    /// How long commits can be restored one by one; nil if segments are not joined.
    package var compaction: CompactionPolicy? = CompactionPolicy()

    /// The upper limit of ``most``: each database takes six descriptors, and a process usually has 1024.
    static let limit = 150

    /// Parses `follow`; nil when it is absent or false.
    init?(_ section: ConfigurationSection) throws {
        guard section.isSection("follow") else {
            guard try section.flag("follow") ?? false else { return nil }
            return
        }
        guard
            let own = try section.section(
                "follow", known: ["interval", "log-limit", "spool-limit", "most", "compact", "fine", "minutes"])
        else { return nil }
        interval = try own.span("interval", atLeast: .milliseconds(20)) ?? interval
        guard interval <= .seconds(3600) else {
            throw own.error("interval", "is limited to an hour", "Take snapshots instead.")
        }
        logLimit = try own.size("log-limit", atLeast: 1 << 20) ?? logLimit
        spoolLimit = try own.size("spool-limit", atLeast: 1 << 20) ?? spoolLimit
        guard spoolLimit <= 4 << 30 else { throw own.error("spool-limit", "is limited to 4GiB") }
        var policy = CompactionPolicy()
        policy.fine = try own.span("fine", atLeast: .seconds(60)) ?? policy.fine
        policy.minutes = try own.span("minutes", atLeast: .seconds(3600)) ?? max(policy.minutes, policy.fine)
        guard policy.minutes >= policy.fine else { throw own.error("minutes", "must not be shorter than 'fine'") }
        if try own.flag("compact") ?? true { compaction = policy } else { compaction = nil }
        most = try own.number("most") ?? most
        guard most <= Self.limit else { throw own.error("most", "is limited to \(Self.limit)") }
    }
}

/// How thoroughly, and how often, a job verifies what it has stored.
package struct Verification: Sendable {
    package let level: SnapshotVerification.Level
    /// The time from one verification to the next.
    package let interval: Duration
    /// The source of the databases' key; nil when none is needed.
    package let key: KeyReference?
    /// SQL queries that must return a true value in a restored database.
    package let assertions: [String]

    /// Parses `verify` of a job; nil when it is absent.
    init?(_ job: ConfigurationSection, directory: String) throws {
        guard let section = try job.section("verify", known: ["level", "every", "assert"] + KeyReference.keyringKeys)
        else { return nil }
        let text = try section.text("level") ?? "data"
        guard let level = SnapshotVerification.Level(rawValue: text) else {
            throw section.error(
                "level",
                "invalid level '\(text)' (expected \(SnapshotVerification.Level.allCases.map(\.rawValue).joined(separator: ", ")))"
            )
        }
        self.level = level
        interval = try section.span("every", atLeast: .seconds(1)) ?? .seconds(604_800)
        key = try KeyReference(orKeyringOf: section, directory: directory)
        assertions = try section.texts("assert")
        if level < .pages, key != nil {
            throw section.error(
                "level", "'\(text)' does not use a key", "Write 'pages' or 'restore', or remove the key.")
        }
        if level == .pages, key == nil {
            throw section.error(
                "level", "'pages' requires a key", "Set key-file, key-env, key-command or key-credential.")
        }
        if level < .restore, !assertions.isEmpty {
            throw section.error("assert", "requires 'level: restore'")
        }
    }
}

/// Time limits for work outside the schedule's control: `limits` of the configuration and of jobs.
package struct TimeLimits: Sendable, Equatable {
    /// For a hook, which is then terminated with every process it has started.
    package var hook = Duration.seconds(3600)
    /// For a heartbeat, including retries.
    package var heartbeat = Duration.seconds(60)
    /// For a store that is silent, returns errors or is locked by another process.
    package var store = Duration.seconds(300)
    /// For a run of a job. It is then abandoned, and no longer counts against the concurrency.
    package var run = Duration.seconds(86_400)

    package init() {}

    /// Parses `limits` of a section. Limits that are absent are inherited.
    init(_ section: ConfigurationSection, inherited: TimeLimits = .init()) throws {
        self = inherited
        guard let own = try section.section("limits", known: ["hook", "heartbeat", "store", "run"]) else { return }
        func span(_ key: String, _ value: inout Duration) throws {
            guard let limit = try own.span(key, atLeast: .seconds(1)) else { return }
            guard limit <= .seconds(365 * 86_400) else { throw own.error(key, "is limited to a year") }
            value = limit
        }
        try span("hook", &hook)
        try span("heartbeat", &heartbeat)
        try span("store", &store)
        try span("run", &run)
    }
}

extension VaultError.Code {
    /// A step of a job failed, such as a hook.
    package static let jobFailed = Self(rawValue: "job-failed")
}

/// An operation exceeded its time limit and was ended: the cause of the error that says so.
package struct LimitReached: Error {
    /// The limit's key in the configuration: `hook` or `run`.
    package let limit: String
}

extension VaultError {
    /// The error of an operation that exceeded its time limit.
    ///
    /// - Parameter what: the subject of the message, such as `a hook`.
    package static func limitReached(
        _ limit: String, _ duration: Duration, _ what: String, remedy: String
    ) -> VaultError {
        VaultError(
            .jobFailed, "\(what) exceeded the limit '\(limit)' of \(TimeSpan.text(duration))", remedy: remedy,
            cause: LimitReached(limit: limit))
    }
}
