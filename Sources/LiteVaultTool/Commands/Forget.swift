internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSupport

/// `litevault forget`: retention.
struct Forget: VaultCommand {
    static let configuration = configured(
        "forget", "Remove the snapshots that no rule keeps.",
        """
        The rules apply to each database by itself, and add up: a snapshot stays if one of them wants it. The newest \
        snapshot stays always, and so does the newest that was verified. A snapshot dated in the future, by a clock that was \
        wrong, counts as taken at the time of the snapshot after it. With --prune, packs that no snapshot needs are \
        listed, and removed by a later run after --grace. --dry-run tells what would happen, and why.
        """,
        examples: [
            "litevault forget --repository /backup/vaults --keep-last 24 --keep-daily 14 --dry-run",
            "litevault forget --repository /backup/vaults --keep-within 7d --keep-monthly 12 --prune",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(help: .init("Only the snapshots of this database.", valueName: "name"))
    var database: String?

    @OptionGroup(title: "What stays") var retention: RetentionOptions

    @Flag(help: "Remove packs that no snapshot needs, in two runs.")
    var prune = false

    @Flag(help: "Only tell what would be removed, and why the rest stays.")
    var dryRun = false

    @Option(
        help: .init("How long packs stay after they were listed by --prune (default 24h).", valueName: "time"),
        transform: Duration.seconds(parsing:))
    var grace: Double = 86_400

    @OptionGroup(title: "Secret of the repository") var secret: KeyOptions<RepositorySecretRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(secret)
        let policy = try retention.policy()
        let opened = try session.repository(repository, secret)
        let (name, dryRun, prunes, grace) = (database, dryRun, prune, grace)
        let progress = session.backupProgress
        let warnings = WarningList()
        let (decisions, pruned) = try AsyncWork.wait {
            let decisions = try await opened.forget(
                policy, database: name, dryRun: dryRun, warning: warnings.add, progress: progress)
            let pruned =
                prunes
                ? try await opened.prune(grace: Duration(seconds: grace), dryRun: dryRun, progress: progress) : nil
            return (decisions, pruned)
        }
        var report = Report()
        report.set("repository", .string(repository.location))
        report.set("dry_run", .bool(dryRun))
        report.set("kept", .integer(Int64(decisions.count { $0.keeps })))
        report.set("removed", .integer(Int64(decisions.count { !$0.keeps })))
        report.set("snapshots", .array(decisions.map(Self.json)))
        for decision in decisions {
            let snapshot = decision.snapshot
            report.say(
                "\(decision.keeps ? "keep  " : "remove")  \(snapshot.id)  \(TimeArgument.text(snapshot.time))  "
                    + "\(Wording.visible(snapshot.database))"
                    + (decision.keeps ? "  (\(decision.reasons.joined(separator: ", ")))" : ""))
        }
        SnapshotSummary.warn(ofDatesAhead: decisions.count { $0.isDatedAhead }, in: &report)
        let removed = decisions.count { !$0.keeps }
        report.say("\(dryRun ? "Would remove" : "Removed") \(Wording.count(removed, "snapshot")).")
        if let pruned { Self.add(pruned, to: &report, dryRun) }
        report.add(warnings.all, after: "what could be read was decided about", session, repository.location)
        return report
    }

    private static func json(_ decision: RetentionDecision) -> JSONValue {
        [
            "id": .string(decision.snapshot.id), "database": .string(decision.snapshot.database),
            "time": .string(TimeArgument.text(decision.snapshot.time)), "keep": .bool(decision.keeps),
            "reasons": .array(decision.reasons.map(JSONValue.string)),
        ]
    }

    private static func add(_ pruned: PruneResult, to report: inout Report, _ dryRun: Bool) {
        report.set(
            "prune",
            [
                "kept": JSONValue(pruned.kept), "doomed": JSONValue(pruned.pending),
                "removed": JSONValue(pruned.removed), "removed_bytes": .integer(pruned.removedBytes),
                "sparse": JSONValue(pruned.sparse),
            ])
        report.say(
            "\(dryRun ? "Would remove" : "Removed") \(Wording.count(pruned.removed, "pack")) "
                + "(\(Wording.size(pruned.removedBytes))); \(pruned.pending) more go in a later run.")
    }
}
