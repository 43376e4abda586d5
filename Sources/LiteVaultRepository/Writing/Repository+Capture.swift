internal import Foundation
internal import LiteVaultCapture

extension Repository {
    /// Stores a snapshot of a database, live or not. The key is not needed.
    ///
    /// Locks or a read mark of the database are held only while its blocks are read, compared and spooled, not while they
    /// are stored.
    ///
    /// - Parameter path: the database's file.
    /// - Throws: ``BackupError`` `noInput`, `wrongKind` (no database, or one without encryption), `busy` (the locks could not
    ///   be had in time, or a limit was reached), `unsupported` (a network's file system, a `-shm` file that can not be
    ///   written), `keyRejected` (the repository's secret is missing), `damaged` (the repository is, or the database's log),
    ///   `io`, `noSpace`. The source is as before then, and the repository has no snapshot more.
    public func snapshot(of path: String, options: SnapshotOptions = .init()) async throws -> SnapshotResult {
        try await snapshot(of: path, options: options) { sink in
            var sink = sink
            let report = try Capture(path, limits: options.limits).run(into: &sink)
            return CaptureOutcome(
                log: report.position.map {
                    (salts: withUnsafeBytes(of: $0.salts.bigEndian) { $0.hex }, frames: Int($0.frame))
                },
                time: Date(timeIntervalSince1970: report.began), unreachableCommits: report.unreachableCommits)
        }
    }
}
