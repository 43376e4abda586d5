internal import ArgumentParser
internal import Foundation
internal import LiteVault
internal import LiteVaultBackup

/// `litevault restore`: a snapshot into a new file.
struct Restore: VaultCommand {
    static let configuration = configured(
        "restore", "Write a snapshot of a repository into a new file; needs no database key.",
        """
        The newest snapshot, one by its id, or the last that was taken at a time or before. Every block is compared \
        with its hash while it is written, and the file gets the name DEST only when it is whole. It has the key that \
        the database had at that time. Where the log was followed and segments of it are missing or damaged that belong \
        to the time, nothing is restored (65), and the newest time that can be reached is told.
        """,
        examples: [
            "litevault restore --repository /backup/vaults --database vault.db restored.db",
            "litevault restore --repository /backup/vaults --snapshot 3f2a90c1 restored.db",
            "litevault restore --repository /backup/vaults --at 2026-11-21T12:30:00Z restored.db",
        ])

    @Argument(help: "The file to make. It must not exist.", completion: .file(), transform: PathArgument.literal)
    var dest: String

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(help: .init("The database; needed where the repository has several.", valueName: "name"))
    var database: String?

    @Option(help: .init("The snapshot: the start of its id, or 'latest' (default).", valueName: "id"))
    var snapshot: String?

    @Option(
        help: .init(
            "The state at this time: the last snapshot before it, and what was followed since (UTC without a zone). "
                + "'latest-reachable': the newest of which nothing is missing.",
            valueName: "time"),
        transform: TimeArgument.selection(parsing:))
    var at: SnapshotSelection?

    @OptionGroup(title: "Secret of the repository") var secret: KeyOptions<RepositorySecretRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if at != nil, snapshot != nil { throw ValidationError("give --snapshot or --at, not both") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.claim(secret)
        try Preflight.requireAbsent(dest)
        let opened = try session.repository(repository, secret)
        let selection = at ?? SnapshotSelection(id: snapshot)
        let (name, path, progress) = (database, dest, session.backupProgress)
        let warnings = WarningList()
        let (found, reached) = try AsyncWork.wait {
            try await opened.restore(
                selection, database: name, to: path, warning: warnings.add, progress: progress)
        }
        var report = Report()
        report.set("repository", .string(repository.location))
        report.set("authenticated", .bool(opened.isAuthenticated))
        report.set("snapshot", .string(found.id))
        report.set("database", .string(found.database))
        report.set("time", .string(TimeArgument.exact(found.time)))
        if let reached { report.set("log_until", .string(TimeArgument.exact(reached))) }
        let state = reached ?? found.time
        report.set("wanted", .string(selection.wanted(found)))
        report.set("reached", .string(TimeArgument.exact(state)))
        report.set("destination", .string(dest))
        report.addResult(of: dest, session)
        report.say(
            "Restored snapshot \(found.id) of '\(Wording.visible(found.database))', "
                + "taken \(TimeArgument.exact(found.time)), to \(Wording.path(dest)): \(Wording.outcome(of: dest, session))."
        )
        if let reached { report.say("With what was followed of its log until \(TimeArgument.exact(reached)).") }
        if case .at(let time) = selection {
            report.say(
                "Wanted: \(TimeArgument.exact(time)). Reached: the state of \(TimeArgument.exact(state))"
                    + (time > state ? ", the last before it that the repository has." : "."))
        }
        // Whatever they are about: this snapshot is whole.
        report.add(warnings.all, after: nil, session, repository.location)
        report.say("Every block was compared with its hash; \(SnapshotSummary.protection(opened)).")
        return report
    }
}

extension SnapshotSelection {
    /// What `--snapshot` means.
    init(id: String?) {
        if let id, id != "latest" { self = .id(id) } else { self = .latest }
    }

    /// The time that was asked for, as JSON has it.
    fileprivate func wanted(_ snapshot: Snapshot) -> String {
        switch self {
        case .latest: "latest"
        case .latestReachable: "latest-reachable"
        case .at(let time): TimeArgument.exact(time)
        case .id: TimeArgument.exact(snapshot.time)
        }
    }
}
