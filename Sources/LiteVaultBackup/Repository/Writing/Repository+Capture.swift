internal import Foundation
internal import LiteVaultCipher

extension Repository {
    /// Stores a snapshot of a database. The key is not needed.
    ///
    /// - Parameter path: the database's file.
    /// - Throws: ``BackupError`` `noInput`, `wrongKind` (no database, or one without encryption), `busy`, `keyRejected`
    ///   (the repository's secret is missing), `damaged` (the repository is), `io`, `noSpace`. The source is as before then,
    ///   and the repository has no snapshot more.
    public func snapshot(of path: String, options: SnapshotOptions = .init()) async throws -> SnapshotResult {
        try await snapshot(of: path, options: options) { sink in
            var sink = sink
            // Until the live capture is here: only a database that nobody has open.
            let file = try EngineFile(path: path)
            let size = try file.size()
            try sink.begin(byteCount: size)
            var offset: Int64 = 0
            while offset < size {
                let bytes = try file.read(at: offset, count: 1 << 20)
                try bytes.withUnsafeBytes { try sink.append($0) }
                offset += Int64(bytes.count)
            }
            return CaptureOutcome()
        }
    }
}
