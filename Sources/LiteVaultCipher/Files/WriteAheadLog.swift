internal import CEngineSupport
internal import LiteVaultCore

/// A write-ahead log as it is on disk: https://sqlite.org/fileformat2.html#the_write_ahead_log
///
/// Headers and checksums are in plaintext and computed over the ciphertext, so all of this works without a key.
package struct WriteAheadLog: Sendable {
    package struct Frame: Sendable, Equatable {
        package let page: UInt32
        /// Whether the frame ends a transaction.
        package let commits: Bool
        /// The offset of the page's bytes in the file.
        package let offset: Int64
    }

    /// The number of pages in the database after the last commit; nil if nothing is committed.
    package private(set) var pageCount: UInt32?

    package static let headerLength = 32
    package static let frameHeaderLength = 24

    package let pageSize: Int
    /// The frames whose salts and checksums match the header, up to the last one that ends a transaction.
    package private(set) var committed: [Frame] = []
    /// Valid frames after the last commit: an unfinished transaction, which SQLite ignores.
    package private(set) var uncommitted = 0
    /// The frame (from 1) at which the checksums stop matching although it or a later one ends a transaction of the
    /// same log. SQLite silently ignores everything from this frame on.
    package private(set) var brokenAt: Int?

    /// Reads a log; nil when it is empty or shorter than its header.
    ///
    /// - Throws: ``VaultError`` `damaged` when the header is not that of a log.
    package init?(size: Int64, path: String, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]) throws {
        guard size >= Int64(Self.headerLength) else { return nil }
        let header = try read(0, Self.headerLength)
        guard header.count == Self.headerLength else { return nil }
        // All zeros: truncated by a checkpoint on some file systems, and valid.
        if header.allSatisfy({ $0 == 0 }) { return nil }
        let damaged = VaultError(.damaged, "The header of the write-ahead log is damaged", path: path)
        let magic = header.word(0)
        pageSize = Int(header.word(8))
        guard magic & 0xffff_fffe == 0x377f_0682, (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0
        else { throw damaged }
        let isBigEndian = magic & 1 == 1
        var sums: [UInt32] = [0, 0]
        lv_wal_checksum(isBigEndian, header, 24, &sums)
        guard sums == [header.word(24), header.word(28)] else { throw damaged }
        try walk(size: size, salts: header[16..<24], isBigEndian, sums, read: read)
    }

    private mutating func walk(
        size: Int64, salts: ArraySlice<UInt8>, _ isBigEndian: Bool, _ initial: [UInt32],
        read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) throws {
        let length = Self.frameHeaderLength + pageSize
        let count = Int((size - Int64(Self.headerLength)) / Int64(length))
        // After the first invalid frame, this many are searched for lost commits: a sparse file may have any length.
        var remaining = 1_000_000
        var sums = initial
        var valid: [Frame] = []
        var firstBroken: Int?
        for index in 0..<count {
            let offset = Int64(Self.headerLength) + Int64(index) * Int64(length)
            let frame = try read(offset, firstBroken == nil ? length : Self.frameHeaderLength)
            guard frame.count >= Self.frameHeaderLength else { break }
            let sameLog = frame[8..<16].elementsEqual(salts)
            let commits = frame.word(4) != 0
            if firstBroken == nil {
                // The last one may be truncated.
                let isWhole = frame.count == length
                if isWhole {
                    frame.withUnsafeBytes { bytes in
                        guard let base = bytes.baseAddress else { return }
                        lv_wal_checksum(isBigEndian, base, 8, &sums)
                        lv_wal_checksum(isBigEndian, base + Self.frameHeaderLength, pageSize, &sums)
                    }
                }
                if isWhole, sameLog, frame.word(0) != 0,
                    sums == [frame.word(16), frame.word(20)]
                {
                    valid.append(Frame(page: frame.word(0), commits: commits, offset: offset + 24))
                    if commits { pageCount = frame.word(4) }
                    continue
                }
                firstBroken = index + 1
            }
            // Frames of an earlier log have other salts; those of a rolled back transaction never commit.
            if sameLog, commits, brokenAt == nil { brokenAt = firstBroken }
            remaining -= 1
            if brokenAt != nil || remaining == 0 { break }
        }
        let last = valid.lastIndex { $0.commits }.map { $0 + 1 } ?? 0
        committed = Array(valid[..<last])
        uncommitted = valid.count - last
    }
}

extension [UInt8] {
    /// The big-endian 32-bit number at `offset`, as logs and journals have them.
    func word(_ offset: Int) -> UInt32 { self[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
}
