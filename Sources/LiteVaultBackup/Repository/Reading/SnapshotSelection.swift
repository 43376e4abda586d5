public import struct Foundation.Date

/// Which snapshot is meant.
public enum SnapshotSelection: Sendable, Equatable {
    /// The newest.
    case latest
    /// The one of that id, of which the start is enough.
    case id(String)
    /// The last that was taken at that time or before.
    case at(Date)
}
