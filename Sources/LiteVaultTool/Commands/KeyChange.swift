internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

/// `litevault key change`: gives a slot another secret.
struct KeyChange: VaultCommand {
    static let configuration = configured(
        "change", "Give a slot of a keyring another secret, such as a new passphrase.",
        """
        SLOT keeps its number and name. The database is not touched. The old secret still opens older copies of the \
        keyring: if someone else may know it, remove the slot with 'litevault key remove --rekey' instead. New \
        passphrases need \(PassphraseRule.text).
        """,
        examples: [
            "litevault key change vault.db.keys 1",
            "litevault key change vault.db.keys 2 --kind recovery --unlock recovery",
        ])

    @OptionGroup var keyring: UnlockOptions
    @OptionGroup(title: "Opening the keyring") var trust: TrustOptions

    @Argument(help: .init("The number of the slot, as 'litevault key list' shows it.", valueName: "slot"))
    var number: Int

    @OptionGroup(title: "The slot") var slot: SlotOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(keyring.key, slot.secret)
        var unlocked = try session.unlock(keyring.path, keyring.key, keyring.method)
        try session.trustIfGiven(&unlocked, trust.fingerprints())
        let new = try session.prepare(slot, for: keyring.path)
        let changed = try unlocked.change(number, to: new.slot)
        session.remember(unlocked)
        let result = try SlotResult(keyring.path, unlocked, changed, new.code)
        var report = Report(result.members)
        report.appendLine("Changed slot \(changed.id) of \(Format.visible(keyring.path)): \(result.slot.line).")
        result.addLines(to: &report)
        report.appendLine("Older copies of the keyring still open with the old secret.")
        return report
    }
}
