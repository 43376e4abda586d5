internal import Crypto
internal import Foundation

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
            throw BackupError(.damaged, "is missing", path: name.object)
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
        guard size == length + record.payloadSize else {
            throw BackupError(.damaged, "has not the length that it says", path: name.object)
        }
        return (record, (document, length))
    }

    /// The segments that lead from a snapshot to a time, without a gap; none if there are none.
    ///
    /// They are those of one run, which began before the snapshot was taken, from the first that had not been seen yet when
    /// it was. The first of them may begin before the snapshot: its pages are then written again.
    ///
    /// - Parameter time: nil for as far as they go.
    func segments(after snapshot: Snapshot, until time: Date?) async throws -> [(SegmentName, SegmentRecord, Int64)] {
        let database = snapshot.manifest.database
        // Times are cut off at the millisecond, and clocks are put right. A segment too many does no harm, as long as the
        // row goes on beyond the snapshot.
        let exact = snapshot.time.addingTimeInterval(-0.002)
        var row: [(SegmentName, SegmentRecord, Int64)] = []
        var previous: Hash256?
        for name in try await segments(database) where name.date >= exact.addingTimeInterval(-1) {
            // Both are of whole milliseconds, but not of the same fractions.
            if let time, name.date > time.addingTimeInterval(0.0005) { break }
            let (record, head) = try await segment(name, database)
            if let last = row.last, record.run != last.1.run || record.place != last.1.place + 1 {
                if last.0.date >= exact { break }
                // It ended before the snapshot was taken.
                row = []
            } else if !row.isEmpty {
                guard record.predecessor == previous?.hex else {
                    throw BackupError(.damaged, "does not follow on the segment before it", path: name.object)
                }
            }
            if row.isEmpty {
                guard let began = Timestamp.date(record.began), began <= snapshot.time else { break }
            }
            row.append((name, record, head.length))
            previous = head.document.hash
        }
        // What ends before the snapshot would take it back.
        guard let last = row.last, last.0.date >= exact else { return [] }
        guard let log = snapshot.manifest.log, last.1.salts == log.salts else { return row }
        return Int(last.1.firstFrame + (last.1.frames - 1)) < log.frames ? [] : row
    }

    /// Writes the frames of segments over an image.
    func apply(_ segments: [(SegmentName, SegmentRecord, Int64)], to path: String) async throws {
        var applier = try SegmentApplier(image: path)
        for (name, record, offset) in segments {
            let spool = PackSpool(folder: try workFolder())
            let (whole, _) = try spool.create()
            defer { whole.discard() }
            let (frames, writer) = try spool.create()
            defer { frames.discard() }
            // A name of a companion goes with the temporary file.
            let copy = whole.path + "-journal"
            try await store.fetch(name.object, into: copy)
            try LocalFile(reading: copy).forEachPiece { place, bytes in
                let skipped = Int(max(0, min(Int64(bytes.count), offset - place)))
                try writer.write(
                    UnsafeRawBufferPointer(rebasing: bytes[skipped...]), at: place + Int64(skipped) - offset)
            }
            try BackupError.about(name.object) {
                guard try writer.hash() == record.payloadHash else {
                    throw BackupError(.damaged, "its frames are not those that were stored", path: name.object)
                }
                try applier.apply(SegmentFile(frames.path))
            }
        }
        try applier.finish()
    }

    /// Removes the segments that continue snapshots which are gone.
    func removeSegments(_ databases: Set<String>) async throws {
        for database in databases {
            // In this order: the snapshot that a segment continues was there before it.
            let names = try await segments(database)
            guard !names.isEmpty else { continue }
            let survey = try await survey(database)
            let present = survey.snapshots
            for name in names {
                // Stored after a snapshot that is gone, and not needed by a later one that was taken meanwhile.
                let isNeeded = present.contains {
                    $0.sequence == name.snapshot || ($0.sequence > name.snapshot && $0.time <= name.date)
                }
                // Nor by one that can not be read now, of which nothing but the sequence is known.
                let isPerhapsNeeded = survey.unreadable.contains { $0.sequence >= name.snapshot }
                if !isNeeded && !isPerhapsNeeded { try await store.remove(name.object) }
            }
        }
    }

    /// Reads every segment of a database, and with `readsData` its frames; notes what is wrong.
    func checkSegments(_ database: String, readsData: Bool, _ list: ProblemList) async throws {
        var previous: (sequence: Int, hash: Hash256, run: String, snapshot: Int)?
        // One that can not be read is told elsewhere.
        let forgotten = try? await forgotten(database)
        for object in try await store.list(RepositoryFormat.segments(database)) {
            do {
                guard let name = SegmentName(object.name) else { continue }
                let (record, head) = try await segment(name, database)
                if let previous, record.sequence == previous.sequence + 1, record.predecessor != previous.hash.hex {
                    list.add(object.name, "does not follow on the segment before it: one of the two was replaced")
                }
                // Those that continued a snapshot which is gone went with it.
                if let previous, record.sequence != previous.sequence + 1, record.run == previous.run,
                    forgotten?.overlaps(previous.snapshot...max(previous.snapshot, record.snapshot)) != true
                {
                    list.add(object.name, "a segment before it is missing")
                }
                previous = (record.sequence, head.document.hash, record.run, record.snapshot)
                if readsData { try await compare(record, head.length, name) }
            } catch let error as BackupError where error.isDamage {
                list.add(error, object.name)
            }
        }
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
