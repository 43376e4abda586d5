internal import ArgumentParser
internal import LiteVault

/// `litevault rekey`: the same database under another key.
struct Rekey: VaultCommand {
    static let configuration = configured(
        "rekey", "Change the key of an encrypted database.",
        """
        A copy under the new key is written beside DATABASE, verified, and takes its place in one step, with the same \
        mode and owner. Whatever happens on the way, DATABASE opens with the old key or with the new one. Nobody else \
        may have it open meanwhile. Copies made before, backups included, keep the old key.
        """,
        examples: [
            "litevault rekey vault.db",
            "litevault rekey vault.db --key-file old.key --new-key-file new.key",
            "litevault rekey vault.db --key-prompt --new-key-file new.key --new-key-format hex",
        ])

    @Argument(help: "The encrypted database.", completion: .file(), transform: PathArgument.literal)
    var database: String

    @OptionGroup(title: "Key") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "New key") var newKey: KeyOptions<NewKeyRole>
    @OptionGroup(title: "Cipher settings of the database") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try session.claim(newKey)
        try Preflight.requireEncryption()
        try Preflight.requireEncrypted(database)
        let old = try session.key(key, for: database)
        let new = try session.key(newKey, for: database, confirms: true)
        try DatabaseFile(database).rekey(from: old, to: new, settings: read.settings(), progress: session.progress)

        var report = Report()
        report.set("database", .string(database))
        report.addResult(of: database, session)
        report.say("Changed the key of \(Wording.path(database)): \(Wording.outcome(of: database, session)).")
        report.say("Verified: the file was read back under the new key before it replaced the old one.")
        report.say("Copies made before, backups included, still open with the old key.")
        return report
    }
}
