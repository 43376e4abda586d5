internal import LiteVaultSchedule
internal import LiteVaultSystem

// What jobs have done, in results.

extension JobOutcome {
    var members: Members {
        [
            "job": job, "succeeded": isSuccess, "interrupted": isInterrupted, "start": Format.exactTime(start),
            "end": Format.exactTime(end), "next": Nullable(next.map(Format.exactTime)), "stored": storedBytes,
            "unchanged": unchanged, "removed": removed, "verified": Nullable(verified),
            "snapshots": stored.map(\.members), "failures": problems.map(\.members),
            "warnings": warnings.map(\.members),
        ]
    }

    /// `hourly: 12 databases, 3.4 MB stored in 2.1 s; 1 failure`.
    var line: String {
        let seconds = end.timeIntervalSince(start)
        var line =
            "\(job): \(Format.count(stored.count, "database")), "
            + "\(Format.size(storedBytes)) stored in \(Format.duration(seconds))"
        if unchanged > 0 { line += ", \(unchanged) unchanged" }
        if removed > 0 { line += ", \(Format.count(removed, "old snapshot")) removed" }
        if let verified { line += verified ? ", verified" : ", verification FAILED" }
        if !problems.isEmpty { line += "; \(Format.count(problems.count, "failure"))" }
        return line
    }
}

extension JobOutcome.Stored {
    fileprivate var members: Members {
        [
            "source": source, "database": database, "id": id, "size": size, "changed": changed,
            "stored": stored,
        ]
    }
}

extension JobState.Problem {
    var members: Members {
        ["step": step, "code": code, "message": message, "path": source, "limit": limit, "remedy": remedy]
    }

    /// The text output.
    func lines(_ verdict: String = "FAILED") -> [String] {
        // A path inside a message is named once.
        let subject = source.map { message.contains($0) ? "" : "\($0): " } ?? ""
        return ["  \(verdict) \(step): \(subject)\(message)"].map(Format.visible)
            + (remedy.map { ["    hint: " + Format.visible($0)] } ?? [])
    }
}

extension JobState.Unrestorable {
    var members: Members {
        [
            "database": database, "snapshot": snapshot, "state": state, "level": level, "since": shownSince,
            "lost_blocks": lostBlocks,
        ]
    }

    var line: String {
        let what = lostBlocks.map { "lost \(Format.count($0, "block")), known" } ?? "fails '\(level)'"
        return "\(database) \(snapshot): \(what) since \(shownSince)"
            + (state == "superseded" ? ", newer ones pass" : "")
    }

    private var shownSince: String { Format.time(Date(timeIntervalSince1970: since)) }
}

/// What `schedule status` shows about following the databases of a job.
struct FollowingSummary {
    private let settings: FollowSettings
    /// Nil if the databases were never followed here.
    private let state: FollowingState?
    private let isRunning: Bool?
    let isWell: Bool

    /// Nil if the job does not follow its databases.
    init?(_ job: BackupJob, _ state: FollowingState?) {
        guard let settings = job.following else { return nil }
        (self.settings, self.state) = (settings, state)
        isRunning = state == nil ? false : state?.isRunning
        isWell =
            state.map { state in
                state.isRunning != false && state.problem == nil && !state.databases.contains(where: \.isFailing)
            } ?? false
    }

    var members: Members {
        [
            "interval": settings.interval.seconds, "log_limit": settings.logLimit, "spool_limit": settings.spoolLimit,
            "most": settings.most, "running": Nullable(isRunning), "well": isWell,
            "databases": (state?.databases ?? []).map(\.members), "problem": state?.problem?.members,
        ]
    }

    func addRows(to report: inout Report) {
        var line = "every \(TimeSpan.text(settings.interval)), logs up to \(Format.size(settings.logLimit))"
        if state == nil {
            line += "; never started: run 'litevault schedule run'"
        } else if isRunning == false {
            line += "; NOT RUNNING: start 'litevault schedule run'"
        }
        report.appendRow("follows", line)
        for line in state?.problem?.lines() ?? [] { report.appendLine(line) }
        for database in state?.databases ?? [] { report.appendRow("", Format.visible(database.line)) }
    }
}

extension FollowingState.Database {
    fileprivate var members: Members {
        [
            "source": source, "database": database, "state": phase.rawValue, "since": Nullable(Format.time(since)),
            "reason": Nullable(reason ?? trouble), "code": Nullable(code),
            "last_look": Nullable(Format.time(looked)), "last_segment": Nullable(Format.time(stored)),
            "segments": segments, "bytes": bytes, "base": Nullable(base), "gaps": gaps,
            "last_gap": Nullable(Format.time(lastGap)), "last_gap_reason": Nullable(lastGapReason),
            "lost": Nullable(lost),
        ]
    }

    fileprivate var line: String {
        var line = "\(database): \(phase.rawValue)"
        if let reason = reason ?? trouble { line += " (\(reason))" }
        if let time = Format.time(stored) { line += ", stored until \(time)" }
        if let time = Format.time(lastGap) {
            line += ", last gap from \(time)" + (lastGapReason.map { ": \($0)" } ?? "")
        }
        return line
    }
}

extension Format {
    /// A time of a state file, in seconds since 1970.
    static func time(_ seconds: Double?) -> String? { seconds.map { exactTime(Date(timeIntervalSince1970: $0)) } }
}
