public import LiteVaultCapture
public import LiteVaultCipher
internal import LiteVaultQuoting

/// Options for checking a repository.
public struct CheckOptions: Sendable {
    /// Whether every byte of the packs is read.
    public var readsData = false
    /// Whether the pages of the newest snapshots are authenticated with their key.
    public var authenticates = false
    /// Whether the newest snapshots are restored and checked as databases.
    public var restores = false
    /// SQL statements that must each return a row with a true value in a restored database.
    public var assertions: [String] = []
    /// The key of the databases; nil for databases without encryption.
    public var key: DatabaseKey?
    /// Other keys to try for a snapshot that ``key`` does not open, such as the older ones of a keyring.
    public var otherKeys: [DatabaseKey] = []
    /// The cipher settings of the databases.
    public var settings = CipherSettings()
    /// The names of the databases to restore; nil for all.
    public var databases: [String]?
    /// The snapshot of each database to restore.
    public var selection: SnapshotSelection = .latest
    /// Whether the results are recorded in the repository; true by default. If false, only temporary files are written, in the
    /// spool directory: it is inside a directory repository unless ``LocalDirectories/spool`` names another one.
    public var recordsResults = true
    /// Called regularly; an error that it throws cancels the operation.
    public var progress: BackupProgress.Report = { _ in }

    /// Creates options for checking the structure only.
    public init() {}
}

/// The result of checking a repository.
public struct CheckReport: Sendable {
    /// A problem in a repository.
    public struct Problem: Sendable, Hashable {
        /// The object, file or snapshot concerned.
        public let path: String
        /// What is wrong, in one sentence.
        public let message: String

        /// Whether it is one of the database in a snapshot, not of the repository.
        package let isContent: Bool

        package init(_ path: String, _ message: String, isContent: Bool = false) {
            (self.path, self.message, self.isContent) = (path, message, isContent)
        }
    }

    /// What protects the repository.
    public enum Protection: String, Sendable {
        /// Hashes only. They detect accidental damage, but not an attacker, who can recompute them.
        case hashes
        /// Authentication codes computed with the secret. They detect every change by anyone who does not have it.
        case secret
    }

    /// What protects the data that was checked.
    public internal(set) var protection: Protection
    /// The number of databases whose newest snapshot was compared with the one that this machine remembers.
    public internal(set) var remembered = 0
    /// The number of databases that this machine had not seen before. A rollback of these cannot be detected.
    public internal(set) var unremembered = 0
    /// The snapshots that were checked, with what is known about them now: an earlier failure stands unless this check was as thorough.
    public internal(set) var snapshots: [(snapshot: Snapshot, verification: SnapshotVerification)] = []
    /// The number of objects that no snapshot needs, left by removed snapshots and failed runs.
    public internal(set) var unused = 0
    /// Bytes of data and tree packs.
    public internal(set) var packBytes: Int64 = 0
    /// Objects whose names are not part of the format, which are ignored, and a change of the repository's key that was not
    /// completed. They are not counted as problems.
    public internal(set) var warnings: [RepositoryWarning] = []
    /// All problems found.
    public internal(set) var problems: [Problem] = []
    /// What a restored database has that is not damage: foreign keys that refer to missing rows, which SQLite allows, and checks that
    /// need its application. They are not counted as problems; an assertion makes them one.
    public internal(set) var remarks: [Problem] = []
    /// Snapshots that failed a verification before, which this check did not repeat for them: it was less thorough, looked at others, or had not
    /// the same assertions. They are not intact, although it found no problem with them; one in the state `superseded` needs no attention.
    public internal(set) var recorded: [UnrestorableSnapshot] = []
    /// Snapshots with which this check itself found a problem: objects of the repository, or a database that is not intact.
    package internal(set) var found: [UnrestorableSnapshot] = []
    /// Snapshots of which a repair has recorded the lost blocks, and that have a newer one. They are not counted as problems.
    public internal(set) var lost: [UnrestorableSnapshot] = []
    /// Snapshots that could not be authenticated or restored, because no key opens them for example, and why. The others were.
    public internal(set) var unverified: [(snapshot: Snapshot, error: VaultError)] = []
    /// The snapshots that this check authenticated or restored, and whether it found no problem with them.
    public internal(set) var tested: [(snapshot: Snapshot, passed: Bool)] = []
    /// The snapshots of them that passed a restore as far as it could be checked: their databases need a collation or function of their
    /// application, so that the level that was reached, and is recorded, is a lower one. The remarks say what was not checked.
    public internal(set) var partlyTested: [(snapshot: Snapshot, reached: SnapshotVerification.Level)] = []
    /// The packs that are known to be damaged or missing, by database; without one, what a repair has recorded.
    var damaged: [String: Set<String>] = [:]
    /// Whether the results were recorded in the repository, those of all databases.
    public internal(set) var isRecorded = false
    /// The number of databases whose results were recorded, also if those of others were not.
    package internal(set) var recordedDatabases = 0
    /// Why they were not, if they were to be; nil if they were.
    package internal(set) var recordingError: VaultError?

    /// Whether no problem was found, and none is known from more thorough checks.
    public var isIntact: Bool { problems.isEmpty && recorded.isEmpty }

    /// Adds what was known before to the results.
    mutating func addKnown(_ options: CheckOptions) {
        var silent: Set<String> = []
        for (index, (snapshot, now)) in snapshots.enumerated() {
            if now.passed || snapshot.verification?.lostBlocks != nil { silent.insert(snapshot.id) }
            snapshots[index].verification = snapshot.verification?.followed(by: now) ?? now
            snapshots[index].snapshot.verification = snapshots[index].verification
        }
        for group in snapshots.map(\.snapshot).byDatabase
        where options.databases?.contains(where: { isSameText($0, group[0].database) }) ?? true {
            let all = UnrestorableSnapshot.all(of: group)
            lost += all.filter { $0.state == .lost }
            recorded += all.filter { $0.state != .lost && silent.contains($0.snapshot.id) }
            found += all.filter { !silent.contains($0.snapshot.id) }
        }
    }
}
