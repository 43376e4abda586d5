public import LiteVaultCapture
public import LiteVaultCipher

/// How deep a check of a repository looks.
public struct CheckOptions: Sendable {
    /// Whether every byte of the packs is read.
    public var readsData = false
    /// Whether the pages of the newest snapshots are authenticated with their key.
    public var authenticates = false
    /// Whether the newest snapshots are restored and checked as databases.
    public var restores = false
    /// Statements of which each has to give one row with a true value in a restored database.
    public var assertions: [String] = []
    /// The key of the databases; nil for databases without encryption.
    public var key: DatabaseKey?
    /// What they are encrypted with.
    public var settings = CipherSettings()
    /// The databases that are restored, each in its turn; nil for all.
    public var databases: Set<String>?
    /// Which of its snapshots is restored.
    public var selection: SnapshotSelection = .latest
    /// Whether the results are recorded in the repository; true by default. Without that, only temporary files are written: to
    /// the spool directory, which lies in a directory repository unless ``LocalFolders/spool`` names another one.
    public var recordsResults = true
    /// Called now and then; throws to cancel.
    public var progress: BackupProgress.Report = { _ in }

    /// The structure alone.
    public init() {}
}

/// What a check of a repository found.
public struct CheckReport: Sendable {
    /// Something that is wrong.
    public struct Problem: Sendable, Hashable {
        /// The object, file or snapshot that it is about.
        public let path: String
        /// What is wrong.
        public let message: String

        package init(_ path: String, _ message: String) {
            self.path = path
            self.message = message
        }
    }

    /// What guards the repository.
    public enum Protection: String, Sendable {
        /// Hashes alone: they tell accidents, not somebody who writes other hashes.
        case hashes
        /// Authentication codes of a secret: they tell everything that somebody without it has changed.
        case secret
    }

    /// What guarded what was looked at.
    public internal(set) var protection: Protection
    /// Databases whose newest snapshot was compared with what this machine remembers, and those of which it remembered none.
    public internal(set) var remembered = 0
    /// Databases that this machine had not seen before: an older state of the repository would not be noticed.
    public internal(set) var unremembered = 0
    /// Snapshots that were looked at, and how.
    public internal(set) var snapshots: [(snapshot: Snapshot, verification: SnapshotVerification)] = []
    /// Objects that no snapshot needs: of snapshots that were forgotten, of runs that failed.
    public internal(set) var unused = 0
    /// Bytes of data and tree packs.
    public internal(set) var packBytes: Int64 = 0
    /// Names in the repository that are none of the format's: they are ignored, and nothing is wrong because of them.
    public internal(set) var warnings: [RepositoryWarning] = []
    /// Everything that is wrong.
    public internal(set) var problems: [Problem] = []
    /// Whether the results could be kept in the repository.
    public internal(set) var isRecorded = false

    /// Whether nothing is wrong.
    public var isIntact: Bool { problems.isEmpty }
}
