internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

struct KeyAdd: VaultCommand {
    static let configuration = configured(
        "add", "Add a slot to a keyring, or a recipient to many.",
        """
        The --key-… options open the keyring, the --new-key-… options give the secret of the new slot. A recovery code \
        is generated and shown once. A recipient needs only the public key ('litevault key export-recipient'). The \
        secret of a file or credential has to be random ('litevault keygen'). New passphrases need \
        \(PassphraseRule.text).

        A recipient can be added to many keyrings: name several, or use --from-file, --glob, or --own-keyrings with a \
        list of databases. Those that have it already are left as they are. After a kill, run the same command again.
        """,
        examples: [
            "litevault key add vault.db.keys",
            "litevault key add vault.db.keys --kind recovery --name 'in the safe'",
            "litevault key add vault.db.keys --kind recipient \\",
            "    --recipient litevault-recipient-1:…",
            "litevault key add vault.db.keys --kind file --new-key-file /etc/vault.key",
            "litevault key add vault.db.keys --kind command --wrap-command 'kms encrypt' \\",
            "    --new-key-command 'kms decrypt'",
            "litevault key add --from-file databases.txt --own-keyrings --kind recipient \\",
            "    --recipient litevault-recipient-1:…",
        ])

    @Argument(path: "The keyring, or several.")
    var keyring: [String] = []

    @OptionGroup(title: "Several keyrings") var fleet: FleetOptions
    @OptionGroup(title: "Opening the keyring") var opening: OpeningOptions
    @OptionGroup(title: "Opening the keyring") var trust: TrustOptions
    @OptionGroup(title: "The new slot") var slot: SlotOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if keyring.isEmpty, fleet.fromFile == nil, fleet.glob.isEmpty {
            throw ValidationError("missing argument KEYRING")
        }
        if isFleet, slot.kind != .recipient {
            throw ValidationError("only --kind recipient can be added to several keyrings at once")
        }
    }

    private var isFleet: Bool { keyring.count != 1 || fleet.areGiven }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(opening.key, slot.secret)
        guard !isFleet, let path = keyring.first else { return try addToAll(session) }
        var unlocked = try session.unlock(path, opening.key, opening.method, trusted: trust.fingerprints())
        let new = try session.prepare(slot, for: path)
        let added = try unlocked.add(new.slot)
        return try session.report(unlocked, added, new.code) {
            $0.appendLine("Added slot \(added.id) to \(Format.visible(path)): \(added.line).")
        }
    }

    private func addToAll(_ session: Session) throws -> Report {
        let recipient = try KeyringRecipient(slot.recipient ?? "")
        var members = try fleet.members(keyring, leavesCompanionsOut: fleet.ownKeyrings)
        if fleet.ownKeyrings { members = members.map { FleetMember(path: Keyring.path(beside: $0.path)) } }
        let unlock = try session.keyringUnlock(opening.key, opening.method, for: Format.count(members.count, "keyring"))
        let journal = try fleet.journal(of: FleetAddition.change(recipient))
        let addition = FleetAddition(
            recipient: recipient, slotName: slot.slotName,
            keyrings: OwnKeyrings(
                unlock: unlock, forgetsOldKeys: false, trusted: try trust.fingerprints(), reporter: session.reporter),
            journal: journal, isDryRun: fleet.dryRun)
        let result = try session.runFleet(
            of: members, options: fleet, phase: "adding", journal: journal, work: addition.run)
        return result.report("keyring", "Added the recipient to")
    }
}

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
        try session.reserveKeySources(keyring.opening.key, slot.secret)
        let path = keyring.path
        var unlocked = try session.unlock(
            path, keyring.opening.key, keyring.opening.method, trusted: trust.fingerprints())
        let new = try session.prepare(slot, for: path)
        let changed = try unlocked.change(number, to: new.slot)
        var report = try session.report(unlocked, changed, new.code) {
            $0.appendLine("Changed slot \(changed.id) of \(Format.visible(path)): \(changed.line).")
        }
        report.appendLine("Older copies of the keyring still open with the old secret.")
        return report
    }
}

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

    @Argument(path: "The keyring.", valueName: "keyring")
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
        var unlocked = try session.unlock(path, code, .recovery, trusted: trust.fingerprints())
        let secret = try session.slotSecret(passphrase, "passphrase", for: path, confirms: true)
        var slot = try NewKeyringSlot.passphrase(secret, allowingWeak: allowWeak)
        slot.name = slotName
        let set = try replace.map { try unlocked.change($0, to: slot) } ?? unlocked.add(slot)
        let verb = replace == nil ? "Added" : "Changed"
        return try session.report(unlocked, set, nil) {
            $0.appendLine("\(verb) slot \(set.id) of \(Format.visible(path)): \(set.line).")
        }
    }
}
