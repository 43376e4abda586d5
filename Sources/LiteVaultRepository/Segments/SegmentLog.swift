internal import Crypto
internal import Foundation
internal import LiteVaultCapture

/// Which segments a database has, and which it should have: all from the first to the newest that anybody remembers,
/// without those that retention removed.
struct SegmentLog: Sendable {
    /// A mark, and where it was found.
    struct Memory: Sendable {
        let mark: SegmentMark
        let place: String
    }

    /// Segments in a row that are missing.
    struct Hole: Sendable {
        let range: ClosedRange<Int>
        /// The newest snapshot and the time when the first segment behind it was stored, or the newest that is remembered.
        let next: (snapshot: Int, time: Int64)
    }

    let database: String
    /// Those that are there, in order.
    let names: [SegmentName]
    let memories: [Memory]
    let forgotten: ForgetRecord
    /// Memories, and the list of what retention removed, that cannot be read.
    let faults: [VaultError]
    /// From which segment on whoever stored them, and whoever removed them, kept to the rules of ``holes``.
    private(set) var notedFrom: Int?

    /// Takes over what a segment says of the ones before it.
    mutating func learn(_ record: SegmentRecord) {
        if let from = record.notedFrom { notedFrom = min(notedFrom ?? from, from) }
    }

    var newest: Memory? { memories.max { $0.mark.sequence < $1.mark.sequence } }

    /// What is missing, in order.
    var holes: [Hole] {
        var holes: [Hole] = []
        let removed = forgotten.segments ?? []
        var row = 0
        func add(after lower: SegmentName?, before end: Int, _ next: (snapshot: Int, time: Int64)) {
            var first = (lower?.sequence ?? 0) + 1
            func note(_ last: Int) {
                guard first <= last else { return }
                // What older versions removed is noted nowhere: they may have, where they removed a snapshot.
                let mayBeGone =
                    lower.map { forgotten.overlaps($0.snapshot...max($0.snapshot, next.snapshot)) } ?? true
                let strict = isNoted ? (notedFrom ?? .max) : .max
                if mayBeGone { first = max(first, strict) }
                if first <= last { holes.append(Hole(range: first...last, next: next)) }
            }
            while row < removed.count, removed[row][1] < first { row += 1 }
            var place = row
            while place < removed.count, removed[place][0] < end {
                note(removed[place][0] - 1)
                first = max(first, removed[place][1] + 1)
                place += 1
            }
            note(end - 1)
        }
        var last: SegmentName?
        for name in names {
            add(after: last, before: name.sequence, (name.snapshot, name.time))
            last = name
        }
        if let mark = newest?.mark { add(after: last, before: mark.sequence + 1, (mark.snapshot, mark.seen)) }
        return holes
    }

    /// Whether all that retention removed is in the list: an older version drops it when it writes that.
    private var isNoted: Bool { forgotten.segments != nil || forgotten.ranges.isEmpty }

    /// What is missing right behind a segment.
    ///
    /// - Parameter isExact: whether it is that of the next number; else those that retention removed are passed over.
    func hole(after sequence: Int, isExact: Bool) -> Hole? {
        let present = names.first { $0.sequence > sequence }?.sequence ?? .max
        guard let hole = holes.first(where: { $0.range.upperBound > sequence }) else { return nil }
        let first = max(hole.range.lowerBound, sequence + 1)
        guard isExact ? first == sequence + 1 : first < present else { return nil }
        return Hole(range: first...hole.range.upperBound, next: hole.next)
    }

    /// What is wrong, without what a repair has reported already.
    var warnings: [RepositoryWarning] {
        let known = forgotten.lost ?? []
        return faults.map { RepositoryWarning($0, database) }
            + holes.filter { hole in
                !known.contains { $0[0] <= hole.range.lowerBound && hole.range.upperBound <= $0[1] }
            }
            .map {
                RepositoryWarning(
                    .damage, path: path($0.range), message: text($0.range),
                    advice: .all([.text("Restore them from a copy of the repository."), .repair]))
            }
    }

    /// The start of the name that the first of them had.
    func path(_ range: ClosedRange<Int>) -> String {
        RepositoryFormat.segments(database) + RepositoryFormat.padded(range.lowerBound)
    }

    func text(_ range: ClosedRange<Int>) -> String {
        let which = range.count == 1 ? "is missing" : "is missing, and so are those up to \(range.upperBound)"
        let newest = newest.flatMap { $0.mark.sequence == range.upperBound ? $0 : nil }
        let teller = newest.map { "; \($0.place) names the last of them as the newest" } ?? ""
        return "\(which), and was not removed by retention\(teller)"
    }
}

extension Repository {
    /// Which segments a database has and should have.
    ///
    /// - Parameter snapshots: of the database, whose manifests may name a segment.
    func segmentLog(_ database: String, _ snapshots: [Snapshot]) async throws -> SegmentLog {
        // In this order: what is remembered is stored by the time that the list is made, and what retention removes is noted
        // by the time that it is missing there.
        var memories: [SegmentLog.Memory] = []
        var faults: [VaultError] = []
        func add(_ place: String, _ mark: () throws -> SegmentMark?) throws {
            do {
                if let mark = try mark() { memories.append(.init(mark: mark, place: place)) }
            } catch let error as VaultError where error.isDamage {
                faults.append(error)
            }
        }
        try add("this machine's memory") { try rememberedMark(database) }
        let lease = RepositoryFormat.lease(Lease.follower + database)
        let note = try await Lease.holder(lease, store)?.note
        try add(lease) { try note.map { try mark(note: $0, database) } }
        for snapshot in snapshots {
            if let mark = snapshot.manifest.newestSegment {
                memories.append(.init(mark: mark, place: "the manifest of snapshot \(snapshot.id)"))
            }
        }
        let names = try await segments(database)
        var forgotten = ForgetRecord(repository: config.id, database: database, ranges: [])
        do {
            if !names.isEmpty || !memories.isEmpty { forgotten = try await self.forgetRecord(database) }
        } catch let error as VaultError where error.isDamage {
            faults.append(error)
        }
        return SegmentLog(
            database: database, names: names, memories: memories,
            forgotten: forgotten, faults: faults, notedFrom: memories.compactMap(\.mark.notedFrom).min())
    }
}

extension SegmentLog {
    /// What is not there and not missing: removed by a version that did not note it.
    var gaps: [ClosedRange<Int>] {
        let holes = Set(holes.map(\.range.lowerBound))
        return zip([nil] + names.map(Optional.some), names).compactMap { one, next in
            let first = (one?.sequence ?? 0) + 1
            return first < next.sequence && !holes.contains(first) ? first...(next.sequence - 1) : nil
        }
    }
}

extension Date {
    /// Since 1970, as segments have it.
    var milliseconds: Int64 { Int64(exactly: (timeIntervalSince1970 * 1000).rounded(.down)) ?? .max }
}

extension Repository {
    /// The segments of a database by their names, in order.
    func segments(_ database: String) async throws -> [SegmentName] {
        // Listing the repository reports other names.
        try await store.list(RepositoryFormat.segments(database)).compactMap { SegmentName($0.name) }
    }

    /// What a segment says, and where its frames start.
    func segment(
        _ name: SegmentName, _ database: String
    ) async throws -> (record: SegmentRecord, head: (document: SealedDocument, length: Int64)) {
        guard let size = try await store.attributes(name.object)?.size else {
            throw VaultError(.missing, "is missing", path: name.object)
        }
        let bytes = try await store.get(name.object, range: 0..<min(size, 8192))
        let document = try SealedDocument(bytes, name: name.object)
        let record = try document.value(SegmentRecord.self, key: key, name: name.object)
        let length = Int64(bytes.count - document.payload.count)
        guard record.type == "segment", record.repository == config.id, record.database == database,
            SegmentName(
                database: database, sequence: record.sequence, snapshot: record.snapshot, time: record.seen
            ).object == name.object
        else { throw VaultError(.damaged, "is stored under the wrong name: objects were swapped", path: name.object) }
        guard size == length &+ record.payloadSize, record.payloadSize >= 0 else {
            throw VaultError(.damaged, "does not have the length that it states", path: name.object)
        }
        return (record, (document, length))
    }

    /// Reads the frames of a segment and compares them with their hash.
    func compare(_ record: SegmentRecord, _ start: Int64, _ name: SegmentName) async throws {
        var digest = SHA256()
        let end = start + record.payloadSize
        for offset in stride(from: start, to: end, by: 8 << 20) {
            digest.update(data: try await store.get(name.object, range: offset..<min(end, offset + 8 << 20)))
        }
        guard digest.finalize().hexadecimal == record.payloadHash else {
            throw VaultError(.damaged, "its frames are not the ones that were stored", path: name.object)
        }
    }
}
