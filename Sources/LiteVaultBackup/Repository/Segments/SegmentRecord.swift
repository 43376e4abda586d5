internal import Foundation

/// What is stored of one piece of a write-ahead log, in front of its frames.
struct SegmentRecord: Codable, Sendable, Equatable {
    var type = "segment"
    var format = RepositoryFormat.version
    var repository: String
    var database: String
    /// From 1, for segments of a database by themselves.
    var sequence: Int
    /// The hash of the segment before; absent for the first.
    var predecessor: String?
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
}

/// What the name of a segment tells: enough to choose those that a restore needs without reading the others.
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

    /// Nil for what is no such name.
    init?(_ object: String) {
        let parts = object.split(separator: "/").last?.split(separator: ".") ?? []
        guard parts.count == 3, let sequence = Int(parts[0]), let snapshot = Int(parts[1]), let time = Int64(parts[2])
        else { return nil }
        self.object = object
        self.sequence = sequence
        self.snapshot = snapshot
        self.time = time
    }

    var date: Date { Date(timeIntervalSince1970: Double(time) / 1000) }
}
