internal import Foundation

extension Repository {
    /// Stores a snapshot of a database that may be in use. The key is not needed, and nobody waits for the store: what
    /// changed is spooled while a lock or a read mark is held, and stored afterwards.
    ///
    /// - Parameter path: the database's file.
    /// - Throws: ``BackupError`` `noInput`, `wrongKind` (no database, or one without encryption), `busy` (the locks could
    ///   not be had, or a limit was reached), `keyRejected` (the repository's secret is missing), `damaged` (the repository
    ///   is), `unsupported`, `io`, `noSpace`. The source is as before then, and the repository has no snapshot more.
    public func snapshot(of path: String, options: SnapshotOptions = .init()) async throws -> SnapshotResult {
        let limits = CaptureLimits(
            patience: options.patience, holdTime: options.holdTime, walGrowth: options.walGrowth)
        return try await snapshot(of: path, options: options) { sink in
            var sink = sink
            let found = try Capture(path, limits: limits).run(into: &sink)
            return CaptureOutcome(
                log: found.position.map { (Manifest.LogPosition.digits($0.salts), Int($0.frame)) },
                time: Date(timeIntervalSince1970: found.began))
        }
    }
}
