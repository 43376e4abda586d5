internal import ArgumentParser
internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultKeyring
internal import LiteVaultSystem

struct KeyRemove: VaultCommand {
    static let configuration = configured(
        "remove", "Remove slots from a keyring.",
        """
        Without --rekey, a removed secret still opens older copies of the keyring. With --rekey, each DATABASE named is \
        rewritten under a new key, which no removed slot ever had; no other process may have it open. If that is \
        interrupted, the slots that stay open everything: run the same command again. Databases that are not named \
        keep their key. Without a slot, --forget-old-keys deletes older keys alone, also when the slots have been removed already.
        """,
        examples: [
            "litevault key remove vault.db.keys 2",
            "litevault key remove vault.db.keys 2 3 --rekey vault.db",
            "litevault key remove shared.keys 2 --rekey a.db --rekey b.db",
            "litevault key remove vault.db.keys --forget-old-keys",
        ])

    @OptionGroup var keyring: UnlockOptions
    @OptionGroup(title: "Opening the keyring") var trust: TrustOptions

    @Argument(help: .init("The numbers of the slots, as 'litevault key list' shows them.", valueName: "slot"))
    var slots: [Int] = []

    @Option(path: "Give this database a new key.", valueName: "database")
    var rekey: [String] = []

    @Flag(help: "Delete older keys. Databases still encrypted with one then need an older copy of the keyring.")
    var forgetOldKeys = false

    @Flag(help: "Delete older keys even if databases in these directories still use them.")
    var yes = false

    @OptionGroup(title: "Cipher settings of the databases") var cipher: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if slots.isEmpty, !forgetOldKeys || !rekey.isEmpty { throw ValidationError("missing argument SLOT") }
    }

    func perform(_ session: Session) throws -> Report {
        let path = keyring.path
        try session.reserveKeySources(keyring.opening.key)
        for database in rekey { try Preflight.requireEncrypted(database) }
        var unlocked = try session.unlock(
            path, keyring.opening.key, keyring.opening.method, trusted: trust.fingerprints())
        try requireSlots(of: unlocked)
        if forgetOldKeys, !yes { try requireUnusedKeys(unlocked) }
        if rekey.isEmpty {
            if !slots.isEmpty { try unlocked.remove(slots) }
        } else {
            try unlocked.remove(slots, rekeying: rekey, settings: cipher.settings(), progress: session.progress)
        }
        let dropped = forgetOldKeys ? unlocked.keyCount - 1 : 0
        if forgetOldKeys { try unlocked.forgetOldKeys() }
        unlocked.remember(warning: session.reporter)
        let proof = try KeyringProofSummary(unlocked)
        var report = Report([
            "keyring": path, "removed": slots, "rekeyed": rekey, "old_keys": unlocked.keyCount - 1,
            "dropped_keys": dropped, "seconds": session.elapsed, "keyring_proof": proof.members,
        ])
        if !slots.isEmpty {
            let numbers = slots.map(String.init).joined(separator: ", ")
            report.appendLine(
                "Removed \(slots.count == 1 ? "slot" : "slots") \(numbers) of \(Format.visible(path)).")
            for database in rekey { report.appendLine("Changed the key of \(Format.visible(database)).") }
            report.appendLine(
                rekey.isEmpty
                    ? "Older copies of the keyring still open with it. To revoke for good, use --rekey."
                    : "Copies and backups of the time before still open with it, and with older copies of the keyring.")
        } else if dropped == 0 {
            report.appendLine("\(Format.visible(path)) has the newest key alone.")
        }
        if dropped > 0 {
            report.appendLine(
                "Dropped \(Format.count(dropped, "older key")): a database that still has one opens with an older copy of the "
                    + "keyring only.")
        }
        proof.add(to: &report)
        return report
    }

    /// Requires that the slots exist. An earlier run that was interrupted may have removed them, and left the older keys.
    private func requireSlots(of unlocked: UnlockedKeyring) throws(Failure) {
        let known = unlocked.slots.map(\.id)
        guard let gone = slots.first(where: { !known.contains($0) }) else { return }
        throw Failure(
            .usage, "there is no slot \(gone), or none any more", path: keyring.path,
            remedy: "It has \(known.map(String.init).joined(separator: ", ")). If an earlier run has removed it, "
                + "'litevault key remove KEYRING --forget-old-keys' deletes the older keys.")
    }

    /// Requires that no database beside the keyring, or beside those that get a new key, has a key that will be dropped.
    private func requireUnusedKeys(_ unlocked: UnlockedKeyring) throws {
        let directories = ([keyring.path] + rekey).map { LocalDirectory.parent(of: $0) }
        let distinct = Set(directories.map { ExactText($0) }).map(\.text)
        // A database that has the newest key must not have its older one again after a power failure.
        for directory in distinct { try LocalDirectory.sync(directory) }
        let found = try unlocked.databases(in: distinct, sparingNewest: rekey.isEmpty, settings: cipher.settings())
        let other = try found.first { file in
            try !rekey.contains { named in
                try withErrorContext(path: named) { try FileMetadata.isSameFile(file, named) }
            }
        }
        guard let other else { return }
        throw Failure(
            .usage, "this database has a key that would be dropped", path: other,
            remedy: "Name it with --rekey, too; or accept with --yes that it needs an older copy of the keyring.")
    }
}
