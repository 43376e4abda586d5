internal import LiteVaultCapture
public import LiteVaultSystem

/// A snapshot of a database, as described by its manifest.
public struct Snapshot: Sendable {
    let manifest: Manifest
    let hash: Hash256
    /// When it was taken: a label that is later than those before it.
    public let time: Date
    /// The result of its last verification; nil if it was never verified.
    public internal(set) var verification: SnapshotVerification?
    /// Its line of history; nil if the database was never promoted, or that was not looked for.
    var cut: HistoryCut?

    init(manifest: Manifest, hash: Hash256, name: String) throws {
        guard let time = Timestamp.date(manifest.time) else {
            throw VaultError(.damaged, "has no valid time", path: name)
        }
        self.manifest = manifest
        self.hash = hash
        self.time = time
    }

    /// Its identifier: the first 16 digits of its manifest's hash.
    public var id: String { String(hash.hexadecimal.prefix(16)) }
    /// The name of its database.
    public var database: String { manifest.name }
    /// Its sequence number among the snapshots of its database, from 1.
    public var sequence: Int { manifest.sequence }
    /// The machine it was taken on.
    public var host: String { manifest.host }
    /// The path of the database on that machine.
    public var source: String { manifest.source }
    /// The size of the database in bytes.
    public var size: Int64 { manifest.size }
    /// The bytes that it added to the repository.
    public var stored: Int64 { manifest.dataBytes + manifest.treeBytes }
    /// The bytes of blocks that changed since the previous snapshot.
    public var changed: Int64 { Int64(manifest.changedBlocks) * Int64(blockSize) }
    /// Incremented by each snapshot in which nearly all blocks changed, for example after a rekey.
    public var epoch: Int { manifest.epoch }
    /// Whether nearly all blocks differ from the previous snapshot, for example after a rekey or a VACUUM.
    public var isRewritten: Bool { manifest.rewritten }
    /// The period before it that a follower missed; nil if none was missed, or no follower was running.
    public var gap: SnapshotGap? {
        manifest.gap.map { SnapshotGap(since: $0.since.flatMap(Timestamp.date), reason: $0.reason) }
    }
    /// Whether the database was not encrypted.
    public var isPlaintext: Bool { manifest.plaintext }
    /// Whether it is dated more than five minutes ahead of `now`: that machine's clock was wrong, or this one's is.
    public func isDatedAhead(of now: Date) -> Bool { time.timeIntervalSince(now) > 300 }
    /// Whether its machine's clock was more than five minutes ahead of `now` when it was taken. Labels stay ahead when the clock is set right.
    package func wasAhead(of now: Date) -> Bool { taken.timeIntervalSince(now) > 300 }
    /// What the clock of its machine said when it was taken. ``time`` is later if the clock had been ahead before.
    package var taken: Date { manifest.clock.flatMap(Timestamp.date) ?? time }
    /// The name of its manifest in the repository.
    public var object: String { RepositoryFormat.snapshot(manifest.database, sequence) }
    /// The run of the follower of the same process in which it was taken; nil if there was none.
    package var followedRun: [UInt8]? { manifest.followed?.run.flatMap { PackID(hexadecimal: $0)?.bytes } }
    /// The line of history that it continues, which a promotion began; nil if the database had never been promoted.
    package var line: String? { manifest.line }
    /// Whether the database was in WAL mode.
    package var isLogged: Bool { manifest.log != nil }
    /// Whether segments of the database were stored before it, so that some may lead to it.
    package var isFollowed: Bool { manifest.newestSegment != nil }
    /// When the database was last read as a whole: for this snapshot, or for an earlier one.
    package var lastWholeRead: Date { manifest.wholeRead.flatMap(Timestamp.date) ?? taken }
}

extension Sequence<Snapshot> {
    /// The snapshots of each database, in the order of their names' bytes. Names that Swift takes for equal, as they are canonically, are those of
    /// different databases: their identifiers differ.
    package var byDatabase: [[Snapshot]] { Self.grouped(Array(self)) { $0 } }

    /// As ``byDatabase``, of what has a snapshot.
    package static func grouped<T>(_ all: [T], by snapshot: (T) -> Snapshot) -> [[T]] {
        Dictionary(grouping: all) { snapshot($0).manifest.database }.values
            .map { (Array(snapshot($0[0]).database.utf8), $0) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }
}

extension Snapshot {
    /// A snapshot without content, taken at a time, to try time rules on.
    ///
    /// - Parameter clock: what the clock said, if the label is later.
    package static func example(_ time: Date, clock: Date? = nil) throws -> Snapshot {
        let manifest = Manifest(
            repository: "", database: "", name: "", sequence: 1, epoch: 1, base: true, rewritten: false,
            time: Timestamp.text(time), host: "", source: "", tool: "", salt: "", plaintext: false, size: 0, blocks: 0,
            root: .init(pack: "", offset: 0, hash: ""), clock: clock.map(Timestamp.text), changedBlocks: 0,
            dataBytes: 0, treeBytes: 0)
        return try Snapshot(manifest: manifest, hash: Hash256(of: []), name: "")
    }
}

/// A gap in a followed log. No point in time between the follower's last poll and the next snapshot can be restored.
public struct SnapshotGap: Sendable, Equatable {
    /// When the follower last polled; nil if unknown.
    public let since: Date?
    /// Why it could not continue.
    public let reason: String

    package init(since: Date?, reason: String) {
        self.since = since
        self.reason = reason
    }
}

/// Selects a snapshot, or a state restored from a followed log.
public enum SnapshotSelection: Sendable, Equatable {
    /// The newest snapshot.
    case latest
    /// The snapshot with this identifier, or a unique prefix of one.
    case id(String)
    /// The last snapshot taken at or before this time.
    case at(Date)
    /// The newest snapshot with as many segments of a followed log as are intact and contiguous.
    case latestReachable
}
