internal import Foundation
internal import LiteVaultSchedule

/// What is followed, as the status tells it.
enum FollowingSummary {
    /// Whether everything that a job is to follow is followed, as far as that is known.
    static func isWell(_ job: Job, _ state: FollowingState?) -> Bool {
        guard job.follows else { return true }
        guard let state, state.isRunning != false else { return false }
        return state.problem == nil && !state.databases.contains(where: \.isFailing)
    }

    static func json(_ job: Job, _ state: FollowingState?) -> JSONValue {
        guard let settings = job.following else { return .null }
        var members: [JSONValue.Member] = [
            .init(name: "interval", value: .number(settings.interval)),
            .init(name: "log_limit", value: .integer(settings.logLimit)),
            .init(name: "spool_limit", value: .integer(settings.spoolLimit)),
            .init(name: "most", value: .integer(Int64(settings.most))),
            .init(name: "running", value: JSONValue(state == nil ? false : state?.isRunning)),
            .init(name: "well", value: .bool(isWell(job, state))),
            .init(name: "databases", value: .array((state?.databases ?? []).map(json))),
        ]
        if let problem = state?.problem { members.append(.init(name: "problem", value: OutcomeSummary.json(problem))) }
        return .object(members)
    }

    private static func json(_ database: FollowingState.Database) -> JSONValue {
        [
            "source": .string(database.source), "database": .string(database.database),
            "state": .string(database.phase.rawValue), "since": JSONValue(text(database.since)),
            "reason": JSONValue(database.reason ?? database.trouble), "code": JSONValue(database.code),
            "last_look": JSONValue(text(database.looked)), "last_segment": JSONValue(text(database.stored)),
            "segments": .integer(Int64(database.segments)), "bytes": .integer(database.bytes),
            "base": JSONValue(database.base), "gaps": .integer(Int64(database.gaps)),
            "last_gap": JSONValue(text(database.lastGap)), "last_gap_reason": JSONValue(database.lastGapReason),
            "lost": JSONValue(database.lost),
        ]
    }

    /// Rows of the text.
    static func add(_ job: Job, _ state: FollowingState?, to report: inout Report) {
        guard let settings = job.following else { return }
        var line = "every \(TimeSpan.text(settings.interval)), logs up to \(Wording.size(settings.logLimit))"
        switch state?.isRunning {
        case nil: line += state == nil ? "; never yet: start 'litevault schedule run'" : ""
        case false?: line += "; NOT RUNNING: start 'litevault schedule run'"
        case true?: break
        }
        report.row("follows", line)
        if let problem = state?.problem { report.say(OutcomeSummary.line(problem)) }
        for database in state?.databases ?? [] { report.row("", Wording.visible(text(database))) }
    }

    private static func text(_ database: FollowingState.Database) -> String {
        var line = "\(database.database): \(database.phase.rawValue)"
        if let reason = database.reason ?? database.trouble { line += " (\(reason))" }
        if let stored = text(database.stored) { line += ", stored to \(stored)" }
        if let gap = text(database.lastGap) {
            line += ", last gap from \(gap)" + (database.lastGapReason.map { ": \($0)" } ?? "")
        }
        return line
    }

    private static func text(_ seconds: Double?) -> String? {
        seconds.map { TimeArgument.text(Date(timeIntervalSince1970: $0)) }
    }
}
