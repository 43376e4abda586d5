internal import Foundation

extension CaptureAttempt {
    /// Copies the database with the pages of its log in their places, under the SHARED lock, which keeps the log from being
    /// removed, and a read mark, which keeps it from starting over.
    func copyWithLog(into sink: inout some BlockSink) throws -> CaptureReport {
        guard try file.size() > 0 else {
            // Nothing a log could belong to: SQLite removes it.
            return try copy(Image(mode: .wal, walBytes: CompanionFile.size(logPath)), into: &sink)
        }
        if let region = try mapIndex() {
            let index = WALIndex(region: region, file: file)
            // A writer changes the two copies of the header one after the other, within microseconds.
            for _ in 0..<20 {
                if let header = index.header() { return try copy(index, header, into: &sink) }
                usleep(100)
            }
        }
        return try copyWithoutIndex(into: &sink)
    }

    private func mapIndex() throws -> UnsafeMutableRawPointer? {
        do {
            return try file.mapIndex()
        } catch let error as BackupError where error.code == .busy {
            throw Again(reason: error.message)
        }
    }

    /// The way of SQLite's own readers (sqlite.org/walformat.html#how_readers_and_writers…): a mark, then the header again.
    private func copy(
        _ index: WALIndex, _ header: WALIndexHeader, into sink: inout some BlockSink
    ) throws -> CaptureReport {
        let walBytes = CompanionFile.size(logPath)
        if index.backfilled == header.lastFrame {
            // Everything is in the database: mark 0 keeps a checkpoint from writing to it, and the log is not needed.
            guard try file.lockSlot(IndexLock.read(0), exclusively: false) else {
                throw Again(reason: "a checkpoint is running")
            }
            file.barrier()
            guard index.header() == header else { throw Again(reason: "another transaction came first") }
            try observe?(.marked(slot: 0))
            let position = CaptureReport.Position(salts: header.salts, frame: header.lastFrame)
            return try copy(
                Image(
                    mode: .wal, pageSize: header.pageSize == 0 ? nil : header.pageSize, position: position,
                    walBytes: walBytes),
                into: &sink)
        }
        let slot = try ReadMark.take(index, header)
        guard let slot else { throw Again(reason: "all read marks are in use") }
        file.barrier()
        guard index.header() == header else { throw Again(reason: "another transaction came first") }
        try observe?(.marked(slot: slot))
        guard let log = try CompanionFile(path: logPath),
            let content = try LogContent(
                log, salts: header.salts, through: header.lastFrame, checksum: header.frameChecksum)
        else {
            throw Again(
                reason: "the write-ahead log does not fit its index: it is damaged, or of another database",
                code: .damaged)
        }
        return try copy(
            Image(
                mode: .wal, overlay: content.overlay, pageSize: header.pageSize, position: content.position,
                walBytes: walBytes),
            into: &sink)
    }

    /// Without an index that counts (after a crash) the log is read from its start. The checkpoint lock keeps everybody from
    /// making a new index meanwhile; read mark 0 keeps checkpoints from writing to the database until all is copied.
    private func copyWithoutIndex(into sink: inout some BlockSink) throws -> CaptureReport {
        guard try file.lockSlot(IndexLock.checkpoint, exclusively: true),
            try file.lockSlot(IndexLock.read(0), exclusively: false)
        else { throw Again(reason: "another process is recovering the write-ahead log") }
        if let region = try mapIndex(), WALIndex(region: region, file: file).header() != nil {
            throw Again(reason: "another process has recovered the write-ahead log")
        }
        let log = try CompanionFile(path: logPath)
        let walBytes = try log?.size() ?? 0
        let content = try log.map { try LogContent(scanning: $0) }
        try observe?(.marked(slot: 0))
        file.unlockSlot(IndexLock.checkpoint)
        return try copy(
            Image(
                mode: .wal, overlay: content?.overlay, pageSize: content?.overlay?.pageSize,
                position: content?.position, walBytes: walBytes, unreachable: content?.unreachable ?? 0),
            into: &sink)
    }
}

/// Takes one of the marks 1 to 4, which tell checkpoints up to where somebody reads.
enum ReadMark {
    /// The number of the mark whose lock is now shared, and which is not beyond the header's last frame; nil if none is free.
    static func take(_ index: WALIndex, _ header: WALIndexHeader) throws -> Int? {
        let file = index.file
        // The highest mark that does not exceed what is read, as SQLite does: it holds up checkpoints least.
        var best: (number: Int, mark: UInt32)?
        for number in 1..<IndexLock.markCount {
            let mark = index.mark(number)
            if mark <= header.lastFrame, mark >= best?.mark ?? 0 { best = (number, mark) }
        }
        if best?.mark != header.lastFrame {
            for number in 1..<IndexLock.markCount
            where try file.lockSlot(IndexLock.read(number), exclusively: true) {
                index.setMark(number, to: header.lastFrame)
                file.unlockSlot(IndexLock.read(number))
                best = (number, header.lastFrame)
                break
            }
        }
        guard let best, try file.lockSlot(IndexLock.read(best.number), exclusively: false) else { return nil }
        file.barrier()
        guard index.mark(best.number) == best.mark else {
            file.unlockSlot(IndexLock.read(best.number))
            return nil
        }
        return best.number
    }
}
