/// Where a segment begins or ends, in its run and in its log.
struct LogLink: Sendable, Equatable {
    let run: [UInt8]
    /// The place of the segment in the run.
    let place: UInt64
    let salts: UInt64
    /// The segment's first frame, or its last one.
    let frame: UInt32
    /// The checksum before the first frame, or after the last one.
    let checksum: [UInt32]
    let pageSize: Int

    /// Whether a segment that begins here is the next one after a segment that ends there.
    func follows(_ end: LogLink) -> Bool {
        guard run == end.run, pageSize == end.pageSize, end.place < .max, place == end.place + 1 else { return false }
        guard salts == end.salts else { return frame == 1 }
        return end.frame < .max && frame == end.frame + 1 && checksum == end.checksum
    }
}

/// Rolls a restored image forward by the segments of one run.
///
/// The image is a snapshot taken during the run. Segments are applied in order, without a gap, starting with one that
/// begins at or before the snapshot's position, up to a commit at or after that position. Rewriting pages that the
/// snapshot already contains is harmless. Nobody else may have the image open.
package struct SegmentApplier {
    private let path: String
    private let image: LocalFile
    private var last: LogLink?
    private var pageCount: UInt32 = 0
    private var isComplete = true

    /// - Parameter path: the image, a file that is written in place.
    package init(image path: String) throws {
        self.path = path
        image = try LocalFile(updating: path)
    }

    /// Applies a segment, whole or up to a frame that ends a transaction.
    ///
    /// - Throws: `VaultError` `damaged` for a damaged segment, or one that does not follow the previous one;
    ///   `internal` for a frame that does not end a transaction. The image is then unusable.
    package mutating func apply(_ file: SegmentFile, through stop: UInt32? = nil) throws {
        let segment = file.segment
        try requireFollows(segment.start)
        var endsTransaction = false
        let sums = try file.forEachFrame { number, frame in
            try image.write(
                UnsafeRawBufferPointer(rebasing: frame[WALReader.frameHeaderLength...]),
                at: Int64(frame.word(0) - 1) * Int64(segment.pageSize))
            endsTransaction = frame.word(4) != 0
            if endsTransaction { pageCount = frame.word(4) }
            return number != stop
        }
        guard endsTransaction else {
            throw VaultError(.internalFailure, "the frame does not end a transaction", path: path)
        }
        isComplete = stop == nil || stop == segment.lastFrame
        last = segment.end(sums)
    }

    /// Applies a joined segment: the image is then, byte for byte, as if the segments that were joined had been applied.
    ///
    /// - Throws: as ``apply(_:through:)``.
    package mutating func apply(_ file: JoinedSegmentFile) throws {
        let segment = file.segment
        try requireFollows(segment.start)
        try file.forEachPage { number, page in
            try image.write(page, at: Int64(number - 1) * Int64(segment.pageSize))
        }
        pageCount = segment.databasePages
        last = segment.end
    }

    /// Sets the image's length and makes it durable.
    package mutating func finish() throws {
        if let last { try image.truncate(to: Int64(pageCount) * Int64(last.pageSize)) }
        try image.sync()
    }

    private func requireFollows(_ start: LogLink) throws {
        guard let last else { return }
        guard isComplete, start.follows(last) else {
            throw VaultError(
                .damaged, "segment \(start.place) does not follow segment \(last.place)", path: path)
        }
    }
}
