internal import LiteVaultSystem

/// An earlier image of a database, and what can show which of its blocks are still the same.
///
/// Nothing is guessed: what cannot be shown is read.
package struct CaptureBasis: Sendable {
    package let byteCount: Int64
    /// The file, if the earlier image was the file alone.
    package let file: SourceState?
    /// The position in the log at which the earlier image ended, and what shows that the log continues from it.
    package let log: LogMark?
    /// What a follower has read since then, should the log not go back that far.
    package let followed: FollowedChanges?

    /// Describes an earlier image.
    package init(byteCount: Int64, file: SourceState?, log: LogMark?, followed: FollowedChanges? = nil) {
        (self.byteCount, self.file, self.log, self.followed) = (byteCount, file, log, followed)
    }
}

/// The state of a database file without a log, by which a later one is recognised as the same.
package struct SourceState: Codable, Sendable, Equatable {
    /// The inode and the time of its last status change, as in ``LogEnd/file``.
    package let status: String
    /// The time of its last modification in nanoseconds since 1970, 16 hexadecimal digits.
    package let modified: String

    /// - Parameters:
    ///   - path: the file, which the caller has locked.
    ///   - latest: its times have to be before this one: a write in the same tick of the clock would not change them.
    /// - Returns: nil if the file was changed too recently, or is dated in the future.
    init?(_ path: String, before latest: Date) {
        var status = stat()
        guard stat(path, &status) == 0, let text = LogEnd.status(path) else { return nil }
        let times = [status.modificationTime, status.statusChangeTime]
        let limit = latest.timeIntervalSince1970
        guard times.allSatisfy({ Double($0.tv_sec) + Double($0.tv_nsec) / 1e9 < limit }) else { return nil }
        self.status = text
        modified = LogEnd.digits(times[0])
    }
}

/// What may have changed since an earlier image.
struct ImageChanges {
    /// Bytes at the start that are always read: they show the kind of the file, its salt, and the counter of changes in its header.
    static let start = 65536

    /// Whether nothing is supposed to have changed, not even the first page: each commit in rollback-journal mode changes that.
    let isNothing: Bool
    /// The pages that the log names.
    private let pages: Set<UInt32>
    private let pageSize: Int
    /// Bytes from the start that existed all the time: pages behind may be free ones, which the log does not name.
    private let least: Int64
    private let earlier: Int64

    /// The file is the same.
    init(sinceSame basis: CaptureBasis) {
        (isNothing, pages, pageSize) = (true, [], blockSize)
        (least, earlier) = (basis.byteCount, basis.byteCount)
    }

    /// Nothing but these pages has changed.
    fileprivate init(pages: Set<UInt32>, pageSize: Int, least: Int64, since basis: CaptureBasis) {
        isNothing = false
        (self.pages, self.pageSize) = (pages, pageSize)
        (self.least, earlier) = (min(least, basis.byteCount), basis.byteCount)
    }

    /// The blocks of an image that are the same as in the earlier one, in order.
    func unchanged(byteCount: Int64) -> [Range<Int>] {
        let whole = min(least, byteCount)
        // The last block may be padded with zeros.
        let isSameLength = whole == byteCount && whole == earlier
        let end = Int((whole + (isSameLength ? Int64(blockSize) - 1 : 0)) / Int64(blockSize))
        var result: [Range<Int>] = []
        var next = Self.start / blockSize
        func keep(to block: Int) { if next < min(block, end) { result.append(next..<min(block, end)) } }
        for page in pages.sorted() {
            let first = (Int64(page) - 1) * Int64(pageSize)
            keep(to: Int(first / Int64(blockSize)))
            next = max(next, Int((first + Int64(pageSize) + Int64(blockSize) - 1) / Int64(blockSize)))
        }
        keep(to: end)
        return result
    }
}

extension CaptureBasis {
    /// The pages that changed since the earlier image, by the log or by what a follower has read of it; nil if neither shows that.
    ///
    /// - Parameter header: that of the log's index, up to which the new image goes. The caller holds a lock that keeps pages from being
    ///   written to the database from behind it.
    func changes(in log: LocalFile, to header: WALIndexHeader, path: String) throws -> ImageChanges? {
        if let mark = self.log, let changes = try changes(since: mark, nil, in: log, to: header, path) {
            return changes
        }
        guard let followed, followed.pageSize == header.pageSize else { return nil }
        return try changes(since: followed.mark, followed, in: log, to: header, path)
    }

    /// - Parameters:
    ///   - mark: where to read the log from.
    ///   - known: what is known to have changed before.
    private func changes(
        since mark: LogMark, _ known: FollowedChanges?, in log: LocalFile, to header: WALIndexHeader, _ path: String
    ) throws -> ImageChanges? {
        guard header.pageSize > 0 else { return nil }
        // Before its first frame a log shows nothing but the file's times.
        guard mark.position.frame > 0 || mark.position.salts == header.salts else { return nil }
        let continuation = LogContinuation(log: log, header: header, path: path)
        guard case .continues(let position, let found) = try continuation.outcome(from: mark) else { return nil }
        var least = min(byteCount, known.map { Int64($0.least) * Int64(header.pageSize) } ?? byteCount)
        var pages = known?.pages ?? []
        if header.lastFrame > position.frame {
            guard var reader = try found ?? WALReader(log), reader.salts == header.salts else { return nil }
            let length = reader.frameLength
            let isWhole = try reader.read(through: header.lastFrame) { frames, _ in
                for start in stride(from: 0, to: frames.count, by: length) {
                    pages.insert(frames.word(start))
                    let count = frames.word(start + 4)
                    if count != 0 { least = min(least, Int64(count) * Int64(header.pageSize)) }
                }
            }
            // A log that was reset meanwhile.
            guard isWhole, reader.sums == header.frameChecksum, reader.pageSize == header.pageSize else { return nil }
        }
        return ImageChanges(pages: pages, pageSize: header.pageSize, least: least, since: self)
    }
}
