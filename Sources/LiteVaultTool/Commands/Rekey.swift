internal import ArgumentParser
internal import LiteVault

/// `litevault rekey`: changes the key of a database.
struct Rekey: VaultCommand {
    static let configuration = configured(
        "rekey", "Change the key of an encrypted database.",
        """
        A copy under the new key is written beside DATABASE, verified, and replaces it atomically, with the same mode \
        and owner. DATABASE always opens with either the old key or the new one. No other process may have DATABASE \
        open. Existing copies and backups keep the old key.
        """,
        examples: [
            "litevault rekey vault.db",
            "litevault rekey vault.db --key-file old.key --new-key-file new.key",
            "litevault rekey vault.db --new-key-file new.hex --new-key-format hex",
        ])

    @OptionGroup var database: DatabaseOptions<OnlyArgument>
    @OptionGroup(title: "New key") var newKey: KeyOptions<NewKeyRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let database: String
    }

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try session.reserveKeySources(database.key)
        try session.reserveKeySources(newKey)
        try Preflight.requireEncryption()
        try Preflight.requireEncrypted(path)
        let old = try session.key(database.key, for: path)
        let new = try session.key(newKey, for: path, confirms: true)
        try DatabaseFile(path).rekey(
            from: old, to: new, settings: database.cipher.settings(), progress: session.progress)

        let file = WrittenFile(path, session)
        var report = Report(Result(database: path), file)
        report.appendLine("Changed the key of \(Format.visible(path)): \(file.summary).")
        report.appendLine("Verified: the new file was read back under the new key before it replaced the old one.")
        report.appendLine("Existing copies and backups still open with the old key.")
        return report
    }
}
