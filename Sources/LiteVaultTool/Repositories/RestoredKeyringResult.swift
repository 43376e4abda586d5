internal import LiteVaultBackup
internal import LiteVaultKeyring

/// What became of the keyring of a restored snapshot, in results.
struct RestoredKeyringResult {
    private let path: String
    private let outcome: RestoredKeyring.Outcome
    /// Whether the keyring at that path has the key of the restored database; nil if its content does not tell.
    private let hasKey: Bool?
    /// Whether the keyring of the snapshot is one.
    private let isReadable: Bool

    var members: Members { ["path": path, "outcome": outcome.rawValue, "has_key": Nullable(hasKey)] }

    init(_ restored: RestoredKeyring, of snapshot: Snapshot) {
        path = restored.path
        outcome = restored.outcome
        isReadable = snapshot.keyring.map { (try? KeyringCopy(contentsOf: $0)) != nil } ?? true
        hasKey = restored.outcome == .other ? Self.hasKey(restored.path, snapshot) : isReadable ? true : nil
    }

    /// Whether the keyring that stayed has all keys that the database may have.
    private static func hasKey(_ path: String, _ snapshot: Snapshot) -> Bool? {
        guard let bytes = snapshot.keyring, let stored = try? KeyringCopy(contentsOf: bytes),
            let there = try? KeyringCopy(path: path)
        else { return nil }
        if Set(stored.keyIdentifiers).isSubset(of: there.keyIdentifiers) { return true }
        return stored.keyIdentifiers.contains { there.keyIdentifiers.contains($0) } ? nil : false
    }

    /// Adds what a person has to know.
    func add(to report: inout Report, _ session: Session) {
        if !isReadable {
            session.reporter.warning(
                "the keyring of the snapshot is damaged, and opens nothing. Restore one of another snapshot, or open the "
                    + "database with the keyring that it has now", path: path)
        }
        let path = Format.visible(path)
        switch outcome {
        case .other:
            guard hasKey != true else {
                return report.appendLine("\(path) stays as it is: it has the key of the restored database.")
            }
            session.reporter.warning(
                "this keyring \(hasKey == false ? "does" : "may") not open the restored database: that of the snapshot is another "
                    + "one. Restore with --replace-keyring, or with --keyring-to to a file of its own", path: path)
        case .same: report.appendLine("\(path) is the keyring of the snapshot.")
        case .replaced:
            report.appendLine("Restored the keyring to \(path); the other one is \(path).replaced.")
        case .written:
            report.appendLine(
                "Restored the keyring to \(path)" + (isReadable ? ": it opens with the slots of that time." : "."))
        }
    }
}
