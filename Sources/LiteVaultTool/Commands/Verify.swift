internal import ArgumentParser
internal import LiteVault

/// `litevault verify`: whether a database is whole.
struct Verify: VaultCommand {
    static let configuration = configured(
        "verify", "Check that a database is whole and unchanged.",
        """
        Authenticates every page, those in the write-ahead log included, looks for bytes that are missing at the end or \
        follow it, and runs integrity_check and foreign_key_check. Tells a wrong key from a damaged first page where a \
        later page decides. It can run while the database is in use, and repairs and writes nothing: a log or journal that is \
        pending is read through. Plaintext databases need no \
        key; their pages carry nothing to authenticate. That a file or a page was replaced by an older version of \
        itself no check inside the file can find.
        """,
        examples: [
            "litevault verify vault.db", "litevault verify vault.db --key-file ~/.vault-key",
            "litevault verify vault.db --key-file ~/.vault-key --json | jq .checks",
        ])

    @Argument(help: "The database.", completion: .file(), transform: PathArgument.literal)
    var database: String

    @OptionGroup(title: "Key") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the database") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try Preflight.requireSource(database)
        let key = try session.keyIfEncrypted(key, database)
        let found = try DatabaseFile(database).verify(key: key, settings: read.settings(), progress: session.progress)
        let checks = CheckSummary.checks(of: found, isEncrypted: key != nil)

        var report = Report()
        report.set("database", .string(database))
        report.set("encrypted", .bool(key != nil))
        report.set("intact", .bool(found.isIntact))
        report.set("checks", .array(checks.map(\.json)))
        report.set("size", .integer(found.fileSize))
        report.set("seconds", .number(session.elapsed))
        let verdict = found.isIntact ? "intact" : "NOT intact"
        report.say("\(Wording.path(database)): \(verdict), verified in \(Wording.duration(session.elapsed))")
        for check in checks { check.add(to: &report) }
        report.add(found.pending)
        if !found.isIntact {
            report.failure = Failure(
                .damaged, Wording.count(found.problems.count, "problem") + " found", path: database,
                remedy: "Restore a backup. A copy of the file as it is may help to rescue what can still be read.")
        }
        return report
    }
}
