/// Takes what a follower reads from a write-ahead log. Quick work only: while it is at it the log may grow.
package protocol WALSegmentSink {
    /// A run without a gap begins: the segments that follow continue from `position`, and need a snapshot that is taken
    /// after this call. `gap` says why an earlier run ended, nil for the first one of this follower.
    mutating func begin(run: [UInt8], at position: CaptureReport.Position, gap: String?) throws

    /// A segment begins; its ``WALSegment/header`` is the first thing to be stored.
    mutating func begin(_ segment: WALSegment) throws

    /// The segment's next bytes: whole frames.
    mutating func append(_ frames: UnsafeRawBufferPointer) throws

    /// The segment is whole and counts from now on.
    mutating func finish(_ segment: WALSegment) throws

    /// The segment that was begun does not count: it is to be removed.
    mutating func abandon()
}
