package import LiteVaultSystem

/// Which snapshots of a database to keep. Rules add up: a snapshot is kept if any rule matches it.
public struct RetentionPolicy: Sendable, Equatable {
    /// The number of most recent snapshots to keep.
    public var last: Int?
    /// The number of hours to keep the newest snapshot of, counting only hours that have one (UTC).
    public var hourly: Int?
    /// The number of days, as in ``hourly``.
    public var daily: Int?
    /// The number of weeks, as in ``hourly``; weeks start on Monday.
    public var weekly: Int?
    /// The number of months, as in ``hourly``.
    public var monthly: Int?
    /// The number of years, as in ``hourly``.
    public var yearly: Int?
    /// Keeps all snapshots taken within this time of the newest one. The longest pause between two of them does not count if it is longer than
    /// this: it may be a clock that was set forward.
    public var within: Duration?

    /// Creates a policy without rules. It is rejected unless rules are added: it would remove almost everything.
    public init() {}

    /// Whether it has any rule.
    public var isEmpty: Bool { self == RetentionPolicy() }
}

/// Whether a snapshot is kept, and why.
public struct RetentionDecision: Sendable {
    /// The snapshot.
    public let snapshot: Snapshot
    /// Whether it is kept.
    public let keeps: Bool
    /// The rules that keep it; empty if it is removed.
    public let reasons: [String]
    /// Whether it is dated in the future because a clock was or is wrong. That is a remark: no rule depends on it.
    public let isDatedAhead: Bool
}

extension RetentionPolicy {
    /// Decides about the snapshots of one database.
    ///
    /// The newest snapshot is always kept, and so are the newest one that passed a verification as thorough as any of its database,
    /// and the newest one that passed a restore: at least one kept snapshot is then known to be good. If none is and the newest one failed, the
    /// newest one that did not fail is kept.
    ///
    /// No rule reads a clock: time is what the clocks said when the snapshots were taken. A snapshot that is out of order among these, because a clock
    /// was ahead or behind, uses up no period, and is as old as the one after it. The one that shows this is kept with it, so that the same rules
    /// remove nothing more the next time; rules that only count snapshots do not need that.
    ///
    /// - Parameters:
    ///   - snapshots: the snapshots of one database, in order.
    ///   - now: the current time, for ``RetentionDecision/isDatedAhead`` alone.
    package func decide(_ snapshots: [Snapshot], now: Date) -> [RetentionDecision] {
        let times = snapshots.map(\.taken)
        let newest = times.last ?? now
        var latest: Int?
        // What each one comes after, although that is dated later.
        let later = times.indices.map { index in
            let before = latest.flatMap { times[index] < times[$0] ? $0 : nil }
            if before == nil, times[index] <= newest { latest = index }
            return before
        }
        let isInOrder = times.indices.map { later[$0] == nil && times[$0] <= newest }
        var reasons: [Int: [String]] = [:]
        func keep(_ index: Int, _ reason: String) { reasons[index, default: []].append(reason) }
        let newestFirst = Array(snapshots.indices.reversed())
        if let first = newestFirst.first { keep(first, "newest") }
        for (index, reason) in Self.known(snapshots) { keep(index, reason) }
        for (place, index) in newestFirst.enumerated() where place < last ?? 0 { keep(index, "last \(place + 1)") }
        for (count, name, period) in periods {
            guard let count, count > 0 else { continue }
            var (counted, strays): (Set<String>, Set<String>) = ([], [])
            for index in newestFirst {
                let label = period(times[index])
                if counted.count == count, !counted.contains(label) { break }
                if isInOrder[index] ? counted.insert(label).inserted : strays.insert(label).inserted {
                    keep(index, "\(name) \(label)")
                }
            }
        }
        if let within {
            var (pause, age, next) = (0.0, 0.0, newest)
            for index in newestFirst {
                if isInOrder[index] {
                    pause = max(pause, next.timeIntervalSince(times[index]))
                    (age, next) = (newest.timeIntervalSince(times[index]), times[index])
                }
                if age - (pause > within.seconds ? pause : 0) <= within.seconds { keep(index, "within") }
            }
        }
        var counting = RetentionPolicy()
        counting.last = last
        // Without it, that one would be in order the next time, and use up a period of another.
        for index in reasons.keys where self != counting { later[index].map { keep($0, "before a clock step") } }
        return snapshots.indices.map {
            RetentionDecision(
                snapshot: snapshots[$0], keeps: reasons[$0] != nil, reasons: reasons[$0] ?? [],
                isDatedAhead: snapshots[$0].isDatedAhead(of: now))
        }
    }

    /// The snapshots that are kept because they are known to be good, and why.
    ///
    /// - Parameter snapshots: those of one database, in order.
    static func known(_ snapshots: [Snapshot]) -> [(index: Int, reason: String)] {
        func newest(where isWanted: (SnapshotVerification) -> Bool) -> Int? {
            snapshots.lastIndex { $0.verification.map(isWanted) ?? false }
        }
        // Where the most thorough verifications failed, less thorough ones that passed say nothing.
        let deepest = snapshots.compactMap { $0.verification?.level }.max()
        let passed = SnapshotVerification.Level.allCases.reversed().lazy.compactMap { level in
            level > deepest ?? .restore ? nil : newest { $0.passed && $0.level >= level }
        }.first
        var known: [(Int, String)] = []
        if let passed { known.append((passed, "last verified")) }
        // A store that lacks something now may have it again tomorrow.
        let restored =
            newest { $0.passed && $0.level == .restore } ?? newest { $0.lastPass?.level == .restore }
        if let restored, restored != passed { known.append((restored, "last restored")) }
        // Passing without an assertion says nothing about one that failed.
        let failed = snapshots.last { $0.verification?.failsAssertion ?? false }?.verification
        if let failed, let held = newest(where: { $0.passed && $0.covers(failed) }), held != passed, held != restored {
            known.append((held, "last asserted"))
        }
        if passed == nil, snapshots.last?.verification?.passed == false,
            let maybe = snapshots.lastIndex(where: { $0.verification?.passed != false })
        {
            known.append((maybe, "last not known to be damaged"))
        }
        return known
    }

    private var periods: [(Int?, String, (Date) -> String)] {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        func label(_ date: Date, _ parts: [(Calendar.Component, Int)]) -> String {
            parts.map { component, digits in
                let text = String(calendar.component(component, from: date))
                return String(repeating: "0", count: max(0, digits - text.count)) + text
            }.joined(separator: "-")
        }
        return [
            (hourly, "hourly", { label($0, [(.year, 4), (.month, 2), (.day, 2), (.hour, 2)]) }),
            (daily, "daily", { label($0, [(.year, 4), (.month, 2), (.day, 2)]) }),
            (weekly, "weekly", { label($0, [(.yearForWeekOfYear, 4), (.weekOfYear, 2)]) }),
            (monthly, "monthly", { label($0, [(.year, 4), (.month, 2)]) }),
            (yearly, "yearly", { label($0, [(.year, 4)]) }),
        ]
    }
}
