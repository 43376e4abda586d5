internal import ArgumentParser
internal import LiteVault

/// `litevault backup`: one consistent copy of a database that may be in use.
struct Backup: VaultCommand {
    static let configuration = configured(
        "backup", "Copy a database that may be in use into one new file.",
        """
        The copy is one committed state of SOURCE. In WAL mode writers go on meanwhile; in the other journal modes they \
        wait until it is done. It is verified before it gets the name DEST, and has the key of SOURCE unless a --to-key-… \
        option gives it another. Plaintext databases need no key, and their copies are plaintext.
        """,
        examples: [
            "litevault backup vault.db /backup/vault.db --key-file ~/.vault-key",
            "litevault backup vault.db offsite.db --key-file ~/.vault-key --to-key-file ~/.offsite-key",
            "litevault backup vault.db vault-$(date +%F).db --key-credential vault-key --json",
        ])

    @Argument(help: "The database.", completion: .file(), transform: PathArgument.literal)
    var source: String

    @Argument(help: "The file to make. It must not exist.", completion: .file(), transform: PathArgument.literal)
    var dest: String

    @OptionGroup(title: "Key of the source") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Key of the copy") var copyKey: KeyOptions<CopyKeyRole>
    @OptionGroup(title: "Cipher settings of the source") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try session.claim(copyKey)
        try Preflight.requireSource(source)
        try Preflight.requireAbsent(dest)
        let key = try session.keyIfEncrypted(key, source)
        let new = try session.keyIfGiven(copyKey, for: dest, confirms: true)
        try DatabaseFile(source).backup(
            to: dest, key: key, settings: read.settings(), newKey: new, progress: session.progress)

        var report = Report()
        report.set("source", .string(source))
        report.set("destination", .string(dest))
        report.set("encrypted", .bool(key != nil))
        report.addResult(of: dest, session)
        report.say("Backed up \(Wording.path(source)) to \(Wording.path(dest)): \(Wording.outcome(of: dest, session)).")
        report.say("Verified: the copy was opened and checked before it got its name.")
        if key == nil { report.say("Neither of them is encrypted.") }
        return report
    }
}
