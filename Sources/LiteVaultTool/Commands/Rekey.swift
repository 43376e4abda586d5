internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultKeyring

struct Rekey: VaultCommand {
    static let configuration = configured(
        "rekey", "Change the key of an encrypted database, or of many.",
        """
        A copy under the new key is written beside DATABASE, verified, and replaces it atomically, with the same mode \
        and owner. DATABASE always opens with either the old key or the new one. No other process may have DATABASE \
        open: close its pools and connections, or change the key through the pool. Existing copies and backups keep \
        the old key.

        With several databases, --from-file, --glob or --own-keyrings, several are changed at a time. Those in use are \
        skipped, and retried once the others are done. What is done is written to a journal: after a kill, \
        run the same command again. With --own-keyrings the key is a new random one for each database, and the \
        --key-… options open the keyrings; all slots stay.
        """,
        examples: [
            "litevault rekey vault.db",
            "litevault rekey vault.db --key-file old.key --new-key-file new.key",
            "litevault rekey vault.db --new-key-file new.hex --new-key-format hex",
            "litevault rekey --from-file list.txt --own-keyrings --unlock identity \\",
            "    --key-file admin.id",
            "litevault rekey --glob 'tenants/*/data.db' --key-file old \\",
            "    --new-key-file new --journal rekey.journal --dry-run",
        ])

    @Argument(path: "The database, or several.", valueName: "database")
    var paths: [String] = []

    @OptionGroup(title: "Several databases") var fleet: FleetOptions
    @OptionGroup(title: "Key of the database") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the database") var cipher: CipherOptions<ReadSide>
    @OptionGroup(title: "New key") var newKey: KeyOptions<NewKeyRole>
    @OptionGroup(title: "New key") var trust: TrustOptions

    @Flag(help: "With --own-keyrings: delete older keys, which only old copies of the databases need.")
    var forgetOldKeys = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if paths.isEmpty, fleet.fromFile == nil, fleet.glob.isEmpty {
            throw ValidationError("missing argument DATABASE")
        }
        if forgetOldKeys, !fleet.ownKeyrings { throw ValidationError("--forget-old-keys requires --own-keyrings") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(key, newKey)
        try Preflight.requireEncryption()
        guard paths.count == 1, !fleet.areGiven, let path = paths.first else { return try rekeyAll(session) }
        try Preflight.requireEncrypted(path)
        let (database, settings) = (DatabaseFile(path), try cipher.settings())
        let old = try session.key(key, for: path, settings: settings)
        let new = try session.key(newKey, for: path, confirms: true, trusted: trust.fingerprints())
        try database.rekey(from: old, to: new, settings: settings, progress: session.progress)
        try database.confirmChange(from: old, to: new, settings: settings)

        let file = WrittenFile(path, session)
        var report = Report(["database": path], file.members)
        session.addKeyWarnings(to: &report)
        report.appendLine("Changed the key of \(Format.visible(path)): \(file.summary).")
        report.appendLine("Verified: the new file was read back under the new key before it replaced the old one.")
        report.appendLine("It opens with the new key, and no longer with the old one.")
        report.appendLine("Existing copies and backups still open with the old key.")
        return report
    }

    private func rekeyAll(_ session: Session) throws -> Report {
        let members = try fleet.members(paths, leavesCompanionsOut: true)
        let target = try target(session, Format.count(members.count, "database"))
        let journal = try fleet.journal(of: FleetRekey.change(ownKeyrings: fleet.ownKeyrings))
        let rekey = FleetRekey(target: target, settings: try cipher.settings(), journal: journal)
        try rekey.requireOwnJournal(members)
        let result = try session.runFleet(
            of: members, options: fleet, phase: "rekeying", journal: journal,
            work: fleet.dryRun ? rekey.test : rekey.run)
        var report = result.report("database", "Rekeyed")
        session.addKeyWarnings(to: &report)
        if result.done > 0 { report.appendLine("Existing copies and backups still open with the old keys.") }
        return report
    }

    private func target(_ session: Session, _ subject: String) throws -> FleetRekey.Target {
        let settings = try cipher.settings()
        if fleet.ownKeyrings {
            guard key.keyring.path == nil, try !newKey.isGiven else {
                throw Failure(
                    .usage, "with --own-keyrings neither --keyring nor a new key is given",
                    remedy: "Each database gets a random key, in the keyring beside it.")
            }
            // Without the journal, a run after a kill could not tell which databases have their new key.
            guard fleet.journalPath != nil || fleet.dryRun else {
                throw Failure(
                    .usage, "--own-keyrings needs a journal", remedy: "Use --journal PATH, or --from-file LIST.")
            }
            return .ownKeyrings(
                OwnKeyrings(
                    unlock: try session.keyringUnlock(key, key.keyring.method ?? .passphrase, for: subject),
                    forgetsOldKeys: forgetOldKeys, trusted: try trust.fingerprints(),
                    reporter: session.reporter))
        }
        let old: @Sendable (String) throws -> DatabaseKey
        if let path = key.keyring.path {
            let unlocked = try session.unlock(path, key, key.keyring.method ?? .passphrase)
            old = { try unlocked.databaseKey(for: $0, settings: settings) }
        } else {
            let given = try session.key(key, for: subject)
            old = { _ in given }
        }
        return .key(
            old: old, new: try session.key(newKey, for: subject, confirms: true, trusted: trust.fingerprints()))
    }
}
