internal import Foundation
internal import LiteVaultCapture

/// What is stored of one piece of a write-ahead log, in front of its frames.
struct SegmentRecord: CheckedDocument, Sendable, Equatable {
    var type = "segment"
    var format = RepositoryFormat.version
    var repository: String
    var database: String
    /// From 1, for segments of a database by themselves.
    var sequence: Int
    /// The hash of the segment before; absent for the first.
    var predecessor: String?
    /// From which segment on all were stored by versions that remember the newest and note what they remove; absent in
    /// segments of older ones.
    var notedFrom: Int?
    /// The sequence of the newest snapshot when it was stored.
    var snapshot: Int
    /// The run of the follower, 32 hexadecimal digits, the segment's place in it from 0, and when it began: nothing is missing
    /// between the segments of one run.
    var run: String
    var place: UInt64
    var began: String
    /// Both salts of the log's header, 16 hexadecimal digits.
    var salts: String
    var firstFrame: UInt32
    var frames: UInt32
    var pageSize: Int
    /// When its commits had been seen, in milliseconds since 1970, and as a text.
    var seen: Int64
    var time: String
    var payloadSize: Int64
    var payloadHash: String

    static let byteLimit = RepositoryFormat.documentBytes

    func check() throws(OutOfLimits) {
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try require("predecessor", predecessor, digits: 64)
        try require("noted_from", notedFrom, in: RepositoryFormat.sequences)
        try require("snapshot", snapshot, in: 0...RepositoryFormat.sequences.upperBound)
        try require("run", run, digits: 32)
        try require("place", place, in: 0...UInt64(RepositoryFormat.sequences.upperBound))
        try require("began", time: began)
        try require("salts", salts, digits: 16)
        try require("page_size", pageSize, in: 512...65536)
        try require("frames", frames, in: 1...UInt32.max)
        // The number of the last one has 32 bits as well.
        try require("first_frame", firstFrame, in: 1...(UInt32.max - (frames - 1)))
        try require("seen", seen, in: 0...SegmentName.times.upperBound)
        try require("time", time: time)
        let size = Int64(WALSegment.headerLength) + Int64(frames) * Int64(WALSegment.frameHeaderLength + pageSize)
        try require("payload_size", payloadSize, in: size...size)
        try require("payload_size", payloadSize, in: 0...RepositoryFormat.segmentBytes)
        try require("payload_hash", payloadHash, digits: 64)
    }
}

/// The name of a segment. It is enough to choose those that a restore needs without reading the others.
struct SegmentName: Equatable, Sendable {
    let object: String
    let sequence: Int
    let snapshot: Int
    /// Milliseconds since 1970.
    let time: Int64

    init(database: String, sequence: Int, snapshot: Int, time: Int64) {
        self.sequence = sequence
        self.snapshot = snapshot
        self.time = time
        object =
            RepositoryFormat.segments(database)
            + [RepositoryFormat.padded(sequence), RepositoryFormat.padded(snapshot), String(self.time)].joined(
                separator: ".")
    }

    /// Milliseconds that a name may tell.
    static let times: ClosedRange<Int64> = 0...Int64(Timestamp.limit * 1000)
    /// The snapshot number before the first snapshot.
    private static let none = "0000000000"

    /// Nil if the name is not a segment's.
    init?(_ object: String) {
        let path = object.split(separator: "/", omittingEmptySubsequences: false)
        let parts = path.last?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        guard path.count == 3, parts.count == 3, let sequence = RepositoryFormat.sequence(parts[0]),
            let snapshot = parts[1] == Self.none ? 0 : RepositoryFormat.sequence(parts[1]),
            let time = Int64(parts[2]), Self.times.contains(time), String(time) == parts[2]
        else { return nil }
        self.init(database: String(path[1]), sequence: sequence, snapshot: snapshot, time: time)
        guard self.object == object else { return nil }
    }

    var date: Date { Date(timeIntervalSince1970: Double(time) / 1000) }
}

/// The newest segment of a database, as somebody remembers it who wants to notice that it was removed.
///
/// A mark is made only once its segment is stored: it may be behind what is there, and is never ahead of it.
struct SegmentMark: CheckedDocument, Sendable, Equatable {
    var sequence: Int
    /// The whole hash of its document; absent for one that could not be read.
    var hash: String?
    var snapshot: Int
    var run: String
    var place: UInt64
    var began: String
    var seen: Int64
    var notedFrom: Int?

    static let byteLimit = RepositoryFormat.documentBytes

    func check() throws(OutOfLimits) {
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try require("hash", hash, digits: 64)
        try require("snapshot", snapshot, in: 0...RepositoryFormat.sequences.upperBound)
        try require("run", run, digits: 32)
        try require("place", place, in: 0...UInt64(RepositoryFormat.sequences.upperBound))
        try require("began", time: began)
        try require("seen", seen, in: 0...SegmentName.times.upperBound)
        try require("noted_from", notedFrom, in: RepositoryFormat.sequences)
    }

    init(_ record: SegmentRecord, _ hash: Hash256) {
        (sequence, self.hash, snapshot) = (record.sequence, hash.hexadecimal, record.snapshot)
        (run, place, began) = (record.run, record.place, record.began)
        (seen, notedFrom) = (record.seen, record.notedFrom)
    }

    /// For one that is not whole, or not there any more.
    init(lost name: SegmentName) {
        (sequence, hash, snapshot, seen) = (name.sequence, nil, name.snapshot, name.time)
        (run, place, began, notedFrom) = ("", 0, "", nil)
    }

    var date: Date { Date(timeIntervalSince1970: Double(seen) / 1000) }

    /// Whether the segment of that number was of the same run: sequence and place count together.
    func covers(_ number: Int) -> Bool {
        number <= sequence && UInt64(clamping: sequence - number) <= place
    }
}
