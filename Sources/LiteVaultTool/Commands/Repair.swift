internal import ArgumentParser
internal import Foundation
internal import LiteVaultBackup

/// `litevault repair`: makes a damaged repository work again, and tells what is lost.
struct Repair: VaultCommand {
    static let configuration = configured(
        "repair", "Set aside what is damaged in a repository, write again what can be, and tell what is lost.",
        """
        Lists that follow from other objects are written again. Manifests and segments that are damaged are moved to \
        'damaged/' in the repository, never removed; a manifest of which one byte changed is put back as it was. Of packs \
        that are damaged nothing is taken over any more: the next snapshots store those blocks again. What is lost is told \
        exactly: which snapshots, which points in time, which blocks; the exit status is 65 then. A repair that was \
        interrupted is finished by the next one. --dry-run changes nothing, and tells what would be done.
        """,
        examples: [
            "litevault repair --repository /backup/vaults --dry-run",
            "litevault repair --repository /backup/vaults --read-data --repository-secret-file ~/.backup-secret",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(help: .init("Only the snapshots of this database.", valueName: "name"))
    var database: String?

    @Flag(help: "Read every byte, so that damage inside of packs and segments is found.")
    var readData = false

    @Flag(help: "Change nothing, and tell what would be done.")
    var dryRun = false

    @OptionGroup(title: "Secret of the repository") var secret: KeyOptions<RepositorySecretRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(secret)
        let store = try StoreFactory.store(repository)
        let given = try session.repositorySecret(secret, repository.location)
        var options = RepairOptions()
        options.database = database
        options.readsData = readData
        options.dryRun = dryRun
        options.progress = session.backupProgress
        let chosen = options
        let (local, accepts) = (repository.local, repository.accepts)
        let (identity, found) = try AsyncWork.wait {
            let identity = try await Repository.restoreIdentity(
                store, secret: given, local: local, dryRun: chosen.dryRun)
            // Without it nothing else can be looked at.
            if identity != nil, chosen.dryRun { return (identity, RepairReport?.none) }
            let opened = try await Repository.open(store, secret: given, local: local, acceptsReplacement: accepts)
            return (identity, try await opened.repair(chosen))
        }
        return report(identity, found, session)
    }

    private func report(
        _ identity: RepairReport.Action?, _ found: RepairReport?, _ session: Session
    ) -> Report {
        let actions = [identity].compactMap(\.self) + (found?.actions ?? [])
        let found = found ?? RepairReport(isDryRun: true, readsData: readData)
        var report = Report()
        report.set("repository", .string(repository.location))
        report.set("dry_run", .bool(dryRun))
        report.set("read_data", .bool(readData))
        report.set("whole", .bool(found.isWhole))
        report.set("actions", .array(actions.map(Self.json)))
        report.set(
            "lost",
            [
                "snapshots": .array(found.lostSnapshots.map(Self.json)),
                "segments": .array(found.lostSegments.map(Self.json)),
                "blocks": .array(found.lostBlocks.map(Self.json)),
            ])
        report.set("seconds", .number(session.elapsed))
        say(actions, found, &report)
        report.add(found.unfinished, after: nil, session, repository.location)
        if let first = found.unfinished.first {
            report.failure = Failure(
                FailureCode(first.code), first.message, path: first.path, remedy: first.advice.commandLineText)
        } else if !found.isWhole {
            report.failure = Failure(
                .damaged, dryRun ? "something is lost, or will be" : "something is lost; the rest works again",
                path: repository.location,
                remedy: found.lostBlocks.isEmpty || dryRun
                    ? "What is told above is no longer in the repository; 'damaged/' has what was set aside."
                    : "Take a snapshot now: it stores the blocks that are lost again, and is whole.")
        }
        return report
    }

    private func say(_ actions: [RepairReport.Action], _ found: RepairReport, _ report: inout Report) {
        for action in actions {
            let moved = action.movedTo.map { " (to \($0))" } ?? ""
            report.row(action.kind.rawValue, Wording.visible("\(action.path): \(action.reason)\(moved)"))
        }
        for one in found.lostSnapshots {
            let times = Self.range(one.after, one.before)
            report.row(
                "LOST snapshot",
                Wording.visible("\(one.database ?? one.path) \(one.sequence), \(times): \(one.reason)"))
        }
        for one in found.lostSegments {
            report.row(
                "LOST times",
                Wording.visible("\(one.database ?? one.path), \(Self.range(one.after, one.until)): \(one.reason)"))
        }
        for one in found.lostBlocks {
            let ranges = one.blocks.prefix(10).map { range in
                range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound - 1)"
            }
            report.row(
                "LOST blocks",
                Wording.visible("\(one.snapshot.database) \(one.snapshot.id): \(one.count) of its blocks: ")
                    + ranges.joined(separator: ", ") + (one.blocks.count > 10 ? " …" : ""))
        }
        let verb = dryRun ? "would be done" : "done"
        report.say(
            actions.isEmpty && found.isWhole
                ? "Nothing is damaged\(readData ? "" : ", as far as that can be seen without --read-data")."
                : "\(Wording.count(actions.count, "thing")) \(verb); "
                    + (found.isWhole ? "nothing is lost." : "something is lost."))
    }

    private static func range(_ after: Date?, _ before: Date?) -> String {
        switch (after, before) {
        case (let after?, let before?): "after \(TimeArgument.exact(after)), to \(TimeArgument.exact(before))"
        case (let after?, nil): "after \(TimeArgument.exact(after))"
        case (nil, let before?): "to \(TimeArgument.exact(before))"
        case (nil, nil): "of an unknown time"
        }
    }

    private static func json(_ action: RepairReport.Action) -> JSONValue {
        [
            "action": .string(action.kind.rawValue), "path": .string(action.path), "reason": .string(action.reason),
            "moved_to": JSONValue(action.movedTo),
        ]
    }

    private static func json(_ one: RepairReport.LostSnapshot) -> JSONValue {
        [
            "database": JSONValue(one.database), "sequence": .integer(Int64(one.sequence)), "path": .string(one.path),
            "after": JSONValue(one.after.map(TimeArgument.exact)),
            "before": JSONValue(one.before.map(TimeArgument.exact)), "reason": .string(one.reason),
        ]
    }

    private static func json(_ one: RepairReport.LostSegment) -> JSONValue {
        [
            "database": JSONValue(one.database), "path": .string(one.path),
            "after": JSONValue(one.after.map(TimeArgument.exact)), "until": .string(TimeArgument.exact(one.until)),
            "reason": .string(one.reason),
        ]
    }

    private static func json(_ one: RepairReport.LostBlocks) -> JSONValue {
        [
            "snapshot": .string(one.snapshot.id), "database": .string(one.snapshot.database),
            "count": JSONValue(one.count),
            "ranges": .array(
                one.blocks.map { .array([.integer(Int64($0.lowerBound)), .integer(Int64($0.upperBound - 1))]) }),
        ]
    }
}
