package import LiteVaultBackup

/// How long things may take about which others decide, in seconds: `limits` of the configuration and of jobs.
package struct TimeLimits: Sendable, Equatable {
    /// A hook. It is ended then, with everything that it has started.
    package var hook = 3600.0
    /// A heartbeat, repetitions included.
    package var heartbeat = 60.0
    /// How long a store may stay silent, answer with errors or be locked by somebody else.
    package var store = 300.0
    /// A run of a job. It is left behind then, and others take its place.
    package var run = 86_400.0

    package init() {}

    /// Reads `limits` of a section; what it does not say is as `inherited`.
    init(_ section: ConfigurationSection, inherited: TimeLimits = .init()) throws {
        self = inherited
        guard let own = try section.section("limits", known: ["hook", "heartbeat", "store", "run"]) else { return }
        func span(_ key: String, _ value: inout Double) throws {
            guard let seconds = try own.span(key, atLeast: 1) else { return }
            guard seconds <= 365 * 86_400 else { throw own.error(key, "is more than a year") }
            value = seconds
        }
        try span("hook", &hook)
        try span("heartbeat", &heartbeat)
        try span("store", &store)
        try span("run", &run)
    }
}

/// Something that took longer than its limit, and was ended.
package struct LimitReached: Error {
    /// The key of the configuration: `hook`, `heartbeat`, `run`.
    package let limit: String
    package let failure: BackupError

    package init(_ limit: String, seconds: Double, _ what: String, remedy: String) {
        self.limit = limit
        failure = BackupError(
            .jobFailed, "\(what) \(TimeSpan.text(seconds)), the limit '\(limit)'", remedy: remedy)
    }
}
