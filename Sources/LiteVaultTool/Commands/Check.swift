internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultSystem

struct Check: VaultCommand {
    static let configuration = configured(
        "check", "Check a repository; with a database key, also its databases.",
        """
        Without a database key: checks the authentication and hashes of all documents and block maps, the order of the \
        snapshots, that the repository was not rolled back since this machine last saw it, and that every block \
        exists; with --read-data, every byte. With the key: --authenticate verifies the pages of the newest snapshot \
        of each database; --restore-test restores it and runs integrity_check, foreign_key_check and the --assert \
        queries, each of which must return a value other than 0. Foreign keys that refer to missing rows, which SQLite \
        allows, are remarks. If a snapshot cannot be opened, the others \
        are still checked. A snapshot that failed stays failed until a check at least as thorough passes. The results are \
        recorded in the repository and shown by 'snapshots', unless the repository cannot be written or --read-only is given.
        """,
        examples: [
            "litevault check --repository /backup/vaults --read-data",
            "litevault check --repository r --restore-test --assert 'SELECT 1'",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Flag(help: "Read every byte and check it against its hash.")
    var readData = false

    @Flag(help: "Authenticate the pages of the newest snapshots.")
    var authenticate = false

    @Flag(help: "Restore the newest snapshots to temporary files, and check them as databases.")
    var restoreTest = false

    @Option(
        name: .customLong("assert"),
        help: .init("Query that must return a true value (with --restore-test).", valueName: "sql"))
    var assertions: [String] = []

    @Option(
        name: .shortAndLong, help: .init("The database to authenticate or restore (default: all).", valueName: "name"))
    var database: String?

    @Option(help: .init("The snapshot to authenticate or restore: the start of its ID.", valueName: "id"))
    var snapshot: String?

    @Flag(help: "Write nothing to the repository: do not record the results, and use the system's temporary directory.")
    var readOnly = false

    @OptionGroup(title: "Key of the databases") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the databases") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if !assertions.isEmpty, !restoreTest { throw ValidationError("--assert requires --restore-test") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret, key)
        var repository = repository
        // A directory repository contains the standard spool directory.
        if readOnly, repository.stores.directories.spool == nil {
            repository.stores.directories.spool = try LocalDirectories.temporary()
        }
        let opened = try session.repository(repository)
        let name = database
        try runBlocking { try await opened.requireDatabase(name) }
        guard authenticate || restoreTest || (name == nil && snapshot == nil) else {
            throw Failure(
                .usage, "--database and --snapshot choose what --authenticate and --restore-test read",
                remedy: "Without these options a repository is checked as a whole: leave --database and --snapshot out."
            )
        }
        var options = CheckOptions()
        options.readsData = readData
        options.authenticates = authenticate
        options.restores = restoreTest
        options.assertions = assertions
        options.databases = database.map { [$0] }
        options.selection = SnapshotSelection(id: snapshot)
        options.recordsResults = !readOnly
        options.progress = session.backupProgress
        if authenticate || restoreTest {
            let keys = try session.keysIfGiven(key, for: repository.location)
            options.key = keys.first
            options.otherKeys = Array(keys.dropFirst())
            if options.key != nil { try Preflight.requireEncryption() }
            options.settings = try read.settings()
        }
        let chosen = options
        let found: CheckReport
        do { found = try runBlocking { try await opened.check(chosen) } } catch let error as VaultError
            where error.code == .noSpace && !readOnly
        {
            var failure = Failure(error)
            failure.remedy =
                "Free space and try again, or check with --read-only, which uses the system's temporary directory (or "
                + "--spool-directory) and records nothing."
            throw failure
        }
        return report(found, opened, session)
    }

    private func report(_ found: CheckReport, _ opened: Repository, _ session: Session) -> Report {
        let location = repository.location
        let remarks = found.remarks.map { ["path": $0.path, "message": $0.message] as Members }
        var report = Report([
            "repository": location, "protection": found.protection.rawValue,
            "rotation_unfinished": opened.secrets.isRotationUnfinished,
            "rollback": ["compared": found.remembered, "unknown": found.unremembered] as Members,
            "intact": found.isIntact, "problems": found.problems.map(Self.problem),
            "remarks": remarks, "known": found.recorded.map(Self.failure),
            "lost": found.lost.map(Self.failure),
            "unverified": found.unverified.map { Self.unverified($0.snapshot, $0.error) },
            "snapshots": found.snapshots.map { member($0, $1, found) },
            "size": found.packBytes, "unused": found.unused, "recorded": found.isRecorded, "seconds": session.elapsed,
        ])
        session.add(found.warnings, of: location, after: nil, to: &report)

        let verdict =
            !found.isIntact
            ? "NOT intact" : found.unverified.isEmpty && found.partlyTested.isEmpty ? "intact" : "no damage found"
        report.appendLine("\(Format.visible(location)): \(verdict), checked in \(Format.duration(session.elapsed))")
        let scope = authenticate || restoreTest ? "the structure of " : ""
        report.appendRow(
            "snapshots",
            "\(scope)\(found.snapshots.count), \(found.snapshots.count { $0.verification.passed }) of them intact")
        for one in found.tested.prefix(20) {
            let isPart = found.partlyTested.contains { $0.snapshot.id == one.snapshot.id }
            let isKnown = found.recorded.contains { $0.snapshot.id == one.snapshot.id }
            let verdict =
                isPart
                ? "no damage found, not all was checked"
                : !one.passed ? "NOT intact" : isKnown ? "no damage found, but it failed before" : "intact"
            report.appendRow(
                restoreTest ? "restored" : "authenticated",
                Format.visible("\(one.snapshot.database) \(one.snapshot.id): \(verdict)"))
        }
        if found.tested.count > 20 { report.appendRow("", "… and \(found.tested.count - 20) more") }
        report.appendRow(
            "size",
            Format.size(found.packBytes)
                + (found.unused > 0 ? ", \(Format.count(found.unused, "unreferenced pack"))" : ""))
        report.appendRow("checked", depth(found))
        report.appendRow("protection", SnapshotSummary.protection(opened))
        report.appendRow(
            "rollback",
            found.unremembered == 0
                ? "compared with what this machine has seen"
                : "\(Format.count(found.unremembered, "database")) never seen by this machine: nothing to compare with")
        if !found.isRecorded { report.appendRow("recorded", Format.visible(unrecorded(found))) }
        appendFailures(found, to: &report)
        for remark in found.remarks.prefix(20) {
            report.appendRow("remark", Format.visible("\(remark.path): \(remark.message)"))
        }
        if found.remarks.count > 20 { report.appendRow("", "… and \(found.remarks.count - 20) more") }
        if !found.problems.isEmpty {
            report.failure = Failure(
                .damaged, Format.count(found.problems.count, "problem") + " found", path: location,
                remedy: remedy(found))
        } else if let first = found.recorded.first {
            report.failure = Failure(
                .damaged, Self.known(found.recorded), path: location, remedy: first.advice.commandLineText)
        } else if let first = found.unverified.first {
            var failure = Failure(first.error)
            let count = Format.count(found.unverified.count, "snapshot")
            failure.message = "\(count) could not be verified; the others were: \(failure.message)"
            report.failure = failure
        }
        return report
    }

    /// That results are not in the repository, and why.
    private func unrecorded(_ found: CheckReport) -> String {
        if readOnly { return "nothing, as --read-only asks for" }
        let error = found.recordingError
        let amount = found.recordedDatabases == 0 ? "nothing" : "not all"
        return ([amount] + [error?.path, error?.message].compactMap(\.self)).joined(separator: ": ")
    }

    private static func problem(_ found: CheckReport.Problem) -> Members {
        ["path": found.path, "message": found.message, "cause": found.isContent ? "content" : "objects"]
    }

    /// A snapshot that failed before.
    private static func failure(_ found: UnrestorableSnapshot) -> Members {
        [
            "id": found.snapshot.id, "database": found.snapshot.database, "state": found.state.rawValue,
            "message": found.message,
        ]
    }

    /// A snapshot that could not be authenticated or restored.
    private static func unverified(_ snapshot: Snapshot, _ error: VaultError) -> Members {
        [
            "id": snapshot.id, "database": snapshot.database, "code": FailureCode(error.code).rawValue,
            "message": error.message,
        ]
    }

    /// A snapshot, and what this check did with it.
    private func member(
        _ snapshot: Snapshot, _ verification: SnapshotVerification, _ found: CheckReport
    ) -> Members {
        let isTested = found.tested.contains { $0.snapshot.id == snapshot.id }
        let partly = found.partlyTested.first { $0.snapshot.id == snapshot.id }?.reached
        let level: SnapshotVerification.Level =
            partly ?? (isTested ? (restoreTest ? .restore : .pages) : (readData ? .data : .structure))
        return [
            "id": snapshot.id, "database": snapshot.database, "checked": level.rawValue,
            "verification": verification.members,
        ]
    }

    /// What helps depends on what is damaged: the repository, or a database that was stored as it was.
    private func remedy(_ found: CheckReport) -> String {
        var parts: [String] = []
        if found.problems.contains(where: { !$0.isContent }) {
            parts.append(
                "First take new snapshots into another repository. Then see 'litevault repair'. Intact snapshots can be restored."
            )
        }
        if found.problems.contains(where: \.isContent),
            let first = found.found.first(where: \.verification.concernsContent)
        {
            parts.append(
                parts.isEmpty
                    ? first.advice.commandLineText
                    : "Of snapshot \(first.snapshot.id) the content is damaged: \(first.advice.commandLineText)")
        }
        return parts.joined(separator: " ")
    }

    /// Why snapshots are not intact in which this check found no problem.
    private static func known(_ recorded: [UnrestorableSnapshot]) -> String {
        let lost = recorded.count { $0.verification.lostBlocks != nil }
        let failed = recorded.count - lost
        var parts: [String] = []
        if failed > 0 {
            parts.append(
                "\(Format.count(failed, "snapshot")) failed a check before, which this one did not repeat as thoroughly"
            )
        }
        if lost > 0 {
            parts.append(
                "\(Format.count(lost, "snapshot")) \(lost == 1 ? "has" : "have") lost blocks, as a repair has recorded, and no newer one may be intact"
            )
        }
        return parts.joined(separator: "; ")
    }

    private func appendFailures(_ found: CheckReport, to report: inout Report) {
        let rows =
            found.problems.map { ("FAILED", "\($0.path): \($0.message)") }
            + found.recorded.map { ("FAILED before", "\($0.snapshot.object): \($0.message)") }
            + found.unverified.map { ("UNVERIFIED", "\($0.snapshot.database) \($0.snapshot.id): \($0.error.message)") }
            + found.lost.map { ("known loss", "\($0.snapshot.object): \($0.message)") }
        for (title, text) in rows.prefix(20) { report.appendRow(title, Format.visible(text)) }
        if rows.count > 20 { report.appendRow("", "… and \(rows.count - 20) more") }
    }

    private func depth(_ found: CheckReport) -> String {
        var parts = ["documents and block maps", readData ? "every block" : "existence of every block"]
        let inside = Format.count(found.tested.count, "database")
        if restoreTest {
            parts.append("\(inside) restored")
        } else if authenticate {
            parts.append("pages of \(inside)")
        }
        return parts.joined(separator: "; ")
    }
}
