internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage keyrings: a database's random key, and the passphrases and others that open it.",
        discussion: """
            A keyring is a small file beside a database. Each of its slots opens it: a passphrase, a recovery code, a \
            colleague's public key, a key management service, a file. Slots are changed without touching the database.

            EXAMPLES:
              litevault encrypt notes.db vault.db --new-keyring vault.db.keys
              litevault key add vault.db.keys --kind recovery
              litevault key list vault.db.keys
              litevault verify vault.db --keyring vault.db.keys
              litevault key remove vault.db.keys 1 --rekey vault.db

            \(ExitStatus.helpPointer)
            """,
        subcommands: [
            KeyInit.self, KeyAdd.self, KeyRemove.self, KeyChange.self, KeyList.self, KeyRecover.self, KeyTest.self,
            KeyExportRecipient.self, KeyAudit.self,
        ])
}

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

    @Argument(path: "The keyring to create.", valueName: "keyring")
    var path: String

    @OptionGroup(title: "The first slot") var slot: SlotOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(slot.secret)
        try Preflight.requireAbsent(path)
        let new = try session.prepare(slot, for: path)
        let unlocked = try session.keyring(path).create(with: [new.slot])
        let first = unlocked.slot
        var report = try session.report(unlocked, first, new.code) {
            $0.appendLine("Created \(Format.visible(path)). Slot \(first.id): \(first.line).")
        }
        report.appendLine("Without this file and a slot, its databases are lost: keep copies, and add a second slot.")
        return report
    }
}

struct KeyList: VaultCommand {
    static let configuration = configured(
        "list", "Show the slots of a keyring.",
        """
        Needs no secret and shows none. Changes by others are detected only when the keyring is opened: \
        'litevault key test'.
        """,
        examples: ["litevault key list vault.db.keys", "litevault key list vault.db.keys --json"])

    @Argument(path: "The keyring.", valueName: "keyring")
    var path: String

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try Preflight.requireSource(path)
        let keyring = Keyring(path)
        let slots = try keyring.slots()
        let generation = try keyring.generation()
        var report = Report(["keyring": path, "generation": generation, "slots": slots.map(\.members)])
        report.appendLine(
            "\(Format.visible(path)): \(Format.count(slots.count, "slot")), generation \(generation)")
        for slot in slots {
            report.appendRow("slot \(slot.id)", slot.line)
            if let recipient = slot.recipient { report.appendRow("", recipient) }
        }
        return report
    }
}

struct KeyTest: VaultCommand {
    static let configuration = configured(
        "test", "Check that a secret opens a keyring, and a database with it.",
        """
        Opens KEYRING, authenticates all of it, and reports the slot that the secret opened. With --database, also \
        reads that database. Nothing is written. Test each slot from time to time, recovery codes above all.
        """,
        examples: [
            "litevault key test vault.db.keys",
            "litevault key test vault.db.keys --unlock recovery --database vault.db",
            "litevault key test vault.db.keys --unlock identity \\",
            "    --key-file ~/.vault-identity",
        ])

    @OptionGroup var keyring: UnlockOptions

    @Option(name: .shortAndLong, path: "Also open this database.")
    var database: String?

    @Option(help: .init("Try this slot only.", valueName: "number"))
    var slot: Int?

    @OptionGroup(title: "Cipher settings of the database") var cipher: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(keyring.opening.key)
        if let database { try Preflight.requireEncrypted(database) }
        let unlocked = try session.unlock(keyring.path, keyring.opening.key, keyring.opening.method, slot: slot)
        if let database {
            let settings = try cipher.settings()
            let key = try unlocked.databaseKey(for: database, settings: settings)
            let info = try DatabaseFile(database).info(key: key, settings: settings)
            guard info.content != nil else {
                throw Failure(.keyRejected, "the keyring does not open the database", path: database)
            }
        }
        let (slot, proof) = (unlocked.slot, try KeyringProofSummary(unlocked))
        var report = Report([
            "keyring": keyring.path, "slot": slot.members, "keys": unlocked.keyCount, "keyring_proof": proof.members,
            "database": database, "seconds": session.elapsed,
        ])
        report.appendLine("Slot \(slot.id) opens \(Format.visible(keyring.path)): \(slot.line).")
        if let database { report.appendLine("It opens \(Format.visible(database)).") }
        proof.add(to: &report)
        return report
    }
}

struct KeyExportRecipient: VaultCommand {
    static let configuration = configured(
        "export-recipient", "Print the public key of an identity, for others to add as a recipient.",
        """
        Reads an identity made by 'litevault keygen --format identity', from a file or another source named \
        with a --key-… option. What is printed is not secret.
        """,
        examples: [
            "litevault keygen --format identity ~/.vault-identity",
            "litevault key export-recipient --key-file ~/.vault-identity",
        ])

    @OptionGroup(title: "Identity") var key: KeyOptions<IdentityRole>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(key)
        let secret = try session.slotSecret(key, nil, for: "the identity", confirms: false)
        let identity = try secret.withBytes { try KeyringIdentity(contentsOf: $0) }
        let recipient = try identity.recipient().description
        var report = Report(["recipient": recipient])
        report.appendLine(recipient)
        return report
    }
}
