internal import Foundation

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
    /// Everything not older than so many seconds before the newest.
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
}

extension RetentionPolicy {
    /// Decides about the snapshots of one database.
    ///
    /// The newest stays always, and so does the newest that a verification found whole: of what remains, something is known
    /// to be good.
    ///
    /// - Parameter snapshots: of one database, in order.
    package func decide(_ snapshots: [Snapshot]) -> [RetentionDecision] {
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
            for index in newestFirst {
                let label = period(snapshots[index].time)
                guard !seen.contains(label) else { continue }
                if seen.count == count { break }
                seen.insert(label)
                keep(index, "\(name) \(label)")
            }
        }
        if let within, let newest = snapshots.map(\.time).max() {
            for index in newestFirst where newest.timeIntervalSince(snapshots[index].time) <= within {
                keep(index, "within")
            }
        }
        return snapshots.indices.map {
            RetentionDecision(snapshot: snapshots[$0], keeps: reasons[$0] != nil, reasons: reasons[$0] ?? [])
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
