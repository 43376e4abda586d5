internal import ArgumentParser
internal import LiteVault

struct Decrypt: VaultCommand {
    static let configuration = configured(
        "decrypt", "Convert an encrypted database to a plaintext one.",
        """
        Writes DEST as a new file that only its owner can read. Before it appears, it is read back and compared with \
        SOURCE, row by row. SOURCE is not changed. Anyone with access to DEST can read it: decrypt asks for \
        confirmation on a terminal, and requires --yes elsewhere.
        """,
        examples: [
            "litevault decrypt vault.db notes.db",
            "litevault decrypt vault.db notes.db --yes --key-file ~/.vault-key",
            "litevault decrypt old.db notes.db --compatibility 3",
        ])

    @OptionGroup var source: DatabaseOptions<SourceArgument>

    @Argument(path: "The plaintext database to create. It must not exist.")
    var dest: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(source.key)
        try Preflight.requireEncrypted(
            source.path, remedy: "It is already what 'decrypt' makes. 'litevault backup' copies it.")
        try Preflight.requireAbsent(dest)
        try Preflight.requireDistinct([("SOURCE", source.path), ("DEST", dest)])
        let (from, to) = (Format.visible(source.path), Format.visible(dest))
        try session.confirm("Write the content of \(from) to \(to) in plaintext?", consented: yes)
        let settings = try source.cipher.settings()
        let key = try session.key(source.key, for: source.path, settings: settings)
        try DatabaseFile(source.path).decrypt(
            to: dest, key: key, settings: settings, progress: session.progress)

        let file = WrittenFile(dest, session)
        var report = Report(["source": source.path, "destination": dest], file.members)
        report.appendLine("Decrypted \(from) to \(to): \(file.summary).")
        report.appendLine(WrittenFile.comparison)
        report.appendLine("\(to) is not encrypted; only its owner can read it (mode 0600).")
        return report
    }
}
