public import LiteVaultCapture
public import LiteVaultSystem

/// Options for restoring a database.
public struct RestoreOptions: Sendable {
    /// Whether the destination may be a database that is replaced in one step. It must not be in use then; what its log or journal
    /// has is merged into it before it is replaced. Otherwise the destination must not exist.
    public var replacesExisting = false
    /// The path at which the replaced database is kept, in the same file system; nil keeps nothing of it.
    public var originalPath: String?
    /// Whether blocks that the replaced database has as well are copied from it, so that only the others are fetched. Every
    /// block is compared with its hash.
    public var reusesExisting = false
    /// What is done with the keyring that the snapshot carries: by default it is written beside the database, unless a file is there.
    public var keyring: KeyringRestore = .besideDatabase
    /// Called with the path of the complete file before it gets its name: an error that it throws leaves the destination as it
    /// was. It must close the file.
    public var verify: @Sendable (String) throws -> Void = { _ in }
    /// Called regularly; an error that it throws cancels the operation.
    public var progress: BackupProgress.Report = { _ in }

    /// Creates the default options.
    public init() {}
}

/// The outcome of a restore, or what a restore would do.
///
/// The restored state is that of the snapshot, or of the last segment that was applied to it. It may be earlier than the requested
/// time: it is the last one before it.
public struct RestoreResult: Sendable {
    /// The snapshot that the restore starts from.
    public let snapshot: Snapshot
    /// The time that segments reach beyond it; nil if none does. Those whose commits the image has already are not applied.
    public let segmentsUntil: Date?
    /// The number of segments, and their bytes in the store.
    public let segments: (count: Int, bytes: Int64)
    /// Bytes of blocks that were read from the store.
    public let fetched: Int64
    /// Bytes of blocks that the replaced database had as well.
    public let reused: Int64
    /// Whether a database was replaced.
    public let replaced: Bool
    /// The commits around the wanted time that can no longer be restored one by one; nil if the restored state is exact.
    public internal(set) var granularity: RestoreGranularity?
    /// The last segment that was applied; nil if none was.
    package internal(set) var last: FetchedSegment?
    /// What became of the keyring that the snapshot carries; nil if it has none, or none was to be restored.
    public internal(set) var keyring: RestoredKeyring?
}
