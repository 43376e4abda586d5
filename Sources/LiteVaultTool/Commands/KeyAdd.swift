internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

/// `litevault key add`: adds a slot.
struct KeyAdd: VaultCommand {
    static let configuration = configured(
        "add", "Add a slot to a keyring.",
        """
        The --key-… options open the keyring, the --new-key-… options give the secret of the new slot. A recovery code \
        is generated and shown once. A recipient needs only the public key ('litevault key export-recipient'). The \
        secret of a file or credential has to be random ('litevault keygen'). New passphrases need \
        \(PassphraseRule.text).
        """,
        examples: [
            "litevault key add vault.db.keys",
            "litevault key add vault.db.keys --kind recovery --name 'in the safe'",
            "litevault key add vault.db.keys --kind recipient --recipient litevault-recipient-1:…",
            "litevault key add vault.db.keys --kind file --new-key-file /etc/vault.key",
            "litevault key add vault.db.keys --kind command --wrap-command 'kms encrypt' --new-key-command 'kms decrypt'",
        ])

    @OptionGroup var keyring: UnlockOptions
    @OptionGroup(title: "The new slot") var slot: SlotOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(keyring.key)
        try session.reserveKeySources(slot.secret)
        var unlocked = try session.unlock(keyring.path, keyring.key, keyring.method)
        let new = try session.prepare(slot, for: keyring.path)
        let added = try unlocked.add(new.slot)
        let result = try SlotResult(keyring.path, added, new.code)
        var report = Report(result)
        report.appendLine("Added slot \(added.id) to \(Format.visible(keyring.path)): \(result.slot.line).")
        result.addCode(to: &report)
        return report
    }
}
