internal import ArgumentParser
internal import LiteVault

/// `litevault migrate`: an old SQLCipher file format becomes the current one.
struct Migrate: VaultCommand {
    static let configuration = configured(
        "migrate", "Bring a database of SQLCipher 1 to 3 to the current file format.",
        """
        The settings of the old file are found by trying those of each version; give them (--compatibility, --source-…) \
        where they were not the defaults. A copy in the current format is written beside DATABASE, verified, and takes \
        its place in one step. The key stays the same. A database that is in the current format is left alone.
        """,
        examples: [
            "litevault migrate old.db --key-file ~/.vault-key",
            "litevault migrate old.db --key-file ~/.vault-key --compatibility 3 --source-kdf-iterations 10000",
            "litevault migrate old.db --key-file ~/.vault-key --page-size 8192",
        ])

    @Argument(help: "The encrypted database.", completion: .file(), transform: PathArgument.literal)
    var database: String

    @OptionGroup(title: "Key") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the old file") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Cipher settings of the new file") var written: CipherOptions<WrittenSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try Preflight.requireEncryption()
        try Preflight.requireEncrypted(database)
        let key = try session.key(key, for: database)
        let file = DatabaseFile(database)
        let found = try file.probe(key: key, trying: read.settings())
        // Asked for nothing else than the format that it has: the wish is fulfilled, as often as a script repeats it.
        let isCurrent = found == CipherSettings() && written.settings(salt: nil) == CipherSettings()
        if !isCurrent {
            _ = try written.withSettings(for: database, key: key) { target in
                try file.migrate(key: key, settings: found, newSettings: target, progress: session.progress)
            }
        }

        var report = Report()
        report.set("database", .string(database))
        report.set("migrated", .bool(!isCurrent))
        if !isCurrent { report.set("from", CipherSummary(settings: found).json) }
        report.addResult(of: database, session, verified: !isCurrent)
        guard !isCurrent else {
            report.say("\(Wording.path(database)) is in the current format already: nothing was done.")
            return report
        }
        report.say("Migrated \(Wording.path(database)): \(Wording.outcome(of: database, session)).")
        report.say("It was: \(CipherSummary(settings: found).line).")
        report.say(Wording.verifiedCopy)
        report.say("Programs with SQLCipher 3 or older can no longer open it.")
        return report
    }
}
