internal import Crypto
internal import Foundation
internal import LiteVaultCapture

extension Repository {
    /// The segments of a database by their names, in order.
    func segments(_ database: String) async throws -> [SegmentName] {
        // Other names are told by whoever lists the repository.
        try await store.list(RepositoryFormat.segments(database)).compactMap { SegmentName($0.name) }
    }

    /// What a segment says, and where its frames start.
    func segment(
        _ name: SegmentName, _ database: String
    ) async throws -> (record: SegmentRecord, head: (document: SealedDocument, length: Int64)) {
        guard let size = try await store.attributes(name.object)?.size else {
            throw BackupError(.missing, "is missing", path: name.object)
        }
        let bytes = try await store.get(name.object, range: 0..<min(size, 8192))
        let document = try SealedDocument(bytes, name: name.object)
        let record = try document.value(SegmentRecord.self, key: key, name: name.object)
        let length = Int64(bytes.count - document.payload.count)
        guard record.type == "segment", record.repository == config.id, record.database == database,
            SegmentName(
                database: database, sequence: record.sequence, snapshot: record.snapshot, time: record.seen
            ).object == name.object
        else { throw BackupError(.damaged, "belongs to another place: objects were swapped", path: name.object) }
        guard size == length &+ record.payloadSize, record.payloadSize >= 0 else {
            throw BackupError(.damaged, "has not the length that it says", path: name.object)
        }
        return (record, (document, length))
    }

    /// Writes the frames of segments over an image.
    ///
    /// - Parameter asFarAsWhole: whether to end before a segment whose frames are not those that were stored; else that is an
    ///   error.
    /// - Returns: how many were applied.
    func apply(_ row: SegmentRow, to path: String, asFarAsWhole: Bool) async throws -> Int {
        var applier = try SegmentApplier(image: path)
        var count = 0
        for segment in row.segments {
            let (name, record, offset) = (segment.name, segment.record, segment.offset)
            let spool = PackSpool(folder: try workFolder())
            let (whole, _) = try spool.create()
            defer { whole.discard() }
            let (frames, writer) = try spool.create()
            defer { frames.discard() }
            // A name of a companion goes with the temporary file.
            let copy = whole.path + "-journal"
            do {
                try await store.fetch(name.object, into: copy)
                try LocalFile(reading: copy).forEachPiece { place, bytes in
                    let skipped = Int(max(0, min(Int64(bytes.count), offset - place)))
                    try writer.write(
                        UnsafeRawBufferPointer(rebasing: bytes[skipped...]), at: place + Int64(skipped) - offset)
                }
                guard try writer.hash() == record.payloadHash else {
                    throw BackupError(.damaged, "its frames are not those that were stored", path: name.object)
                }
            } catch let error as BackupError where error.isDamage {
                if asFarAsWhole { break }
                throw row.broken(at: name, error, reachable: row.date(through: count)).error
            }
            try BackupError.about(name.object) { try applier.apply(SegmentFile(frames.path)) }
            count += 1
        }
        try applier.finish()
        return count
    }

    /// Reads every segment of a database, and with `readsData` its frames; notes what is wrong, and which are missing.
    func checkSegments(_ database: String, _ snapshots: [Snapshot], readsData: Bool, _ list: ProblemList) async throws {
        var log = try await segmentLog(database, snapshots)
        // Of the number before: two, where somebody else followed at the same time or the same was stored twice.
        var previous: (sequence: Int, hashes: Set<String>) = (0, [])
        var newest: SegmentMark?
        for name in log.names {
            do {
                let (record, head) = try await segment(name, database)
                log.learn(record)
                let hash = head.document.hash.hex
                if name.sequence == previous.sequence + 1, !previous.hashes.isEmpty,
                    !previous.hashes.contains(record.predecessor ?? "")
                {
                    list.add(name.object, "does not follow on the segment before it: one of the two was replaced")
                }
                if name.sequence != previous.sequence { previous = (name.sequence, []) }
                previous.hashes.insert(hash)
                newest = SegmentMark(record, head.document.hash)
                if readsData { try await compare(record, head.length, name) }
            } catch let error as BackupError where error.isDamage {
                // Retention may have removed it since the list was made.
                if error.code == .missing, let noted = try? await forgotten(database).hasSegment(name.sequence), noted {
                    continue
                }
                if name.sequence != previous.sequence { previous = (name.sequence, []) }
                list.add(error, name.object)
            }
            for memory in log.memories where memory.mark.sequence == name.sequence {
                guard let hash = memory.mark.hash, !previous.hashes.isEmpty, !previous.hashes.contains(hash) else {
                    continue
                }
                list.add(name.object, "is not the segment that was stored: \(memory.place) has another hash")
            }
        }
        for problem in log.warnings { list.add(problem.path, problem.message) }
        if let newest, newest.sequence >= log.newest?.mark.sequence ?? 0 { try? remember(newest, database) }
    }

    /// Reads the frames of a segment and compares them with their hash.
    func compare(_ record: SegmentRecord, _ start: Int64, _ name: SegmentName) async throws {
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
