internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultKeyring
internal import LiteVaultSystem

/// `litevault key audit`: which snapshots need which database key, and what opens them.
struct KeyAudit: VaultCommand {
    static let configuration = configured(
        "audit", "Show which snapshots of a repository need which database key, and which slots open them.",
        """
        Reads the keyrings that snapshots carry, without any secret. A key is shown by an identifier that reveals \
        nothing of it. A slot that was removed without a new key, and one whose secret was changed, still opens the \
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

    @Option(
        help: .init("A keyring that is in use. May be repeated.", valueName: "path"), completion: .file(),
        transform: PathArgument.literal)
    var keyring: [String] = []

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let repository: String
        let authenticated: Bool
        let snapshots: [SnapshotResult]
        let keys: [KeyResult]
        let slots: [SlotResult]
        let withoutKeyring: Int
    }

    private struct SnapshotResult: Encodable {
        let id: String
        let database: String
        let time: String
        let encrypted: Bool
        /// The keyring that it carries: nil for none, or a damaged one.
        @Nullable var keyring: String?
        @Nullable var generation: UInt64?
        /// The key that it needs; several if the keyrings do not tell which.
        let keys: [String]
        /// Indexes into `slots` of the result.
        let slots: [Int]
    }

    private struct KeyResult: Encodable {
        let key: String
        let snapshots: Int
    }

    private struct SlotResult: Encodable {
        let keyring: String
        let slot: SlotSummary
        let removed: Bool
        let opens: [String]
    }

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
        let (result, damaged) = audit(list, opened, current)
        var report = text(of: result, opened)
        session.add(list.warnings, of: repository.location, after: nil, to: &report)
        for id in damaged { session.reporter.warning("snapshot \(id) carries a damaged keyring") }
        if let id = damaged.first {
            report.failure = Failure(
                .damaged, "snapshot \(id) carries a damaged keyring", path: repository.location,
                remedy: "Its database can be restored, and opens with another copy of the keyring.")
        }
        return report
    }

    private func audit(
        _ list: SnapshotList, _ opened: Repository, _ current: [KeyringCopy]
    ) -> (result: Result, damaged: [String]) {
        var damaged: [String] = []
        var items: [KeyringAudit.Item] = []
        for snapshot in list {
            guard let bytes = snapshot.keyring else { continue }
            do {
                let copy = try KeyringCopy(contentsOf: bytes)
                items.append(KeyringAudit.Item(name: snapshot.id, salt: snapshot.salt, keyring: copy))
            } catch { damaged.append(snapshot.id) }
        }
        let audit = KeyringAudit(items, current: current)
        let findings = Dictionary(zip(items, audit.findings).map { ($0.name, ($0.keyring, $1)) }) { $1 }
        let snapshots = list.map { snapshot in
            let found = findings[snapshot.id]
            return SnapshotResult(
                id: snapshot.id, database: snapshot.database, time: Format.exactTime(snapshot.time),
                encrypted: !snapshot.isPlaintext, keyring: found?.0.id, generation: found?.0.generation,
                keys: found?.1.keys ?? [], slots: found?.1.slots ?? [])
        }
        let counts = Dictionary(audit.findings.flatMap(\.keys).map { ($0, 1) }, uniquingKeysWith: +)
        let slots = audit.slots.map {
            SlotResult(keyring: $0.keyringID, slot: SlotSummary($0.slot), removed: $0.isRemoved, opens: $0.opens)
        }
        let result = Result(
            repository: repository.location, authenticated: opened.isAuthenticated, snapshots: snapshots,
            keys: counts.sorted { $0.key < $1.key }.map { KeyResult(key: $0.key, snapshots: $0.value) }, slots: slots,
            withoutKeyring: snapshots.count { $0.keyring == nil && $0.encrypted })
        return (result, damaged)
    }

    private func text(of result: Result, _ opened: Repository) -> Report {
        var report = Report(of: result)
        let kept = result.snapshots.count - result.withoutKeyring
        report.appendLine(
            "\(Format.visible(repository.location)): \(Format.count(result.snapshots.count, "snapshot")), "
                + "\(kept) with a keyring, \(Format.count(result.keys.count, "database key"))")
        for snapshot in result.snapshots {
            var line = "\(snapshot.time) '\(Format.visible(snapshot.database))'"
            if snapshot.keyring == nil {
                line += snapshot.encrypted ? ", no keyring: its key is elsewhere" : ", not encrypted"
            } else {
                line += ", key " + (snapshot.keys.isEmpty ? "unknown" : snapshot.keys.joined(separator: " or "))
                let slots = snapshot.slots.map { index in
                    let slot = result.slots[index]
                    return "\(slot.slot.slot)\(slot.removed ? " (removed)" : "")"
                }
                line += ", slots " + slots.joined(separator: ", ")
            }
            report.appendRow(snapshot.id, line)
        }
        for slot in result.slots {
            report.appendRow(
                "\(slot.removed ? "removed" : "slot") \(slot.slot.slot)",
                "\(slot.slot.line): opens \(Format.count(slot.opens.count, "snapshot"))")
        }
        let removed = result.slots.count { $0.removed && !$0.opens.isEmpty }
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
