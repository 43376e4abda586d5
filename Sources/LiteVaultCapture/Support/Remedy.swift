internal import LiteVaultSystem
// For all targets above this one: backups throw the error type of the whole package.
@_exported public import struct LiteVaultCore.VaultError

extension VaultError.Code {
    /// The condition of a conditional write did not hold: another writer was first.
    public static let conflict = Self(rawValue: "conflict")
    /// The object, snapshot or database does not exist.
    public static let missing = Self(rawValue: "missing")
    /// The configuration is invalid.
    public static let config = Self(rawValue: "config")
}

extension VaultError {
    /// Creates an error with advice that a program can phrase itself.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: what happened, without the path and the remedy.
    ///   - path: the file, directory or object that it is about.
    ///   - advice: what to do next; its words become the `VaultError.remedy`.
    ///   - cause: the underlying error.
    public init(_ code: Code, _ message: String, path: String? = nil, advice: Remedy?, cause: (any Error)? = nil) {
        self.init(code, message, path: path, typedRemedy: advice, cause: cause)
    }

    /// The remedy for a program that words it in terms of its own commands.
    public var advice: Remedy? { typedRemedy as? Remedy ?? remedy.map(Remedy.text) }

    /// Whether it describes the state of the repository rather than a failure to read it.
    package var isDamage: Bool { code == .damaged || code == .missing }

    /// The failure of a system call on a file.
    package init(errno number: Int32, _ operation: String, path: String) {
        let text = "\(operation) failed: \(String(cString: strerror(number)))"
        switch number {
        case ENOSPC, EDQUOT: self.init(.noSpace, text, path: path, remedy: "Free space and try again.")
        case ENOENT: self.init(.missing, text, path: path)
        case EEXIST: self.init(.conflict, text, path: path)
        case EACCES, EPERM, EROFS:
            self.init(.io, text, path: path, remedy: "Check the permissions of the file and its directory.")
        default: self.init(.io, text, path: path)
        }
    }
}

/// What to do about an error or a warning of a repository.
///
/// ``description`` phrases it in terms of the library. A program with commands and options phrases it with `text(_:)`.
public enum Remedy: Sendable, Hashable {
    /// Advice in words.
    case text(String)
    /// Several pieces of advice, in order.
    case all([Remedy])
    /// Check the repository's name; the first snapshot creates a repository.
    case createRepository
    /// Pass the repository's secret.
    case provideSecret
    /// List the repository's secrets, which needs none, to see which ones it has.
    case listSecrets
    /// Use a newer version of the program.
    case update
    /// Accept a repository that was replaced, or an older state of it, if that was intended.
    case acceptReplacement
    /// Accept that the repository is gone, which creates a new one.
    case acceptLoss
    /// Restore `repository.json` from a copy of the repository, or repair the repository.
    case restoreIdentity
    /// Repair the repository: it sets damaged objects aside and reports what is lost with them.
    case repair
    /// Repair the repository to learn what is lost.
    case repairToReport
    /// Repair the repository, with all of its data read, then repeat what was asked for, which completes it.
    case repairThenRepeat
    /// Repair the repository with credentials that may delete objects.
    case repairWithDeletion
    /// Repair the repository to set an object aside, unless it belongs there.
    case repairUnlessOwn
    /// Repair the repository, which rebuilds the object.
    case rebuild
    /// Repair the repository to learn what is lost, then remove the affected snapshot so that pruning can continue.
    case repairThenForget
    /// Remove a snapshot of which blocks are damaged, or repair the repository, which records what is lost; snapshots taken from now on
    /// do not share them.
    case repairOrForget(snapshot: String)
    /// The database of a snapshot was not intact when it was stored: restore one that passed, or mend the database, and take a snapshot.
    case damagedContent(snapshot: String, good: String?)
    /// Copy the repository again: what was damaged or missing in it was left out.
    case copyAgain
    /// Take a snapshot, which stores lost blocks again, and copy that.
    case snapshotAndCopy
    /// Use the key of the time of a snapshot: the database may have another one since.
    case olderKey
    /// Take a snapshot, which stores lost blocks again.
    case storeAgain
    /// Bring the former repository back, or start the program again if the other one is to be used.
    case returnOrRestart
    /// Take a snapshot and verify it as thoroughly before the last good one is removed.
    case verifyNewerFirst
    /// Give the database a name of its own, or name it to confirm.
    case nameDatabase
    /// Choose one of the databases by name.
    case chooseDatabase
    /// Encrypt the database, or allow plaintext.
    case encryptOrAllowPlaintext
    /// Verify a partly encrypted database and restore it, or allow plaintext.
    case verifyOrAllowPlaintext
    /// List the snapshots.
    case listSnapshots
    /// Restore an earlier snapshot by its identifier.
    case restoreEarlier(snapshot: String, time: String)
    /// Restore the state at a time, or the newest one that can be reached.
    case restoreReachable(time: String)
    /// Give at least one retention rule.
    case addRetentionRule
    /// Restore another snapshot, or copy the lost object from a copy of the repository.
    case lostObject
    /// Give the repository a new key again: that completes a change that was interrupted.
    case completeRotation
    /// Check the repository.
    case check
    /// Promote the standby again, which completes the promotion.
    case promoteAgain
    /// The database's name belongs to a promoted standby: retire this file, or back it up under another name.
    case retireFormerPrimary
    /// Seal the repository, or do not ask for a sealed one.
    case seal

    /// The remedy in words.
    ///
    /// - Parameter word: phrases a single remedy in a program's own terms; returns nil for the library's words.
    public func text(_ word: (Remedy) -> String?) -> String {
        switch self {
        case .text(let text): text
        case .all(let remedies): remedies.map { $0.text(word) }.joined(separator: " ")
        default: word(self) ?? words
        }
    }

    private var words: String {
        switch self {
        case .text, .all: ""
        case .createRepository: "Check the name. The first snapshot creates a repository."
        case .provideSecret: "Open the repository with its secret."
        case .listSecrets: "List its secrets, which needs none of them: another one may open it."
        case .update: "Use a newer version of LiteVault."
        case .acceptReplacement: "If that was intended, accept the repository as it is."
        case .acceptLoss:
            "Mount its disk, or restore it from a copy. If it was removed on purpose, accept that to create a new one."
        case .restoreIdentity: "Restore it from a copy of the repository, or repair the repository."
        case .repair: "Repair the repository: that sets it aside and reports what is lost with it."
        case .repairToReport: "Repair the repository to learn what is lost."
        case .repairThenRepeat:
            "Repair the repository, with all of its data read, then do this again, which completes it."
        case .repairWithDeletion: "Repair the repository with credentials that may delete objects."
        case .repairUnlessOwn: "If it does not belong there, repair the repository to set it aside."
        case .rebuild: "Repair the repository to rebuild it."
        case .repairThenForget:
            "Repair the repository to learn what is lost; pruning continues once that snapshot is removed."
        case .repairOrForget:
            "The next snapshot does not share what is damaged. Repair the repository, which records what is lost, or remove the "
                + "snapshot by its identifier."
        case .olderKey:
            "If the snapshot was taken before the database got another key, it needs the key of that time: an audit shows which snapshots "
                + "share a key."
        case .damagedContent(_, let good):
            "A repair does not help: the repository has the database as it was. "
                + (good.map { "Restore snapshot \($0), which passed, or mend the database" }
                    ?? "Mend the database, or verify earlier snapshots to find one that passes")
                + "; then take a snapshot, and verify it as thoroughly. This one is removed by its identifier."
        case .snapshotAndCopy: "Take a snapshot, which stores the lost blocks again, and copy the repository again."
        case .copyAgain:
            "Repair the original, if it is damaged, and copy it again: that adds what is whole, and records what is lost."
        case .storeAgain: "Take a snapshot, which stores the lost blocks again."
        case .returnOrRestart:
            "Bring the former one back: nothing was written to this one. If it was replaced on purpose, start this program again."
        case .verifyNewerFirst: "First take a snapshot, and verify it as thoroughly."
        case .nameDatabase: "Give the database a name of its own, or name it to confirm."
        case .chooseDatabase: "Name one of them."
        case .encryptOrAllowPlaintext: "Encrypt it, or allow plaintext."
        case .verifyOrAllowPlaintext:
            "It may be only partly converted: verify it with its key, and restore a backup or export it. To store it "
                + "as it is, allow plaintext."
        case .listSnapshots: "List the snapshots to see which ones exist."
        case .restoreEarlier(let snapshot, let time): "Restore the previous one, of \(time): snapshot \(snapshot)."
        case .restoreReachable(let time):
            "Restore the state at \(time), or the newest state that can be reached."
        case .addRetentionRule: "Give at least one rule."
        case .lostObject:
            "Copy the object from a copy of the repository, if there is one; else restore another snapshot. Check the repository to learn "
                + "which ones need it."
        case .completeRotation: "Give the repository a new key again, which completes that change."
        case .check: "Check the repository."
        case .promoteAgain: "Promote it again: that ends the line of the old database."
        case .retireFormerPrimary:
            "Stop what writes to this file: nothing of it is stored any more. Move it away, and make a standby of the promoted database in its "
                + "place. To back it up as well, give it another name in the repository."
        case .seal: "Seal it, or do not ask for a sealed one."
        }
    }
}

extension Remedy: CustomStringConvertible {
    /// The remedy in the library's words.
    public var description: String { text { _ in nil } }
}
