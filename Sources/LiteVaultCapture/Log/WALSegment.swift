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
    /// Where it begins.
    var start: LogLink {
        LogLink(run: run, place: sequence, salts: salts, frame: firstFrame, checksum: checksum, pageSize: pageSize)
    }
    /// Where it ends, given the checksum after its last frame.
    func end(_ sums: [UInt32]) -> LogLink {
        LogLink(run: run, place: sequence, salts: salts, frame: lastFrame, checksum: sums, pageSize: pageSize)
    }
    var frameLength: Int { WALReader.frameHeaderLength + pageSize }
    /// Bytes of the whole segment.
    package var byteCount: Int64 { Int64(Self.headerLength) + Int64(frameCount) * Int64(frameLength) }

    /// The header's bytes.
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

    /// Reads a header; nil if it is not valid.
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

/// A segment in a file, verified while it is read.
package struct SegmentFile {
    package let segment: WALSegment
    let file: LocalFile
    /// Where the header starts in the file.
    private let start: Int64

    /// - Parameter start: the offset in the file at which the segment starts.
    /// - Throws: `VaultError` `damaged` if it is not a complete segment.
    package init(_ path: String, from start: Int64 = 0) throws {
        guard let file = try LocalFile(ifExists: path) else { throw VaultError(.noInput, "no such file", path: path) }
        self.start = start
        guard let segment = WALSegment(header: try file.readPrefix(count: WALSegment.headerLength, at: start)),
            try file.size() - start == segment.byteCount
        else { throw VaultError(.damaged, "is not a complete log segment", path: path) }
        self.file = file
        self.segment = segment
    }

    /// The numbers of the frames that end a transaction, from the frame headers alone.
    package func commits() throws -> [UInt32] {
        var result: [UInt32] = []
        for number in 0..<segment.frameCount {
            let offset = start + Int64(WALSegment.headerLength) + Int64(number) * Int64(segment.frameLength)
            let header = try file.readPrefix(count: 8, at: offset)
            if header.count == 8, header.word(4) != 0 { result.append(segment.firstFrame + number) }
        }
        return result
    }

    /// The offset in the file of a frame's page.
    func offset(ofPage number: UInt32) -> Int64 {
        start + Int64(WALSegment.headerLength) + Int64(number - segment.firstFrame) * Int64(segment.frameLength)
            + Int64(WALReader.frameHeaderLength)
    }

    /// Passes each frame to `body`: number, header and page.
    ///
    /// - Throws: `VaultError` `damaged` at the first frame with a wrong checksum or wrong salts.
    func forEachFrame(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Bool) throws -> [UInt32] {
        var sums = segment.checksum
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: segment.frameLength, alignment: 16)
        defer { buffer.deallocate() }
        let frame = UnsafeRawBufferPointer(buffer)
        guard let base = frame.baseAddress else { return sums }
        for number in 0..<segment.frameCount {
            let offset = start + Int64(WALSegment.headerLength) + Int64(number) * Int64(segment.frameLength)
            let count = try file.read(into: buffer, at: offset)
            lv_wal_checksum(segment.bigEndian, base, 8, &sums)
            lv_wal_checksum(segment.bigEndian, base + WALReader.frameHeaderLength, segment.pageSize, &sums)
            guard count == frame.count, frame.word(0) != 0, sums == [frame.word(16), frame.word(20)],
                UInt64(frame.word(8)) << 32 | UInt64(frame.word(12)) == segment.salts
            else { throw VaultError(.damaged, "frame \(segment.firstFrame + number) is damaged", path: file.path) }
            if try !body(segment.firstFrame + number, frame) { break }
        }
        return sums
    }
}
