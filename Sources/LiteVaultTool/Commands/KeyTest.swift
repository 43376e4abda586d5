internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

/// `litevault key test`: shows whether a secret opens a keyring, and its database.
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

    @Option(
        name: .shortAndLong,
        help: .init("Also open this database.", valueName: "path"), completion: .file(),
        transform: PathArgument.literal)
    var database: String?

    @Option(help: .init("Try this slot only.", valueName: "number"))
    var slot: Int?

    @OptionGroup(title: "Cipher settings of the database") var cipher: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(keyring.key)
        if let database {
            try Preflight.requireEncryption()
            try Preflight.requireEncrypted(database)
        }
        let unlocked = try session.unlock(keyring.path, keyring.key, keyring.method, slot: slot)
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
