internal import ArgumentParser
internal import LiteVault

struct Export: VaultCommand {
    static let configuration = configured(
        "export", "Copy an encrypted database to another key or other cipher settings.",
        """
        Writes DEST as a new file. Before it appears, it is read back and compared with SOURCE, row by row. SOURCE is \
        not changed. Without a --to-key-… option the copy has the same key. Cipher settings that are not given are the \
        engine's defaults, not those of SOURCE.
        """,
        examples: [
            "litevault export vault.db new.db --key-file a.key --to-key-file b.key",
            "litevault export vault.db v3.db --key-file a.key --to-compatibility 3",
            "litevault export vault.db big.db --key-file a.key --page-size 16384",
        ])

    @OptionGroup var source: DatabaseOptions<SourceArgument>

    @Argument(path: "The encrypted database to create. It must not exist.")
    var dest: String

    @OptionGroup(title: "Key of the copy") var copyKey: KeyOptions<CopyKeyRole>
    @OptionGroup(title: "Key of the copy") var trust: TrustOptions
    @OptionGroup(title: "Cipher settings of the copy") var written: CipherOptions<WrittenSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(source.key, copyKey)
        try Preflight.requireEncrypted(
            source.path, remedy: "Copy it with 'litevault backup', or encrypt it with 'litevault encrypt'.")
        try Preflight.requireAbsent(dest)
        try Preflight.requireDistinct([("SOURCE", source.path), ("DEST", dest), ("--salt-file", written.saltFile)])
        let settings = try source.cipher.settings()
        let key = try session.key(source.key, for: source.path, settings: settings)
        let newKey =
            try session.keyIfGiven(copyKey, for: dest, confirms: true, trusted: trust.fingerprints()) ?? key
        try written.withSettings(for: dest, key: newKey) { newSettings in
            try DatabaseFile(source.path).export(
                to: dest, key: key, settings: settings, newKey: newKey, newSettings: newSettings,
                progress: session.progress)
        }

        let file = WrittenFile(dest, session)
        var report = Report(["source": source.path, "destination": dest], file.members)
        session.addKeyWarnings(to: &report)
        report.appendLine("Exported \(Format.visible(source.path)) to \(Format.visible(dest)): \(file.summary).")
        report.appendLine(WrittenFile.comparison)
        return report
    }
}
