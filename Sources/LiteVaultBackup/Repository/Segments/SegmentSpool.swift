internal import DurableFile
package import Foundation

/// Takes what a follower reads into files, each a whole segment, until somebody stores them.
package final class SegmentSpool: WALSegmentSink {
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

    private let spool: PackSpool
    private var began = Date()
    private var open: (file: ReplacementFile, writer: LocalFile, size: Int64)?
    private var waiting: [Waiting] = []
    /// Whether a run began since it was last asked, and a snapshot has to be taken.
    private var isNew = false

    package init(folder: String) throws {
        try Folder.create(folder)
        spool = PackSpool(folder: folder)
    }

    package func begin(run: [UInt8], at position: CaptureReport.Position, gap: String?) throws {
        began = Date()
        isNew = true
    }

    /// Starts the file of a segment with its header.
    package func begin(_ segment: WALSegment) throws {
        let (file, writer) = try spool.create()
        let header = segment.header
        try writer.write(header, at: 0)
        open = (file, writer, Int64(header.count))
    }

    /// Adds frames to the segment that was begun.
    package func append(_ frames: UnsafeRawBufferPointer) throws {
        guard let current = open else { return }
        try current.writer.write(frames, at: current.size)
        open = (current.file, current.writer, current.size + Int64(frames.count))
    }

    /// Ends the segment: it waits to be stored.
    package func finish(_ segment: WALSegment) throws {
        guard let current = open else { return }
        open = nil
        waiting.append(Waiting(segment: segment, began: began, file: current.file))
    }

    /// Removes the segment that was begun.
    package func abandon() {
        open?.file.discard()
        open = nil
    }

    /// Whether a run began since this was last asked.
    package func takeNewRun() -> Bool {
        defer { isNew = false }
        return isNew
    }

    /// The segments that are whole, in order; they are the caller's from now on.
    package func takeWaiting() -> [Waiting] {
        defer { waiting = [] }
        return waiting
    }
}
