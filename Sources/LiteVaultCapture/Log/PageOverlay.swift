internal import LiteVaultCipher
internal import LiteVaultSystem

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

    /// Copies the pages, or parts of them, that belong into `buffer`, which holds the image's bytes from `offset` on. Called
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
                // The rest of the page belongs into the next run.
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

    private init(overlay: PageOverlay?, position: LogPosition?) {
        self.overlay = overlay
        self.position = position
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
