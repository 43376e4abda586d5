internal import ArgumentParser
internal import LiteVault

/// `litevault export`: a copy under another key or with other cipher settings.
struct Export: VaultCommand {
    static let configuration = configured(
        "export", "Copy an encrypted database to another key or other cipher settings.",
        """
        Writes DEST as a new file: a copy that was read back and compared, row by row, before it gets its name. SOURCE \
        is not changed. Without --to-key-… options the copy has the same key; settings that are not given are the \
        engine's defaults, whatever those of SOURCE are.
        """,
        examples: [
            "litevault export vault.db partner.db --key-file mine.key --to-key-file partner.key",
            "litevault export vault.db v3.db --key-file mine.key --to-compatibility 3",
            "litevault export vault.db big-pages.db --key-file mine.key --page-size 16384",
        ])

    @Argument(help: "The encrypted database.", completion: .file(), transform: PathArgument.literal)
    var source: String

    @Argument(
        help: "The encrypted database to make. It must not exist.", completion: .file(), transform: PathArgument.literal
    )
    var dest: String

    @OptionGroup(title: "Key of the source") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Key of the copy") var copyKey: KeyOptions<CopyKeyRole>
    @OptionGroup(title: "Cipher settings of the source") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Cipher settings of the copy") var written: CipherOptions<WrittenSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try session.claim(copyKey)
        try Preflight.requireEncryption()
        try Preflight.requireEncrypted(source)
        try Preflight.requireAbsent(dest)
        let old = try session.key(key, for: source)
        let new = try session.keyIfGiven(copyKey, for: dest, confirms: true) ?? old
        let settings = try read.settings()
        try written.withSettings(for: dest, key: new) { target in
            try DatabaseFile(source).export(
                to: dest, key: old, settings: settings, newKey: new, newSettings: target, progress: session.progress)
        }

        var report = Report()
        report.set("source", .string(source))
        report.set("destination", .string(dest))
        report.addResult(of: dest, session)
        report.say("Exported \(Wording.path(source)) to \(Wording.path(dest)): \(Wording.outcome(of: dest, session)).")
        report.say(Wording.verifiedCopy)
        return report
    }
}
