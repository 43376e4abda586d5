package import LiteVaultCapture
internal import LiteVaultCipher
package import LiteVaultRepository
package import LiteVaultSystem

/// Spools the frames that a follower reads to files, each a whole segment, until they are stored. One thread may fill
/// it while another empties it.
package final class SegmentSpool: WALSegmentSink, @unchecked Sendable {  // one thread uses `unfinished` and `newest`
    /// A segment waiting to be stored.
    package struct Waiting {
        package let segment: WALSegment
        /// When its run began.
        package let began: Date
        /// What lets another follower continue after it.
        package let end: LogEnd?
        /// Where its run began, if it did in this spool.
        package let start: RunStart?
        let file: ReplacementFile

        /// The file with the segment.
        package var path: String { file.path }
        /// Removes the file: the segment is stored.
        package func discard() { file.discard() }
    }

    /// A run that began.
    package struct Run: Sendable, Equatable {
        package let id: [UInt8]
        package let began: Date
        /// Nil if it continues.
        var start: RunStart?
    }

    private struct Shared {
        var waiting: [Waiting] = []
        var byteCount: Int64 = 0
        var run: Run?
        /// The segments that were ever completed, and those of them that were removed.
        var totals = (read: 0, stored: 0)
    }

    private let directory: String
    private let limit: Int64
    private let allowsPlaintext: Bool
    private let pages: FollowedPages
    private let prepare: @Sendable () throws -> Void
    private let newestSnapshot: @Sendable () -> Int
    private let shared = Locked(Shared())
    /// The newest file, whose descriptor of the directory the next one shares: many may wait at the same time.
    private var newest: ReplacementFile?
    private var unfinished: (file: ReplacementFile, writer: LocalFile, size: Int64, pageSize: Int)?

    /// - Parameters:
    ///   - limit: the maximum number of bytes of waiting segments.
    ///   - allowsPlaintext: whether unencrypted pages may be spooled.
    ///   - prepare: called before each file is created; throws if the directory is not to be used any more.
    ///   - pages: learns which pages the frames are of.
    ///   - newestSnapshot: the number of the newest known snapshot, asked when a run begins.
    package init(
        directory: String, limit: Int64 = .max, allowsPlaintext: Bool = false,
        prepare: @escaping @Sendable () throws -> Void = {}, pages: FollowedPages = FollowedPages(),
        newestSnapshot: @escaping @Sendable () -> Int = { 0 }
    ) throws {
        try LocalDirectory.create(directory)
        self.directory = directory
        self.limit = limit
        self.allowsPlaintext = allowsPlaintext
        self.prepare = prepare
        self.pages = pages
        self.newestSnapshot = newestSnapshot
        pages.restart()
    }

    /// Records the start of a run.
    package func begin(run: [UInt8], began: Date, at position: LogPosition, gap: String?) throws {
        let start = RunStart(position, after: newestSnapshot())
        try pages.begin(run: run, at: position)
        shared.withLock { $0.run = Run(id: run, began: began, start: start) }
    }

    /// Records that an earlier run continues.
    package func resume(run: [UInt8], began: Date) throws {
        try pages.begin(run: run)
        shared.withLock { $0.run = Run(id: run, began: began) }
    }

    /// Creates the file of a segment, with its header.
    ///
    /// - Throws: ``SpoolFullError`` before anything is written.
    package func begin(_ segment: WALSegment) throws {
        guard segment.byteCount <= min(limit - byteCount, RepositoryFormat.segmentBytes) else {
            throw SpoolFullError(limit: limit)
        }
        let (file, writer) = try create()
        let header = segment.header
        unfinished = (file, writer, Int64(header.count), segment.pageSize)
        do {
            try writer.write(header, at: 0)
        } catch {
            abandon()
            throw error
        }
    }

    private func create() throws -> (file: ReplacementFile, writer: LocalFile) {
        // If that fails, the directory may have been replaced, and is opened again the next time.
        let earlier = newest
        newest = nil
        try prepare()
        return try withErrorContext(path: directory) {
            let file =
                try earlier.map { try ReplacementFile(besides: $0) }
                ?? ReplacementFile(destination: directory + "/pack")
            let writer = try LocalFile(updating: file.path)
            newest = file
            return (file, writer)
        }
    }

    /// Appends frames to the segment that was begun.
    ///
    /// - Throws: `VaultError` `wrongKind` before anything is written, if a frame has an unencrypted page.
    package func append(_ frames: UnsafeRawBufferPointer) throws {
        guard let current = unfinished else { return }
        if !allowsPlaintext { try Self.refusePlaintext(frames, pageSize: current.pageSize) }
        try current.writer.write(frames, at: current.size)
        pages.add(frames, pageSize: current.pageSize)
        unfinished?.size = current.size + Int64(frames.count)
    }

    private static func refusePlaintext(_ frames: UnsafeRawBufferPointer, pageSize: Int) throws {
        var pages = PlainPages(pageSize: pageSize)
        let length = WALSegment.frameHeaderLength + pageSize
        for start in stride(from: 0, through: frames.count - length, by: length) {
            let page = UnsafeRawBufferPointer(
                rebasing: frames[(start + WALSegment.frameHeaderLength)..<(start + length)])
            let number = frames.word(start)
            let clear = number == 1 ? CiphertextTest.clearBytes(ofFirstPage: page) : 0
            guard let clear, CiphertextTest.plaintext(in: page, after: clear) == nil else {
                pages.note(page: Int64(number))
                continue
            }
        }
        if !pages.isEmpty { throw pages.error() }
    }

    /// Completes the segment, which then waits to be stored.
    package func finish(_ segment: WALSegment, at end: LogEnd? = nil) throws {
        guard let current = unfinished else { return }
        unfinished = nil
        pages.finish(segment, at: end)
        shared.withLock {
            guard let run = $0.run else { return current.file.discard() }
            $0.waiting.append(
                Waiting(segment: segment, began: run.began, end: end, start: run.start, file: current.file))
            $0.byteCount += current.size
            $0.totals.read += 1
        }
    }

    /// Removes the segment that was begun.
    package func abandon() {
        guard let current = unfinished else { return }
        unfinished = nil
        // The run is over.
        pages.restart()
        current.file.discard()
    }

    /// The most recent run.
    package var run: Run? { shared.withLock { $0.run } }

    /// The size in bytes of the waiting segments, as in ``first``.
    package var byteCount: Int64 { shared.withLock { $0.byteCount } }

    /// The number of waiting segments.
    package var count: Int { shared.withLock { $0.waiting.count } }

    /// How many segments were ever completed, and how many of them ``removeFirst()`` has removed.
    var totals: (read: Int, stored: Int) { shared.withLock { $0.totals } }

    /// The oldest waiting segment.
    package var first: Waiting? { shared.withLock { $0.waiting.first } }

    /// The newest waiting segment.
    package var last: Waiting? { shared.withLock { $0.waiting.last } }

    /// Removes the oldest waiting segment with its file.
    package func removeFirst() {
        let gone: Waiting? = shared.withLock {
            guard let first = $0.waiting.first else { return nil }
            $0.waiting.removeFirst()
            $0.byteCount -= first.segment.byteCount
            $0.totals.stored += 1
            return first
        }
        gone?.discard()
    }

    /// The waiting segments, in order, which the caller owns from now on.
    package func takeWaiting() -> [Waiting] {
        shared.withLock { shared in
            defer { (shared.waiting, shared.byteCount) = ([], 0) }
            return shared.waiting
        }
    }

    /// Removes all waiting segments.
    package func discardAll() { for waiting in takeWaiting() { waiting.discard() } }

    deinit {
        abandon()
        discardAll()
    }
}

/// A segment does not fit into the spool. The follower's run ends.
package struct SpoolFullError: Error {
    /// The spool's capacity in bytes.
    package let limit: Int64
}
