public import struct Foundation.Date
internal import LiteVaultCapture

/// One snapshot of a database, as its manifest tells.
public struct Snapshot: Sendable {
    let manifest: Manifest
    let hash: Hash256
    /// When it was taken.
    public let time: Date
    /// The result of its last verification; nil when there was none.
    public internal(set) var verification: SnapshotVerification?

    init(manifest: Manifest, hash: Hash256, name: String) throws {
        guard let time = Timestamp.date(manifest.time) else {
            throw BackupError(.damaged, "does not say when it was taken", path: name)
        }
        self.manifest = manifest
        self.hash = hash
        self.time = time
    }

    /// Its name: the first 16 digits of its manifest's hash.
    public var id: String { String(hash.hex.prefix(16)) }
    /// The name of its database.
    public var database: String { manifest.name }
    /// Its place among the snapshots of its database, from 1.
    public var sequence: Int { manifest.sequence }
    /// The machine it was taken on.
    public var host: String { manifest.host }
    /// The path of the database there.
    public var source: String { manifest.source }
    /// Bytes of the database.
    public var size: Int64 { manifest.size }
    /// Bytes that it added to the repository.
    public var stored: Int64 { manifest.dataBytes + manifest.treeBytes }
    /// Bytes of blocks that changed since the snapshot before.
    public var changed: Int64 { Int64(manifest.changedBlocks) * Int64(blockSize) }
    /// Counts up with each snapshot in which nearly all blocks changed: the key may be another then.
    public var epoch: Int { manifest.epoch }
    /// Whether nearly all blocks differ from the snapshot before: a rekey, a VACUUM.
    public var isRewritten: Bool { manifest.rewritten }
    /// What a follower of its log could not see before it; nil where nothing was missed, or nobody followed.
    public var gap: SnapshotGap? {
        manifest.gap.map { SnapshotGap(since: $0.since.flatMap(Timestamp.date), reason: $0.reason) }
    }
    /// Whether the database was not encrypted.
    public var isPlaintext: Bool { manifest.plaintext }
    /// Whether it is dated in the future: the clock of its machine was wrong, or this one's is. Five minutes are no matter.
    public func isDatedAhead(of now: Date) -> Bool { time.timeIntervalSince(now) > 300 }
    /// The repository's name of its manifest.
    public var object: String { RepositoryFormat.snapshot(manifest.database, sequence) }
}

extension Snapshot {
    /// A snapshot of nothing, taken at a time: what rules about times can be tried on.
    package static func example(_ time: Date) throws -> Snapshot {
        let manifest = Manifest(
            repository: "", database: "", name: "", sequence: 1, epoch: 1, base: true, rewritten: false,
            time: Timestamp.text(time), host: "", source: "", tool: "", salt: "", plaintext: false, size: 0, blocks: 0,
            root: .init(pack: "", offset: 0, hash: ""), changedBlocks: 0, dataBytes: 0, treeBytes: 0)
        return try Snapshot(manifest: manifest, hash: Hash256(of: []), name: "")
    }
}

/// A time in which a follower did not see what was committed: between its last look and a snapshot, no other point in time
/// can be restored.
public struct SnapshotGap: Sendable, Equatable {
    /// When the follower had last looked; nil where nothing tells.
    public let since: Date?
    /// Why it could not go on.
    public let reason: String

    package init(since: Date?, reason: String) {
        self.since = since
        self.reason = reason
    }
}

/// What a verification of a snapshot found.
public struct SnapshotVerification: Sendable, Equatable, Codable {
    /// How deep it looked.
    public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
        /// The block map, and that every block is where it says.
        case structure
        /// Every byte of it, against the hashes.
        case data
        /// Every page, against its authentication code.
        case pages
        /// Restored, and checked as a database.
        case restore

        /// Deeper is more.
        public static func < (left: Level, right: Level) -> Bool { left.depth < right.depth }

        private var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// How deep it looked.
    public let level: Level
    /// Whether all was well.
    public let passed: Bool
    /// When, by the clock of the machine that looked.
    public let time: Date
}
