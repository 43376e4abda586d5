internal import ArgumentParser
internal import LiteVaultBackup

struct Forget: VaultCommand {
    static let configuration = configured(
        "forget", "Remove snapshots that no retention rule keeps, or by their IDs.",
        """
        The rules apply to each database separately. A snapshot stays if at least one rule keeps it. The newest \
        snapshot always stays, and so do the newest one that passed a verification as thorough as any of its database and \
        the newest one that passed a restore test. --snapshot removes the named ones instead, unless one is the last of \
        its database that is known to be good. Time is what the clocks said when the snapshots were taken, and not what \
        they say now. A snapshot that is out of order among these times, by a wrong clock, uses up no period, and is as old \
        as the one after it. --keep-within does not count one pause that is longer than it. With --prune, unreferenced \
        packs are marked for deletion, and \
        deleted by a later run after the grace period. --dry-run shows what would be removed, and why the rest stays.
        """,
        examples: [
            "litevault forget --repository r --keep-last 24 --keep-daily 14 --dry-run",
            "litevault forget --repository r --keep-within 7d --keep-monthly 12 --prune",
            "litevault forget --repository r --snapshot 6a1f 90c2 --dry-run",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(name: .shortAndLong, help: .init("Only the snapshots of this database.", valueName: "name"))
    var database: String?

    @Option(
        name: .customLong("snapshot"), parsing: .upToNextOption,
        help: .init("Remove these snapshots instead: the starts of their IDs.", valueName: "id"))
    var snapshots: [String] = []

    @OptionGroup(title: "Retention rules") var retention: RetentionOptions

    @Flag(help: "Delete packs that no snapshot needs, in two runs.")
    var prune = false

    @Flag(help: "Change nothing; show what would be removed, and why the rest stays.")
    var dryRun = false

    @Option(duration: "How long marked packs are kept before --prune deletes them (default: 24h).")
    var grace: Duration = .seconds(86_400)

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if !snapshots.isEmpty, !retention.rules.isEmpty {
            throw ValidationError("--snapshot cannot be combined with --keep-… options")
        }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let policy = snapshots.isEmpty ? try retention.policy() : nil
        let opened = try session.repository(repository)
        let (ids, name, dryRun, prunes, grace) = (snapshots, database, dryRun, prune, grace)
        let progress = session.backupProgress
        let warnings = WarningList()
        let (decisions, pruned, failure) = try runBlocking {
            () async throws -> ([RetentionDecision], PruneResult?, VaultError?) in
            try await opened.requireDatabase(name)
            let decisions =
                switch (policy, dryRun) {
                case (let policy?, true): try await opened.decide(policy, database: name, warning: warnings.add)
                case (nil, true): try await opened.decide(removing: ids, database: name, warning: warnings.add)
                case (let policy?, false):
                    try await opened.writable().forget(
                        policy, database: name, warning: warnings.add, progress: progress)
                case (nil, false):
                    try await opened.writable().forget(
                        snapshots: ids, database: name, warning: warnings.add, progress: progress)
                }
            guard prunes else { return (decisions, nil, nil) }
            do {
                let pruned = try await opened.writable().prune(grace: grace, dryRun: dryRun, progress: progress)
                return (decisions, pruned, nil)
            } catch let error as VaultError where dryRun {
                // Which snapshots would be removed is known all the same.
                return (decisions, nil, error)
            }
        }

        let kept = decisions.count { $0.keeps }
        let removed = decisions.count - kept
        var report = Report([
            "repository": repository.location, "dry_run": dryRun, "kept": kept, "removed": removed,
            "snapshots": decisions.map(Self.decision), "prune": pruned.map(Self.pruning),
        ])
        for decision in decisions where !decision.keeps || snapshots.isEmpty {
            let snapshot = decision.snapshot
            report.appendLine(
                "\(decision.keeps ? "keep  " : "remove")  \(snapshot.id)  \(Format.exactTime(snapshot.time))  "
                    + "\(Format.visible(snapshot.database))"
                    + (decision.keeps ? "  (\(decision.reasons.joined(separator: ", ")))" : ""))
        }
        SnapshotSummary.warn(ofDatesAhead: decisions.count { $0.isDatedAhead }, in: &report)
        let verb = dryRun ? "Would remove" : "Removed"
        report.appendLine("\(verb) \(Format.count(removed, "snapshot")).")
        if let pruned {
            report.appendLine(
                "\(verb) \(Format.count(pruned.removed, "pack")) (\(Format.size(pruned.removedBytes))); "
                    + "\(Format.count(pruned.pending, "pack")) marked for a later run.")
        }
        session.add(
            warnings.all, of: repository.location, after: "retention was applied to the readable snapshots",
            to: &report)
        if let failure { report.failure = Failure(failure) }
        return report
    }

    private static func decision(_ found: RetentionDecision) -> Members {
        [
            "id": found.snapshot.id, "database": found.snapshot.database,
            "time": Format.exactTime(found.snapshot.time), "keep": found.keeps, "reasons": found.reasons,
        ]
    }

    private static func pruning(_ found: PruneResult) -> Members {
        [
            "kept": found.kept, "doomed": found.pending, "removed": found.removed, "removed_bytes": found.removedBytes,
            "sparse": found.sparse,
        ]
    }
}

struct RetentionOptions: ParsableArguments {
    @Option(name: .customLong("keep-last"), help: .init("Keep the N newest.", valueName: "n"))
    var last: Int?

    @Option(name: .customLong("keep-hourly"), help: .init("Keep the newest of each of N hours.", valueName: "n"))
    var hourly: Int?

    @Option(name: .customLong("keep-daily"), help: .init("Keep the newest of each of N days (UTC).", valueName: "n"))
    var daily: Int?

    @Option(name: .customLong("keep-weekly"), help: .init("Keep the newest of each of N weeks.", valueName: "n"))
    var weekly: Int?

    @Option(name: .customLong("keep-monthly"), help: .init("Keep the newest of each of N months.", valueName: "n"))
    var monthly: Int?

    @Option(name: .customLong("keep-yearly"), help: .init("Keep the newest of each of N years.", valueName: "n"))
    var yearly: Int?

    @Option(
        name: .customLong("keep-within"),
        help: .init("Keep those taken within this time of the newest: 36h, 30d, 8w.", valueName: "time"),
        transform: TimeArgument.duration(parsing:))
    var within: Duration?

    /// The rules as given, not checked.
    fileprivate var rules: RetentionPolicy {
        var policy = RetentionPolicy()
        policy.last = last
        policy.hourly = hourly
        policy.daily = daily
        policy.weekly = weekly
        policy.monthly = monthly
        policy.yearly = yearly
        policy.within = within
        return policy
    }

    /// The rules for the library, checked.
    ///
    /// - Throws: `usage` without any rule, and for numbers below 1.
    fileprivate func policy() throws(Failure) -> RetentionPolicy {
        guard !rules.isEmpty else {
            throw Failure(
                .usage, "no retention rule given",
                remedy:
                    "Give at least one, such as --keep-last 24 or --keep-within 7d, or name snapshots with --snapshot.")
        }
        guard [last, hourly, daily, weekly, monthly, yearly].allSatisfy({ $0 ?? 1 > 0 }) else {
            throw Failure(
                .usage, "--keep-… options take numbers above 0", remedy: "To keep none, leave the option out.")
        }
        return rules
    }
}
