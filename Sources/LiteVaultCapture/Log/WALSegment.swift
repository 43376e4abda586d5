internal import CEngineSupport

/// The header of a segment, which precedes its frames.
///
/// A segment holds whole transactions of one write-ahead log, byte for byte. All numbers are big-endian.
///
///      0  8 bytes   "LVWALSG1"
///      8  16 bytes  run: a random name; segments of one run follow each other without a gap
///     24  u64       sequence in the run, from 0
///     32  u64       milliseconds since 1970 of the previous poll, at which none of this had been committed
///     40  u64       milliseconds since 1970 of this poll, at which all of this had been committed
///     48  u64       salts of the log
///     56  u32       number of the first frame in the log, from 1
///     60  u32       frames in the segment, at least 1; the last one ends a transaction
///     64  u32       bytes in a page
///     68  u32       1 if the log's checksums read big-endian words, else 0
///     72  2 × u32   checksum before the first frame; for frame 1 the one in the log's own header
///     80            the frames, each 24 bytes of header and a page: https://sqlite.org/fileformat2.html#walformat
///
/// A reader continues the checksum over all frames and compares it with each, so a segment verifies itself, and the
/// next one of the same log begins with the checksum that this one ends with.
package struct WALSegment: Sendable, Equatable {
    package static let headerLength = 80
    /// Bytes before the page of each frame.
    package static let frameHeaderLength = WALReader.frameHeaderLength
    static let magic = Array("LVWALSG1".utf8)

    package let run: [UInt8]
    package let sequence: UInt64
    /// When the log was previously polled, in milliseconds since 1970.
    package let after: UInt64
    /// When the log was polled, in milliseconds since 1970: the time that a point-in-time restore uses.
    package let seen: UInt64
    package let salts: UInt64
    package let firstFrame: UInt32
    package let frameCount: UInt32
    package let pageSize: Int
    package let bigEndian: Bool
    package let checksum: [UInt32]

    package var lastFrame: UInt32 { firstFrame + (frameCount - 1) }
    /// Where a frame is, given the checksum before it, or after it.
    fileprivate func link(_ frame: UInt32, _ sums: [UInt32], place: UInt64? = nil) -> LogLink {
        LogLink(run: run, place: place ?? sequence, salts: salts, frame: frame, checksum: sums, pageSize: pageSize)
    }
    var frameLength: Int { WALReader.frameHeaderLength + pageSize }
    package var byteCount: Int64 { Int64(Self.headerLength) + Int64(frameCount) * Int64(frameLength) }

    package var header: [UInt8] {
        var bytes = Self.magic + run
        func put(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.bigEndian) { bytes += $0 } }
        for value in [sequence, after, seen, salts] { put(value) }
        for value in [firstFrame, frameCount, UInt32(pageSize), bigEndian ? 1 : 0] + checksum { put(value) }
        return bytes
    }

    init(
        run: [UInt8], sequence: UInt64, after: UInt64, seen: UInt64, reader: WALReader, through last: UInt32
    ) {
        self.run = run
        self.sequence = sequence
        self.after = after
        self.seen = seen
        salts = reader.salts
        firstFrame = reader.frame + 1
        frameCount = last - reader.frame
        pageSize = reader.pageSize
        bigEndian = reader.bigEndian
        checksum = reader.sums
    }

    package init?(header bytes: [UInt8]) {
        guard bytes.count >= Self.headerLength, Array(bytes[..<8]) == Self.magic else { return nil }
        func long(_ offset: Int) -> UInt64 { UInt64(bytes.word(offset)) << 32 | UInt64(bytes.word(offset + 4)) }
        run = Array(bytes[8..<24])
        (sequence, after, seen, salts) = (long(24), long(32), long(40), long(48))
        (firstFrame, frameCount) = (bytes.word(56), bytes.word(60))
        (pageSize, bigEndian) = (Int(bytes.word(64)), bytes.word(68) == 1)
        checksum = [bytes.word(72), bytes.word(76)]
        guard firstFrame > 0, frameCount > 0, frameCount - 1 <= UInt32.max - firstFrame,
            (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0
        else { return nil }
    }
}

/// Where a segment begins or ends, in its run and in its log.
package struct LogLink: Sendable, Equatable {
    let run: [UInt8]
    /// The place of the segment in the run.
    let place: UInt64
    let salts: UInt64
    /// The segment's first frame, or the last one that was read.
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

/// A segment in a file: one as a follower has read it, or several that were joined.
package protocol StoredSegment {
    var file: LocalFile { get }
    var start: LogLink { get }
    /// When the log was polled before its first commit, and when its last commit had been read, in milliseconds since 1970.
    var times: (after: UInt64, seen: UInt64) { get }

    /// Passes each page to `body`: its number, from 1, and its bytes. Of several versions of a page the last one counts.
    ///
    /// - Returns: where the segment ends, and the number of pages in the database then.
    /// - Throws: `VaultError` `damaged` for a damaged segment.
    func forEachPage(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) throws -> (end: LogLink, pages: UInt32)

    /// As ``forEachPage(_:)``, with the offset of each page in the file in place of its bytes.
    func forEachPlace(_ body: (UInt32, Int64) throws -> Void) throws -> (end: LogLink, pages: UInt32)
}

/// A segment as a follower has read it, in a file, verified while it is read.
package struct SegmentFile: StoredSegment {
    package let segment: WALSegment
    package let file: LocalFile
    /// Where the header starts in the file.
    private let offset: Int64
    /// The last frame that is read.
    private let last: UInt32

    package var start: LogLink { segment.link(segment.firstFrame, segment.checksum) }
    package var times: (after: UInt64, seen: UInt64) { (segment.after, segment.seen) }

    /// - Parameters:
    ///   - offset: the offset in the file at which the segment starts.
    ///   - last: a frame that ends a transaction, behind which nothing is read; nil reads all of it.
    /// - Throws: `VaultError` `damaged` if it is not a complete segment, `internal` for a frame that it does not have.
    package init(_ path: String, from offset: Int64 = 0, through last: UInt32? = nil) throws {
        guard let file = try LocalFile(ifExists: path) else { throw VaultError(.noInput, "no such file", path: path) }
        guard let segment = WALSegment(header: try file.readPrefix(count: WALSegment.headerLength, at: offset)),
            try file.size() - offset == segment.byteCount
        else { throw VaultError(.damaged, "is not a complete log segment", path: path) }
        (self.file, self.offset, self.segment) = (file, offset, segment)
        self.last = last ?? segment.lastFrame
        guard (segment.firstFrame...segment.lastFrame).contains(self.last) else {
            throw VaultError(.internalFailure, "the segment has no frame \(self.last)", path: path)
        }
    }

    /// The numbers of the frames that end a transaction, from the frame headers alone.
    package func commits() throws -> [UInt32] {
        try (segment.firstFrame...last).filter { number in
            let header = try file.readPrefix(count: 8, at: offset(ofFrame: number))
            return header.count == 8 && header.word(4) != 0
        }
    }

    package func forEachPage(
        _ body: (UInt32, UnsafeRawBufferPointer) throws -> Void
    ) throws -> (end: LogLink, pages: UInt32) {
        try forEachFrame { frame, _ in
            try body(frame.word(0), UnsafeRawBufferPointer(rebasing: frame[WALReader.frameHeaderLength...]))
        }
    }

    package func forEachPlace(_ body: (UInt32, Int64) throws -> Void) throws -> (end: LogLink, pages: UInt32) {
        try forEachFrame { try body($0.word(0), $1 + Int64(WALReader.frameHeaderLength)) }
    }

    private func offset(ofFrame number: UInt32) -> Int64 {
        offset + Int64(WALSegment.headerLength) + Int64(number - segment.firstFrame) * Int64(segment.frameLength)
    }

    /// Passes each frame to `body`, header and page, with its offset in the file, up to the first one with a wrong checksum or wrong salts.
    private func forEachFrame(
        _ body: (UnsafeRawBufferPointer, Int64) throws -> Void
    ) throws -> (end: LogLink, pages: UInt32) {
        var (sums, pages) = (segment.checksum, UInt32(0))
        let base = UnsafeMutableRawPointer.allocate(byteCount: segment.frameLength, alignment: 16)
        defer { base.deallocate() }
        let buffer = UnsafeMutableRawBufferPointer(start: base, count: segment.frameLength)
        let frame = UnsafeRawBufferPointer(buffer)
        for number in segment.firstFrame...last {
            let place = offset(ofFrame: number)
            let count = try file.read(into: buffer, at: place)
            lv_wal_checksum(segment.bigEndian, base, 8, &sums)
            lv_wal_checksum(segment.bigEndian, base + WALReader.frameHeaderLength, segment.pageSize, &sums)
            guard count == frame.count, frame.word(0) != 0, sums == [frame.word(16), frame.word(20)],
                UInt64(frame.word(8)) << 32 | UInt64(frame.word(12)) == segment.salts
            else { throw VaultError(.damaged, "frame \(number) is damaged", path: file.path) }
            pages = frame.word(4)
            try body(frame, place)
        }
        guard pages != 0 else { throw VaultError(.damaged, "does not end with a whole transaction") }
        // No segment follows a part of one.
        return (segment.link(last, sums, place: last == segment.lastFrame ? segment.sequence : .max), pages)
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

    /// - Parameter path: the image, a file that is written in place.
    package init(image path: String) throws {
        self.path = path
        image = try LocalFile(updating: path)
    }

    /// Applies a segment. After a joined one the image is, byte for byte, as if the segments that were joined had been applied.
    ///
    /// - Throws: `VaultError` `damaged` for a damaged segment, or one that does not follow the previous one. The image is then unusable.
    package mutating func apply(_ segment: any StoredSegment) throws {
        let start = segment.start
        if let last, !start.follows(last) {
            throw VaultError(
                .damaged, "segment \(start.place) does not follow segment \(last.place)", path: path)
        }
        let (end, pages) = try segment.forEachPage { number, page in
            try image.write(page, at: Int64(number - 1) * Int64(start.pageSize))
        }
        (last, pageCount) = (end, pages)
    }

    /// Sets the image's length and makes it durable.
    package mutating func finish() throws {
        if let last { try image.truncate(to: Int64(pageCount) * Int64(last.pageSize)) }
        try image.sync()
    }
}
