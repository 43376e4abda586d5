/// How long a capture may wait, and how much it may cost those who use the database meanwhile.
public struct CaptureLimits: Sendable {
    /// Seconds to go on trying while locks can not be had: a writer is at work, a checkpoint runs.
    public var patience: Double
    /// Seconds for which a lock or a read mark may be held. A copy that takes longer is abandoned.
    public var holdTime: Double
    /// Bytes by which the write-ahead log may grow while a read mark is held: it can not start over meanwhile.
    public var walGrowth: Int64

    /// Ten seconds of patience, an hour of holding, 1 GiB of growth, where nothing else is said.
    public init(patience: Double = 10, holdTime: Double = 3600, walGrowth: Int64 = 1 << 30) {
        self.patience = patience
        self.holdTime = holdTime
        self.walGrowth = walGrowth
    }
}

/// A point of a capture, at which a test can step in.
package enum CaptureEvent: Sendable, Equatable {
    /// The SHARED lock is held.
    case locked
    /// A read mark is held, and the log's index has been checked again; the slot's number.
    case marked(slot: Int)
    /// This many bytes of the image went to the sink.
    case copied(Int64)
    /// All are copied, the locks are still held.
    case beforeUnlock
}
