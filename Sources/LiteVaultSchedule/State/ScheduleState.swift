package import LiteVaultBackup

/// What is remembered of the runs of a configuration's jobs.
package struct ScheduleState: CheckedDocument, Sendable, Equatable {
    package var version = 1
    package var jobs: [String: JobState] = [:]

    package init() {}

    package static let byteLimit = 16 << 20
    package static let isSnakeCase = false
    /// What is counted here: far from where counting on would overflow.
    private static let counts = 0...Int64(1) << 52

    package func check() throws(OutOfLimits) {
        for job in jobs.values {
            let times = [
                job.lastStart, job.lastEnd, job.lastSuccess, job.lastVerification, job.lastPrune, job.pruneBusySince,
            ]
            for time in times {
                try require("a time", seconds: time)
            }
            for count in [Int64(job.failed), Int64(job.databases), job.stored] {
                try require("a count", count, in: Self.counts)
            }
            for database in job.following?.databases ?? [] {
                for time in [database.since, database.looked, database.stored, database.lastGap] {
                    try require("a time", seconds: time)
                }
                for count in [
                    Int64(database.segments), database.bytes, Int64(database.gaps), Int64(database.lost ?? 0),
                ] {
                    try require("a count", count, in: Self.counts)
                }
            }
        }
    }
}

/// What is remembered of one job. Times are seconds since 1970.
package struct JobState: Codable, Sendable, Equatable {
    /// A database that could not be backed up, or a step that failed.
    package struct Problem: Codable, Sendable, Equatable {
        /// The database's path; nil for a step of the whole job.
        package var source: String?
        /// `snapshot`, `retention`, `verification`, `hook`, `heartbeat`, `sources`, `repository`, `follow`, `run`.
        package var step: String
        package var code: String
        package var message: String
        package var remedy: String?
        /// The time limit that ended it, by its key in the configuration; nil where none did.
        package var limit: String?
    }

    /// When the last run that was not interrupted began and ended.
    package var lastStart: Double?
    package var lastEnd: Double?
    /// When the last run in which nothing failed began.
    package var lastSuccess: Double?
    /// What failed in the last run: the first hundred.
    package var problems: [Problem] = []
    /// How much failed in the last run.
    package var failed = 0
    /// Databases of the last run, and bytes that it stored.
    package var databases = 0
    package var stored: Int64 = 0
    package var lastVerification: Double?
    package var lastVerificationPassed: Bool?
    package var lastPrune: Double?
    /// Since when pruning has been kept off by somebody else; nil once it went through.
    package var pruneBusySince: Double?
    /// What is followed, as the process that follows last told it; nil where none has.
    package var following: FollowingState?

    package init() {}
}
