internal import CEngineSupport
internal import Foundation

/// Reads a write-ahead log from front to back, and believes a frame only if its salts are the log's and the checksum over
/// everything before it holds: https://sqlite.org/fileformat2.html#the_write_ahead_log
///
/// Headers and checksums are in the clear and computed over ciphertext, so none of this needs a key.
struct WALReader {
    static let headerLength = 32
    static let frameHeaderLength = 24

    let file: CompanionFile
    let pageSize: Int
    let bigEndian: Bool
    let salts: UInt64
    /// The frames read so far, and the checksum after them.
    private(set) var frame: UInt32 = 0
    private(set) var sums: [UInt32]
    private var buffer: [UInt8] = []

    /// Nil if the log has no valid header: it is empty, or was truncated.
    init?(_ file: CompanionFile) throws {
        let header = try file.read(count: Self.headerLength, at: 0)
        guard header.count == Self.headerLength, header.word(0) & 0xffff_fffe == 0x377f_0682 else { return nil }
        let size = Int(header.word(8))
        guard (512...65536).contains(size), size & (size - 1) == 0, header.word(4) == 3_007_000 else { return nil }
        let bigEndian = header.word(0) & 1 == 1
        var sums: [UInt32] = [0, 0]
        lv_wal_checksum(bigEndian, header, 24, &sums)
        guard sums == [header.word(24), header.word(28)] else { return nil }
        self.file = file
        self.bigEndian = bigEndian
        self.sums = sums
        pageSize = size
        salts = UInt64(header.word(16)) << 32 | UInt64(header.word(20))
    }

    /// The same log, from behind a frame whose checksum is known.
    func continued(at frame: UInt32, sums: [UInt32]) -> WALReader {
        var reader = self
        (reader.frame, reader.sums) = (frame, sums)
        return reader
    }

    var frameLength: Int { Self.frameHeaderLength + pageSize }

    func offset(ofFrame number: UInt32) -> Int64 {
        Int64(Self.headerLength) + Int64(number - 1) * Int64(frameLength)
    }

    /// Reads on up to frame `last`, and hands over each run of valid frames: their bytes, and the number of the first.
    ///
    /// - Returns: false if a frame on the way is not valid. The frames before it have been handed over.
    mutating func read(
        through last: UInt32, _ body: (_ frames: UnsafeRawBufferPointer, _ first: UInt32) throws -> Void
    ) throws -> Bool {
        let frameLength = frameLength
        let run = max(1, (1 << 20) / frameLength)
        if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: run * frameLength) }
        while frame < last {
            let wanted = min(run, Int(last - frame))
            let start = offset(ofFrame: frame + 1)
            let file = file
            let count = try buffer.withUnsafeMutableBytes {
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<(wanted * frameLength)]), at: start)
            }
            var valid = 0
            var sums = sums
            try buffer.withUnsafeBytes { bytes in
                while valid < count / frameLength, accepts(bytes, at: valid * frameLength, &sums) { valid += 1 }
                if valid > 0 { try body(UnsafeRawBufferPointer(rebasing: bytes[..<(valid * frameLength)]), frame + 1) }
            }
            self.sums = sums
            frame += UInt32(valid)
            if valid < wanted { return false }
        }
        return true
    }

    /// Frames of this log, valid or not, that say they commit.
    ///
    /// Frames of transactions that were rolled back stand there too, but commit nothing; those of earlier runs of the log have
    /// other salts.
    func commits(behind frame: UInt32, through last: UInt32) throws -> Int {
        var count = 0
        guard frame < last else { return 0 }
        // A few seconds of reading: a sparse file may have any length.
        for number in (frame + 1)...min(last, frame + min(UInt32.max - frame, 1_000_000)) {
            let header = try file.read(count: 16, at: offset(ofFrame: number))
            guard header.count == 16 else { break }
            if header.word(4) != 0, UInt64(header.word(8)) << 32 | UInt64(header.word(12)) == salts { count += 1 }
        }
        return count
    }

    private func accepts(_ bytes: UnsafeRawBufferPointer, at offset: Int, _ sums: inout [UInt32]) -> Bool {
        guard let base = bytes.baseAddress, bytes.word(offset) != 0,
            UInt64(bytes.word(offset + 8)) << 32 | UInt64(bytes.word(offset + 12)) == salts
        else { return false }
        var next = sums
        lv_wal_checksum(bigEndian, base + offset, 8, &next)
        lv_wal_checksum(bigEndian, base + offset + Self.frameHeaderLength, pageSize, &next)
        guard next[0] == bytes.word(offset + 16), next[1] == bytes.word(offset + 20) else { return false }
        sums = next
        return true
    }
}
