internal import DurableFile
package import Foundation
package import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultRepository

/// Takes what a follower reads into files, each a whole segment, until somebody stores them. One thread fills it, another
/// may empty it.
package final class SegmentSpool: WALSegmentSink, @unchecked Sendable {  // its lock guards `shared`
    /// What is to be spooled does not fit; the follower's run ends.
    package struct Full: Error {
        /// Bytes that it may hold.
        package let limit: Int64
    }

    /// A segment that waits.
    package struct Waiting {
        package let segment: WALSegment
        /// When its run began.
        package let began: Date
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
    }

    private struct Shared {
        var waiting: [Waiting] = []
        var byteCount: Int64 = 0
        var run: Run?
        var isNew = false
    }

    private let spool: PackSpool
    private let limit: Int64
    private let allowsPlaintext: Bool
    private let lock = NSLock()
    private var shared = Shared()
    private var unfinished: (file: ReplacementFile, writer: LocalFile, size: Int64, pageSize: Int)?

    /// - Parameters:
    ///   - limit: bytes of segments that may wait.
    ///   - allowsPlaintext: whether pages may be spooled that anybody can read.
    package init(folder: String, limit: Int64 = .max, allowsPlaintext: Bool = false) throws {
        try Folder.create(folder)
        spool = PackSpool(folder: folder)
        self.limit = limit
        self.allowsPlaintext = allowsPlaintext
    }

    /// Takes down that a run begins.
    package func begin(run: [UInt8], at position: CaptureReport.Position, gap: String?) throws {
        lock.withLock {
            shared.run = Run(id: run, began: Date())
            shared.isNew = true
        }
    }

    /// Starts the file of a segment with its header.
    ///
    /// - Throws: ``Full`` before anything is written.
    package func begin(_ segment: WALSegment) throws {
        guard segment.byteCount <= min(limit - byteCount, RepositoryFormat.segmentBytes) else {
            throw Full(limit: limit)
        }
        let (file, writer) = try spool.create()
        let header = segment.header
        unfinished = (file, writer, Int64(header.count), segment.pageSize)
        do {
            try writer.write(header, at: 0)
        } catch {
            abandon()
            throw error
        }
    }

    /// Adds frames to the segment that was begun.
    ///
    /// - Throws: ``BackupError`` `wrongKind` before anything is written, when one holds a page that is not encrypted.
    package func append(_ frames: UnsafeRawBufferPointer) throws {
        guard let current = unfinished else { return }
        if !allowsPlaintext { try Self.refusePlaintext(frames, pageSize: current.pageSize) }
        try current.writer.write(frames, at: current.size)
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

    /// Ends the segment: it waits to be stored.
    package func finish(_ segment: WALSegment) throws {
        guard let current = unfinished else { return }
        unfinished = nil
        lock.withLock {
            guard let run = shared.run else { return current.file.discard() }
            shared.waiting.append(Waiting(segment: segment, began: run.began, file: current.file))
            shared.byteCount += current.size
        }
    }

    /// Removes the segment that was begun.
    package func abandon() {
        unfinished?.file.discard()
        unfinished = nil
    }

    /// The run that began last.
    package var run: Run? { lock.withLock { shared.run } }

    /// Bytes of the segments that wait, by ``first``.
    package var byteCount: Int64 { lock.withLock { shared.byteCount } }

    /// Segments that wait.
    package var count: Int { lock.withLock { shared.waiting.count } }

    /// The one that waits longest.
    package var first: Waiting? { lock.withLock { shared.waiting.first } }

    /// Removes the one that waits longest, with its file.
    package func removeFirst() {
        let gone: Waiting? = lock.withLock {
            guard let first = shared.waiting.first else { return nil }
            shared.waiting.removeFirst()
            shared.byteCount -= first.segment.byteCount
            return first
        }
        gone?.discard()
    }

    /// Whether a run began since this was last asked.
    package func takeNewRun() -> Bool {
        lock.withLock {
            defer { shared.isNew = false }
            return shared.isNew
        }
    }

    /// The segments that are whole, in order; they are the caller's from now on.
    package func takeWaiting() -> [Waiting] {
        lock.withLock {
            defer { (shared.waiting, shared.byteCount) = ([], 0) }
            return shared.waiting
        }
    }

    /// Removes all that wait.
    package func discardAll() { for waiting in takeWaiting() { waiting.discard() } }

    deinit {
        abandon()
        discardAll()
    }
}
