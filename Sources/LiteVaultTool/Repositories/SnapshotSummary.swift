internal import Foundation
internal import LiteVaultBackup

/// How a snapshot is shown.
enum SnapshotSummary {
    static func json(_ snapshot: Snapshot, followedUntil: Date? = nil) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "id", value: .string(snapshot.id)), .init(name: "database", value: .string(snapshot.database)),
            .init(name: "sequence", value: .integer(Int64(snapshot.sequence))),
            .init(name: "time", value: .string(TimeArgument.exact(snapshot.time))),
            .init(name: "size", value: .integer(snapshot.size)),
            .init(name: "stored", value: .integer(snapshot.stored)),
            .init(name: "changed", value: .integer(snapshot.changed)),
            .init(name: "epoch", value: .integer(Int64(snapshot.epoch))),
            .init(name: "rewritten", value: .bool(snapshot.isRewritten)),
            .init(name: "encrypted", value: .bool(!snapshot.isPlaintext)),
            .init(name: "host", value: .string(snapshot.host)), .init(name: "source", value: .string(snapshot.source)),
        ]
        if snapshot.isDatedAhead(of: Date()) { members.append(.init(name: "dated_ahead", value: .bool(true))) }
        if let gap = snapshot.gap {
            members.append(
                .init(
                    name: "gap",
                    value: ["since": JSONValue(gap.since.map(TimeArgument.exact)), "reason": .string(gap.reason)]))
        }
        if let followedUntil {
            members.append(.init(name: "log_until", value: .string(TimeArgument.exact(followedUntil))))
        }
        if let found = snapshot.verification {
            members.append(.init(name: "verification", value: json(found)))
        }
        return .object(members)
    }

    static func json(_ found: SnapshotVerification) -> JSONValue {
        [
            "level": .string(found.level.rawValue), "passed": .bool(found.passed),
            "time": .string(TimeArgument.text(found.time)),
        ]
    }

    /// What stands above the lines of a list.
    static let heading =
        "  " + column("ID", 16) + "  " + column("TAKEN (UTC)", 20) + "  " + pad("SIZE") + "  " + pad("ADDED")
        + "  VERIFIED"

    private static func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// One line of a list.
    static func line(_ snapshot: Snapshot, followedUntil: Date? = nil) -> String {
        var line = "\(snapshot.id)  \(TimeArgument.exact(snapshot.time))  "
        line += pad(Wording.size(snapshot.size)) + "  " + pad("+" + Wording.size(snapshot.stored)) + "  "
        line +=
            snapshot.verification.map { $0.passed ? "\($0.level.rawValue) ok" : "\($0.level.rawValue) FAILED" } ?? "-"
        if snapshot.isRewritten { line += "  rewritten: rekey or VACUUM, epoch \(snapshot.epoch)" }
        if let followedUntil { line += "  every commit to \(TimeArgument.exact(followedUntil))" }
        if let gap = snapshot.gap {
            let since = gap.since.map { "since \(TimeArgument.exact($0)): " } ?? ""
            line += "  after a gap (\(since)\(Wording.visible(gap.reason)))"
        }
        if snapshot.isDatedAhead(of: Date()) { line += "  dated in the future" }
        if snapshot.isPlaintext { line += "  not encrypted" }
        return line
    }

    private static func pad(_ text: String) -> String {
        String(repeating: " ", count: max(0, 10 - text.count)) + text
    }

    /// Says that snapshots are dated in the future, where any are.
    static func warn(ofDatesAhead count: Int, in report: inout Report) {
        guard count > 0 else { return }
        report.say(
            "Warning: \(Wording.count(count, "snapshot")) dated in the future: a clock was wrong, or this one is. "
                + "'restore --at' finds such a snapshot only by a later time; take its id.")
    }

    /// What guards what was read.
    static func protection(_ repository: Repository) -> String {
        if repository.isAuthenticated { return "authenticated by the repository's secret" }
        return repository.hasSecret
            ? "not authenticated, as the repository's secret was not given"
            : "guarded by hashes only: the repository has no secret"
    }
}
