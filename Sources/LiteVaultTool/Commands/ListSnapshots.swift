internal import ArgumentParser
internal import Foundation
internal import LiteVaultBackup

/// `litevault snapshots`: what a repository has.
struct ListSnapshots: VaultCommand {
    static let configuration = configured(
        "snapshots", "List the snapshots of a repository.",
        """
        Each with its id, time, size, what it added to the repository and the result of its last verification. \
        Manifests are authenticated where the repository's secret is given, and compared with what this machine \
        remembers. What is damaged, missing or rolled back is told after the list, and the exit status is 65 then; so are \
        segments of a followed log. Where the log was followed, it is told until when every point in time after a \
        snapshot can be restored, and after which gap a snapshot was taken.
        """,
        examples: [
            "litevault snapshots --repository /backup/vaults",
            "litevault snapshots --repository /backup/vaults --database vault.db --json | jq .snapshots",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(help: .init("Only those of this database.", valueName: "name"))
    var database: String?

    @OptionGroup(title: "Secret of the repository") var secret: KeyOptions<RepositorySecretRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(secret)
        let opened = try session.repository(repository, secret)
        let name = database
        let warnings = WarningList()
        let (found, reached) = try AsyncWork.wait {
            let found = try await opened.snapshots(database: name)
            found.warnings.forEach(warnings.add)
            let logs = try await opened.followed(Array(found))
            logs.warnings.forEach(warnings.add)
            return (found, logs.until)
        }
        var report = Report()
        report.set("repository", .string(repository.location))
        report.set("authenticated", .bool(opened.isAuthenticated))
        report.set("snapshots", .array(found.map { SnapshotSummary.json($0, followedUntil: reached[$0.id]) }))
        for (database, snapshots) in Dictionary(grouping: found, by: \.database).sorted(by: { $0.key < $1.key }) {
            report.say("\(Wording.visible(database)):")
            report.say(SnapshotSummary.heading)
            for snapshot in snapshots {
                report.say("  " + SnapshotSummary.line(snapshot, followedUntil: reached[snapshot.id]))
            }
        }
        let now = Date()
        SnapshotSummary.warn(ofDatesAhead: found.count { $0.isDatedAhead(of: now) }, in: &report)
        report.say("\(Wording.count(found.count, "snapshot")), \(SnapshotSummary.protection(opened)).")
        report.add(
            warnings.all, after: "\(Wording.count(found.count, "snapshot")) can be read", session, repository.location)
        return report
    }
}
