internal import Crypto
package import Foundation

/// Stores the segments of one database, one after the other. Holds a lease: two followers of a database would number their
/// segments alike.
package actor SegmentWriter {
    private let repository: Repository
    private let database: String
    private let lease: Lease
    private var last: (sequence: Int, hash: Hash256, seen: Date)?

    private init(
        repository: Repository, database: String, lease: Lease, last: (sequence: Int, hash: Hash256, seen: Date)?
    ) {
        self.repository = repository
        self.database = database
        self.lease = lease
        self.last = last
    }

    /// Takes the lease.
    ///
    /// - Parameter name: the database's name in the repository.
    /// - Throws: ``BackupError`` `busy` when somebody else follows that database.
    package static func open(_ repository: Repository, database name: String) async throws -> SegmentWriter {
        try repository.requireWritable()
        let database = repository.databaseID(name)
        let lease = try await Lease.take(
            Lease.follower + database, of: repository.store, what: "following the database '\(name)'")
        do {
            var last: (sequence: Int, hash: Hash256, seen: Date)?
            if let newest = try await repository.segments(database).last {
                let (_, head) = try await repository.segment(newest, database)
                last = (newest.sequence, head.document.hash, newest.date)
            }
            return SegmentWriter(repository: repository, database: database, lease: lease, last: last)
        } catch {
            await lease.release()
            throw error
        }
    }

    /// Stores a segment; when it returns, the segment outlives a crash.
    ///
    /// - Parameters:
    ///   - path: the file with the segment, as a ``WALSegmentSink`` was given it: header and frames.
    ///   - began: when its run began.
    ///   - snapshot: the sequence of the newest snapshot that is stored.
    package func append(_ path: String, began: Date, snapshot: Int) async throws {
        let source = try LocalFile(reading: path)
        let size = try source.size()
        let segment = try SegmentFile(path).segment
        let seen = Int64(truncatingIfNeeded: segment.seen)
        let number = (last?.sequence ?? 0) + 1
        let name = SegmentName(database: database, sequence: number, snapshot: snapshot, time: seen)
        let record = SegmentRecord(
            repository: repository.config.id, database: database, sequence: number, predecessor: last?.hash.hex,
            snapshot: snapshot, run: segment.run.hex, place: segment.sequence, began: Timestamp.text(began),
            salts: Manifest.LogPosition.digits(segment.salts), firstFrame: segment.firstFrame,
            frames: segment.frameCount, pageSize: segment.pageSize, seen: seen,
            time: Timestamp.text(Date(timeIntervalSince1970: Double(seen) / 1000)), payloadSize: size,
            payloadHash: try source.hash())
        let (head, hash) = try SealedDocument.seal(record, key: repository.key)
        let spool = PackSpool(folder: try repository.spoolFolder())
        let (file, writer) = try spool.create()
        defer { file.discard() }
        try writer.write(head, at: 0)
        try source.forEachPiece { offset, bytes in try writer.write(bytes, at: Int64(head.count) + offset) }
        try await lease.confirm()
        do {
            try await repository.store.put(name.object, file: file.path, condition: .absent)
        } catch let error as BackupError where error.code == .conflict {
            // The answer to a first try was lost.
            guard try await repository.segment(name, database).record == record else { throw error }
        }
        last = (number, hash, Date(timeIntervalSince1970: Double(seen) / 1000))
    }

    /// When what the newest segment has had been seen; nil while there is none.
    package var seen: Date? { last?.seen }

    /// Gives the lease back.
    package func close() async { await lease.release() }
}

extension Manifest.LogPosition {
    /// 16 hexadecimal digits.
    static func digits(_ salts: UInt64) -> String {
        let digits = String(salts, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension LocalFile {
    /// The whole file, a megabyte at a time.
    func forEachPiece(_ body: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try read(into: buffer, at: offset)
            if count == 0 { return }
            try body(offset, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
    }

    /// The SHA-256 of its content.
    func hash() throws -> String {
        var digest = SHA256()
        try forEachPiece { digest.update(bufferPointer: $1) }
        return digest.finalize().hex
    }
}
