internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSystem

struct SnapshotsCommand: VaultCommand {
    static let configuration = configured(
        "snapshots", "List the snapshots of a repository.",
        """
        Shows the ID, time, size, bytes added and last verification of each snapshot and, if it failed, since when. With the \
        repository secret, manifests are authenticated. The list is compared with the snapshots that this machine has \
        seen. Damaged, missing or rolled-back snapshots and log segments, and snapshots that fail their verification, are \
        listed at the end, and the exit status is 65. Losses that 'repair' has recorded are only shown. If the log \
        was followed, the list shows until when every commit after a snapshot can be restored, and the gap before \
        a snapshot.
        """,
        examples: [
            "litevault snapshots --repository /backup/vaults",
            "litevault snapshots --repository r --database vault.db --json | jq .snapshots",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(name: .shortAndLong, help: .init("Only the snapshots of this database.", valueName: "name"))
    var database: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let opened = try session.repository(repository)
        let name = database
        let warnings = WarningList()
        let (found, followed) = try runBlocking {
            try await opened.requireDatabase(name)
            let found = try await opened.snapshots(database: name)
            found.warnings.forEach(warnings.add)
            found.unrestorable.compactMap(\.warning).forEach(warnings.add)
            let logs = try await opened.followed(Array(found))
            logs.warnings.forEach(warnings.add)
            return (found, logs.until)
        }

        let snapshots = found.map { SnapshotSummary($0, followedUntil: followed[$0.id]) }
        var report = Report([
            "repository": repository.location, "authenticated": opened.isAuthenticated,
            "rotation_unfinished": opened.secrets.isRotationUnfinished, "snapshots": snapshots.map(\.members),
        ])
        for list in found.byDatabase {
            report.appendLine("\(Format.visible(list[0].database)):")
            report.appendLine(SnapshotSummary.heading)
            for snapshot in list.map({ SnapshotSummary($0, followedUntil: followed[$0.id]) }) {
                report.appendLine(snapshot.line)
            }
        }
        SnapshotSummary.warn(ofDatesAhead: snapshots.count(where: \.isDatedAhead), in: &report)
        let count = Format.count(snapshots.count, "snapshot")
        report.appendLine("\(count), \(SnapshotSummary.protection(opened)).")
        session.add(warnings.all, of: repository.location, after: "\(count) can be read", to: &report)
        return report
    }
}
