internal import ArgumentParser
internal import LiteVault

struct Migrate: VaultCommand {
    static let configuration = configured(
        "migrate", "Convert a database of SQLCipher 1, 2 or 3 to the current file format.",
        """
        The settings of the old file are detected by trying each version's defaults; if it does not use defaults, give \
        its settings with --compatibility and --source-… options. The new file is written beside DATABASE, verified, \
        and replaces it atomically. The key stays the same. A database in the current format is left unchanged.
        """,
        examples: [
            "litevault migrate old.db --key-file ~/.vault-key",
            "litevault migrate old.db --compatibility 3 --source-kdf-iterations 10000",
            "litevault migrate old.db --key-file ~/.vault-key --page-size 8192",
        ])

    @OptionGroup var database: DatabaseOptions<OnlyArgument>
    @OptionGroup(title: "Cipher settings of the new file") var written: CipherOptions<WrittenSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try session.reserveKeySources(database.key)
        try Preflight.requireEncrypted(
            path, remedy: "There is nothing to migrate. 'litevault encrypt' encrypts it in the current format.")
        try Preflight.requireDistinct([("DATABASE", path), ("--salt-file", written.saltFile)])
        let given = try database.cipher.settings()
        let key = try session.key(database.key, for: path, settings: given)
        let file = DatabaseFile(path)
        let found = try file.probe(key: key, trying: given)
        // A script may repeat the command: a database in the current format is a success.
        let isCurrent = found == CipherSettings() && written.settings(salt: nil) == CipherSettings()
        if !isCurrent {
            _ = try written.withSettings(for: path, key: key) { settings in
                try file.migrate(key: key, settings: found, newSettings: settings, progress: session.progress)
            }
        }

        let new = WrittenFile(path, session, verified: !isCurrent)
        var report = Report(
            ["database": path, "migrated": !isCurrent, "from": isCurrent ? nil : found.members], new.members)
        guard !isCurrent else {
            report.appendLine("\(Format.visible(path)) already has the current format; nothing was done.")
            return report
        }
        report.appendLine("Migrated \(Format.visible(path)): \(new.summary).")
        report.appendLine("Old settings: \(found.line).")
        report.appendLine(WrittenFile.comparison)
        report.appendLine("Programs with SQLCipher 3 or older can no longer open it.")
        return report
    }
}
