internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultFoundation

/// The segments that a database has, and those that it should have: all from the first to the newest known one, without
/// those that retention removed.
struct SegmentLog: Sendable {
    /// A mark, and its source.
    struct Memory: Sendable {
        let mark: SegmentMark
        let place: String
    }

    /// A range of missing segments.
    struct Hole: Sendable {
        let range: ClosedRange<Int>
        /// The snapshot and time of the first segment after the hole, or of the newest known one.
        let next: (snapshot: Int, time: Int64)
    }

    let database: String
    /// The existing segments, in order; without some that joined ones have, if it is not ``isWhole``.
    let names: [SegmentName]
    /// The joined segments. The segments in them count as existing.
    var joined: [SegmentName] = []
    /// Whether all segments were listed.
    var isWhole = true
    let memories: [Memory]
    let forgotten: ForgetRecord
    /// Marks and forget records that cannot be read.
    let faults: [VaultError]
    /// The first segment since which all that stored and removed segments followed the rules of ``holes``.
    private(set) var notedFrom: Int?

    /// Takes over what a segment records about previous ones.
    mutating func learn(_ record: SegmentRecord) {
        if let from = record.notedFrom { notedFrom = min(notedFrom ?? from, from) }
    }

    /// The highest sequence that a mark or the forget record vouches for; 0 without any.
    var vouched: Int {
        max(newest?.mark.sequence ?? 0, forgotten.segments?.last?.last ?? 0, forgotten.lost?.last?.last ?? 0)
    }

    /// - Parameters:
    ///   - name: a segment of which nothing but the name is known.
    ///   - others: segments that may be there.
    /// - Throws: `VaultError` `damaged` for a number far beyond all others: no writer has chosen it, and the numbers would soon end after it.
    func requirePlausible(_ name: SegmentName, besides others: ArraySlice<SegmentName>, _ message: String) throws {
        guard name.sequence > max(vouched, others.last?.sequence ?? 0) + RepositoryFormat.strayStep else { return }
        throw VaultError(
            .damaged, "\(message); its number is far beyond the others, and was not chosen by a writer",
            path: name.object,
            advice: .repair)
    }

    var newest: Memory? { memories.max { $0.mark.sequence < $1.mark.sequence } }

    /// All objects, joined ones too, in the order of their first segments.
    var present: [SegmentName] { joined.isEmpty ? names : (names + joined).sorted { $0.first < $1.first } }

    /// The missing ranges, in order.
    var holes: [Hole] {
        var holes: [Hole] = []
        let removed = forgotten.segments ?? []
        var row = 0
        func add(after lower: SegmentName?, before end: Int, _ next: (snapshot: Int, time: Int64)) {
            var first = (lower?.sequence ?? 0) + 1
            func note(_ last: Int) {
                guard first <= last else { return }
                // Older versions did not record which segments they removed: they may have, if they removed a snapshot.
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
        for name in present {
            add(after: last, before: name.first, (name.snapshot, name.time))
            if name.sequence >= last?.sequence ?? 0 { last = name }
        }
        if let mark = newest?.mark { add(after: last, before: mark.sequence + 1, (mark.snapshot, mark.seen)) }
        return holes
    }

    /// Whether the record lists all removed segments: an older version drops them when it rewrites the record.
    private var isNoted: Bool { forgotten.segments != nil || forgotten.ranges.isEmpty }

    /// The range missing right after a segment.
    ///
    /// - Parameter isExact: whether it starts at the next number; otherwise segments that retention removed are
    ///   skipped.
    func hole(after sequence: Int, isExact: Bool) -> Hole? {
        let next = present.lazy.filter { $0.sequence > sequence }.map { max($0.first, sequence + 1) }.min() ?? .max
        guard let hole = holes.first(where: { $0.range.upperBound > sequence }) else { return nil }
        let first = max(hole.range.lowerBound, sequence + 1)
        guard isExact ? first == sequence + 1 : first < next else { return nil }
        return Hole(range: first...hole.range.upperBound, next: hole.next)
    }

    /// The problems, without those that a repair has reported already.
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

    /// The start of the name of the first missing one.
    func path(_ range: ClosedRange<Int>) -> String {
        RepositoryFormat.segments(database) + RepositoryFormat.padded(range.lowerBound)
    }

    func text(_ range: ClosedRange<Int>) -> String {
        let which = range.count == 1 ? "is missing" : "is missing, as are the following ones up to \(range.upperBound)"
        let newest = newest.flatMap { $0.mark.sequence == range.upperBound ? $0 : nil }
        let teller = newest.map { "; \($0.place) records the last of them as the newest" } ?? ""
        return "\(which), and was not removed by retention\(teller)"
    }
}

extension Repository {
    /// The segments that a database has and should have.
    ///
    /// - Parameters:
    ///   - snapshots: snapshots of the database, whose manifests may refer to a segment.
    ///   - span: where segments are needed one by one; nil lists all. If one is missing, all are listed.
    func segmentLog(
        _ database: String, _ snapshots: [Snapshot], in span: SegmentSpan? = nil
    ) async throws -> SegmentLog {
        // In this order: remembered segments are stored before the list is made, and segments that retention removes
        // are recorded before they are missing from it.
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
        let listing = try await segmentListing(database, in: span)
        var forgotten = ForgetRecord(repository: config.id, database: database, ranges: [])
        do {
            if !listing.names.isEmpty || !listing.joined.isEmpty || !memories.isEmpty {
                forgotten = try await self.forgetRecord(database)
            }
        } catch let error as VaultError where error.isDamage {
            faults.append(error)
        }
        func log(_ listing: SegmentListing) -> SegmentLog {
            SegmentLog(
                database: database, names: listing.names, joined: listing.joined, isWhole: listing.isWhole,
                memories: memories, forgotten: forgotten, faults: faults,
                notedFrom: memories.compactMap(\.mark.notedFrom).min())
        }
        let found = log(listing)
        if found.holes.isEmpty { return found }
        // A listing of a directory is not of one moment, and joined segments were listed first: one may have been stored since, and what
        // it has removed. A second listing has all that is older than the newest known one.
        let newest = max(listing.newest, memories.map(\.mark.sequence).max() ?? 0)
        let again = try await segmentListing(database).through(newest)
        let second = log(again)
        if second.holes.isEmpty { return second }
        // This listing is newer than the record: what retention has recorded, and removed, since then is not in it.
        if let known = try? await self.forgetRecord(database) { forgotten = known }
        return log(again)
    }
}

extension SegmentLog {
    /// Segments that neither exist nor are missing: removed by a version that did not record it.
    var gaps: [ClosedRange<Int>] {
        let holes = Set(holes.map(\.range.lowerBound))
        var first = 1
        return present.compactMap { next in
            defer { first = max(first, next.sequence + 1) }
            return first < next.first && !holes.contains(first) ? first...(next.first - 1) : nil
        }
    }
}

/// The record of a segment, the document that it is in, and the length of that: where the frames begin.
typealias FoundSegment = (record: SegmentRecord, head: (document: SealedDocument, length: Int64))

extension Repository {
    /// The record of a segment, and the offset of its frames. One request, if its name is from a listing.
    func segment(_ name: SegmentName, _ database: String) async throws -> FoundSegment {
        func missing() -> VaultError { VaultError(.missing, "is missing", path: name.object) }
        do {
            guard let size = try await contentSize(name) else { throw missing() }
            let bytes = try await store.get(name.object, range: 0..<min(size, RepositoryFormat.segmentHead))
            return try segment(name, database, start: bytes, size: size)
        } catch let error as VaultError where error.code == .missing && error.path != name.object {
            throw missing()
        }
    }

    /// The size of a segment; nil if it does not exist. No request in a repository that is not sealed, if its name is from a listing.
    private func contentSize(_ name: SegmentName) async throws -> Int64? {
        if !config.isSealed, let size = name.size { return size }
        guard let present = try await store.attributes(name.object) else { return nil }
        return try await store.contentSize(present)
    }

    /// The record in the first bytes of a segment of `size` bytes, and the offset of its frames.
    private func segment(
        _ name: SegmentName, _ database: String, start bytes: [UInt8], size: Int64
    ) throws -> FoundSegment {
        let document = try SealedDocument(bytes, name: name.object)
        let record = try document.value(SegmentRecord.self, key: key, name: name.object)
        let length = Int64(bytes.count - document.payload.count)
        guard record.type == (name.isJoined ? "joined" : "segment"), record.repository == config.id,
            record.database == database, (record.joined != nil) == name.isJoined, record.name.object == name.object
        else { throw VaultError.swapped(name.object) }
        guard size == length &+ record.payloadSize, record.payloadSize >= 0 else {
            throw VaultError(.damaged, "does not have the length that it states", path: name.object)
        }
        return (record, (document, length))
    }

    /// The record in the first bytes of a local file that has a segment, and the offset of its frames.
    func segment(_ name: SegmentName, _ database: String, in file: LocalFile) throws -> FoundSegment {
        let size = try file.size()
        let start = try file.read(at: 0, count: Int(min(size, RepositoryFormat.segmentHead)))
        return try segment(name, database, start: start, size: size)
    }

    /// Compares the frames of a segment that is a local file with their hash.
    ///
    /// - Throws: `VaultError` `damaged` with the object's name as path.
    func compare(_ record: SegmentRecord, _ start: Int64, _ name: SegmentName, in file: LocalFile) throws {
        var digest = SHA256()
        try file.forEachPiece { place, bytes in
            let skipped = Int(max(0, min(Int64(bytes.count), start - place)))
            digest.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[skipped...]))
        }
        guard digest.finalize().hexadecimal == record.payloadHash else {
            throw VaultError(.damaged, "its frames do not match their hash", path: name.object)
        }
    }

    /// Reads the frames of a segment and compares them with their hash.
    func compare(_ record: SegmentRecord, _ start: Int64, _ name: SegmentName) async throws {
        var digest = SHA256()
        let end = start + record.payloadSize
        for offset in stride(from: start, to: end, by: 8 << 20) {
            digest.update(data: try await store.get(name.object, range: offset..<min(end, offset + 8 << 20)))
        }
        guard digest.finalize().hexadecimal == record.payloadHash else {
            throw VaultError(.damaged, "its frames do not match their hash", path: name.object)
        }
    }
}
