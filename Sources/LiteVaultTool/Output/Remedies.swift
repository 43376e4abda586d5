internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultKeyring
internal import LiteVaultSchedule

extension VaultError {
    /// The remedy in terms of the tool's commands and options.
    var commandLineRemedy: String? {
        let text =
            (typedRemedy as? ScheduleRemedy)?.commandLineText ?? (typedRemedy as? FormatRemedy)?.commandLineText
            ?? advice?.commandLineText
        guard code == .keyringUntrusted else { return text }
        return (text.map { $0 + " " } ?? "") + "The option is --trust-keyring FINGERPRINT."
    }
}

extension ScheduleRemedy {
    fileprivate var commandLineText: String {
        switch self {
        case .writeJobs: "'litevault schedule --help' shows an example."
        case .waitForRun: "Wait until it ends. 'litevault schedule status' shows the state of the jobs."
        }
    }
}

extension FormatRemedy {
    fileprivate var commandLineText: String { "Add --compatibility \(format), or run 'litevault migrate'." }
}

extension Remedy {
    /// The remedy in terms of the tool's commands and options.
    var commandLineText: String { text(\.commandLineWords) }

    private var commandLineWords: String? {
        switch self {
        case .text, .all: nil
        case .createRepository: "Check the name. 'litevault snapshot' creates a repository on first use."
        case .provideSecret: "Give it with --repository-secret-file or another --repository-secret-… option."
        case .listSecrets: "'litevault secret list' shows without a secret which ones it has, by number and name."
        case .update: "Use a newer litevault."
        case .acceptReplacement: "If that was intended, --accept-repository accepts it as it is."
        case .acceptLoss:
            "Mount its disk, or restore it from a copy. If it was removed on purpose, --accept-repository creates a new "
                + "one."
        case .restoreIdentity: "Restore it from a copy of the repository, or with 'litevault repair'."
        case .repair: "'litevault repair' sets it aside and reports what is lost with it."
        case .repairToReport: "'litevault repair' reports what is lost."
        case .repairThenRepeat:
            "Run 'litevault repair --read-data', then this command again, which completes it."
        case .repairWithDeletion: "Run 'litevault repair' with credentials that may delete objects."
        case .repairUnlessOwn: "If it does not belong there, 'litevault repair' sets it aside."
        case .rebuild: "'litevault repair' rebuilds it."
        case .repairThenForget:
            "'litevault repair' reports what is lost; pruning continues once 'litevault forget --snapshot' has removed that "
                + "snapshot."
        case .repairOrForget(let snapshot):
            "The next snapshot does not share what is damaged. Then 'litevault repair' records what is lost, and 'litevault "
                + "forget --snapshot \(snapshot)' removes this one."
        case .damagedContent(let snapshot, let good):
            "'litevault repair' does not help: the repository has the database as it was. "
                + (good.map { "Restore one that passed ('litevault restore --snapshot \($0)'), or fix the database" }
                    ?? "Fix the database, or find an earlier snapshot that passes ('litevault check --restore-test --snapshot ID')")
                + "; then take a snapshot and check it as thoroughly. 'litevault forget --snapshot \(snapshot)' removes this one."
        case .snapshotAndCopy:
            "Take a snapshot ('litevault snapshot'), which stores the lost blocks again; then 'litevault copy' again."
        case .copyAgain:
            "'litevault repair' of the original records what is lost; then 'litevault copy' again adds what is whole, and no longer "
                + "misses the rest."
        case .olderKey:
            "If the snapshot is from before a rekey, it needs the older key: 'litevault key audit --repository …' shows which snapshots "
                + "need which key and what opens it, and 'litevault snapshots' marks those in which nearly all blocks differ, as after a rekey."
        case .storeAgain: "'litevault snapshot' stores the lost blocks again."
        case .returnOrRestart:
            "Bring the former one back: nothing was written to this one. If it was replaced on purpose, start this process again, with "
                + "--accept-repository or after 'litevault init --accept-repository'."
        case .verifyNewerFirst: "First take a snapshot, and verify it as thoroughly with 'litevault check'."
        case .nameDatabase: "Give it a name of its own with --database, or confirm this one with it."
        case .chooseDatabase: "Name one with --database."
        case .encryptOrAllowPlaintext: "Encrypt it ('litevault encrypt'), or allow it with --allow-plaintext."
        case .verifyOrAllowPlaintext:
            "It may be only partly converted: verify it with its key, and restore a backup or export it. To store it "
                + "as it is, allow plaintext (--allow-plaintext)."
        case .listSnapshots: "'litevault snapshots' lists those that exist."
        case .restoreEarlier(let snapshot, let time):
            "The previous one is of \(time): restore it with --snapshot \(snapshot)."
        case .restoreReachable(let time):
            "Use '--at \(time)', or '--at latest-reachable' for the newest state that can be reached."
        case .addRetentionRule: "Give at least one --keep-… option."
        case .lostObject:
            "Copy it from a copy of the repository, if there is one. Else restore another snapshot (--snapshot ID): 'litevault check "
                + "--read-data' records which are intact, and 'litevault snapshots' lists them."
        case .completeRotation: "'litevault secret rotate' completes it; until then the old key is accepted, too."
        case .check: "Run 'litevault check' on the repository."
        case .promoteAgain:
            "Run 'litevault follow-restore --promote' on it again: that ends the line of the old database."
        case .retireFormerPrimary:
            "Stop what writes to this file: nothing of it is stored any more. Move it away, and make a standby of "
                + "the promoted database in its place ('litevault follow-restore'). To back it up as well, give it "
                + "another name in the repository ('--database', or 'database' of the job)."
        case .seal: "Seal it with 'litevault upgrade', or remove the setting."
        }
    }
}
