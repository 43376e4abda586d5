/// The start of a segment: what stands before its frames.
///
/// A segment holds whole transactions of one write-ahead log as the log had them, byte for byte. All numbers are big-endian.
///
///      0  8 bytes   "LVWALSG1"
///      8  16 bytes  run: a random name; segments of one run follow each other without a gap
///     24  u64       sequence in the run, from 0
///     32  u64       milliseconds since 1970: nothing of this had been committed when the log was looked at then
///     40  u64       milliseconds since 1970: all of this had been committed when the log was looked at next
///     48  u64       salts of the log
///     56  u32       number of the first frame in the log, from 1
///     60  u32       frames in the segment, at least 1; the last one ends a transaction
///     64  u32       bytes in a page
///     68  u32       1 if the log's checksums read big-endian words, else 0
///     72  2 × u32   checksum before the first frame; for frame 1 the one in the log's own header
///     80            the frames, each 24 bytes of header and a page: https://sqlite.org/fileformat2.html#walformat
///
/// A reader continues the checksum over all frames and compares it in each, so a segment verifies itself, and the next one
/// of the same log begins with the checksum that this one ends with.
package struct WALSegment: Sendable, Equatable {
    package static let headerLength = 80
    /// Bytes before the page of each frame.
    package static let frameHeaderLength = WALReader.frameHeaderLength
    static let magic = Array("LVWALSG1".utf8)

    package let run: [UInt8]
    package let sequence: UInt64
    /// Milliseconds since 1970 when the log was looked at before.
    package let after: UInt64
    /// Milliseconds since 1970 when the log was looked at: the time that a restore to a point in time goes by.
    package let seen: UInt64
    package let salts: UInt64
    package let firstFrame: UInt32
    package let frameCount: UInt32
    package let pageSize: Int
    package let bigEndian: Bool
    package let checksum: [UInt32]

    package var lastFrame: UInt32 { firstFrame + (frameCount - 1) }
    var frameLength: Int { WALReader.frameHeaderLength + pageSize }
    /// Bytes of the whole segment.
    package var byteCount: Int64 { Int64(Self.headerLength) + Int64(frameCount) * Int64(frameLength) }

    /// The header's bytes.
    package var header: [UInt8] {
        var bytes = Self.magic + run
        func put(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.bigEndian) { bytes += $0 } }
        put(sequence)
        put(after)
        put(seen)
        put(salts)
        put(firstFrame)
        put(frameCount)
        put(UInt32(pageSize))
        put(UInt32(bigEndian ? 1 : 0))
        put(checksum[0])
        put(checksum[1])
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

    /// Reads a header; nil if it is none.
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
