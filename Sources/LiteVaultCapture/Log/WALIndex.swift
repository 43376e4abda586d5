internal import CEngineSupport

/// The header of the write-ahead log's index, in the first bytes of `-shm`: https://sqlite.org/walformat.html
struct WALIndexHeader: Equatable {
    /// The twelve words of one copy, in the machine's byte order.
    private let words: [UInt32]

    /// Frames 1 to this one are committed.
    var lastFrame: UInt32 { words[4] }
    /// Pages in the database after the last commit.
    var pageCount: UInt32 { words[5] }
    /// The running checksum after the last frame.
    var frameChecksum: [UInt32] { [words[6], words[7]] }
    /// The log's salts, as its eight bytes read big-endian.
    var salts: UInt64 { UInt64(words[8].bigEndian) << 32 | UInt64(words[9].bigEndian) }
    /// Bytes in a page; 0 before the first write.
    var pageSize: Int {
        let short = withUnsafeBytes(of: words[3]) { $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self) }
        return Int(short & 0xfe00) | Int(short & 1) << 16
    }

    /// Reads both copies, which a writer changes one after the other; nil if they differ, or are not initialised.
    init?(_ region: UnsafeMutableRawPointer, barrier: () -> Void) {
        let first = (0..<12).map { lv_shared_load(region + 4 * $0) }
        barrier()
        let second = (0..<12).map { lv_shared_load(region + 48 + 4 * $0) }
        guard first == second else { return nil }
        let isInitialised = withUnsafeBytes(of: first[3]) { $0[0] != 0 }
        var sums: [UInt32] = [0, 0]
        lv_wal_checksum(Self.isBigEndian, first, 40, &sums)
        guard isInitialised, first[0] == 3_007_000, sums == [first[10], first[11]] else { return nil }
        words = first
    }

    private static var isBigEndian: Bool { UInt32(1).bigEndian == 1 }
}

/// What the index says beyond its header: how much is in the database already, and up to where readers read.
struct WALIndex {
    let region: UnsafeMutableRawPointer
    let file: SourceFile

    /// The value of a mark that nobody uses.
    static let unused: UInt32 = 0xffff_ffff

    func header() -> WALIndexHeader? { WALIndexHeader(region, barrier: file.barrier) }

    /// Frames that a checkpoint has copied into the database.
    var backfilled: UInt32 { lv_shared_load(region + 96) }

    func mark(_ number: Int) -> UInt32 { lv_shared_load(region + 100 + 4 * number) }

    func setMark(_ number: Int, to frame: UInt32) { lv_shared_store(region + 100 + 4 * number, frame) }
}
