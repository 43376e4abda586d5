internal import ArgumentParser
internal import LiteVault

/// `litevault decrypt`: an encrypted database becomes a plaintext one.
struct Decrypt: VaultCommand {
    static let configuration = configured(
        "decrypt", "Make a plaintext database from an encrypted one.",
        """
        Writes DEST as a new file that only its owner can read: a copy that was read back and compared, row by row, \
        before it gets its name. SOURCE is not changed. Because everybody who gets hold of DEST can read it, this asks \
        on a terminal, and wants --yes elsewhere.
        """,
        examples: [
            "litevault decrypt vault.db notes.db", "litevault decrypt vault.db notes.db --yes --key-file ~/.vault-key",
            "litevault decrypt old.db notes.db --compatibility 3 --key-file ~/.vault-key",
        ])

    @Argument(help: "The encrypted database.", completion: .file(), transform: PathArgument.literal)
    var source: String

    @Argument(
        help: "The plaintext database to make. It must not exist.", completion: .file(), transform: PathArgument.literal
    )
    var dest: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup(title: "Key") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the source") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try Preflight.requireEncryption()
        try Preflight.requireEncrypted(source)
        try Preflight.requireAbsent(dest)
        try session.confirm(
            "Write the content of \(Wording.path(source)) to \(Wording.path(dest)) in plaintext?", consented: yes)
        let key = try session.key(key, for: source)
        try DatabaseFile(source).decrypt(to: dest, key: key, settings: read.settings(), progress: session.progress)

        var report = Report()
        report.set("source", .string(source))
        report.set("destination", .string(dest))
        report.addResult(of: dest, session)
        report.say(
            "Decrypted \(Wording.path(source)) into \(Wording.path(dest)): \(Wording.outcome(of: dest, session)).")
        report.say(Wording.verifiedCopy)
        report.say("\(Wording.path(dest)) is not encrypted; only its owner can read it (mode 0600).")
        return report
    }
}
