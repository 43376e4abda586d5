internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// The settings that jobs inherit from the configuration.
struct JobDefaults {
    let repository: RepositoryReference?
    let timeZone: Zone
    let directory: String
    let limits: TimeLimits

    /// The time zone that a section names, or the system's.
    static func zone(_ section: ConfigurationSection) throws -> Zone {
        guard let name = try section.text("time-zone") else { return .current }
        guard let zone = Zone(named: name) else {
            throw section.error(
                "time-zone", "unknown time zone '\(name)'", "Write Europe/Berlin or UTC, for example.")
        }
        return zone
    }
}

extension BackupJob {
    private static let known =
        [
            "name", "sources", "exclude", "allow-none", "every", "at", "time-zone", "jitter", "retry", "repository",
            "s3", "sftp",
            "database", "allow-plaintext", "follow", "full-read", "unchanged", "concurrency", "retention", "verify",
            "hooks",
            "heartbeat",
            "limits",
        ] + KeyReference.keys("repository-secret") + ["repository-sealed"]

    /// Parses a job. Relative paths start at the directory of the configuration file.
    init(_ node: YAMLNode, _ defaults: JobDefaults, file: String) throws {
        let section = try ConfigurationSection(node, "the job", known: Self.known, file: file)
        let name = try section.requiredText("name")
        let directory = defaults.directory
        let zone = try section.has("time-zone") ? JobDefaults.zone(section) : defaults.timeZone
        let recurrence = try Self.recurrence(section, name, zone)
        guard
            let repository = try RepositoryReference(section, directory: directory, inherited: defaults.repository)
        else {
            throw section.missing(
                "repository", "'repository' is missing in the job '\(name)' and in the configuration")
        }
        let sources = try section.texts("sources").map { try section.absolute($0, "sources", directory) }
        guard !sources.isEmpty else { throw section.missing("sources", "'sources' is missing in the job '\(name)'") }
        self.init(name: name, sources: sources, recurrence: recurrence, repository: repository)
        exclude = try section.texts("exclude")
        allowsNone = try section.flag("allow-none") ?? allowsNone
        jitter = try section.span("jitter") ?? jitter
        retry = try section.span("retry") ?? retry
        limits = try TimeLimits(section, inherited: defaults.limits)
        database = try section.text("database") ?? database
        allowsPlaintext = try section.flag("allow-plaintext") ?? allowsPlaintext
        following = try FollowSettings(section)
        fullRead = try section.span("full-read") ?? fullRead
        skipsUnchanged = try Self.skipsUnchanged(section)
        concurrency = try section.number("concurrency")
        let retention = try section.section(
            "retention",
            known: ["last", "hourly", "daily", "weekly", "monthly", "yearly", "within", "prune", "grace"])
        self.retention = try retention.map { try RetentionPolicy($0) }
        prunes = try retention?.flag("prune") ?? prunes
        grace = try retention?.span("grace") ?? grace
        verification = try VerificationSettings(section, directory: directory)
        let hooks = try section.section("hooks", known: ["before", "after", "failed"])
        self.hooks = Hooks(
            before: try hooks?.text("before"), after: try hooks?.text("after"), failed: try hooks?.text("failed"))
        if section.isSection("heartbeat") {
            let own = try section.section("heartbeat", known: ["success", "start", "failure"])
            (heartbeat, startHeartbeat) = (try own?.text("success"), try own?.text("start"))
            failureHeartbeat = try own?.text("failure")
        } else {
            heartbeat = try section.text("heartbeat")
        }
        let job = self
        try section.checking { () throws(InvalidSetting) in try job.check() }
    }

    private static func skipsUnchanged(_ section: ConfigurationSection) throws -> Bool {
        switch try section.text("unchanged") {
        case nil, "snapshot": return false
        case "skip": return true
        case let text?:
            throw section.error("unchanged", "invalid value '\(text)' (expected snapshot, skip)")
        }
    }

    private static func recurrence(
        _ section: ConfigurationSection, _ name: String, _ zone: Zone
    ) throws -> Recurrence {
        let span = try section.span("every")
        // Both are read, whether they can be combined or not.
        let calendar: Recurrence?
        do {
            calendar = try section.text("at").map { try .at($0, zone: zone) }
        } catch let error as VaultError where error.cause is ConfigurationMistake {
            throw error
        } catch let error as VaultError {
            throw section.error("at", error.message, error.remedy)
        }
        switch (span, calendar) {
        case (let span?, nil): return .interval(span)
        case (nil, let calendar?): return calendar
        case (nil, nil): throw section.missing("every", "'every' or 'at' is missing in the job '\(name)'")
        default: throw section.error("at", "cannot be combined with 'every'", "Keep one of the two.")
        }
    }
}

extension RetentionPolicy {
    fileprivate init(_ section: ConfigurationSection) throws {
        self.init()
        last = try section.number("last")
        hourly = try section.number("hourly")
        daily = try section.number("daily")
        weekly = try section.number("weekly")
        monthly = try section.number("monthly")
        yearly = try section.number("yearly")
        within = try section.span("within")
        let policy = self
        try section.checking { () throws(InvalidSetting) in try policy.check() }
    }
}

extension FollowSettings {
    fileprivate init?(_ section: ConfigurationSection) throws {
        guard section.isSection("follow") else {
            guard try section.flag("follow") ?? false else { return nil }
            self.init()
            return
        }
        guard
            let own = try section.section(
                "follow",
                known: ["interval", "log-limit", "spool-limit", "lag-limit", "most", "compact", "fine", "minutes"])
        else { return nil }
        self.init()
        interval = try own.span("interval") ?? interval
        logLimit = try own.size("log-limit") ?? logLimit
        spoolLimit = try own.size("spool-limit") ?? spoolLimit
        lagLimit = try own.span("lag-limit")
        most = try own.number("most") ?? most
        var policy = CompactionPolicy()
        policy.fine = try own.span("fine") ?? policy.fine
        policy.minutes = try own.span("minutes") ?? max(policy.minutes, policy.fine)
        let (settings, compaction) = (self, policy)
        try own.checking { () throws(InvalidSetting) in
            try compaction.check()
            try settings.check()
        }
        self.compaction = try own.flag("compact") ?? true ? compaction : nil
    }
}

extension VerificationSettings {
    fileprivate init?(_ job: ConfigurationSection, directory: String) throws {
        guard let section = try job.section("verify", known: ["level", "every", "assert"] + KeyReference.keyringKeys)
        else { return nil }
        self.init()
        if let text = try section.text("level") {
            guard let level = SnapshotVerification.Level(rawValue: text) else {
                let levels = SnapshotVerification.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw section.error("level", "invalid level '\(text)' (expected \(levels))")
            }
            self.level = level
        }
        interval = try section.span("every") ?? interval
        key = try KeyReference(orKeyringOf: section, directory: directory)
        assertions = try section.texts("assert")
        let settings = self
        try section.checking { () throws(InvalidSetting) in try settings.check() }
    }
}

extension TimeLimits {
    /// Parses `limits` of a section. Limits that are absent are inherited.
    init(_ section: ConfigurationSection, inherited: TimeLimits = .init()) throws {
        self = inherited
        guard let own = try section.section("limits", known: ["hook", "heartbeat", "store", "run"]) else { return }
        hook = try own.span("hook") ?? hook
        heartbeat = try own.span("heartbeat") ?? heartbeat
        store = try own.span("store") ?? store
        run = try own.span("run") ?? run
        let limits = self
        try own.checking { () throws(InvalidSetting) in try limits.check() }
    }
}
