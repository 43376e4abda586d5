/// The committed pages of a write-ahead log, up to a frame.
struct LogContent {
    /// Nil if the log adds nothing to the database file.
    let overlay: PageOverlay?
    /// Nil if the log has no valid header.
    let position: CaptureReport.Position?
    /// Commits that stand behind a frame which is not valid, so that nobody can tell whether they are whole.
    var unreachable = 0

    /// Everything committed in a log whose index can not be relied on: what SQLite would recover.
    init(scanning file: CompanionFile) throws {
        guard let reader = try WALReader(file) else {
            (overlay, position) = (nil, nil)
            return
        }
        let last = UInt32(clamping: (try file.size() - Int64(WALReader.headerLength)) / Int64(reader.frameLength))
        let (content, _, isWhole) = try Self.read(reader, through: last)
        self = content
        if !isWhole { unreachable = try reader.commits(behind: content.position?.frame ?? 0, through: last) }
    }

    /// Frames 1 to `last`, whose last commits; nil if the log has not all of them.
    init?(_ file: CompanionFile, salts: UInt64, through last: UInt32, checksum: [UInt32]) throws {
        guard let reader = try WALReader(file), reader.salts == salts else { return nil }
        let (content, sums, isWhole) = try Self.read(reader, through: last)
        guard isWhole, sums == checksum, content.position?.frame == last else { return nil }
        self = content
    }

    private init(overlay: PageOverlay?, position: CaptureReport.Position?) {
        self.overlay = overlay
        self.position = position
    }

    private static func read(
        _ initial: WALReader, through last: UInt32
    ) throws -> (content: LogContent, sums: [UInt32], isWhole: Bool) {
        var reader = initial
        let length = reader.frameLength
        var pages: [UInt32: Int64] = [:]
        // Pages of the transaction that is being read: they count when it commits.
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
