internal import Foundation

/// Reads a consistent image of a live database, without its key, while others write to it.
///
/// The bytes of the database and of its log do not change, and of the index (`-shm`) only lock marks do. Whether the
/// database keeps a write-ahead log can not be known without the key (the bytes that say so are encrypted, and without a
/// `-wal` file it looks like one that does not): so a copy under the SHARED lock counts only if there was no `-wal` when it
/// began nor just before the lock is given back, which nobody can remove meanwhile.
package struct Capture {
    package let path: String
    package let limits: CaptureLimits
    let observe: ((CaptureEvent) throws -> Void)?

    /// - Parameter observe: called at points of the capture, for tests; what it throws ends the capture.
    package init(
        _ path: String, limits: CaptureLimits = .init(), observe: ((CaptureEvent) throws -> Void)? = nil
    ) {
        self.path = path
        self.limits = limits
        self.observe = observe
    }

    /// Copies the image into `sink`; when this returns no lock is held any more.
    ///
    /// - Throws: ``BackupError``: `noInput` for what is no file; `busy` when the locks could not be had in time (somebody
    ///   writes for long, or holds the file in exclusive locking mode), or when a limit was reached; `unsupported` on a
    ///   network's file system and where the `-shm` file can not be written; `damaged` for a log that does not fit its
    ///   index; `io`. And what the sink throws.
    package func run(into sink: inout some BlockSink) throws -> CaptureReport {
        let file = try SourceFile(path: path)
        try SourceVolume.requireLocal(file.path)
        var deadline = Self.now() + limits.patience
        var attempts = 0
        while true {
            let attempt = CaptureAttempt(file: file, limits: limits, number: attempts + 1, observe: observe)
            do {
                defer { file.unlock() }
                if SourceVolume.isReadOnlyMedium(file.path) { return try attempt.copyReadOnly(into: &sink) }
                if try file.lockShared() {
                    attempts += 1
                    try observe?(.locked)
                    return try attempt.copy(into: &sink)
                }
                throw CaptureAttempt.Again(
                    reason: "another connection writes to it, or holds it in exclusive locking mode")
            } catch let again as CaptureAttempt.Again {
                // What was copied for nothing does not count as waiting.
                if again.copied { deadline = max(deadline, Self.now() + 1) }
                guard attempts < 1000 else { throw again.error(path) }
                if Self.now() >= deadline { throw again.error(path) }
            }
            usleep(2000)
        }
    }

    static func now() -> Double { Date().timeIntervalSince1970 }
}
