internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSystem

struct Repair: VaultCommand {
    static let configuration = configured(
        "repair", "Repair a damaged repository, and report what is lost.",
        """
        Objects that can be derived from others are rebuilt. Damaged manifests and segments are moved to 'damaged/' in \
        the repository, never deleted; a manifest with a single wrong byte is restored. Damaged packs are no longer \
        reused, so the next snapshots store their blocks again. Lost snapshots, points in time and blocks are listed \
        exactly, and the exit status is 65. They are recorded: from then on they are shown, but they are not problems \
        any more. An interrupted repair is completed by the next one.
        """,
        examples: [
            "litevault repair --repository /backup/vaults --dry-run",
            "litevault repair --repository r --read-data --repository-secret-file s",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(name: .shortAndLong, help: .init("Only the snapshots of this database.", valueName: "name"))
    var database: String?

    @Flag(help: "Read every byte, to find damage inside packs and segments.")
    var readData = false

    @Flag(help: "Change nothing; show what would be done.")
    var dryRun = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let store = try repository.stores.store(repository.location)
        let secret = try session.repositorySecret(repository.secret, for: repository.location)
        var options = RepairOptions()
        options.database = database
        options.readsData = readData
        options.dryRun = dryRun
        options.progress = session.backupProgress
        let chosen = options
        let (local, accepts) = (repository.local, repository.accepts)
        let (identity, found) = try runBlocking {
            let identity: RepairReport.Action?
            let opened: Repository
            if chosen.dryRun {
                let preview = try await Repository.openAsRestored(
                    store, secret: secret, local: local, acceptsReplacement: accepts)
                identity = preview.action
                opened = preview.repository
            } else {
                identity = try await Repository.restoreIdentity(store, secret: secret, local: local)
                opened = try await Repository.open(store, secret: secret, local: local, acceptsReplacement: accepts)
            }
            try await opened.requireDatabase(chosen.database)
            return (identity, try await opened.writable().repair(chosen))
        }
        return report([identity].compactMap(\.self) + found.actions, found, session)
    }

    private func report(_ actions: [RepairReport.Action], _ found: RepairReport, _ session: Session) -> Report {
        var report = Report([
            "repository": repository.location, "dry_run": dryRun, "read_data": readData, "whole": found.isWhole,
            "actions": actions.map(Self.action),
            "lost": [
                "snapshots": found.lostSnapshots.map(Self.lostSnapshot),
                "segments": found.lostSegments.map(Self.lostSegment), "blocks": found.lostBlocks.map(Self.lostBlocks),
            ] as Members,
            "seconds": session.elapsed,
        ])
        appendText(actions, found, to: &report)
        session.add(found.unfinished, of: repository.location, after: nil, to: &report)
        if let first = found.unfinished.first {
            report.failure = Failure(
                FailureCode(first.code), first.message, path: first.path, remedy: first.advice.commandLineText)
        } else if !found.isWhole {
            report.failure = Failure(
                .damaged, dryRun ? "data is lost" : "data is lost; the rest of the repository is usable again",
                path: repository.location,
                remedy: found.lostBlocks.isEmpty || dryRun
                    ? "The losses are listed above. What could be set aside is in 'damaged/'."
                    : "Take a snapshot now: it stores the lost blocks of the current state again. "
                        + "'litevault forget --snapshot' removes a snapshot that is of no use any more.")
        }
        return report
    }

    private static func action(_ action: RepairReport.Action) -> Members {
        [
            "action": action.kind.rawValue, "path": action.path, "reason": action.reason,
            "moved_to": Nullable(action.movedTo),
        ]
    }

    private static func lostSnapshot(_ lost: RepairReport.LostSnapshot) -> Members {
        [
            "database": Nullable(lost.database), "sequence": lost.sequence, "path": lost.path,
            "after": Nullable(lost.after.map(Format.exactTime)), "before": Nullable(lost.before.map(Format.exactTime)),
            "reason": lost.reason,
        ]
    }

    private static func lostSegment(_ lost: RepairReport.LostSegment) -> Members {
        [
            "database": Nullable(lost.database), "path": lost.path,
            "after": Nullable(lost.after.map(Format.exactTime)), "until": Format.exactTime(lost.until),
            "reason": lost.reason,
        ]
    }

    private static func lostBlocks(_ lost: RepairReport.LostBlocks) -> Members {
        [
            "snapshot": lost.snapshot.id, "database": lost.snapshot.database, "count": lost.count,
            "known": lost.isKnown,
            // First and last block of each range.
            "ranges": lost.blocks.map { [$0.lowerBound, $0.upperBound - 1] },
        ]
    }

    private func appendText(
        _ actions: [RepairReport.Action], _ found: RepairReport, to report: inout Report
    ) {
        for action in actions {
            let moved = action.movedTo.map { " (to \($0))" } ?? ""
            report.appendRow(action.kind.rawValue, Format.visible("\(action.path): \(action.reason)\(moved)"))
        }
        for lost in found.lostSnapshots {
            let times = Self.range(lost.after, lost.before)
            report.appendRow(
                "LOST snapshot",
                Format.visible("\(lost.database ?? lost.path) \(lost.sequence), \(times): \(lost.reason)"))
        }
        for lost in found.lostSegments {
            let times = Self.range(lost.after, lost.until)
            report.appendRow(
                "LOST times", Format.visible("\(lost.database ?? lost.path), \(times): \(lost.reason)"))
        }
        for lost in found.lostBlocks {
            let ranges = lost.blocks.prefix(10).map { range in
                range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound - 1)"
            }
            report.appendRow(
                lost.isKnown ? "known loss" : "LOST blocks",
                Format.visible("\(lost.snapshot.database) \(lost.snapshot.id): \(lost.count), namely ")
                    + ranges.joined(separator: ", ") + (lost.blocks.count > 10 ? " …" : ""))
        }
        guard !actions.isEmpty || !found.isWhole else {
            report.appendLine(
                "No \(found.lostBlocks.isEmpty ? "" : "new ")damage found\(readData ? "" : "; --read-data also finds damage inside packs and segments")."
            )
            return
        }
        report.appendLine(
            "\(Format.count(actions.count, "action")) \(dryRun ? "would be taken" : "taken"); "
                + (found.isWhole ? "nothing is lost." : found.hasNewLosses ? "data is lost." : "problems remain."))
    }

    private static func range(_ after: Date?, _ before: Date?) -> String {
        switch (after, before) {
        case (let after?, let before?): "after \(Format.exactTime(after)), until \(Format.exactTime(before))"
        case (let after?, nil): "after \(Format.exactTime(after))"
        case (nil, let before?): "until \(Format.exactTime(before))"
        case (nil, nil): "time unknown"
        }
    }
}
