internal import LiteVaultSystem

/// The header of a joined segment: consecutive segments of one run, of which each page's newest version is kept.
///
/// All numbers are big-endian.
///
///      0  8 bytes   "LVJOINS1"
///      8  16 bytes  run, as in the segments
///     24  2 × u64   places in the run of the first and the last segment
///     40  u64       `after` of the first segment, in milliseconds since 1970
///     48  u64       `seen` of the last one
///     56  2 × u64   salts of the log of the first segment, and of the last one
///     72  2 × u32   the first frame of the first segment, the last frame of the last one
///     80  2 × u32   checksum before that first frame
///     88  2 × u32   checksum after that last frame
///     96  u32       bytes in a page
///    100  u32       size of the database after the last frame, in pages
///    104  u32       number of pages that follow, at least 1
///    108  u32       0
///    112            the pages, in the order in which the segments first have them, each once: its number (u32), its bytes
///
/// Pages beyond the size of the database are kept too. So applying it leaves the same bytes as applying the segments one by one,
/// also if the database grows again later without all of its pages being written.
package struct JoinedSegment: Sendable, Equatable {
    package static let headerLength = 112
    /// Bytes before each page.
    package static let pageHeaderLength = 4
    static let magic = Array("LVJOINS1".utf8)

    let start: LogLink
    let end: LogLink
    package let after: UInt64
    package let seen: UInt64
    package let databasePages: UInt32
    package let pageCount: UInt32

    package var pageSize: Int { start.pageSize }
    package var byteCount: Int64 { Self.byteCount(pages: pageCount, pageSize: pageSize) }

    /// The size in bytes of a joined segment with this many pages.
    package static func byteCount(pages: UInt32, pageSize: Int) -> Int64 {
        Int64(headerLength) + Int64(pages) * Int64(pageHeaderLength + pageSize)
    }
}

extension JoinedSegment {
    fileprivate var header: [UInt8] {
        var bytes = Self.magic + start.run
        func put(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.bigEndian) { bytes += $0 } }
        for value in [start.place, end.place, after, seen, start.salts, end.salts] { put(value) }
        for value in [start.frame, end.frame] + start.checksum + end.checksum { put(value) }
        for value in [UInt32(pageSize), databasePages, pageCount, 0] { put(value) }
        return bytes
    }

    fileprivate init?(header bytes: [UInt8]) {
        guard bytes.count >= Self.headerLength, Array(bytes[..<8]) == Self.magic else { return nil }
        func long(_ offset: Int) -> UInt64 { UInt64(bytes.word(offset)) << 32 | UInt64(bytes.word(offset + 4)) }
        let (run, pageSize) = (Array(bytes[8..<24]), Int(bytes.word(96)))
        start = LogLink(
            run: run, place: long(24), salts: long(56), frame: bytes.word(72),
            checksum: [bytes.word(80), bytes.word(84)], pageSize: pageSize)
        end = LogLink(
            run: run, place: long(32), salts: long(64), frame: bytes.word(76),
            checksum: [bytes.word(88), bytes.word(92)], pageSize: pageSize)
        (after, seen) = (long(40), long(48))
        (databasePages, pageCount) = (bytes.word(100), bytes.word(104))
        guard start.place <= end.place, start.frame > 0, end.frame > 0, databasePages > 0, pageCount > 0,
            (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0
        else { return nil }
    }
}

/// A joined segment in a file. Its content was compared with its hash before.
package struct JoinedSegmentFile: StoredSegment {
    package let segment: JoinedSegment
    package let file: LocalFile
    /// Where the header starts in the file.
    private let offset: Int64

    package var start: LogLink { segment.start }
    package var times: (after: UInt64, seen: UInt64) { (segment.after, segment.seen) }

    /// - Throws: `VaultError` `damaged` if it is not a complete joined segment.
    package init(_ path: String, from offset: Int64 = 0) throws {
        guard let file = try LocalFile(ifExists: path) else { throw VaultError(.noInput, "no such file", path: path) }
        guard
            let segment = JoinedSegment(header: try file.readPrefix(count: JoinedSegment.headerLength, at: offset)),
            try file.size() - offset == segment.byteCount
        else { throw VaultError(.damaged, "is not a complete joined segment", path: path) }
        (self.file, self.offset, self.segment) = (file, offset, segment)
    }

    package func forEachPlace(_ body: (UInt32, Int64) throws -> Void) throws -> (end: LogLink, pages: UInt32) {
        try forEachEntry(reading: JoinedSegment.pageHeaderLength) { entry, place in
            try body(entry.word(0), place + Int64(JoinedSegment.pageHeaderLength))
        }
    }

    package func forEachPage(
        _ body: (UInt32, UnsafeRawBufferPointer) throws -> Void
    ) throws -> (end: LogLink, pages: UInt32) {
        try forEachEntry(reading: JoinedSegment.pageHeaderLength + segment.pageSize) { entry, _ in
            try body(entry.word(0), UnsafeRawBufferPointer(rebasing: entry[JoinedSegment.pageHeaderLength...]))
        }
    }

    /// Reads the first bytes of each entry, the number of the page among them, and passes them to `body` with their offset in the file.
    private func forEachEntry(
        reading count: Int, _ body: (UnsafeRawBufferPointer, Int64) throws -> Void
    ) throws -> (end: LogLink, pages: UInt32) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        let entry = UnsafeRawBufferPointer(buffer)
        for index in 0..<segment.pageCount {
            let place = offset + JoinedSegment.byteCount(pages: index, pageSize: segment.pageSize)
            guard try file.read(into: buffer, at: place) == count, entry.word(0) != 0 else {
                throw VaultError(.damaged, "page \(index) of the joined segment is damaged", path: file.path)
            }
            try body(entry, place)
        }
        return (segment.end, segment.databasePages)
    }
}

/// Joins consecutive segments into one file, with each page's newest version.
///
/// Memory holds the number and the place of each page, not its content: 32 MB at ``pageLimit``.
package struct SegmentJoiner {
    /// The maximum number of pages in a joined segment.
    package static let pageLimit = 1 << 20

    private let output: LocalFile
    private let byteLimit: Int64
    private var slots: [UInt32: UInt32] = [:]
    private var start: LogLink?
    private var end: LogLink?
    private var times: (after: UInt64, seen: UInt64) = (0, 0)
    private var databasePages: UInt32 = 0

    /// The number of different pages so far.
    package var pageCount: Int { slots.count }

    /// - Parameters:
    ///   - path: an empty file.
    ///   - byteLimit: the maximum size of the result in bytes.
    package init(into path: String, byteLimit: Int64) throws {
        output = try LocalFile(updating: path)
        self.byteLimit = byteLimit
    }

    /// Appends a segment.
    ///
    /// - Throws: `VaultError` `damaged` for a damaged segment, `conflict` for one that does not follow the previous one: nothing of
    ///   it is taken then; `unsupported` if the result would be too large. After any other error than `conflict` the file is unusable.
    package mutating func append(_ segment: any StoredSegment) throws {
        if let end {
            guard segment.start.follows(end) else {
                throw VaultError(.conflict, "does not follow the previous segment")
            }
        } else {
            (start, times.after) = (segment.start, segment.times.after)
        }
        let found = try segment.forEachPage { try keep($0, $1) }
        (end, times.seen, databasePages) = (found.end, segment.times.seen, found.pages)
    }

    private mutating func keep(_ number: UInt32, _ page: UnsafeRawBufferPointer) throws {
        let known = slots[number]
        let slot = known ?? UInt32(slots.count)
        let place = JoinedSegment.byteCount(pages: slot, pageSize: page.count)
        if known == nil {
            guard slots.count < Self.pageLimit,
                JoinedSegment.byteCount(pages: slot + 1, pageSize: page.count) <= byteLimit
            else { throw VaultError(.unsupported, "the pages of these segments are too many for one object") }
            slots[number] = slot
            try withUnsafeBytes(of: number.bigEndian) { try output.write($0, at: place) }
        }
        try output.write(page, at: place + Int64(JoinedSegment.pageHeaderLength))
    }

    /// Writes the header.
    ///
    /// - Returns: nil if no segment was appended.
    package func finish() throws -> JoinedSegment? {
        guard let start, let end else { return nil }
        let segment = JoinedSegment(
            start: start, end: end, after: times.after, seen: times.seen, databasePages: databasePages,
            pageCount: UInt32(slots.count))
        try output.write(segment.header, at: 0)
        return segment
    }
}

/// The newest version of each page that some segments of a log have, in place of those of an image.
///
/// The pages are in one temporary file without a name, so that a process that is killed leaves nothing. Memory holds the
/// number and the place of each page.
package struct SegmentPages: Sendable {
    package let pageSize: Int
    /// Bytes of the database after the last segment.
    package let byteCount: Int64
    private let file: LocalFile
    private let places: [UInt32: Int64]

    /// Reads what a joiner has written.
    ///
    /// - Parameters:
    ///   - joiner: has all segments; at least one.
    ///   - path: its file, which loses its name.
    /// - Throws: `VaultError` `io`; `internal` if there was no segment.
    package init(_ joiner: SegmentJoiner, at path: String) throws {
        guard let segment = try joiner.finish() else {
            throw VaultError(.internalFailure, "no segment was joined", path: path)
        }
        var places: [UInt32: Int64] = [:]
        _ = try JoinedSegmentFile(path).forEachPlace { number, offset in places[number] = offset }
        self.places = places
        pageSize = segment.pageSize
        byteCount = Int64(segment.databasePages) * Int64(segment.pageSize)
        file = try LocalFile(reading: path)
        unlink(path)
    }

    /// Reads a part of a page.
    ///
    /// - Parameters:
    ///   - number: of the page, from 1.
    ///   - offset: in the page.
    /// - Returns: false if no segment has the page.
    /// - Throws: `VaultError` `io`.
    package func read(_ number: UInt32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Bool {
        guard let place = places[number] else { return false }
        guard try file.read(into: buffer, at: place + Int64(offset)) == buffer.count else {
            throw VaultError(.io, "was truncated while it was read", path: file.path)
        }
        return true
    }
}
