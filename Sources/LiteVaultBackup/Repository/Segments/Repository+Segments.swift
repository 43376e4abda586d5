internal import Crypto
internal import Foundation

extension Repository {
    /// The segments of a database by their names, in order.
    func segments(_ database: String) async throws -> [SegmentName] {
        try await store.list(RepositoryFormat.segments(database)).map { object in
            guard let name = SegmentName(object.name) else {
                throw BackupError(.damaged, "has a name that no segment has", path: object.name)
            }
            return name
        }
    }

    /// What a segment says, and where its frames start.
    func segment(
        _ name: SegmentName, _ database: String
    ) async throws -> (record: SegmentRecord, head: (document: SealedDocument, length: Int64)) {
        guard let size = try await store.attributes(name.object)?.size else {
            throw BackupError(.damaged, "is missing", path: name.object)
        }
        let bytes = try await store.get(name.object, range: 0..<min(size, 8192))
        let document = try SealedDocument(bytes, name: name.object)
        let record = try document.value(SegmentRecord.self, key: key, name: name.object)
        let length = Int64(bytes.count - document.payload.count)
        let time = Timestamp.date(record.time) ?? .distantPast
        guard record.type == "segment", record.repository == config.id, record.database == database,
            SegmentName(
                database: database, sequence: record.sequence, snapshot: record.snapshot, time: time
            ).object == name.object
        else { throw BackupError(.damaged, "belongs to another place: objects were swapped", path: name.object) }
        guard size == length + record.payloadSize, (512...65536).contains(record.pageSize), record.frames > 0,
            record.payloadSize == Int64(record.frames) * Int64(24 + record.pageSize)
        else { throw BackupError(.damaged, "has not the length that it says", path: name.object) }
        return (record, (document, length))
    }

    /// The segments that lead from a snapshot to a time, without a gap; none if there are none.
    ///
    /// - Parameter time: nil for as far as they go.
    func segments(after snapshot: Snapshot, until time: Date?) async throws -> [(SegmentName, SegmentRecord, Int64)] {
        let database = snapshot.manifest.database
        var row: [(SegmentName, SegmentRecord, Int64)] = []
        var previous: Hash256?
        for name in try await segments(database) where name.snapshot == snapshot.sequence {
            if let time, name.date > time { break }
            let (record, head) = try await segment(name, database)
            if let last = row.last {
                guard record.continues, record.sequence == last.1.sequence + 1 else { break }
                guard record.predecessor == previous?.hex else {
                    throw BackupError(.damaged, "does not follow on the segment before it", path: name.object)
                }
            } else if record.continues {
                // The start of the row is gone.
                break
            }
            row.append((name, record, head.length))
            previous = head.document.hash
        }
        return row
    }

    /// Writes the frames of segments over an image.
    ///
    /// - Returns: bytes of the image after the last commit.
    func apply(_ segments: [(SegmentName, SegmentRecord, Int64)], to file: LocalFile, size: Int64) async throws -> Int64
    {
        var size = size
        for (name, record, offset) in segments {
            let spool = PackSpool(folder: try spoolFolder())
            let (temporary, _) = try spool.create()
            defer { temporary.discard() }
            let copy = temporary.path + "-journal"
            try await store.fetch(name.object, into: copy)
            size = try Self.apply(record, LocalFile(reading: copy), from: offset, name.object, to: file) ?? size
        }
        try file.truncate(to: size)
        return size
    }

    private static func apply(
        _ record: SegmentRecord, _ source: LocalFile, from start: Int64, _ name: String, to file: LocalFile
    ) throws -> Int64? {
        var digest = SHA256()
        try source.forEachPiece { offset, bytes in
            let skipped = Int(max(0, min(Int64(bytes.count), start - offset)))
            digest.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[skipped...]))
        }
        guard digest.finalize().hex == record.payloadHash else {
            throw BackupError(.damaged, "its frames are not those that were stored", path: name)
        }
        var size: Int64?
        for index in 0..<record.frames {
            let offset = start + Int64(index) * Int64(24 + record.pageSize)
            let frame = try source.read(at: offset, count: 24 + record.pageSize)
            try frame.withUnsafeBytes { frame in
                let page = Int64(frame.bigEndian32(0))
                guard page > 0 else { throw BackupError(.damaged, "has a frame without a page", path: name) }
                try file.write(
                    UnsafeRawBufferPointer(rebasing: frame[24...]), at: (page - 1) * Int64(record.pageSize))
                let pages = Int64(frame.bigEndian32(4))
                if pages > 0 { size = pages * Int64(record.pageSize) }
            }
        }
        return size
    }

    /// Removes the segments that continue snapshots which are gone.
    func removeSegments(_ databases: Set<String>) async throws {
        for database in databases {
            // In this order: the snapshot that a segment continues was there before it.
            let names = try await segments(database)
            guard !names.isEmpty else { continue }
            let present = Set(try await manifests(database).map(\.sequence))
            for name in names where !present.contains(name.snapshot) { try await store.remove(name.object) }
        }
    }

    /// Reads every segment of a database, and with `readsData` its frames; notes what is wrong.
    func checkSegments(_ database: String, _ snapshots: Set<Int>, readsData: Bool, _ list: ProblemList) async throws {
        var previous: (sequence: Int, hash: Hash256)?
        for object in try await store.list(RepositoryFormat.segments(database)) {
            do {
                guard let name = SegmentName(object.name) else {
                    throw BackupError(.damaged, "has a name that no segment has", path: object.name)
                }
                let (record, head) = try await segment(name, database)
                if let previous, record.sequence == previous.sequence + 1, record.predecessor != previous.hash.hex {
                    list.add(object.name, "does not follow on the segment before it: one of the two was replaced")
                }
                if let previous, record.sequence != previous.sequence + 1, record.continues,
                    snapshots.contains(record.snapshot)
                {
                    list.add(object.name, "a segment before it is missing")
                }
                previous = (record.sequence, head.document.hash)
                if readsData { try await compare(record, head.length, name) }
            } catch let error as BackupError where error.isDamage {
                list.add(error, object.name)
            }
        }
    }

    private func compare(_ record: SegmentRecord, _ start: Int64, _ name: SegmentName) async throws {
        var digest = SHA256()
        let end = start + record.payloadSize
        for offset in stride(from: start, to: end, by: 8 << 20) {
            digest.update(data: try await store.get(name.object, range: offset..<min(end, offset + 8 << 20)))
        }
        guard digest.finalize().hex == record.payloadHash else {
            throw BackupError(.damaged, "its frames are not those that were stored", path: name.object)
        }
    }
}
