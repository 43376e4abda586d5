public import LiteVaultCapture
public import LiteVaultSystem

/// Options for repairing a repository.
public struct RepairOptions: Sendable {
    /// The database to repair; nil for all.
    public var database: String?
    /// Whether to read every byte of packs and segments, which also finds damage inside them.
    public var readsData = false
    /// Whether to report only, without changing anything.
    public var dryRun = false
    /// Called regularly; an error that it throws cancels the operation.
    public var progress: BackupProgress.Report = { _ in }

    /// Creates options for checking the structure of all databases.
    public init() {}
}

/// The result of a repair. Losses are reported once: what remains is the repository's new state.
public struct RepairReport: Sendable {
    /// An action that was taken, or with ``RepairOptions/dryRun`` would be.
    public struct Action: Sendable, Equatable {
        /// The kinds of actions.
        public enum Kind: String, Sendable {
            /// A document with one damaged byte or a damaged seal was restored.
            case restored
            /// An object was moved to ``movedTo``.
            case setAside = "set-aside"
            /// A derived document was rebuilt.
            case rebuilt
            /// Copies on this machine were removed.
            case cleared
            /// Snapshots no longer reuse blocks of a damaged pack; the next ones store them again.
            case avoided
        }

        /// The kind of action.
        public let kind: Kind
        /// The object, or the local directory.
        public let path: String
        /// The reason: one sentence, without the path.
        public let reason: String
        /// The object's new path below `damaged/`; nil if it was not moved.
        public let movedTo: String?
    }

    /// A snapshot that was lost.
    public struct LostSnapshot: Sendable, Equatable {
        /// The name of its database; nil if no snapshot of that can be read.
        public let database: String?
        /// Its sequence number among the snapshots of its database.
        public let sequence: Int
        /// The path of its manifest.
        public let path: String
        /// The time of the last readable snapshot before it.
        public let after: Date?
        /// The time of the first readable snapshot after it.
        public let before: Date?
        /// What is wrong with it.
        public let reason: String
    }

    /// A lost segment of a followed log, whose points in time can no longer be restored.
    public struct LostSegment: Sendable, Equatable {
        /// The name of its database; nil if no snapshot of that can be read.
        public let database: String?
        /// The path of the segment.
        public let path: String
        /// The time of the previous segment; nil for the first.
        public let after: Date?
        /// The time of the segment, from its name.
        public let until: Date
        /// What is wrong with it.
        public let reason: String
    }

    /// Blocks of a snapshot that are missing or damaged.
    public struct LostBlocks: Sendable {
        /// The snapshot, which stays: the rest of it is intact.
        public let snapshot: Snapshot
        /// The lost blocks in order, as at most 10,000 ranges: block `n` is at offset 4096 · `n` of the database file.
        public let blocks: [Range<Int>]
        /// The number of lost blocks, including those that ``blocks`` does not list.
        public let count: Int
        /// Whether an earlier repair has recorded that.
        public let isKnown: Bool
    }

    /// Whether the repair only reported.
    public let isDryRun: Bool
    /// Whether every byte was read.
    public let readsData: Bool
    /// The actions, in order.
    public internal(set) var actions: [Action] = []
    /// Snapshots that were lost.
    public internal(set) var lostSnapshots: [LostSnapshot] = []
    /// Points in time that can no longer be restored.
    public internal(set) var lostSegments: [LostSegment] = []
    /// Snapshots with missing or damaged blocks.
    public internal(set) var lostBlocks: [LostBlocks] = []
    /// Problems that could not be repaired, such as an object that the store does not allow to be deleted.
    public internal(set) var unfinished: [RepositoryWarning] = []

    /// Creates the report of a run without findings.
    package init(isDryRun: Bool, readsData: Bool) {
        self.isDryRun = isDryRun
        self.readsData = readsData
    }

    /// Whether nothing is lost that was not known before, and no problem remains.
    public var isWhole: Bool { !hasNewLosses && unfinished.isEmpty }

    /// Whether something is lost that was not known before.
    package var hasNewLosses: Bool {
        !lostSnapshots.isEmpty || !lostSegments.isEmpty || !lostBlocks.allSatisfy(\.isKnown)
    }
}
