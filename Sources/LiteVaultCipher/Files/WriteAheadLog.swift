internal import CEngineSupport
internal import LiteVaultCore

/// A write-ahead log as it is on disk: https://sqlite.org/fileformat2.html#the_write_ahead_log
///
/// Headers and checksums are in plaintext and computed over the ciphertext, so all of this works without a key.
package struct WriteAheadLog: Sendable {
    package struct Frame: Sendable, Equatable {
        package let page: UInt32
        /// The offset of the page's bytes in the file.
        package let offset: Int64
    }

    /// Frames from the first one, in four bytes each: a log may have millions.
    package struct Frames: RandomAccessCollection, Sendable {
        let pageSize: Int
        fileprivate(set) var pages: [UInt32] = []

        package var startIndex: Int { 0 }
        package var endIndex: Int { pages.count }

        package subscript(index: Int) -> Frame {
            Frame(page: pages[index], offset: Self.offset(of: index, pageSize))
        }

        /// The offset in the file of the page's bytes of a frame.
        fileprivate static func offset(of index: Int, _ pageSize: Int) -> Int64 {
            let header = WriteAheadLog.frameHeaderLength
            return Int64(WriteAheadLog.headerLength + header) + Int64(index) * Int64(header + pageSize)
        }
    }

    /// The number of pages in the database after the last commit; nil if nothing is committed.
    package private(set) var pageCount: UInt32?

    package static let headerLength = 32
    package static let frameHeaderLength = 24

    package let pageSize: Int
    /// The frames whose salts and checksums match the header, up to the last one that ends a transaction.
    package private(set) var committed: Frames
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
        committed = Frames(pageSize: pageSize)
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
        var valid: [UInt32] = []
        var last = 0
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
                    valid.append(frame.word(0))
                    if commits { (pageCount, last) = (frame.word(4), valid.count) }
                    continue
                }
                firstBroken = index + 1
            }
            // Frames of an earlier log have other salts; those of a rolled back transaction never commit.
            if sameLog, commits, brokenAt == nil { brokenAt = firstBroken }
            remaining -= 1
            if brokenAt != nil || remaining == 0 { break }
        }
        uncommitted = valid.count - last
        valid.removeLast(uncommitted)
        committed.pages = valid
    }
}

/// The newest frame of each page of a log, in eight bytes for a page.
package struct NewestFrames: Sendable {
    private let pageSize: Int
    /// A page above, and the index of its frame below 2^32; sorted.
    private var entries: [UInt64] = []

    /// - Parameter pageCount: the number of pages in the database; later ones are left out.
    package init(of frames: WriteAheadLog.Frames, upTo pageCount: UInt32) {
        pageSize = frames.pageSize
        entries.reserveCapacity(frames.count)
        for (index, page) in frames.pages.enumerated() where page <= pageCount {
            entries.append(UInt64(page) << 32 | UInt64(index))
        }
        entries.sort()
        var kept = 0
        for index in entries.indices {
            if index + 1 < entries.count, entries[index + 1] >> 32 == entries[index] >> 32 { continue }
            entries[kept] = entries[index]
            kept += 1
        }
        entries.removeLast(entries.count - kept)
    }

    /// The number of pages.
    package var count: Int { entries.count }

    /// The offset in the file of the newest bytes of a page; nil if the log does not have it.
    package func offset(of page: UInt32) -> Int64? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] >> 32 < UInt64(page) { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count, entries[low] >> 32 == UInt64(page) else { return nil }
        return WriteAheadLog.Frames.offset(of: Int(entries[low] & 0xFFFF_FFFF), pageSize)
    }
}

extension [UInt8] {
    /// The big-endian 32-bit number at `offset`, as logs and journals have them.
    func word(_ offset: Int) -> UInt32 { self[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
}
