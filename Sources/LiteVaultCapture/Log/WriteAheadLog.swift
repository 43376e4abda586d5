internal import CEngineSupport
internal import LiteVaultCipher
internal import LiteVaultSystem

/// Reads a write-ahead log from front to back. A frame is valid only if it has the log's salts and its checksum covers
/// every frame before it: https://sqlite.org/fileformat2.html#the_write_ahead_log
///
/// Headers and checksums are in the clear and computed over ciphertext, so none of this needs a key.
struct WALReader {
    static let headerLength = 32
    static let frameHeaderLength = 24

    let file: LocalFile
    let pageSize: Int
    let bigEndian: Bool
    private(set) var salts: UInt64
    /// The frames read so far, and the checksum after them.
    private(set) var frame: UInt32 = 0
    private(set) var sums: [UInt32]
    private var buffer: [UInt8] = []

    /// Nil if the log has no valid header: it is empty, or was truncated.
    init?(_ file: LocalFile) throws {
        let header = try file.readPrefix(count: Self.headerLength, at: 0)
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

    /// A reader of the same log that starts after a frame with a known checksum.
    ///
    /// - Parameter salts: those of the frames before the log was reset; nil takes those of its header.
    func continued(at frame: UInt32, sums: [UInt32], salts: UInt64? = nil) -> WALReader {
        var reader = self
        (reader.frame, reader.sums, reader.salts) = (frame, sums, salts ?? self.salts)
        return reader
    }

    var frameLength: Int { Self.frameHeaderLength + pageSize }

    func offset(ofFrame number: UInt32) -> Int64 {
        Int64(Self.headerLength) + Int64(number - 1) * Int64(frameLength)
    }

    /// Reads up to frame `last`, and passes on each run of valid frames: their bytes, and the number of the first.
    ///
    /// - Returns: false if a frame on the way is invalid. The frames before it have been passed on.
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

    /// The number of commit frames in this log, valid or not.
    ///
    /// Frames of rolled-back transactions are there too, but do not commit; frames of earlier runs of the log have
    /// other salts.
    func commits(behind frame: UInt32, through last: UInt32) throws -> Int {
        var count = 0
        guard frame < last else { return 0 }
        // Limits reading to a few seconds: a sparse file may have any length.
        for number in (frame + 1)...min(last, frame + min(UInt32.max - frame, 1_000_000)) {
            let header = try file.readPrefix(count: 16, at: offset(ofFrame: number))
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

/// The header of the write-ahead log's index, in the first bytes of `-shm`: https://sqlite.org/walformat.html
struct WALIndexHeader: Equatable {
    /// The twelve words of one copy, in the machine's byte order.
    private let words: [UInt32]

    /// A counter of commits, which starts from 0 when the index is rebuilt.
    var commits: UInt32 { words[2] }
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

    /// A header to write.
    init(
        commits: UInt32, frame: UInt32, pages: UInt32, sums: [UInt32], salts: UInt64, log: (size: Int, bigEndian: Bool)
    ) {
        let size = UInt16(truncatingIfNeeded: log.size & 0xff00 | log.size >> 16)
        var kind: UInt32 = 0
        withUnsafeMutableBytes(of: &kind) {
            $0[0] = 1
            $0[1] = log.bigEndian ? 1 : 0
            $0.storeBytes(of: size, toByteOffset: 2, as: UInt16.self)
        }
        let halves = [UInt32(truncatingIfNeeded: salts >> 32), UInt32(truncatingIfNeeded: salts)].map(\.bigEndian)
        var words = [3_007_000, 0, commits, kind, frame, pages] + sums + halves
        var check: [UInt32] = [0, 0]
        lv_wal_checksum(Self.isBigEndian, words, 40, &check)
        words += check
        self.words = words
    }

    /// Writes both copies, in SQLite's order: a reader that finds them equal has a complete one.
    func store(_ region: UnsafeMutableRawPointer, barrier: () -> Void) {
        for (place, word) in words.enumerated() { lv_shared_store(region + 48 + 4 * place, word) }
        barrier()
        for (place, word) in words.enumerated() { lv_shared_store(region + 4 * place, word) }
    }

    static var isBigEndian: Bool { UInt32(1).bigEndian == 1 }
}

/// The log's index beyond its header: how much is checkpointed, and the read marks.
struct WALIndex {
    let region: UnsafeMutableRawPointer
    let file: SourceFile

    static let unused: UInt32 = 0xffff_ffff

    func header() -> WALIndexHeader? { WALIndexHeader(region, barrier: file.barrier) }

    /// Frames that a checkpoint has copied into the database.
    var backfilled: UInt32 { lv_shared_load(region + 96) }

    func setBackfilled(_ frame: UInt32) { lv_shared_store(region + 96, frame) }

    /// Frames that a checkpoint may have begun to copy.
    func setAttempted(_ frame: UInt32) { lv_shared_store(region + 128, frame) }

    func mark(_ number: Int) -> UInt32 { lv_shared_load(region + 100 + 4 * number) }

    func setMark(_ number: Int, to frame: UInt32) { lv_shared_store(region + 100 + 4 * number, frame) }
}

/// Takes one of the marks 1 to 4, which tell checkpoints which part of the log readers still use.
enum ReadMark {
    /// The number of the mark whose lock is now shared, and which is not beyond the header's last frame; nil if none is
    /// free.
    static func take(_ index: WALIndex, _ header: WALIndexHeader) throws -> Int? {
        let file = index.file
        // The highest mark that does not exceed the last frame, as in SQLite: it blocks checkpoints least.
        var best: (number: Int, mark: UInt32)?
        for number in 1..<IndexLock.markCount {
            let mark = index.mark(number)
            if mark <= header.lastFrame, mark >= best?.mark ?? 0 { best = (number, mark) }
        }
        if best?.mark != header.lastFrame {
            for number in 1..<IndexLock.markCount
            where try file.lockSlot(IndexLock.read(number), exclusively: true) {
                index.setMark(number, to: header.lastFrame)
                file.unlockSlot(IndexLock.read(number))
                best = (number, header.lastFrame)
                break
            }
        }
        guard let best, try file.lockSlot(IndexLock.read(best.number), exclusively: false) else { return nil }
        file.barrier()
        guard index.mark(best.number) == best.mark else {
            file.unlockSlot(IndexLock.read(best.number))
            return nil
        }
        return best.number
    }
}

/// A position in a write-ahead log: which log, and how many of its frames are in the image.
package struct LogPosition: Sendable, Hashable {
    /// The eight bytes of salt that identify one run of the log; they change when it is reset.
    package let salts: UInt64
    /// Frames 1 to this one are in the image; 0 if there are none.
    package let frame: UInt32

    package init(salts: UInt64, frame: UInt32) {
        self.salts = salts
        self.frame = frame
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian 32-bit number at `offset`.
    package func word(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

extension [UInt8] {
    /// The big-endian 32-bit number at `offset`.
    func word(_ offset: Int) -> UInt32 { withUnsafeBytes { $0.word(offset) } }
}

/// Pages in another file that replace pages of the database file in an image.
struct PageOverlay {
    let file: LocalFile
    let pageSize: Int
    /// Pages of the complete image.
    let pageCount: UInt32
    /// The offset of each page in `file`, ordered by page number.
    private let pages: [(index: Int64, offset: Int64)]
    private var next = 0

    /// - Parameter pages: page numbers, from 1, and the offsets of their bytes in `file`.
    init(file: LocalFile, pageSize: Int, pageCount: UInt32, pages: [UInt32: Int64]) {
        self.file = file
        self.pageSize = pageSize
        self.pageCount = pageCount
        self.pages = pages.filter { $0.key >= 1 && $0.key <= pageCount }
            .map { (Int64($0.key) - 1, $0.value) }.sorted { $0.index < $1.index }
    }

    /// Passes each page to `body`, with its offset in the image.
    func forEachPage(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
        for page in pages {
            let bytes = try file.readPrefix(count: pageSize, at: page.offset)
            guard bytes.count == pageSize else {
                throw VaultError(.damaged, "was truncated during the read", path: file.path)
            }
            try bytes.withUnsafeBytes { try body(page.index * Int64(pageSize), $0) }
        }
    }

    var byteCount: Int64 { Int64(pageCount) * Int64(pageSize) }

    /// Copies the pages, or parts of them, that belong in `buffer`, which holds the image's bytes from `offset` on. Called
    /// with runs in their order; there may be gaps between them.
    mutating func apply(to buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws {
        while next < pages.count {
            let start = pages[next].index * Int64(pageSize) - offset
            guard start < Int64(buffer.count) else { return }
            let end = start + Int64(pageSize)
            if end > 0 {
                let own = max(0, start)..<min(Int64(buffer.count), end)
                let place = UnsafeMutableRawBufferPointer(rebasing: buffer[Int(own.lowerBound)..<Int(own.upperBound)])
                guard try file.read(into: place, at: pages[next].offset + own.lowerBound - start) == place.count else {
                    throw VaultError(.damaged, "was truncated during the read", path: file.path)
                }
                // The rest of the page belongs in the next run.
                guard end <= Int64(buffer.count) else { return }
            }
            next += 1
        }
    }
}

/// The committed pages of a write-ahead log, up to a frame.
struct LogContent {
    /// Nil if the log adds nothing to the database file.
    let overlay: PageOverlay?
    /// Nil if the log has no valid header.
    let position: LogPosition?
    /// Commits behind an invalid frame; whether they are complete cannot be determined.
    var unreachable = 0
}

extension LogContent {
    /// All committed pages of a log without a reliable index: what SQLite would recover.
    init(scanning file: LocalFile) throws {
        guard let reader = try WALReader(file) else {
            (overlay, position) = (nil, nil)
            return
        }
        let last = UInt32(clamping: (try file.size() - Int64(WALReader.headerLength)) / Int64(reader.frameLength))
        let (content, _, isWhole) = try Self.read(reader, through: last)
        self = content
        if !isWhole { unreachable = try reader.commits(behind: content.position?.frame ?? 0, through: last) }
    }

    /// Frames 1 to `last`, which ends a transaction; nil if the log does not contain all of them.
    init?(_ file: LocalFile, salts: UInt64, through last: UInt32, checksum: [UInt32]) throws {
        guard let reader = try WALReader(file), reader.salts == salts else { return nil }
        let (content, sums, isWhole) = try Self.read(reader, through: last)
        guard isWhole, sums == checksum, content.position?.frame == last else { return nil }
        self = content
    }

    private static func read(
        _ initial: WALReader, through last: UInt32
    ) throws -> (content: LogContent, sums: [UInt32], isWhole: Bool) {
        var reader = initial
        let length = reader.frameLength
        var pages: [UInt32: Int64] = [:]
        // Pages of the transaction being read: they take effect when it commits.
        var pending: [UInt32: Int64] = [:]
        var committed: UInt32 = 0
        var pageCount: UInt32 = 0
        let isWhole = try reader.read(through: last) { frames, first in
            var number = first
            for start in stride(from: 0, to: frames.count, by: length) {
                pending[frames.word(start)] = initial.offset(ofFrame: number) + Int64(WALReader.frameHeaderLength)
                if frames.word(start + 4) != 0 {
                    pages.merge(pending) { $1 }
                    pending.removeAll(keepingCapacity: true)
                    committed = number
                    pageCount = frames.word(start + 4)
                }
                number += 1
            }
        }
        let overlay =
            committed == 0
            ? nil : PageOverlay(file: reader.file, pageSize: reader.pageSize, pageCount: pageCount, pages: pages)
        return (
            LogContent(overlay: overlay, position: .init(salts: reader.salts, frame: committed)), reader.sums, isWhole
        )
    }
}

/// A rollback journal left behind by a crash, which a reader with write access would roll back first.
enum HotJournal {
    /// The pages as they were before the interrupted transaction; nil if there is none to roll back.
    ///
    /// Call it under the SHARED lock: a connection that holds RESERVED has not written to the file yet.
    static func overlay(of file: SourceFile) throws -> PageOverlay? {
        guard let journal = try LocalFile(ifExists: file.path + "-journal") else { return nil }
        // The journal of a transaction in progress: its pages are still those of the file.
        if try file.isReserved() { return nil }
        guard try file.size() > 0,
            let content = try RollbackJournal(
                size: journal.size(), exists: LocalFile.exists, read: { try journal.readPrefix(count: $1, at: $0) })
        else { return nil }
        return PageOverlay(
            file: journal, pageSize: content.pageSize, pageCount: content.pageCount, pages: content.pages)
    }
}
