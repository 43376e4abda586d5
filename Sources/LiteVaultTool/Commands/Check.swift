internal import ArgumentParser
internal import Foundation
internal import LiteVault
internal import LiteVaultBackup

/// `litevault check`: whether a repository is whole, and its snapshots are databases.
struct Check: VaultCommand {
    static let configuration = configured(
        "check", "Check a repository; with a database key also that its snapshots are databases.",
        """
        Without a database key: the authentication and hashes of all documents and block maps, the order of the \
        snapshots, whether the repository was rolled back since this machine saw it, and that every block is where it \
        should be; with --read-data every byte. With the key: --authenticate verifies the pages of the newest snapshot \
        of each database, --restore-test restores it and runs integrity_check, foreign_key_check and --assert \
        statements, each of which has to give a value that is not 0. Results are kept and shown by 'snapshots'.
        """,
        examples: [
            "litevault check --repository /backup/vaults --read-data",
            "litevault check --repository /backup/vaults --restore-test --key-file ~/.vault-key"
                + " --assert 'SELECT count(*) > 0 FROM account'",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Flag(help: "Read every byte and compare it with its hash.")
    var readData = false

    @Flag(help: "Authenticate the pages of the newest snapshots.")
    var authenticate = false

    @Flag(help: "Restore the newest snapshots into temporary files, and check them as databases.")
    var restoreTest = false

    @Option(
        name: .customLong("assert"),
        help: .init("SQL that has to give a true value, after --restore-test.", valueName: "sql"))
    var assertions: [String] = []

    @Option(help: .init("The database to authenticate or restore (default: all).", valueName: "name"))
    var database: String?

    @Option(help: .init("The snapshot to authenticate or restore: the start of its id.", valueName: "id"))
    var snapshot: String?

    @OptionGroup(title: "Secret of the repository") var secret: KeyOptions<RepositorySecretRole>
    @OptionGroup(title: "Key of the databases") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the databases") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if !assertions.isEmpty, !restoreTest { throw ValidationError("--assert needs --restore-test") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.claim(secret)
        try session.claim(key)
        let opened = try session.repository(repository, secret)
        var options = CheckOptions()
        options.readsData = readData
        options.authenticates = authenticate
        options.restores = restoreTest
        options.assertions = assertions
        options.databases = database.map { [$0] }
        options.selection = SnapshotSelection(id: snapshot)
        options.progress = session.backupProgress
        if authenticate || restoreTest {
            options.key = try session.keyIfGiven(key, for: repository.location)
            if options.key != nil { try Preflight.requireEncryption() }
            options.settings = try read.settings()
        }
        let chosen = options
        let found = try AsyncWork.wait { try await opened.check(chosen) }
        return report(found, opened, session)
    }

    /// How deep it was looked, in words.
    private func depth(_ found: CheckReport) -> String {
        var parts = ["documents and block maps", readData ? "every block" : "that every block is there"]
        let inside = Wording.count(
            found.snapshots.count { [.pages, .restore].contains($0.verification.level) }, "database")
        if restoreTest {
            parts.append("\(inside) restored and checked")
        } else if authenticate {
            parts.append("the pages of \(inside)")
        }
        return parts.joined(separator: "; ")
    }

    private func report(_ found: CheckReport, _ opened: Repository, _ session: Session) -> Report {
        var report = Report()
        report.set("repository", .string(repository.location))
        report.set("protection", .string(found.protection.rawValue))
        report.set(
            "rollback", ["compared": JSONValue(found.remembered), "unknown": JSONValue(found.unremembered)])
        report.set("intact", .bool(found.isIntact))
        report.set(
            "problems",
            .array(found.problems.map { ["path": .string($0.path), "message": .string($0.message)] }))
        report.set(
            "snapshots",
            .array(
                found.snapshots.map {
                    [
                        "id": .string($0.snapshot.id), "database": .string($0.snapshot.database),
                        "verification": SnapshotSummary.json($0.verification),
                    ]
                }))
        report.set("size", .integer(found.packBytes))
        report.set("unused", JSONValue(found.unused))
        report.set("recorded", .bool(found.isRecorded))
        report.set("seconds", .number(session.elapsed))
        report.add(found.warnings, after: nil, session, repository.location)
        let verdict = found.isIntact ? "intact" : "NOT intact"
        report.say("\(Wording.path(repository.location)): \(verdict), checked in \(Wording.duration(session.elapsed))")
        report.row(
            "snapshots", "\(found.snapshots.count), \(found.snapshots.count { $0.verification.passed }) of them whole")
        report.row(
            "size", Wording.size(found.packBytes) + (found.unused > 0 ? ", \(found.unused) packs not needed" : ""))
        report.row("looked at", depth(found))
        report.row("protection", SnapshotSummary.protection(opened))
        report.row(
            "rollback",
            found.unremembered == 0
                ? "compared with what this machine remembers"
                : "\(found.unremembered) databases were not seen by this machine before: nothing to compare them with")
        for problem in found.problems.prefix(20) {
            report.row("FAILED", Wording.visible("\(problem.path): \(problem.message)"))
        }
        if found.problems.count > 20 { report.row("", "… and \(found.problems.count - 20) more") }
        if !found.isIntact {
            report.failure = Failure(
                .damaged, Wording.count(found.problems.count, "problem") + " found", path: repository.location,
                remedy: "Take new snapshots into another repository first; those that are whole can be restored.")
        }
        return report
    }
}
