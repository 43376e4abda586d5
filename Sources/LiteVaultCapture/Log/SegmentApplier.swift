/// Brings a restored image forward by the segments of one run.
///
/// The image is a snapshot that was taken during the run. Segments are applied in order, without one missing, from one that
/// begins at the snapshot's position or before it, up to a commit at or after that position: pages that the snapshot has
/// already are written again, which changes nothing in the end. Nobody may have the image open.
package struct SegmentApplier {
    private let path: String
    private let image: LocalFile
    private var last: (segment: WALSegment, sums: [UInt32])?
    private var pageCount: UInt32 = 0
    private var isComplete = true

    /// - Parameter path: the image, a file that is written in place.
    package init(image path: String) throws {
        self.path = path
        image = try LocalFile(updating: path)
    }

    /// Applies a segment, whole or through the frame with a number, which ends a transaction.
    ///
    /// - Throws: ``BackupError`` `damaged` for a damaged segment, or one that does not follow the one before; `internal` for
    ///   a frame that ends no transaction. The image is of no use then.
    package mutating func apply(_ file: SegmentFile, through stop: UInt32? = nil) throws {
        let segment = file.segment
        try requireFollows(segment)
        var endsTransaction = false
        let sums = try file.forEachFrame { number, frame in
            try image.write(
                UnsafeRawBufferPointer(rebasing: frame[WALReader.frameHeaderLength...]),
                at: Int64(frame.word(0) - 1) * Int64(segment.pageSize))
            endsTransaction = frame.word(4) != 0
            if endsTransaction { pageCount = frame.word(4) }
            return number != stop
        }
        guard endsTransaction else { throw BackupError(.internal, "the frame ends no transaction", path: path) }
        isComplete = stop == nil || stop == segment.lastFrame
        last = (segment, sums)
    }

    /// Gives the image its length and makes it durable.
    package mutating func finish() throws {
        if let last { try image.truncate(to: Int64(pageCount) * Int64(last.segment.pageSize)) }
        try image.sync()
    }

    private func requireFollows(_ segment: WALSegment) throws {
        guard let (previous, sums) = last else { return }
        let continues =
            segment.salts == previous.salts
            ? segment.firstFrame == previous.lastFrame + 1 && segment.checksum == sums : segment.firstFrame == 1
        guard isComplete, segment.run == previous.run, segment.sequence == previous.sequence + 1, continues else {
            throw BackupError(
                .damaged, "segment \(segment.sequence) does not follow segment \(previous.sequence)", path: path)
        }
    }
}
