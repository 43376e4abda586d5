internal import ArgumentParser
internal import Foundation
internal import LiteVaultBackup

/// `litevault restore`: writes a snapshot to a new file.
struct Restore: VaultCommand {
    static let configuration = configured(
        "restore", "Restore a snapshot from a repository to a new file.",
        """
        Needs no database key. Restores the newest snapshot, the one with a given ID, or the state at a given time. \
        Every block is checked against its hash, and DEST appears only when it is complete. It has the key that the \
        database had at that time. If segments of the followed log that are needed for that time are missing or \
        damaged, nothing is restored, the exit status is 65, and the newest time that can be restored is shown.
        """,
        examples: [
            "litevault restore --repository /backup/vaults --database vault.db new.db",
            "litevault restore --repository /backup/vaults --snapshot 3f2a90c1 new.db",
            "litevault restore --repository r --at 2026-11-21T12:30:00Z new.db",
        ])

    @Argument(help: "The file to create. It must not exist.", completion: .file(), transform: PathArgument.literal)
    var dest: String

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(help: .init("The database, if the repository has several.", valueName: "name"))
    var database: String?

    @Option(help: .init("The snapshot: the start of its ID, or 'latest' (default).", valueName: "id"))
    var snapshot: String?

    @Option(
        help: .init(
            "Restore the state at this time (UTC without a zone), or at the newest time without missing segments: "
                + "'latest-reachable'.",
            valueName: "time"),
        transform: TimeArgument.selection(parsing:))
    var at: SnapshotSelection?

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let repository: String
        let authenticated: Bool
        let snapshot: String
        let database: String
        let time: String
        let logUntil: String?
        let wanted: String
        let reached: String
        let destination: String
    }

    func validate() throws {
        if at != nil, snapshot != nil { throw ValidationError("--snapshot cannot be combined with --at") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        try Preflight.requireAbsent(dest)
        let opened = try session.repository(repository)
        let selection = at ?? SnapshotSelection(id: snapshot)
        let (name, path, progress) = (database, dest, session.backupProgress)
        let warnings = WarningList()
        let (found, logUntil) = try runBlocking {
            try await opened.restore(
                selection, database: name, to: path, warning: warnings.add, progress: progress)
        }

        let state = logUntil ?? found.time
        let file = WrittenFile(dest, session)
        var report = Report(
            Result(
                repository: repository.location, authenticated: opened.isAuthenticated, snapshot: found.id,
                database: found.database, time: Format.exactTime(found.time),
                logUntil: logUntil.map(Format.exactTime), wanted: selection.wanted(found),
                reached: Format.exactTime(state), destination: dest),
            file)
        report.appendLine(
            "Restored snapshot \(found.id) of '\(Format.visible(found.database))', "
                + "taken \(Format.exactTime(found.time)), to \(Format.visible(dest)): \(file.summary).")
        if let logUntil { report.appendLine("The followed log was applied until \(Format.exactTime(logUntil)).") }
        if case .at(let time) = selection {
            report.appendLine(
                "Wanted: \(Format.exactTime(time)). Restored: \(Format.exactTime(state))"
                    + (time > state ? ", the last state before it in the repository." : "."))
        }
        // Warnings concern other objects: this snapshot is intact.
        session.add(warnings.all, of: repository.location, after: nil, to: &report)
        report.appendLine("Every block matches its hash; \(SnapshotSummary.protection(opened)).")
        return report
    }
}

extension SnapshotSelection {
    /// The meaning of `--snapshot`.
    init(id: String?) {
        if let id, id != "latest" { self = .id(id) } else { self = .latest }
    }

    /// The wanted time in results.
    fileprivate func wanted(_ snapshot: Snapshot) -> String {
        switch self {
        case .latest: "latest"
        case .latestReachable: "latest-reachable"
        case .at(let time): Format.exactTime(time)
        case .id: Format.exactTime(snapshot.time)
        }
    }
}
