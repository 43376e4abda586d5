internal import Foundation
package import LiteVaultBackup
internal import LiteVaultSupport
internal import Yams

/// One job: which databases, when, into which repository, and what else is done.
package struct Job: Sendable {
    package let name: String
    /// Paths, with `*`, `?` and `[…]`.
    package let sources: [String]
    /// Patterns of paths or file names that are left out.
    package let exclude: [String]
    /// Whether a pattern may match nothing.
    package let allowsNone: Bool
    package let recurrence: Recurrence
    /// As it is written.
    package let recurrenceText: String
    /// Seconds by which runs are put off at most.
    package let jitter: Double
    /// Seconds after which a run that failed is made again.
    package let retry: Double
    package let repository: RepositoryReference
    /// How databases are called in the repository: `{file}`, `{stem}`, `{parent}` and `{path}` stand for parts of the path.
    package let database: String
    package let allowsPlaintext: Bool
    /// How write-ahead logs are followed between snapshots; nil where they are not.
    package let following: FollowSettings?
    package let concurrency: Int?
    package let retention: RetentionPolicy?
    /// Whether what no snapshot needs is removed after retention.
    package let prunes: Bool
    /// Seconds that packs stay after they were found to be needed no more.
    package let grace: Double
    package let verification: Verification?
    package let hooks: Hooks
    package let heartbeat: String?
    package let limits: TimeLimits

    /// Shell commands.
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
            "database", "allow-plaintext", "follow", "concurrency", "retention", "verify", "hooks", "heartbeat",
            "limits",
        ] + KeyReference.keys("repository-secret")

    init(_ node: Node, _ defaults: JobDefaults, file: String) throws {
        let section = try ConfigurationSection(node, "the job", known: Self.known, file: file)
        name = try section.requiredText("name")
        guard name.utf8.count <= 64, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 34 && $0 != 92 && $0 != 47 })
        else { throw section.error("name", "has to be at most 64 ASCII characters without spaces, quotes and slashes") }
        let folder = defaults.folder
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(folder)/\(path)" }
        sources = try section.texts("sources").map(absolute)
        guard !sources.isEmpty else { throw section.error(nil, "the job '\(name)' needs 'sources'") }
        exclude = try section.texts("exclude")
        allowsNone = try section.flag("allow-none") ?? false
        let zone = try section.has("time-zone") ? JobDefaults.zone(section) : defaults.timeZone
        (recurrence, recurrenceText) = try Self.recurrence(section, name, zone)
        jitter = try section.span("jitter") ?? 0
        retry = try section.span("retry", atLeast: 1) ?? 900
        limits = try TimeLimits(section, inherited: defaults.limits)
        guard var repository = try RepositoryReference(section, folder: folder, inherited: defaults.repository) else {
            throw section.error(nil, "the job '\(name)' has no 'repository', and neither has the configuration")
        }
        repository.patience = limits.store
        self.repository = repository
        database = try section.text("database") ?? "{file}"
        allowsPlaintext = try section.flag("allow-plaintext") ?? false
        following = try FollowSettings(section)
        concurrency = try section.number("concurrency")
        let retention = try section.section(
            "retention",
            known: ["last", "hourly", "daily", "weekly", "monthly", "yearly", "within", "prune", "grace"])
        self.retention = try retention.map(Self.policy)
        prunes = try retention?.flag("prune") ?? true
        grace = try retention?.span("grace") ?? 86_400
        verification = try Verification(section, folder: folder)
        let hooks = try section.section("hooks", known: ["before", "after", "failed"])
        self.hooks = Hooks(
            before: try hooks?.text("before"), after: try hooks?.text("after"), failed: try hooks?.text("failed"))
        heartbeat = try section.text("heartbeat")
        if let heartbeat, !(heartbeat.hasPrefix("https://") || heartbeat.hasPrefix("http://")) {
            throw section.error("heartbeat", "has to be a URL of http or https")
        }
    }

    private static func recurrence(
        _ section: ConfigurationSection, _ name: String, _ zone: TimeZone
    ) throws -> (Recurrence, String) {
        let span = try section.span("every", atLeast: 1)
        let text = try section.text("at")
        switch (span, text) {
        case (let span?, nil): return (.interval(span), "every \(TimeSpan.text(span))")
        case (nil, let text?):
            do {
                return (.calendar(try CalendarExpression(parsing: text, timeZone: zone)), text)
            } catch {
                throw section.error(
                    "at", error.message, "Write 'Mon..Fri 02:30', '*-*-01 04:00', 'hourly', or five fields of cron.")
            }
        case (nil, nil): throw section.error(nil, "the job '\(name)' needs 'every' or 'at'")
        default: throw section.error("at", "the job has 'every' as well", "Keep one of the two.")
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
        policy.within = try section.span("within", atLeast: 1).map { Duration(seconds: $0) }
        guard !policy.isEmpty else { throw section.error(nil, "no rule says which snapshots to keep") }
        return policy
    }
}

/// What a job takes where it says nothing itself.
struct JobDefaults {
    let repository: RepositoryReference?
    let timeZone: TimeZone
    /// The folder of the configuration file.
    let folder: String
    let limits: TimeLimits

    /// The zone that a section names; the machine's without one.
    static func zone(_ section: ConfigurationSection) throws -> TimeZone {
        guard let name = try section.text("time-zone") else { return .current }
        guard let zone = TimeZone(identifier: name) else {
            throw section.error(
                "time-zone", "'\(name)' is no time zone of this machine", "Write Europe/Berlin, or UTC.")
        }
        return zone
    }
}
