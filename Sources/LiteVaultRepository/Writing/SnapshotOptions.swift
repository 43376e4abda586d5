package import struct Foundation.Date
public import LiteVaultCapture

/// What a snapshot is taken with.
public struct SnapshotOptions: Sendable {
    /// The database's name in the repository; nil takes the file's name.
    public var database: String?
    /// Whether a database without encryption may be stored.
    public var allowsPlaintext = false
    /// How long the database's locks may be waited for and held.
    public var limits = CaptureLimits()
    /// What calls itself the tool, for the manifest.
    public var tool = "LiteVault"
    /// Called now and then; throws to cancel.
    public var progress: BackupProgress.Report = { _ in }

    /// What a follower could not see before this snapshot.
    package var gap: SnapshotGap?

    /// The usual ones.
    public init() {}
}

/// What a snapshot came to.
public struct SnapshotResult: Sendable {
    /// The snapshot.
    public let snapshot: Snapshot
    /// Packs that were stored.
    public let packs: Int
    /// Commits in the database's write-ahead log, behind a damaged frame, that are not in the snapshot. SQLite does not recover
    /// them either: after a loss of power they may never have been whole, else the log was damaged or tampered with.
    public let unreachableCommits: Int
    /// What is wrong in the repository, beside this snapshot, which is whole.
    public let warnings: [RepositoryWarning]
    /// Whether the database is as it was at the snapshot before.
    public var isUnchanged: Bool { snapshot.changed == 0 }
}

/// What a capture tells of the image besides its bytes.
package struct CaptureOutcome: Sendable {
    /// Where in the write-ahead log the image ends: salts and checksum as hexadecimal digits; nil without a log.
    package var log: (salts: String, frames: Int)?
    /// When the image was the state of the database; nil: when the capture ended.
    package var time: Date?
    /// Commits in the log that can not be in the image.
    package var unreachableCommits: Int

    package init(log: (salts: String, frames: Int)? = nil, time: Date? = nil, unreachableCommits: Int = 0) {
        self.log = log
        self.time = time
        self.unreachableCommits = unreachableCommits
    }
}
