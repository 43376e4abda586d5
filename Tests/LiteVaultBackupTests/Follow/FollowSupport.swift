import Foundation
import LiteVault
import LiteVaultBackup
import Testing

/// Keeps a follower's segments as files in a directory, as a repository's spool would.
struct SegmentFolder: WALSegmentSink {
    struct Stored {
        let segment: WALSegment
        let path: String
        let end: LogEnd?
    }

    let folder: String
    /// The reported gaps; nil for the first run.
    var begun: [(position: LogPosition, gap: String?)] = []
    /// How often an earlier run continued.
    var resumed = 0
    /// Those of the current run.
    var stored: [Stored] = []
    private var bytes = Data()

    init(_ folder: String) { self.folder = folder }

    mutating func begin(run: [UInt8], began: Date, at position: LogPosition, gap: String?) {
        begun.append((position, gap))
        stored = []
    }

    mutating func resume(run: [UInt8], began: Date) { resumed += 1 }

    mutating func begin(_ segment: WALSegment) { bytes = Data(segment.header) }

    mutating func append(_ frames: UnsafeRawBufferPointer) { bytes.append(contentsOf: frames) }

    mutating func finish(_ segment: WALSegment, at end: LogEnd?) throws {
        #expect(Int64(bytes.count) == segment.byteCount)
        let path = folder + "/segment-\(begun.count)-\(segment.sequence)"
        try bytes.write(to: URL(fileURLWithPath: path))
        stored.append(Stored(segment: segment, path: path, end: end))
    }

    mutating func abandon() { bytes = Data() }

    /// The image brought forward by the first `count` segments, the last of them through a frame.
    func apply(_ image: [UInt8], count: Int? = nil, through frame: UInt32? = nil) throws -> [UInt8] {
        let path = folder + "/applied-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(image).write(to: URL(fileURLWithPath: path))
        var applier = try SegmentApplier(image: path)
        let segments = stored.prefix(count ?? stored.count)
        for (index, stored) in segments.enumerated() {
            try applier.apply(SegmentFile(stored.path, through: index == segments.count - 1 ? frame : nil))
        }
        try applier.finish()
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

extension DatabaseFollower {
    /// Creates a follower of a database that is not encrypted, whose snapshots go to the same repository.
    convenience init(
        plaintext path: String, into repository: WritableRepository, options: FollowingOptions,
        report: @escaping @Sendable (FollowingEvent) -> Void
    ) {
        var options = options
        options.allowsPlaintext = true
        self.init(
            path, into: repository, options: options,
            takeSnapshot: { _, gap in
                var options = SnapshotOptions()
                options.allowsPlaintext = true
                options.gap = gap
                return try await repository.snapshot(of: path, options: options).snapshot
            },
            report: report)
    }
}
