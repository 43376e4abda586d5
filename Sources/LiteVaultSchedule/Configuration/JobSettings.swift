public import LiteVaultBackup
internal import LiteVaultSystem

/// How the write-ahead logs of a job's databases are followed.
public struct FollowSettings: Sendable, Equatable {
    /// The time between two reads of a log, and so the resolution of point-in-time restores: 20 ms to an hour, by default a
    /// second.
    public var interval = Duration.seconds(1)
    /// The size in bytes above which a log is released, so that a checkpoint can reset it: at least 1 MiB, by default 256 MiB.
    public var logLimit: Int64 = 256 << 20
    /// The maximum size of one database's unstored segments, in bytes: 1 MiB to 4 GiB, by default 1 GiB.
    public var spoolLimit: Int64 = 1 << 30
    /// The maximum number of databases to follow: at most 150, by default 32. Each takes six descriptors.
    public var most = 32
    /// How long commits can be restored one by one, at least a minute, and minute by minute, at least an hour; nil if segments
    /// are not joined. The default is that of `CompactionPolicy`.
    public var compaction: CompactionPolicy? = CompactionPolicy()
    /// The lag above which the health of a running schedule is bad; nil for the longer one of five minutes and ten intervals.
    package var lagLimit: Duration?

    /// The lag above which a database is not current.
    package var longestLag: Duration { lagLimit ?? max(.seconds(300), interval * 10) }

    /// The upper limit of ``most``: each database takes six descriptors, and a process usually has 1024.
    static let limit = 150

    /// Creates the settings with their defaults.
    public init() {}

    package func check() throws(InvalidSetting) {
        try InvalidSetting.require(
            "interval", interval, atLeast: .milliseconds(20), atMost: .seconds(3600), "Take snapshots instead.")
        try InvalidSetting.require("log-limit", bytes: logLimit, atLeast: 1 << 20)
        try InvalidSetting.require("spool-limit", bytes: spoolLimit, atLeast: 1 << 20, atMost: 4 << 30)
        try InvalidSetting.require("most", most, atMost: Self.limit)
        // Between two reads, nothing can be known.
        if let lagLimit { try InvalidSetting.require("lag-limit", lagLimit, atLeast: max(.seconds(1), interval * 2)) }
        try compaction?.check()
    }
}

extension CompactionPolicy {
    package func check() throws(InvalidSetting) {
        try InvalidSetting.require("fine", fine, atLeast: .seconds(60))
        try InvalidSetting.require("minutes", minutes, atLeast: .seconds(3600))
        guard minutes >= fine else { throw InvalidSetting("minutes", "must not be shorter than 'fine'") }
    }
}

/// How thoroughly, and how often, a job verifies what it has stored.
public struct VerificationSettings: Sendable, Equatable {
    /// What is verified. By default, the stored data.
    public var level = SnapshotVerification.Level.data
    /// The time from one verification to the next: at least a second, by default a week.
    public var interval = Duration.seconds(604_800)
    /// The source of the databases' key, for the levels `pages` and `restore`; nil, the default, when none is needed.
    public var key: KeyReference?
    /// SQL queries that must return a true value in a restored database, for the level `restore`. None by default.
    public var assertions: [String] = []

    /// Creates the settings with their defaults.
    public init() {}

    package func check() throws(InvalidSetting) {
        try InvalidSetting.require("every", interval, atLeast: .seconds(1))
        if level < .pages, key != nil {
            throw InvalidSetting(
                "level", "'\(level.rawValue)' does not use a key", "Write 'pages' or 'restore', or remove the key.")
        }
        if level == .pages, key == nil {
            throw InvalidSetting(
                "level", "'pages' requires a key", "Set key-file, key-env, key-command or key-credential.")
        }
        if level < .restore, !assertions.isEmpty { throw InvalidSetting("assert", "requires 'level: restore'") }
    }
}

/// Time limits for work outside the schedule's control: each at least a second and at most a year.
public struct TimeLimits: Sendable, Equatable {
    /// For a hook, which is then terminated with every process it has started: an hour by default.
    public var hook = Duration.seconds(3600)
    /// For a heartbeat, including retries: a minute by default.
    public var heartbeat = Duration.seconds(60)
    /// For a store that is silent, returns errors or is locked by another process: five minutes by default.
    public var store = Duration.seconds(300)
    /// For a run of a job, a day by default. It is then abandoned, and no longer counts against the concurrency.
    public var run = Duration.seconds(86_400)

    /// Creates the limits with their defaults.
    public init() {}

    package func check() throws(InvalidSetting) {
        for (key, limit) in [("hook", hook), ("heartbeat", heartbeat), ("store", store), ("run", run)] {
            try InvalidSetting.require(key, limit, atLeast: .seconds(1))
            guard limit <= .seconds(365 * 86_400) else { throw InvalidSetting(key, "is limited to a year") }
        }
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
