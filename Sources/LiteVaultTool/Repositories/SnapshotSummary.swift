internal import LiteVaultBackup
internal import LiteVaultSystem

struct SnapshotSummary {
    private let snapshot: Snapshot
    /// The end of the log that was followed after the snapshot.
    private let followedUntil: String?
    let isDatedAhead: Bool

    init(_ snapshot: Snapshot, followedUntil: Date? = nil) {
        self.snapshot = snapshot
        self.followedUntil = followedUntil.map(Format.exactTime)
        isDatedAhead = snapshot.isDatedAhead(of: Date())
    }

    var members: Members {
        let gap: Members? = snapshot.gap.map {
            ["since": Nullable($0.since.map(Format.exactTime)), "reason": $0.reason]
        }
        return [
            "id": snapshot.id, "database": snapshot.database, "sequence": snapshot.sequence,
            "time": Format.exactTime(snapshot.time), "size": snapshot.size, "stored": snapshot.stored,
            "changed": snapshot.changed, "epoch": snapshot.epoch, "rewritten": snapshot.isRewritten,
            "encrypted": !snapshot.isPlaintext,
            // Whether it carries the keyring of the database.
            "keyring": snapshot.keyring != nil, "host": snapshot.host, "source": snapshot.source,
            "dated_ahead": isDatedAhead ? true : nil, "gap": gap, "log_until": followedUntil,
            "verification": snapshot.verification?.members,
        ]
    }

    static let heading =
        "  ID                TAKEN (UTC)               \(rightAligned("SIZE"))  \(rightAligned("ADDED"))  VERIFIED"

    var line: String {
        var line = "  \(snapshot.id)  \(Format.exactTime(snapshot.time))  "
        line += Self.rightAligned(Format.size(snapshot.size)) + "  "
        line += Self.rightAligned("+" + Format.size(snapshot.stored)) + "  "
        line += snapshot.verification?.text ?? "-"
        if snapshot.isRewritten { line += "  nearly all blocks differ from the one before, epoch \(snapshot.epoch)" }
        if let followedUntil { line += "  every commit to \(followedUntil)" }
        if let gap = snapshot.gap {
            let since = gap.since.map { "since \(Format.exactTime($0)): " } ?? ""
            line += "  after a gap (\(since)\(Format.visible(gap.reason)))"
        }
        if isDatedAhead { line += "  dated in the future" }
        if snapshot.isPlaintext { line += "  not encrypted" }
        return line
    }

    private static func rightAligned(_ text: String) -> String {
        String(repeating: " ", count: max(0, 10 - text.count)) + text
    }

    /// Adds a warning about snapshots that are dated in the future, if there are any.
    static func warn(ofDatesAhead count: Int, in report: inout Report) {
        guard count > 0 else { return }
        report.appendLine(
            "Warning: \(Format.count(count, "snapshot")) dated in the future: a clock was or is wrong. "
                + "'restore --at' finds such a snapshot only by a later time; use its ID.")
    }

    /// What protects the repository's objects.
    static func protection(_ repository: Repository) -> String {
        if repository.isAuthenticated { return "authenticated with the repository secret" }
        return repository.hasSecret
            ? "not authenticated, as the repository secret was not given"
            : "protected by hashes only, as the repository has no secret"
    }
}

// The last verification of a snapshot in results.
extension SnapshotVerification {
    var members: Members {
        [
            "level": level.rawValue, "passed": passed, "time": Format.exactTime(time), "failed_since": shownFailure,
            // What failed: objects of the repository, or the content of the snapshot.
            "cause": passed ? nil : concernsContent ? "content" : "objects",
            "lost_blocks": lostBlocks,
            // Whether the original of this copy was verified.
            "copied": isCopied ? true : nil,
        ]
    }

    private var shownFailure: String? { failedSince.map(Format.exactTime) }

    /// `restore ok`, `data FAILED since …`, `lost 3 blocks, known since …`.
    fileprivate var text: String {
        let (name, whose) = (level.rawValue, isCopied ? " (original)" : "")
        guard !passed else { return "\(name) ok\(whose)" }
        let since = (shownFailure.map { " since \($0)" } ?? "") + whose
        return lostBlocks.map { "lost \(Format.count($0, "block")), known\(since)" } ?? "\(name) FAILED\(since)"
    }
}
