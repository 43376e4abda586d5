internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

/// `litevault key init`: creates a keyring.
struct KeyInit: VaultCommand {
    static let configuration = configured(
        "init", "Create a keyring with a new random key and a first slot.",
        """
        KEYRING must not exist. The key in it is for new databases, and for existing ones by 'litevault rekey \
        --new-keyring'. Without a slot that opens, a keyring and its databases are lost: add a second one, such as a \
        recovery code. New passphrases need \(PassphraseRule.text).
        """,
        examples: [
            "litevault key init vault.db.keys",
            "litevault key init vault.db.keys --kind recovery --json",
            "litevault key init shared.keys --kind recipient \\",
            "    --recipient litevault-recipient-1:…",
        ])

    @Argument(
        help: .init("The keyring to create.", valueName: "keyring"), completion: .file(),
        transform: PathArgument.literal)
    var path: String

    @OptionGroup(title: "The first slot") var slot: SlotOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(slot.secret)
        try Preflight.requireAbsent(path)
        let new = try session.prepare(slot, for: path)
        let unlocked = try session.keyring(path).create(with: [new.slot])
        session.remember(unlocked)
        let result = try SlotResult(path, unlocked, unlocked.slot, new.code)
        var report = Report(result.members)
        report.appendLine("Created \(Format.visible(path)). Slot \(unlocked.slot.id): \(result.slot.line).")
        result.addLines(to: &report)
        report.appendLine("Without this file and a slot, its databases are lost: keep copies, and add a second slot.")
        return report
    }
}
