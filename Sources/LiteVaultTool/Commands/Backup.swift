internal import ArgumentParser
internal import LiteVault

struct Backup: VaultCommand {
    static let configuration = configured(
        "backup", "Copy a database that may be in use into a new file.",
        """
        The copy is one committed state of SOURCE. In WAL mode, writers continue; in other journal modes they wait \
        until the copy is complete. The copy is verified before it appears as DEST. It has the key of SOURCE unless a \
        --to-key-… option sets another one. A plaintext database needs no key, and its copy is plaintext unless a \
        --to-key-… option sets one.
        """,
        examples: [
            "litevault backup vault.db /backup/vault.db --key-file ~/.vault-key",
            "litevault backup vault.db off.db --key-file a.key --to-key-file b.key",
            "litevault backup vault.db vault-$(date +%F).db --key-credential vault",
        ])

    @OptionGroup var source: DatabaseOptions<SourceArgument>

    @Argument(path: "The file to create. It must not exist.")
    var dest: String

    @OptionGroup(title: "Key of the copy") var copyKey: KeyOptions<CopyKeyRole>
    @OptionGroup(title: "Key of the copy") var trust: TrustOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(source.key, copyKey)
        try Preflight.requireSource(source.path)
        try Preflight.requireAbsent(dest)
        try Preflight.requireDistinct([("SOURCE", source.path), ("DEST", dest)])
        let settings = try source.cipher.settings()
        let key = try session.keyIfEncrypted(source, settings: settings)
        let newKey = try session.keyIfGiven(copyKey, for: dest, confirms: true, trusted: trust.fingerprints())
        let isChecked = try DatabaseFile(source.path).backup(
            to: dest, key: key, settings: settings, newKey: newKey, progress: session.progress)

        let file = WrittenFile(dest, session)
        var report = Report(
            [
                "source": source.path, "destination": dest, "encrypted": (newKey ?? key) != nil,
                // Whether structure and indexes were checked, not only the bytes.
                "checked": isChecked,
            ], file.members)
        session.addKeyWarnings(to: &report)
        report.appendLine("Backed up \(Format.visible(source.path)) to \(Format.visible(dest)): \(file.summary).")
        report.appendLine(
            isChecked
                ? "Verified: the copy has the content of its source, and its indexes agree with its tables."
                : "The copy has the content of its source. Its structure was not checked, as it needs functions or collations "
                    + "of its application: run PRAGMA integrity_check there.")
        if key == nil {
            report.appendLine(
                newKey == nil
                    ? "Neither of them is encrypted."
                    : "\(Format.visible(source.path)) is plaintext; the copy is encrypted.")
        }
        return report
    }
}
