package import LiteVaultCapture
internal import LiteVaultSystem

/// The record stored before the frames of a log segment.
struct SegmentRecord: CheckedDocument, Sendable, Equatable {
    var type = "segment"
    var format = RepositoryFormat.unsealedVersion
    var repository: String
    var database: String
    /// The sequence number, from 1, which segments of a database count separately from snapshots.
    var sequence: Int
    /// The hash of the previous segment; absent for the first.
    var predecessor: String?
    /// The first segment since which all versions that stored segments remember the newest one and record removals;
    /// absent in segments of older versions.
    var notedFrom: Int?
    /// The sequence of the newest snapshot when the segment was stored.
    var snapshot: Int
    /// The run of the follower, 32 hexadecimal digits, the segment's index in it, from 0, and when it began. The
    /// segments of a run are contiguous.
    var run: String
    var place: UInt64
    var began: String
    /// Where its run began in the log; absent in segments of older versions.
    var start: RunStart?
    /// Both salts of the log's header, 16 hexadecimal digits.
    var salts: String
    var firstFrame: UInt32
    var frames: UInt32
    var pageSize: Int
    /// Its label: when its commits had been read, in milliseconds since 1970, and as text. It is later than that of any segment
    /// before it, and not earlier than those of the snapshots that it continues.
    var seen: Int64
    var time: String
    /// What the clock said, in milliseconds since 1970, if its label is later: the clock had been ahead before.
    var clock: Int64?
    var payloadSize: Int64
    var payloadHash: String
    /// What lets a follower continue after the last frame; absent in segments of older versions.
    var end: LogEnd?
    /// What joined segments have: `type` is `joined` then, and everything else but `predecessor` and the payload is that of the last
    /// segment.
    var joined: Joined?

    /// What was joined.
    struct Joined: Codable, Sendable, Equatable {
        /// The sequence of the first segment, and the snapshot in its name.
        var first: Int
        var firstSnapshot: Int
        /// The seconds of the window of time that its commits are in.
        var level: Int
        /// The hash of the last segment's document, which is the predecessor of the next one.
        var hash: String
        /// The salts and the first frame of the first segment.
        var salts: String
        var firstFrame: UInt32
        /// The number of pages.
        var pages: UInt32
        /// Its logs, in order; absent if they are more than ``LogRange/limit``, and in those of older versions.
        var logs: [LogRange]?
    }

    func check() throws(OutOfLimits) {
        try require("format", format, in: RepositoryFormat.unsealedVersion...RepositoryFormat.unsealedVersion)
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try require("predecessor", predecessor, digits: 64)
        try require("noted_from", notedFrom, in: RepositoryFormat.sequences)
        try require("snapshot", snapshot, in: 0...RepositoryFormat.sequences.upperBound)
        try require("run", run, digits: 32)
        try require("place", place, in: 0...UInt64(RepositoryFormat.sequences.upperBound))
        try require("began", time: began)
        try start?.check()
        try require("clock", label: clock)
        try require("salts", salts, digits: 16)
        try require("page_size", pageSize, in: 512...65536)
        try require("frames", frames, in: 1...UInt32.max)
        // The number of the last frame has 32 bits as well.
        try require("first_frame", firstFrame, in: 1...(UInt32.max - (frames - 1)))
        try require("seen", label: seen)
        try require("time", time: time)
        var size = Int64(WALSegment.headerLength) + Int64(frames) * Int64(WALSegment.frameHeaderLength + pageSize)
        if let joined {
            try require("first", joined.first, in: 1...sequence)
            try require(
                "place", place, in: UInt64(sequence - joined.first)...UInt64(RepositoryFormat.sequences.upperBound))
            try require("first_snapshot", joined.firstSnapshot, in: 0...max(0, snapshot))
            try require("level", joined.level, in: SegmentName.levels)
            try require("hash", joined.hash, digits: 64)
            try require("salts", joined.salts, digits: 16)
            try require("first_frame", joined.firstFrame, in: 1...UInt32.max)
            try require("pages", joined.pages, in: 1...UInt32.max)
            try require("logs", joined.logs?.count, in: 1...LogRange.limit)
            for range in joined.logs ?? [] { try require("count", range.count, in: 1...UInt32.max) }
            size = JoinedSegment.byteCount(pages: joined.pages, pageSize: pageSize)
        }
        try require("payload_size", payloadSize, in: size...size)
        try require("payload_size", payloadSize, in: 0...RepositoryFormat.segmentBytes)
        try require("payload_hash", payloadHash, digits: 64)
        try require(end)
    }

    /// The sequence and the place of the first segment in it.
    var first: Int { joined?.first ?? sequence }
    var firstPlace: UInt64 { place - UInt64(sequence - first) }
    /// Its logs; nil if it is a joined one that lists none.
    var logs: [LogRange]? {
        if let joined { return joined.logs }
        return [LogRange(first: UInt32(truncatingIfNeeded: (UInt64(salts, radix: 16) ?? 0) >> 32), count: 1)]
    }

    /// The name under which it is stored.
    var name: SegmentName {
        guard let joined else {
            return SegmentName(database: database, sequence: sequence, snapshot: snapshot, time: seen)
        }
        return SegmentName(
            database: database, joined: joined.first...max(joined.first, sequence),
            snapshots: (joined.firstSnapshot, snapshot), time: seen, level: joined.level)
    }

    /// The run's bytes; empty if they are not hexadecimal.
    var runBytes: [UInt8] { PackID(hexadecimal: run)?.bytes ?? [] }
}

/// Consecutive logs, each a reset of the one before, by the first half of their salts.
struct LogRange: Codable, Sendable, Equatable {
    var first: UInt32
    var count: UInt32

    /// The most ranges in a document. A joined segment with more lists none.
    static let limit = 1024

    /// The logs of two lists, of which the second continues the first; nil if that are too many.
    static func joined(_ list: [LogRange], _ next: [LogRange]) -> [LogRange]? {
        var all = list
        for range in next {
            if let last = all.last,
                last.first &+ last.count == range.first || last.first &+ last.count &- 1 == range.first
            {
                let added = range.count &- (last.first &+ last.count == range.first ? 0 : 1)
                all[all.count - 1].count = last.count &+ added
            } else {
                all.append(range)
            }
        }
        return all.count <= limit ? all : nil
    }

    /// Whether an image ends in one of the logs, or right behind one that is not the last. That of the last is not asked for: its salts are known.
    static func find(_ position: LogPosition, in logs: [LogRange]) -> Bool {
        let half = UInt32(truncatingIfNeeded: position.salts >> 32)
        for (index, range) in logs.enumerated() {
            let offset = half &- range.first
            let isLast = index == logs.count - 1
            if offset < range.count { return !isLast || offset < range.count - 1 }
            // It was reset, and the next writer gave it other salts.
            if !isLast, position.frame == 0,
                (UInt64(range.first &+ range.count &- 1) << 32).resets(to: position.salts) != nil
            {
                return true
            }
        }
        return false
    }
}

/// Where a run began: the position in the log, and what was stored before.
package struct RunStart: CheckedDocument, Sendable, Equatable {
    /// The position in the log from which all of it was read.
    var salts: String
    var frame: UInt32
    /// The newest snapshot that was stored before the run began, as far as the follower knew; 0 without one.
    var newest: Int
    /// The snapshot whose image ends exactly there, if the run began with a snapshot that existed.
    var snapshot: Int?

    package init(_ position: LogPosition, after newest: Int, from snapshot: Int? = nil) {
        (salts, frame) = (position.salts.hexadecimal, position.frame)
        (self.newest, self.snapshot) = (newest, snapshot)
    }

    package func check() throws(OutOfLimits) {
        try require("salts", salts, digits: 16)
        try require("newest", newest, in: 0...RepositoryFormat.sequences.upperBound)
        try require("snapshot", snapshot, in: RepositoryFormat.sequences)
    }

    var position: LogPosition { LogPosition(salts: UInt64(salts, radix: 16) ?? 0, frame: frame) }
}

extension CheckedDocument {
    /// Requires the digits that describe the end of a part of a log.
    func require(_ end: LogEnd?) throws(OutOfLimits) {
        try require("checksum", end?.checksum, digits: 16)
        try require("file", end?.file, digits: 32)
    }
}

/// The name of a segment. It suffices to choose the segments for a restore without reading the others.
struct SegmentName: Equatable, Sendable {
    let object: String
    let sequence: Int
    let snapshot: Int
    /// Milliseconds since 1970.
    let time: Int64
    /// The first segment of a joined one, and the snapshot in its name; otherwise the same as `sequence` and `snapshot`.
    let first: Int
    let firstSnapshot: Int
    /// The seconds of the window of a joined segment; 0 for others.
    let level: Int
    /// Bytes of the object, by the listing that it is from; nil for a name that was made.
    var size: Int64?
    /// When it was stored, by that listing.
    var modified: Date?

    var isJoined: Bool { level > 0 }
    /// Whether it has the segment with a number.
    func has(_ number: Int) -> Bool { first <= number && number <= sequence }
    static let levels = 1...9_999_999

    /// The name of a joined segment.
    init(database: String, joined: ClosedRange<Int>, snapshots: (Int, Int), time: Int64, level: Int) {
        (first, sequence) = (joined.lowerBound, joined.upperBound)
        (firstSnapshot, snapshot) = snapshots
        (self.time, self.level) = (time, level)
        let numbers = [first, sequence, firstSnapshot, snapshot].map(RepositoryFormat.padded)
        object =
            RepositoryFormat.joined(database)
            + (numbers + [String(time), String(level)]).joined(separator: ".")
    }

    init(database: String, sequence: Int, snapshot: Int, time: Int64) {
        self.sequence = sequence
        self.snapshot = snapshot
        self.time = time
        (first, firstSnapshot, level) = (sequence, snapshot, 0)
        object =
            RepositoryFormat.segments(database)
            + [RepositoryFormat.padded(sequence), RepositoryFormat.padded(snapshot), String(self.time)].joined(
                separator: ".")
    }

    /// The range of milliseconds in names.
    static let times: ClosedRange<Int64> = 0...Int64(Timestamp.limit * 1000)
    /// The snapshot number before the first snapshot.
    private static let none = "0000000000"

    /// Nil if the name is not a segment's.
    init?(_ object: String) {
        let path = object.split(separator: "/", omittingEmptySubsequences: false)
        let parts = path.last?.split(separator: ".", omittingEmptySubsequences: false) ?? []
        func number(_ digits: Substring) -> Int? { digits == Self.none ? 0 : RepositoryFormat.sequence(digits) }
        if path.count == 4, parts.count == 6, let first = RepositoryFormat.sequence(parts[0]),
            let last = RepositoryFormat.sequence(parts[1]), first <= last, let before = number(parts[2]),
            let after = number(parts[3]), before <= after, let time = Int64(parts[4]), Self.times.contains(time),
            let level = Int(parts[5]), Self.levels.contains(level)
        {
            self.init(
                database: String(path[1]), joined: first...last, snapshots: (before, after), time: time, level: level)
        } else if path.count == 3, parts.count == 3, let sequence = RepositoryFormat.sequence(parts[0]),
            let snapshot = number(parts[1]), let time = Int64(parts[2]), Self.times.contains(time)
        {
            self.init(database: String(path[1]), sequence: sequence, snapshot: snapshot, time: time)
        } else {
            return nil
        }
        // Each name is written in one way.
        guard self.object == object else { return nil }
    }

    var date: Date { Date(milliseconds: time) }
}

/// The newest segment of a database, remembered so that its removal can be detected.
///
/// A mark is stored only after its segment: it may be older than the newest segment, but never newer.
struct SegmentMark: CheckedDocument, Sendable, Equatable {
    var sequence: Int
    /// The full hash of its document; absent if that could not be read.
    var hash: String?
    var snapshot: Int
    var run: String
    var place: UInt64
    var began: String
    var seen: Int64
    var notedFrom: Int?
    /// The newest snapshot before its run began; absent if that was not recorded.
    var newest: Int?
    /// The snapshot that its run began with; absent if that did not exist before the run.
    var base: Int?

    func check() throws(OutOfLimits) {
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try require("hash", hash, digits: 64)
        try require("snapshot", snapshot, in: 0...RepositoryFormat.sequences.upperBound)
        try require("run", run, digits: 32)
        try require("place", place, in: 0...UInt64(RepositoryFormat.sequences.upperBound))
        try require("began", time: began)
        try require("seen", label: seen)
        try require("noted_from", notedFrom, in: RepositoryFormat.sequences)
        try require("newest", newest, in: 0...RepositoryFormat.sequences.upperBound)
        try require("base", base, in: RepositoryFormat.sequences)
    }

    init(_ record: SegmentRecord, _ hash: Hash256) {
        (sequence, self.hash, snapshot) = (record.sequence, hash.hexadecimal, record.snapshot)
        (run, place, began) = (record.run, record.place, record.began)
        (seen, notedFrom) = (record.seen, record.notedFrom)
        (newest, base) = (record.start?.newest, record.start?.snapshot)
    }

    /// Creates a mark for a segment that is damaged or no longer exists.
    init(lost name: SegmentName) {
        (sequence, hash, snapshot, seen) = (name.sequence, nil, name.snapshot, name.time)
        (run, place, began, notedFrom, newest, base) = ("", 0, "", nil, nil, nil)
    }

    var date: Date { Date(milliseconds: seen) }

    /// Whether the segment of that number belonged to the same run: sequence and index advance together.
    func covers(_ number: Int) -> Bool {
        number <= sequence && UInt64(clamping: sequence - number) <= place
    }
}
