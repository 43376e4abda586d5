internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

/// `litevault key recover`: sets a new passphrase with a recovery code.
struct KeyRecover: VaultCommand {
    static let configuration = configured(
        "recover", "Open a keyring with a recovery code, and set a new passphrase.",
        """
        Asks for the recovery code, then twice for the new passphrase, and adds a slot with it. With --replace, the \
        passphrase of that slot is changed instead. The recovery code stays valid: to replace it, too, use 'litevault \
        key change --kind recovery'. New passphrases need \(PassphraseRule.text).
        """,
        examples: [
            "litevault key recover vault.db.keys",
            "litevault key recover vault.db.keys --replace 1",
            "litevault key recover vault.db.keys --key-file code.txt \\",
            "    --new-key-file new.txt",
        ])

    @Argument(help: .init("The keyring.", valueName: "keyring"), completion: .file(), transform: PathArgument.literal)
    var path: String

    @OptionGroup(title: "Recovery code") var code: KeyOptions<RecoveryRole>
    @OptionGroup(title: "Recovery code") var trust: TrustOptions

    @Option(help: .init("Change the passphrase of this slot, instead of adding one.", valueName: "slot"))
    var replace: Int?

    @OptionGroup(title: "New passphrase") var passphrase: KeyOptions<SlotSecretRole>

    @Option(name: .customLong("name"), help: .init("Name of the slot in lists.", valueName: "text"))
    var slotName = ""

    @Flag(help: "Accept a passphrase that is easy to guess.")
    var allowWeak = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(code, passphrase)
        var unlocked = try session.unlock(path, code, .recovery)
        try session.trustIfGiven(&unlocked, trust.fingerprints())
        let secret = try session.slotSecret(passphrase, "passphrase", for: path, confirms: true)
        var slot = try NewKeyringSlot.passphrase(secret, allowingWeak: allowWeak)
        slot.name = slotName
        let set = try replace.map { try unlocked.change($0, to: slot) } ?? unlocked.add(slot)
        session.remember(unlocked)
        let result = try SlotResult(path, unlocked, set, nil)
        var report = Report(result.members)
        report.appendLine(
            "\(replace == nil ? "Added" : "Changed") slot \(set.id) of \(Format.visible(path)):"
                + " \(set.line).")
        result.addLines(to: &report)
        return report
    }
}
