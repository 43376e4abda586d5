internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultKeyring
internal import LiteVaultSystem

struct KeyAudit: VaultCommand {
    static let configuration = configured(
        "audit", "Show which snapshots of a repository need which database key, and which slots open them.",
        """
        Reads the keyrings that snapshots carry, without any secret. A key is shown by an identifier that reveals \
        nothing about it. A slot that was removed without a new key, and one whose secret was changed, still opens the \
        snapshots of its key, together with an older copy of the keyring: forget these snapshots, or take new ones \
        after 'litevault key remove --rekey'. With --keyring, slots are compared with keyrings in use, instead of the \
        newest ones in the repository.
        """,
        examples: [
            "litevault key audit --repository /backup/vaults",
            "litevault key audit --repository r --database vault.db \\",
            "    --keyring vault.db.keys --json",
        ])

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(name: .shortAndLong, help: .init("Only the snapshots of this database.", valueName: "name"))
    var database: String?

    @Option(path: "A keyring that is in use. May be repeated.")
    var keyring: [String] = []

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        let current = try keyring.map { path in
            try Preflight.requireSource(path)
            return try KeyringCopy(path: path)
        }
        let opened = try session.repository(repository)
        let name = database
        let list = try runBlocking { try await opened.snapshots(database: name) }
        guard name == nil || !list.isEmpty else {
            throw Failure(
                .noInput, "the repository has no snapshot of '\(name ?? "")'", path: repository.location,
                remedy: "'litevault snapshots' lists those that exist.")
        }
        let (items, damaged) = Self.keyrings(of: list)
        var report = report(list, opened, items, KeyringAudit(items, current: current))
        session.add(list.warnings, of: repository.location, after: nil, to: &report)
        for id in damaged { session.reporter.warning("snapshot \(id) carries a damaged keyring") }
        if let id = damaged.first {
            report.failure = Failure(
                .damaged, "snapshot \(id) carries a damaged keyring", path: repository.location,
                remedy: "Its database can be restored, and opens with another copy of the keyring.")
        }
        return report
    }

    /// The keyrings that snapshots carry, and the IDs of the snapshots with a damaged one.
    private static func keyrings(of list: SnapshotList) -> (items: [KeyringAudit.Item], damaged: [String]) {
        var damaged: [String] = []
        var items: [KeyringAudit.Item] = []
        for snapshot in list {
            guard let bytes = snapshot.keyring else { continue }
            do {
                let copy = try KeyringCopy(contentsOf: bytes)
                items.append(KeyringAudit.Item(name: snapshot.id, salt: snapshot.salt, keyring: copy))
            } catch { damaged.append(snapshot.id) }
        }
        return (items, damaged)
    }

    private func report(
        _ list: SnapshotList, _ opened: Repository, _ items: [KeyringAudit.Item], _ audit: KeyringAudit
    ) -> Report {
        let findings = Dictionary(zip(items, audit.findings).map { ($0.name, ($0.keyring, $1)) }) { $1 }
        let snapshots = list.map { snapshot -> Members in
            let found = findings[snapshot.id]
            let (keys, slots) = (found?.1.keys ?? [], found?.1.slots ?? [])
            return [
                "id": snapshot.id, "database": snapshot.database, "time": Format.exactTime(snapshot.time),
                "encrypted": !snapshot.isPlaintext,
                // The keyring that it carries: null for none, or a damaged one.
                "keyring": Nullable(found?.0.id), "generation": Nullable(found?.0.generation),
                // The key that it needs; several if the keyrings do not tell which.
                "keys": keys,
                // Indexes into the `slots` of the whole result.
                "slots": slots,
            ]
        }
        let counts = Dictionary(audit.findings.flatMap(\.keys).map { ($0, 1) }, uniquingKeysWith: +)
        let keys = counts.sorted { $0.key < $1.key }.map { ["key": $0.key, "snapshots": $0.value] as Members }
        let slots = audit.slots.map { found -> Members in
            [
                "keyring": found.keyringID, "slot": found.slot.members, "removed": found.isRemoved,
                "opens": found.opens,
            ]
        }
        let withoutKeyring = list.count { findings[$0.id] == nil && !$0.isPlaintext }
        var report = Report([
            "repository": repository.location, "authenticated": opened.isAuthenticated, "snapshots": snapshots,
            "keys": keys, "slots": slots, "without_keyring": withoutKeyring,
        ])
        report.appendLine(
            "\(Format.visible(repository.location)): \(Format.count(list.count, "snapshot")), "
                + "\(list.count - withoutKeyring) with a keyring, \(Format.count(keys.count, "database key"))")
        for snapshot in list {
            var line = "\(Format.exactTime(snapshot.time)) '\(Format.visible(snapshot.database))'"
            if let (_, found) = findings[snapshot.id] {
                line += ", key " + (found.keys.isEmpty ? "unknown" : found.keys.joined(separator: " or "))
                let slots = found.slots.map { index in
                    let slot = audit.slots[index]
                    return "\(slot.slot.id)\(slot.isRemoved ? " (removed)" : "")"
                }
                line += ", slots " + slots.joined(separator: ", ")
            } else {
                line += snapshot.isPlaintext ? ", not encrypted" : ", no keyring: its key is elsewhere"
            }
            report.appendRow(snapshot.id, line)
        }
        for found in audit.slots {
            report.appendRow(
                "\(found.isRemoved ? "removed" : "slot") \(found.slot.id)",
                "\(found.slot.line): opens \(Format.count(found.opens.count, "snapshot"))")
        }
        let removed = audit.slots.count { $0.isRemoved && !$0.opens.isEmpty }
        if removed > 0 {
            report.appendLine(
                "\(Format.count(removed, "removed slot")) still open\(removed == 1 ? "s" : "") snapshots, with a copy of "
                    + "the keyring of that time.")
        }
        report.appendLine(
            SnapshotSummary.protection(opened).prefix(1).uppercased()
                + SnapshotSummary.protection(opened).dropFirst() + ".")
        return report
    }
}
