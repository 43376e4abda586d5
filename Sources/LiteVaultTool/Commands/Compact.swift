internal import ArgumentParser
internal import LiteVaultBackup

struct Compact: VaultCommand {
    static let configuration = configured(
        "compact", "Join the segments of followed logs, so that restores read fewer objects.",
        """
        Needs no database key. Segments are joined in windows of 10 seconds, a minute, 10 minutes, an hour, 6 hours and \
        a day, with only the newest version of each page. The sources are removed when they are older than --fine, \
        counted back from the newest commit: then the last commit of each minute can be restored; beyond --minutes, that \
        of each hour. A damaged segment is neither joined nor removed. Safe beside followers, restores, copies and other \
        compactions.
        """,
        examples: [
            "litevault compact --repository /backup/vaults",
            "litevault compact --repository r --database vault.db --fine 7d \\",
            "    --minutes 90d --dry-run",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(name: .shortAndLong, help: .init("Only the segments of this database.", valueName: "name"))
    var database: String?

    @Option(duration: "How long every commit can be restored (default: 24h).")
    var fine: Duration = .seconds(86_400)

    @Option(duration: "How long the last commit of each minute can be restored (default: 30d).")
    var minutes: Duration = .seconds(30 * 86_400)

    @Option(duration: "Minimum age of a joined segment before its sources are removed (default: 1h).")
    var grace: Duration = .seconds(3600)

    @Flag(help: "Change nothing; show what would be joined and removed.")
    var dryRun = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        var policy = CompactionPolicy()
        (policy.fine, policy.minutes, policy.grace) = (fine, minutes, grace)
        let opened = try session.repository(repository)
        let (name, dryRun, progress, chosen) = (database, dryRun, session.backupProgress, policy)
        let found = try runBlocking {
            try await opened.requireDatabase(name)
            return try await opened.writable().compact(chosen, database: name, dryRun: dryRun, progress: progress)
        }
        var report = Report([
            "repository": repository.location, "dry_run": dryRun, "joined": found.joined,
            "joined_bytes": found.joinedBytes, "removed": found.removed, "removed_bytes": found.removedBytes,
        ])
        report.appendLine(
            dryRun
                ? "Would store \(Format.count(found.joined, "joined segment"))."
                : "Stored \(Format.count(found.joined, "joined segment")) (\(Format.size(found.joinedBytes))).")
        report.appendLine(
            "\(dryRun ? "Would remove" : "Removed") \(Format.count(found.removed, "segment")) "
                + "(\(Format.size(found.removedBytes))).")
        session.add(
            found.warnings, of: repository.location, after: "the other segments were joined", to: &report)
        return report
    }
}
