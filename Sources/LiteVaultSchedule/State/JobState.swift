package import LiteVaultBackup
package import LiteVaultSystem

/// The stored state of a configuration's jobs.
package struct ScheduleState: CheckedDocument, Sendable, Equatable {
    package var version = 1
    package var jobs: [String: JobState] = [:]
    /// A digest of the configuration that the service has read; nil in the state of an earlier version, and where none ran.
    package var loadedDigest: String?

    package static let byteLimit = 16 << 20
    package static let isSnakeCase = false
    /// The valid counts: far below where adding to them would overflow.
    private static let counts = 0...Int64(1) << 52

    /// A count that grows, and stays at the largest valid one.
    static func sum(_ count: Int64?, _ addition: Int64) -> Int64 {
        min((count ?? 0) + min(max(0, addition), counts.upperBound), counts.upperBound)
    }

    package func check() throws(OutOfLimits) {
        var times: [Double?] = []
        var counts: [Int64] = []
        for job in jobs.values {
            times += [
                job.lastStart, job.lastEnd, job.lastSuccess, job.lastVerification, job.lastVerified,
                job.lastVerifiedRestore, job.lastPrune, job.pruneBusySince, job.lastUptime.map { abs($0) },
            ]
            times += (job.unrestorable ?? []).map { $0.since }
            counts += [Int64(job.failed), Int64(job.databases), Int64(job.unchanged ?? 0), job.stored]
            counts += [job.allRuns, job.allFailures, job.allStored].compactMap(\.self)
            for database in job.following?.databases ?? [] {
                times += [database.since, database.looked, database.stored, database.lastGap]
                counts += [
                    Int64(database.segments), database.bytes, Int64(database.gaps), Int64(database.lost ?? 0),
                ]
            }
        }
        for time in times { try require("a time", seconds: time) }
        for count in counts { try require("a count", count, in: Self.counts) }
    }
}

/// The stored state of one job. Times are seconds since 1970.
package struct JobState: Codable, Sendable, Equatable {
    /// A failed step of a run, or a database that could not be backed up.
    package struct Problem: Codable, Sendable, Equatable {
        /// The database's path; nil for a step of the whole job.
        package var source: String?
        /// `snapshot`, `retention`, `verification`, `hook`, `heartbeat`, `sources`, `repository`, `follow`, `run`.
        package var step: String
        package var code: String
        package var message: String
        package var remedy: String?
        /// The key of the time limit that was exceeded; nil when none was.
        package var limit: String?

        package init(
            source: String?, step: String, code: String, message: String, remedy: String? = nil, limit: String? = nil
        ) {
            (self.source, self.step, self.code, self.message) = (source, step, code, message)
            (self.remedy, self.limit) = (remedy, limit)
        }
    }

    /// A snapshot that is known not to be restorable.
    package struct Unrestorable: Codable, Sendable, Equatable {
        package var database: String
        package var snapshot: String
        /// A value of `UnrestorableSnapshot.State`.
        package var state: String
        /// The level of the verification that it fails.
        package var level: String
        /// Since when that is known.
        package var since: Double
        /// The number of its lost blocks, if a repair has recorded that.
        package var lostBlocks: Int?

        init(_ found: UnrestorableSnapshot) {
            (database, snapshot) = (found.snapshot.database, found.snapshot.id)
            (state, level) = (found.state.rawValue, found.verification.level.rawValue)
            (since, lostBlocks) = (found.since.timeIntervalSince1970, found.verification.lostBlocks)
        }

        /// Whether somebody has to do something about it.
        package var needsAttention: Bool { state == UnrestorableSnapshot.State.damaged.rawValue }
        package var isLost: Bool { state == UnrestorableSnapshot.State.lost.rawValue }
    }

    /// The maximum number of ``unrestorable`` snapshots.
    private static let unrestorableLimit = 100

    /// Those that are stored.
    package static func unrestorable(_ found: [UnrestorableSnapshot]) -> [Unrestorable] {
        found.prefix(unrestorableLimit).map(Unrestorable.init)
    }

    /// Start and end of the last run that was not interrupted.
    package var lastStart: Double?
    package var lastEnd: Double?
    /// What a clock that nobody sets has said at the end, and since which start of the machine it counts; nil in the state of an earlier version.
    package var lastUptime: Double?
    package var lastBoot: UInt32?
    /// Start of the last run without a failure.
    package var lastSuccess: Double?
    /// The first hundred failures of the last run.
    package var problems: [Problem] = []
    /// The first hundred things that did not make the last run a failure; nil for nothing.
    package var warnings: [Problem]?
    package var failed = 0
    /// The number of databases of the last run, and the bytes that it stored.
    package var databases = 0
    package var stored: Int64 = 0
    /// The databases of the last run that needed no snapshot; nil in the state of an earlier version.
    package var unchanged: Int?
    package var lastVerification: Double?
    package var lastVerificationPassed: Bool?
    /// The last verification that passed, and the last of those that restored the databases.
    package var lastVerified: Double?
    package var lastVerifiedRestore: Double?
    /// All runs since the state exists, their failures, and the bytes that they stored; nil before the first.
    package var allRuns: Int64?
    package var allFailures: Int64?
    package var allStored: Int64?
    package var lastPrune: Double?
    /// Since when another process has kept this job from removing from its repository; nil once it could.
    package var pruneBusySince: Double?
    /// Who that is; nil if the store refused it without saying so.
    package var pruneBusyHolder: String?
    /// The snapshots of the job's databases that are known not to be restorable, at most a hundred, when the repository was last asked: by a
    /// run, or for the metrics. Nil before the first.
    package var unrestorable: [Unrestorable]?
    /// The versions of the results of verifications that name no such snapshot, by the database's identifier.
    package var examined: [String: String]?
    /// The followed databases, as last reported by the process that follows them; nil when none ever did.
    package var following: FollowingState?

    package init() {}

    /// The state with the times of the last run as the clock would say them now, which may have been set since. After a restart of the
    /// machine that is not known, and they stay as they are.
    fileprivate func dated(by clock: HostClock) -> JobState {
        guard let lastEnd, let lastUptime, Platform.boot != 0, lastBoot == Platform.boot else { return self }
        var state = self
        let end = clock.time().timeIntervalSince1970 - (clock.now() - lastUptime)
        (state.lastEnd, state.lastStart) = (end, lastStart.map { $0 + end - lastEnd })
        return state
    }
}

package struct DueDecision: Sendable, Equatable {
    package let isDue: Bool
    /// Since when the job has been due, or when it will be; nil when its calendar expression never matches again.
    package let next: Date?

    private init(isDue: Bool, next: Date?) { (self.isDue, self.next) = (isDue, next) }

    /// That of a job which is to run at once, whatever its times are.
    static func now(_ time: Date) -> DueDecision { DueDecision(isDue: true, next: time) }

    /// Decides for a job. One run makes up for all missed ones, and a job that never ran is due at once.
    package init(_ job: BackupJob, _ state: JobState?, host: String, now: Date) {
        // A run dated in the future was recorded with a wrong clock. It is ignored, apart from small clock differences.
        guard let state, let start = state.lastStart, start - now.timeIntervalSince1970 <= 300 else {
            self = .now(now)
            return
        }
        let delay = Recurrence.delay(job.name, host: host, jitter: job.jitter)
        let last = min(Date(timeIntervalSince1970: start), now)
        var next = job.recurrence.next(after: last.addingTimeInterval(-delay))?.addingTimeInterval(delay)
        if state.failed > 0 {
            let stored = Date(timeIntervalSince1970: state.lastEnd ?? start)
            let end = stored > now ? last : stored
            let retry = end.addingTimeInterval(job.retry.seconds)
            next = next.map { min($0, retry) } ?? retry
        }
        self.next = next
        isDue = next.map { $0 <= now } ?? false
    }

    /// How late the start of a job may be: a timer that fires every five minutes, a machine that was rebooted and a run that took
    /// long are not failures. The alert `LiteVaultJobOverdue` of the examples allows as much.
    package static let grace = Duration.seconds(3600)

    /// Since when a job has been due that should have run by now; nil if it is in time. A run that a wrong clock has dated is as old as it is,
    /// and the time in which the machine sleeps does not count.
    ///
    /// - Parameters:
    ///   - known: the state of the job; nil if it never ran.
    ///   - configured: since when the job can have been in its configuration, for one that never ran.
    package func overdue(
        _ job: BackupJob, _ known: JobState?, configured: Date, host: String, clock: HostClock
    ) -> Date? {
        let (now, state) = (clock.time(), known?.dated(by: clock))
        let decision = DueDecision(job, state, host: host, now: now)
        guard isDue, decision.isDue, let next = decision.next else { return nil }
        // One that never ran, or ran in the future by a wrong clock, is due now, whenever one looks.
        let since = state?.lastStart.map { $0 <= now.timeIntervalSince1970 + 300 } == true ? next : configured
        return now.timeIntervalSince(since) > Self.grace.seconds ? since : nil
    }
}
