internal import Foundation

/// One try of a capture, from the SHARED lock to its end.
struct CaptureAttempt {
    /// The try did not count, and another may.
    struct Again: Error {
        let reason: String
        var code = BackupError.Code.busy
        var copied = false

        func error(_ path: String) -> BackupError {
            let remedy = code == .busy ? "try again, or allow more patience" : "check the database with its key"
            return BackupError(code, reason, path: path, remedy: remedy)
        }
    }

    let file: SourceFile
    let limits: CaptureLimits
    let number: Int
    let observe: ((CaptureEvent) throws -> Void)?
    let began = Capture.now()

    var logPath: String { file.path + "-wal" }

    /// Copies under the SHARED lock, and under a read mark as well if there is a log.
    func copy(into sink: inout some BlockSink) throws -> CaptureReport {
        if CompanionFile.exists(logPath) { return try copyWithLog(into: &sink) }
        let overlay = try HotJournal.overlay(of: file)
        let image = Image(mode: .rollback, overlay: overlay, pageSize: overlay?.pageSize, rolledBack: overlay != nil)
        let report = try copy(image, into: &sink)
        guard !CompanionFile.exists(logPath) else {
            throw Again(reason: "a write-ahead log appeared while it was copied", copied: true)
        }
        return report
    }

    /// Copies without a lock from a medium that nobody can write to: nothing can change, and no lock could be set.
    func copyReadOnly(into sink: inout some BlockSink) throws -> CaptureReport {
        let before = Stamp(file.path, logPath)
        let log = try CompanionFile(path: logPath)
        let content = try log.flatMap { try file.size() > 0 ? LogContent(scanning: $0) : nil }
        let overlay = try content?.overlay ?? (log == nil ? HotJournal.overlay(of: file) : nil)
        let image = Image(
            mode: .readOnly, overlay: overlay, pageSize: overlay?.pageSize, position: content?.position,
            walBytes: try log?.size() ?? 0, rolledBack: content == nil && overlay != nil,
            unreachable: content?.unreachable ?? 0)
        let report = try copy(image, into: &sink)
        guard Stamp(file.path, logPath) == before else {
            throw BackupError(.unsupported, "changed although its medium is mounted read-only", path: file.path)
        }
        return report
    }

    /// What an image is made of.
    struct Image {
        let mode: CaptureReport.Mode
        var overlay: PageOverlay?
        var pageSize: Int?
        var position: CaptureReport.Position?
        var walBytes: Int64 = 0
        var rolledBack = false
        var unreachable = 0
    }

    func copy(_ image: Image, into sink: inout some BlockSink) throws -> CaptureReport {
        var overlay = image.overlay
        let byteCount = try overlay?.byteCount ?? file.size()
        try sink.begin(byteCount: byteCount)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var start: [UInt8] = []
        var header: [UInt8] = []
        var offset: Int64 = 0
        while offset < byteCount {
            let run = UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<Int(min(Int64(buffer.count), byteCount - offset))])
            try file.read(into: run, at: offset)
            try overlay?.apply(to: run, at: offset)
            if offset == 0 {
                start = Array(run.prefix(16))
                header = Array(run.prefix(24))
            }
            try sink.append(UnsafeRawBufferPointer(run))
            offset += Int64(run.count)
            try checkLimits(walBytes: image.walBytes)
            try observe?(.copied(offset))
        }
        try observe?(.beforeUnlock)
        var pageSize = image.pageSize
        if pageSize == nil, start == Array("SQLite format 3\0".utf8) {
            let size = Int(header[16]) << 8 | Int(header[17])
            pageSize = size == 1 ? 65536 : size
        }
        return CaptureReport(
            mode: image.mode, byteCount: byteCount, pageSize: pageSize, position: image.position,
            walBytes: image.walBytes, start: start, rolledBack: image.rolledBack, unreachableCommits: image.unreachable,
            began: began, ended: Capture.now(), attempts: number)
    }

    private func checkLimits(walBytes: Int64) throws {
        if Capture.now() - began > limits.holdTime {
            throw BackupError(
                .busy, "copying took longer than the limit of \(limits.holdTime) seconds and was abandoned",
                path: file.path, remedy: "allow more time, or back up to a faster disk")
        }
        if CompanionFile.size(logPath) - walBytes > limits.walGrowth {
            throw BackupError(
                .busy,
                "its write-ahead log grew by more than the limit of \(limits.walGrowth) bytes while it was copied",
                path: file.path, remedy: "allow more growth, or back up while less is written")
        }
    }

    /// Sizes and times of change, to notice a medium that is not read-only after all.
    private struct Stamp: Equatable {
        let values: [Int64]

        init(_ paths: String...) {
            values = paths.flatMap { path -> [Int64] in
                var status = stat()
                guard stat(path, &status) == 0 else { return [-1] }
                #if os(Linux)
                    let time = status.st_mtim
                #else
                    let time = status.st_mtimespec
                #endif
                return [Int64(status.st_size), Int64(time.tv_sec), Int64(time.tv_nsec)]
            }
        }
    }
}
