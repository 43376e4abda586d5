internal import LiteVaultSystem

/// What to copy: the database file, and the pages that replace pages of the file.
struct CapturedImage {
    /// What is known of the image before it is copied.
    var report: CaptureReport
    let overlay: PageOverlay?
    /// What may have changed since the sink's earlier image; nil if anything may have.
    var changes: ImageChanges?
    /// The state of a file on a read-only medium when the copy began.
    fileprivate var stamp: FileStamp?

    /// - Parameters:
    ///   - content: the log's; nil without one.
    ///   - walBytes: the size of the log in bytes.
    fileprivate init(
        mode: CaptureReport.Mode, of file: SourceFile, overlay: PageOverlay? = nil, content: LogContent? = nil,
        walBytes: Int64 = 0
    ) throws {
        self.overlay = overlay
        report = CaptureReport(byteCount: try overlay?.byteCount ?? file.size())
        (report.mode, report.pageSize, report.walBytes) = (mode, overlay?.pageSize, walBytes)
        (report.position, report.unreachableCommits) = (content?.position, content?.unreachable ?? 0)
    }

    /// The report of a copy that has just ended.
    ///
    /// - Parameter start: the image's first 24 bytes.
    func completed(start: [UInt8], began: Date, ended: Date, attempts: Int) -> CaptureReport {
        var report = report
        if report.pageSize == nil, start.count >= 18, start.starts(with: "SQLite format 3\0".utf8) {
            let size = Int(start[16]) << 8 | Int(start[17])
            report.pageSize = size == 1 ? 65536 : size
        }
        report.start = Array(start.prefix(16))
        (report.began, report.ended, report.attempts) = (began, ended, attempts)
        return report
    }
}

/// The attempt failed; another one may succeed.
struct RetryableCaptureError: Error {
    let reason: String
    var code = VaultError.Code.busy
    /// Whether a copy of the image was discarded.
    var hasCopied = false

    /// The error to throw when there is no time for another attempt.
    func final(_ path: String) -> VaultError {
        let remedy = code == .busy ? "Try again, or allow a longer wait." : "Check the database with its key."
        return VaultError(code, reason, path: path, remedy: remedy)
    }
}

/// One attempt at a capture: takes the locks that make an image consistent, and determines what to copy under them.
struct CaptureAttempt {
    let file: SourceFile
    /// The earlier image of the sink.
    let basis: CaptureBasis?
    /// The time before which the file has to have been changed for its times to identify it.
    let settled: Date
    let observe: ((CaptureEvent) throws -> Void)?

    private var logPath: String { file.path + "-wal" }

    /// The image under the SHARED lock, which the caller holds; takes a read mark as well if there is a log.
    func image() throws -> CapturedImage {
        guard LocalFile.exists(logPath) else {
            let overlay = try HotJournal.overlay(of: file)
            var image = try CapturedImage(mode: .rollback, of: file, overlay: overlay)
            image.report.rolledBack = overlay != nil
            if overlay == nil {
                let state = SourceState(file.path, before: settled)
                image.report.file = state
                if let basis, let known = basis.file, known == state, basis.byteCount == image.report.byteCount {
                    image.changes = ImageChanges(sinceSame: basis)
                }
            }
            return image
        }
        guard try file.size() > 0 else {
            // No database that the log could belong to: SQLite removes it.
            return try CapturedImage(mode: .wal, of: file, walBytes: LocalFile.size(logPath))
        }
        if let region = try mapIndex() {
            let index = WALIndex(region: region, file: file)
            // A writer updates the two copies of the header one after the other, within microseconds.
            for _ in 0..<20 {
                if let header = index.header() { return try indexedImage(index, header) }
                SystemThread.sleep(seconds: 0.0001)
            }
        }
        return try recoveredImage()
    }

    /// The image on read-only media: nothing can change, and locks cannot be taken.
    func readOnlyImage() throws -> CapturedImage {
        let stamp = FileStamp(file.path, logPath)
        let log = try LocalFile(ifExists: logPath)
        let content = try log.flatMap { try file.size() > 0 ? LogContent(scanning: $0) : nil }
        let overlay = try content?.overlay ?? (log == nil ? HotJournal.overlay(of: file) : nil)
        var image = try CapturedImage(
            mode: .readOnly, of: file, overlay: overlay, content: content, walBytes: log?.size() ?? 0)
        image.report.rolledBack = content == nil && overlay != nil
        image.stamp = stamp
        return image
    }

    /// Checks, before the locks are released, that the copy is consistent.
    func confirm(_ image: CapturedImage) throws {
        if image.report.mode == .rollback, LocalFile.exists(logPath) {
            throw RetryableCaptureError(reason: "a write-ahead log appeared during the copy", hasCopied: true)
        }
        if let stamp = image.stamp, FileStamp(file.path, logPath) != stamp {
            throw VaultError(.unsupported, "changed although its medium is mounted read-only", path: file.path)
        }
    }

    private func mapIndex() throws -> UnsafeMutableRawPointer? {
        do {
            return try file.mapIndex()
        } catch let error as VaultError where error.code == .busy {
            throw RetryableCaptureError(reason: error.message)
        }
    }

    /// The protocol of SQLite's own readers (sqlite.org/walformat.html#how_readers_and_writers…): take a mark, then
    /// read the header again. The SHARED lock keeps the log from being removed, the read mark keeps it from being
    /// reset.
    private func indexedImage(_ index: WALIndex, _ header: WALIndexHeader) throws -> CapturedImage {
        let walBytes = LocalFile.size(logPath)
        if index.backfilled == header.lastFrame {
            // The log is fully checkpointed: mark 0 keeps checkpoints from writing to the database, and the log is not
            // needed.
            guard try file.lockSlot(IndexLock.read(0), exclusively: false) else {
                throw RetryableCaptureError(reason: "a checkpoint is running")
            }
            try confirmHeader(index, header, slot: 0)
            var image = try CapturedImage(mode: .wal, of: file, walBytes: walBytes)
            image.report.pageSize = header.pageSize == 0 ? nil : header.pageSize
            image.report.position = LogPosition(salts: header.salts, frame: header.lastFrame)
            image.report.end = end(header)
            if let basis, let log = try LocalFile(ifExists: logPath) {
                image.changes = try basis.changes(in: log, to: header, path: file.path)
            }
            return image
        }
        guard let slot = try ReadMark.take(index, header) else {
            throw RetryableCaptureError(reason: "all read marks are in use")
        }
        try confirmHeader(index, header, slot: slot)
        guard let log = try LocalFile(ifExists: logPath),
            let content = try LogContent(
                log, salts: header.salts, through: header.lastFrame, checksum: header.frameChecksum)
        else {
            throw RetryableCaptureError(
                reason: "the write-ahead log does not match its index: it is damaged, or belongs to another database",
                code: .damaged)
        }
        var image = try CapturedImage(mode: .wal, of: file, overlay: content.overlay)
        image.report.pageSize = header.pageSize
        image.report.position = content.position
        image.report.end = end(header)
        image.report.walBytes = walBytes
        image.changes = try basis?.changes(in: log, to: header, path: file.path)
        return image
    }

    private func end(_ header: WALIndexHeader) -> LogEnd? {
        LogEnd(
            sums: header.lastFrame > 0 ? header.frameChecksum : nil, commits: header.commits, path: file.path)
    }

    private func confirmHeader(_ index: WALIndex, _ header: WALIndexHeader, slot: Int) throws {
        file.barrier()
        guard index.header() == header else {
            throw RetryableCaptureError(reason: "another transaction committed first")
        }
        try observe?(.marked(slot: slot))
    }

    /// Without a valid index (after a crash), reads the log from its start. The checkpoint lock keeps others from
    /// rebuilding the index meanwhile; read mark 0 keeps checkpoints from writing to the database until the copy is
    /// complete.
    private func recoveredImage() throws -> CapturedImage {
        guard try file.lockSlot(IndexLock.checkpoint, exclusively: true),
            try file.lockSlot(IndexLock.read(0), exclusively: false)
        else { throw RetryableCaptureError(reason: "another process is recovering the write-ahead log") }
        if let region = try mapIndex(), WALIndex(region: region, file: file).header() != nil {
            throw RetryableCaptureError(reason: "another process has recovered the write-ahead log")
        }
        let log = try LocalFile(ifExists: logPath)
        let walBytes = try log?.size() ?? 0
        let content = try log.map { try LogContent(scanning: $0) }
        try observe?(.marked(slot: 0))
        file.unlockSlot(IndexLock.checkpoint)
        return try CapturedImage(
            mode: .wal, of: file, overlay: content?.overlay, content: content, walBytes: walBytes)
    }
}

/// Sizes and modification times of files, to detect changes on supposedly read-only media.
private struct FileStamp: Equatable {
    private let values: [Int64]

    init(_ paths: String...) {
        values = paths.flatMap { path -> [Int64] in
            var status = stat()
            guard stat(path, &status) == 0 else { return [-1] }
            let time = status.modificationTime
            return [Int64(status.st_size), Int64(time.tv_sec), Int64(time.tv_nsec)]
        }
    }
}
