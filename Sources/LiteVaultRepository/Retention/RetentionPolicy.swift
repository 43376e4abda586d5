package import Foundation

/// Which snapshots of a database to keep. Rules add up: a snapshot stays if one of them wants it.
public struct RetentionPolicy: Sendable, Equatable {
    /// The newest so many.
    public var last: Int?
    /// The newest of each of the newest so many hours, days, … that have one (UTC; weeks start on Monday).
    public var hourly: Int?
    /// As ``hourly``, for days.
    public var daily: Int?
    /// As ``hourly``, for weeks.
    public var weekly: Int?
    /// As ``hourly``, for months.
    public var monthly: Int?
    /// As ``hourly``, for years.
    public var yearly: Int?
    /// Everything not older than so many seconds before the newest that is not dated in the future.
    public var within: Double?

    /// A policy of no rules, which is refused: it would keep next to nothing.
    public init() {}

    /// Whether it has any rule.
    public var isEmpty: Bool { self == RetentionPolicy() }
}

/// What becomes of one snapshot, and why.
public struct RetentionDecision: Sendable {
    /// The snapshot.
    public let snapshot: Snapshot
    /// Whether it stays.
    public let keeps: Bool
    /// Why it stays; none for one that goes.
    public let reasons: [String]
    /// Whether it is dated in the future, which a clock that was wrong did. Rules about times take it for as old as the snapshot after it.
    public let isDatedAhead: Bool
}

extension RetentionPolicy {
    /// Decides about the snapshots of one database.
    ///
    /// The newest stays always, and so does the newest that a verification found whole: of what remains, something is known
    /// to be good.
    ///
    /// What is dated in the future was taken before the snapshot after it, and before now: that is the time which counts. Else it
    /// would be what all others are too old for.
    ///
    /// - Parameters:
    ///   - snapshots: of one database, in order.
    ///   - now: the time, as far as it is known.
    package func decide(_ snapshots: [Snapshot], now: Date) -> [RetentionDecision] {
        var times = snapshots.map(\.time)
        var later = now
        for index in times.indices.reversed() {
            if times[index] > now { times[index] = later } else { later = times[index] }
        }
        var reasons: [Int: [String]] = [:]
        func keep(_ index: Int, _ reason: String) { reasons[index, default: []].append(reason) }
        let newestFirst = Array(snapshots.indices.reversed())
        if let newest = newestFirst.first { keep(newest, "newest") }
        if let verified = newestFirst.first(where: { snapshots[$0].verification?.passed == true }) {
            keep(verified, "last verified")
        }
        for (place, index) in newestFirst.enumerated() where place < last ?? 0 { keep(index, "last \(place + 1)") }
        for (count, name, period) in periods {
            guard let count, count > 0 else { continue }
            var seen: Set<String> = []
            // By time: one that a clock dated far back must not count for a new period.
            for index in newestFirst.sorted(by: { (times[$0], $0) > (times[$1], $1) }) {
                let label = period(times[index])
                guard !seen.contains(label) else { continue }
                if seen.count == count { break }
                seen.insert(label)
                keep(index, "\(name) \(label)")
            }
        }
        if let within, let newest = times.max() {
            for index in newestFirst where newest.timeIntervalSince(times[index]) <= within {
                keep(index, "within")
            }
        }
        return snapshots.indices.map {
            RetentionDecision(
                snapshot: snapshots[$0], keeps: reasons[$0] != nil, reasons: reasons[$0] ?? [],
                isDatedAhead: snapshots[$0].isDatedAhead(of: now))
        }
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
