public import struct Foundation.Date

/// Which snapshot is meant.
public enum SnapshotSelection: Sendable, Equatable {
    /// The newest.
    case latest
    /// The one of that id, of which the start is enough.
    case id(String)
    /// The last that was taken at that time or before.
    case at(Date)
    /// The newest, and of what a followed log adds to it as much as can be had: where segments are missing, up to there.
    case latestReachable
}
