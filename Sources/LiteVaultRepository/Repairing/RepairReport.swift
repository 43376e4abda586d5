public import struct Foundation.Date
public import LiteVaultCapture

/// What a repair does.
public struct RepairOptions: Sendable {
    /// The database whose snapshots are looked at; nil for all.
    public var database: String?
    /// Whether every byte of packs and segments is read, so that damage inside of them is found too.
    public var readsData = false
    /// Whether nothing is changed, and only told what would be.
    public var dryRun = false
    /// Called now and then; throws to cancel.
    public var progress: BackupProgress.Report = { _ in }

    /// All databases, by the structure alone.
    public init() {}
}

/// What a repair found and did. What is lost is told once: afterwards the repository is what remains.
public struct RepairReport: Sendable {
    /// Something that was done, or with ``RepairOptions/dryRun`` would be.
    public struct Action: Sendable, Equatable {
        /// The kinds of it.
        public enum Kind: String, Sendable {
            /// A document of which one byte or its seal was damaged is as it was.
            case restored
            /// An object was moved to ``movedTo``.
            case setAside = "set-aside"
            /// A document that follows from others was written again.
            case rebuilt
            /// Copies on this machine were removed.
            case cleared
            /// A damaged pack is taken nothing over from any more: the next snapshots store its blocks again.
            case avoided
        }

        /// Which kind.
        public let kind: Kind
        /// The object, or the folder of this machine.
        public let path: String
        /// Why: one sentence, without the path.
        public let reason: String
        /// Where the object is now, below `damaged/`; nil where it was not moved.
        public let movedTo: String?
    }

    /// A snapshot that is no more.
    public struct LostSnapshot: Sendable, Equatable {
        /// The name of its database; nil where no snapshot of it can be read.
        public let database: String?
        /// Its place among the snapshots of its database.
        public let sequence: Int
        /// The name of its manifest.
        public let path: String
        /// When the last snapshot before it that can be read was taken, and the first after it.
        public let after: Date?
        /// See ``after``.
        public let before: Date?
        /// What was wrong with it.
        public let reason: String
    }

    /// Points in time that a segment of a followed log had led to.
    public struct LostSegment: Sendable, Equatable {
        /// The name of its database; nil where no snapshot of it can be read.
        public let database: String?
        /// The segment.
        public let path: String
        /// The time of the segment before it; nil for the first.
        public let after: Date?
        /// Its own time, by its name.
        public let until: Date
        /// What was wrong with it.
        public let reason: String
    }

    /// Blocks of a snapshot that are missing or damaged.
    public struct LostBlocks: Sendable {
        /// The snapshot, which stays: the rest of it is whole.
        public let snapshot: Snapshot
        /// Their numbers, in order: block `n` is at offset 4096 · `n` of the database's file. The first 10,000 ranges.
        public let blocks: [Range<Int>]
        /// How many blocks are lost, those included that ``blocks`` does not list.
        public let count: Int
    }

    /// Whether nothing was changed.
    public let isDryRun: Bool
    /// Whether every byte was read.
    public let readsData: Bool
    /// What was done, in order.
    public internal(set) var actions: [Action] = []
    /// Snapshots that are no more.
    public internal(set) var lostSnapshots: [LostSnapshot] = []
    /// Points in time that can no longer be restored.
    public internal(set) var lostSegments: [LostSegment] = []
    /// Snapshots of which something is missing.
    public internal(set) var lostBlocks: [LostBlocks] = []
    /// What could not be seen to, such as an object that the store does not let go of.
    public internal(set) var unfinished: [RepositoryWarning] = []

    /// Of a run that has found nothing so far.
    package init(isDryRun: Bool, readsData: Bool) {
        self.isDryRun = isDryRun
        self.readsData = readsData
    }

    /// Whether nothing is lost, and nothing remains to be done.
    public var isWhole: Bool {
        lostSnapshots.isEmpty && lostSegments.isEmpty && lostBlocks.isEmpty && unfinished.isEmpty
    }
}
