internal import LiteVaultCapture

/// How long commits of a followed log can be restored one by one, and how finely after that.
///
/// Commits are joined in windows of 10 seconds, a minute, 10 minutes, an hour, 6 hours and a day, each beside what was joined, so
/// that a restore reads few objects. What was joined is removed when its time here is over. Windows are those of UTC.
public struct CompactionPolicy: Sendable, Equatable {
    /// How long every commit that was read can be restored: 24 hours by default.
    public var fine: Duration = .seconds(86_400)
    /// How long the last commit of each minute can be restored: 30 days by default. After that it is the last one of each hour, as
    /// long as the snapshot that it continues exists.
    public var minutes: Duration = .seconds(30 * 86_400)
    /// How long a joined segment has to have existed before what was joined is removed, which running restores have to finish: an
    /// hour by default.
    public var grace: Duration = .seconds(3600)

    /// Creates the default policy.
    public init() {}

    /// The lengths of windows in seconds.
    static let levels = [10, 60, 600, 3600, 21_600, 86_400]
    /// The windows that remain when commits are no longer kept one by one, and when minutes no longer are.
    static let (minute, hour) = (60, 3600)
}

/// The result of a compaction.
public struct CompactionResult: Sendable {
    /// The number of joined segments that were stored.
    public internal(set) var joined = 0
    /// Their size in bytes.
    public internal(set) var joinedBytes: Int64 = 0
    /// The number of segments that were removed, because joined ones have their pages.
    public internal(set) var removed = 0
    /// Their size in bytes.
    public internal(set) var removedBytes: Int64 = 0
    /// What could not be joined or removed, and why. It stays as it was.
    public internal(set) var warnings: [RepositoryWarning] = []
}

extension CompactionResult {
    static func += (left: inout CompactionResult, right: CompactionResult) {
        left.joined += right.joined
        left.joinedBytes = [left.joinedBytes, right.joinedBytes].sum
        left.removed += right.removed
        left.removedBytes = [left.removedBytes, right.removedBytes].sum
        left.warnings += right.warnings
    }
}
