package import Foundation

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
    /// The sequence of the snapshot that the row of segments continues.
    var snapshot: Int
    /// Whether nothing is missing since the segment before.
    var continues: Bool
    var from: Manifest.LogPosition
    var until: Manifest.LogPosition
    var pageSize: Int
    var frames: Int
    var commits: Int
    /// When the newest commit in it had been seen.
    var time: String
    var payloadSize: Int64
    var payloadHash: String
}

/// Frames of whole transactions, as whoever follows a write-ahead log hands them over.
package struct LogSegment: Sendable {
    /// A place in a log.
    package struct Place: Sendable, Equatable {
        /// Both salts of the log's header.
        package var salts: UInt64
        /// Frames before this place.
        package var frames: Int

        package init(salts: UInt64, frames: Int) {
            self.salts = salts
            self.frames = frames
        }
    }

    /// The sequence of the snapshot that the row continues.
    package var snapshot: Int
    /// Whether nothing is missing since the segment that was handed over before; false for the first after a snapshot.
    package var continues: Bool
    package var from: Place
    package var until: Place
    /// Bytes in a page.
    package var pageSize: Int
    package var commits: Int
    /// When the newest commit in it had been seen.
    package var time: Date
    /// A file of whole frames, 24 bytes of header and a page each, of which the last ends a transaction.
    package var frames: String

    package init(
        snapshot: Int, continues: Bool, from: Place, until: Place, pageSize: Int, commits: Int, time: Date,
        frames: String
    ) {
        self.snapshot = snapshot
        self.continues = continues
        self.from = from
        self.until = until
        self.pageSize = pageSize
        self.commits = commits
        self.time = time
        self.frames = frames
    }
}

/// What the name of a segment tells: enough to choose those that a restore needs without reading the others.
struct SegmentName: Equatable, Sendable {
    let object: String
    let sequence: Int
    let snapshot: Int
    /// Milliseconds since 1970.
    let time: Int64

    init(database: String, sequence: Int, snapshot: Int, time: Date) {
        self.sequence = sequence
        self.snapshot = snapshot
        self.time = Int64((time.timeIntervalSince1970 * 1000).rounded())
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
