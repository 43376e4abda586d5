internal import LiteVaultBackup
internal import LiteVaultSystem

/// A snapshot in results.
struct SnapshotSummary: Encodable {
    struct Gap: Encodable {
        @Nullable var since: String?
        let reason: String
    }

    let id: String
    let database: String
    let sequence: Int64
    let time: String
    let size: Int64
    let stored: Int64
    let changed: Int64
    let epoch: Int64
    let rewritten: Bool
    let encrypted: Bool
    /// Whether it carries the keyring of the database.
    let keyring: Bool
    let host: String
    let source: String
    let datedAhead: Bool?
    let gap: Gap?
    let logUntil: String?
    let verification: VerificationSummary?

    /// - Parameter followedUntil: the end of the log that was followed after the snapshot.
    init(_ snapshot: Snapshot, followedUntil: Date? = nil) {
        id = snapshot.id
        database = snapshot.database
        sequence = Int64(snapshot.sequence)
        time = Format.exactTime(snapshot.time)
        size = snapshot.size
        stored = snapshot.stored
        changed = snapshot.changed
        epoch = Int64(snapshot.epoch)
        rewritten = snapshot.isRewritten
        encrypted = !snapshot.isPlaintext
        keyring = snapshot.keyring != nil
        host = snapshot.host
        source = snapshot.source
        datedAhead = snapshot.isDatedAhead(of: Date()) ? true : nil
        gap = snapshot.gap.map { Gap(since: $0.since.map(Format.exactTime), reason: $0.reason) }
        logUntil = followedUntil.map(Format.exactTime)
        verification = snapshot.verification.map(VerificationSummary.init)
    }

    /// The heading of a list.
    static let heading =
        "  ID                TAKEN (UTC)               \(rightAligned("SIZE"))  \(rightAligned("ADDED"))  VERIFIED"

    /// One line of a list.
    var line: String {
        var line = "  \(id)  \(time)  "
        line += Self.rightAligned(Format.size(size)) + "  " + Self.rightAligned("+" + Format.size(stored)) + "  "
        line += verification?.text ?? "-"
        if rewritten { line += "  nearly all blocks differ from the one before, epoch \(epoch)" }
        if let logUntil { line += "  every commit to \(logUntil)" }
        if let gap {
            line += "  after a gap (\(gap.since.map { "since \($0): " } ?? "")\(Format.visible(gap.reason)))"
        }
        if datedAhead == true { line += "  dated in the future" }
        if !encrypted { line += "  not encrypted" }
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

/// The last verification of a snapshot in results.
struct VerificationSummary: Encodable {
    let level: String
    let passed: Bool
    let time: String
    let failedSince: String?
    /// What failed: `objects` of the repository, or the `content` of the snapshot.
    let cause: String?
    let lostBlocks: Int?
    /// Whether the original of this copy was verified.
    let copied: Bool?

    init(_ found: SnapshotVerification) {
        cause = found.passed ? nil : found.concernsContent ? "content" : "objects"
        copied = found.isCopied ? true : nil
        level = found.level.rawValue
        passed = found.passed
        time = Format.exactTime(found.time)
        failedSince = found.failedSince.map(Format.exactTime)
        lostBlocks = found.lostBlocks
    }

    /// `restore ok`, `data FAILED since …`, `lost 3 blocks, known since …`.
    fileprivate var text: String {
        let whose = copied == true ? " (original)" : ""
        guard !passed else { return "\(level) ok\(whose)" }
        let since = (failedSince.map { " since \($0)" } ?? "") + whose
        return lostBlocks.map { "lost \(Format.count($0, "block")), known\(since)" } ?? "\(level) FAILED\(since)"
    }
}
