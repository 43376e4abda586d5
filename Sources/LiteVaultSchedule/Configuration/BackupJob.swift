public import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A job of a schedule: which databases are backed up, when, into which repository, and what else is done.
public struct BackupJob: Sendable, Equatable {
    /// The name, unique in the schedule: at most 64 printable ASCII characters, without spaces, quotes and slashes.
    public var name: String
    /// Absolute paths of databases, which may contain the wildcards `*`, `?` and `[…]`.
    public var sources: [String]
    /// Patterns of the paths or file names to skip. The default skips none.
    public var exclude: [String] = []
    /// Whether a pattern may match no file. By default, that is a failure of the run.
    public var allowsNone = false
    /// When the job runs.
    public var recurrence: Recurrence
    /// The maximum random delay of a run, so that machines with the same schedule do not all start at once. Default: none.
    public var jitter = Duration.zero
    /// The time until a failed run is retried: at least a second, by default 15 minutes.
    public var retry = Duration.seconds(900)
    /// The template of the databases' names in the repository: `{file}` (default), `{stem}`, `{parent}` and `{path}` stand for
    /// parts of the path.
    public var database = "{file}"
    /// Whether databases without encryption may be backed up. False by default.
    public var allowsPlaintext = false
    /// How write-ahead logs are followed between snapshots; nil, the default, takes snapshots only.
    public var following: FollowSettings?
    /// The time after which a database is read as a whole again: a week by default; zero always does.
    public var fullRead = Duration.seconds(7 * 86_400)
    /// Whether a database whose files are untouched since its newest snapshot gets no new one. False by default: each run stores a
    /// snapshot of each database.
    public var skipsUnchanged = false
    /// The maximum number of this job's databases backed up at the same time; nil, the default, is that of the schedule.
    public var concurrency: Int?
    /// Which snapshots are kept; nil, the default, keeps all.
    public var retention: RetentionPolicy?
    /// Whether unreferenced packs are removed once a day after retention. True by default.
    public var prunes = true
    /// How long unreferenced packs are kept before they are deleted: a day by default.
    public var grace = Duration.seconds(86_400)
    /// How thoroughly, and how often, what was stored is verified; nil, the default, does not verify.
    public var verification: VerificationSettings?
    /// The shell commands around a run. None by default.
    public var hooks = Hooks()
    /// The URL requested after each run without a failure; nil, the default, for none. A request that fails is a warning, not a
    /// failure of the run, as are those of the next two.
    public var heartbeat: String?
    /// The URL requested when a run begins; nil, the default, for none.
    public var startHeartbeat: String?
    /// The URL requested after each run with a failure; nil, the default, for none.
    public var failureHeartbeat: String?
    /// The time limits of the job's steps.
    public var limits = TimeLimits()

    private var place: RepositoryReference

    /// The repository, and how to open it. Its store has the time limit of the job.
    public var repository: RepositoryReference {
        get {
            var reference = place
            reference.timeLimit = limits.store
            return reference
        }
        set {
            place = newValue
            place.timeLimit = TimeLimits().store
        }
    }

    /// The shell commands around a run.
    public struct Hooks: Sendable, Equatable {
        /// Runs before the snapshots. If it fails, so does the run, and no snapshot is taken.
        public var before: String?
        /// Runs after a run without a failure.
        public var after: String?
        /// Runs after a run with a failure.
        public var failed: String?

        /// Creates the hooks, none by default.
        public init(before: String? = nil, after: String? = nil, failed: String? = nil) {
            self.before = before
            self.after = after
            self.failed = failed
        }
    }

    /// Creates a job. All other settings have their defaults until they are set.
    ///
    /// - Parameters:
    ///   - name: the name, unique in the schedule.
    ///   - sources: absolute paths of databases, or patterns.
    ///   - recurrence: when the job runs.
    ///   - repository: where the snapshots are stored. It is created by the first run.
    public init(name: String, sources: [String], recurrence: Recurrence, repository: RepositoryReference) {
        self.name = name
        self.sources = sources
        self.recurrence = recurrence
        place = repository
        self.repository = repository
    }

    /// Whether write-ahead logs are followed between snapshots.
    package var follows: Bool { following != nil }

    /// Rejects settings that no run could work with.
    package func check() throws(InvalidSetting) {
        guard name.utf8.count <= 64, !name.isEmpty,
            name.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 34 && $0 != 92 && $0 != 47 })
        else {
            throw InvalidSetting(
                "name", "must have at most 64 ASCII characters, without spaces, quotes and slashes")
        }
        guard !sources.isEmpty else { throw InvalidSetting(nil, "'sources' is missing in the job '\(name)'") }
        if let relative = sources.first(where: { !$0.starts(withText: "/") }) {
            throw InvalidSetting("sources", "'\(relative)' is not an absolute path")
        }
        if let mark = Self.unknownMark(in: database) {
            throw InvalidSetting(
                "database", "unknown placeholder '\(mark)'", "Known ones: \(Self.marks.joined(separator: ", ")).")
        }
        if case .interval(let interval) = recurrence {
            try InvalidSetting.require("every", interval, atLeast: .seconds(1))
        }
        try InvalidSetting.require("jitter", jitter)
        try InvalidSetting.require("retry", retry, atLeast: .seconds(1))
        try InvalidSetting.require("full-read", fullRead)
        try InvalidSetting.require("concurrency", concurrency)
        try InvalidSetting.require("grace", grace)
        for url in [heartbeat, startHeartbeat, failureHeartbeat].compactMap(\.self)
        where !(url.hasPrefix("https://") || url.hasPrefix("http://")) {
            throw InvalidSetting("heartbeat", "must be an http or https URL")
        }
        try place.check()
        try limits.check()
        try following?.check()
        try verification?.check()
        try retention?.check()
    }
}

extension BackupJob {
    /// What stands for parts of a path in the template of a database's name.
    private static let marks = ["{file}", "{stem}", "{parent}", "{path}"]

    /// A word in braces that stands for nothing: all databases would have it in their names as it is.
    private static func unknownMark(in template: String) -> String? {
        var rest = template.utf8[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "{")) {
            let word = rest[start...].dropFirst().prefix { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") }
            rest = rest[word.endIndex...]
            guard rest.first == UInt8(ascii: "}"), !word.isEmpty else { continue }
            let mark = "{\(String(decoding: word, as: UTF8.self))}"
            if !marks.contains(where: { isSameText($0, mark) }) { return mark }
        }
        return nil
    }
}

extension RetentionPolicy {
    /// Rejects a policy that would remove almost everything.
    package func check() throws(InvalidSetting) {
        try InvalidSetting.require("last", last)
        try InvalidSetting.require("hourly", hourly)
        try InvalidSetting.require("daily", daily)
        try InvalidSetting.require("weekly", weekly)
        try InvalidSetting.require("monthly", monthly)
        try InvalidSetting.require("yearly", yearly)
        if let within { try InvalidSetting.require("within", within, atLeast: .seconds(1)) }
        guard !isEmpty else {
            throw InvalidSetting(nil, "no retention rule is set", "Set at least one: last, daily, within …")
        }
    }
}
