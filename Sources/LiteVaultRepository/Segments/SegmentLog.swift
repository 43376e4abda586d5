internal import LiteVaultCapture
internal import LiteVaultSystem

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
            path: name.object, advice: .repair)
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

    /// Segments that neither exist nor are missing: removed by a version that did not record it.
    var gaps: [ClosedRange<Int>] {
        let present = present
        guard let last = present.last else { return [] }
        let holes = Set(holes.map(\.range.lowerBound))
        return present.map { $0.first...$0.sequence }.gaps(in: 1...last.first)
            .filter { !holes.contains($0.lowerBound) }
    }

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
        faults.map { RepositoryWarning($0, database) }
            + holes.filter { !forgotten.isLost($0.range) }.map {
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

/// The segments of a database by their names.
struct SegmentListing: Sendable {
    /// Segments, in order.
    var names: [SegmentName] = []
    /// All joined segments, in the order of their names.
    var joined: [SegmentName] = []
    /// Whether ``names`` has all segments, not only those that joined ones do not have, and those of a span.
    var isWhole = true

    /// The highest number of a segment; 0 without one.
    var newest: Int { max(names.last?.sequence ?? 0, joined.map(\.sequence).max() ?? 0) }

    /// The part without what was stored after a segment.
    func through(_ sequence: Int) -> SegmentListing {
        var part = self
        part.names.removeAll { $0.sequence > sequence }
        part.joined.removeAll { $0.first > sequence }
        return part
    }

    /// Those among listed objects.
    init(_ objects: [ObjectAttributes] = []) { add(objects) }

    fileprivate mutating func add(_ objects: [ObjectAttributes]) {
        for object in objects {
            // Listing the repository reports other names.
            guard var name = SegmentName(object.name) else { continue }
            (name.size, name.modified) = (object.size, object.modified)
            if name.isJoined { joined.append(name) } else { names.append(name) }
        }
    }
}

/// The part of a followed log that leads from a snapshot to a time.
struct SegmentSpan: Sendable {
    /// The sequence of the snapshot.
    var snapshot = 0
    /// The segment up to which the snapshot has all.
    var after = 0
    /// The last label that is wanted, in milliseconds since 1970; nil without a limit.
    var end: Int64?

    /// All of the log, as joined segments have it.
    static let everything = SegmentSpan()

    /// Whether a segment ends in it.
    func contains(_ name: SegmentName) -> Bool { name.sequence > after && end.map { name.time <= $0 } ?? true }

    /// The numbers that segments in it can have. A segment with a later label ends it if it was stored after the snapshot: older versions stored
    /// labels that decrease where the clock was set back.
    fileprivate func numbers(_ joined: [SegmentName]) -> ClosedRange<Int> {
        let all = RepositoryFormat.sequences
        let first = min(after + 1, all.upperBound)
        let beyond = joined.filter { name in end.map { name.time > $0 } ?? false && name.snapshot >= snapshot }
        let last = beyond.filter { $0.sequence >= first }.map(\.sequence).min() ?? all.upperBound
        return first...last
    }
}

extension Repository {
    /// Segments whose numbers are further apart are listed by two requests. A page has a thousand names.
    private static let distance = 100

    /// The segments of a database.
    ///
    /// With a span, joined segments are listed first, then only those segments that no joined one has, and those at the ends of the
    /// span that joined ones do not have exactly. Of a day at one commit a second these are a few dozen instead of 86,400.
    ///
    /// - Parameter span: where segments are needed one by one; nil lists all.
    func segmentListing(_ database: String, in span: SegmentSpan? = nil) async throws -> SegmentListing {
        if let span {
            var listing = SegmentListing(try await store.list(RepositoryFormat.joined(database)))
            if !listing.joined.isEmpty {
                listing.isWhole = false
                for range in Self.unjoined(listing.joined, span) {
                    listing.add(try await segmentObjects(database, range))
                }
                return listing
            }
        }
        // In the order of names: what is joined and removed meanwhile is among the joined ones, which come last.
        return SegmentListing(try await store.list(RepositoryFormat.segments(database)))
    }

    func joinedSegments(_ database: String) async throws -> [SegmentName] {
        SegmentListing(try await store.list(RepositoryFormat.joined(database))).joined
    }

    /// The segments with these numbers, and no joined ones.
    func segments(_ database: String, _ range: ClosedRange<Int>) async throws -> [SegmentName] {
        SegmentListing(try await segmentObjects(database, range)).names
    }

    private func segmentObjects(_ database: String, _ range: ClosedRange<Int>) async throws -> [ObjectAttributes] {
        let directory = RepositoryFormat.segments(database)
        // Names continue behind the number, so that the number alone is before all that have it.
        let end =
            range.upperBound < RepositoryFormat.sequences.upperBound
            ? directory + RepositoryFormat.padded(range.upperBound + 1) : RepositoryFormat.joined(database)
        return try await store.list(
            directory, after: directory + RepositoryFormat.padded(range.lowerBound), before: end)
    }

    /// The numbers of segments to list one by one, in order.
    private static func unjoined(_ joined: [SegmentName], _ span: SegmentSpan) -> [ClosedRange<Int>] {
        let numbers = span.numbers(joined)
        let gaps =
            gaps(SegmentCover.of([], joined))
            + gaps(SegmentCover.of([], joined.filter(span.contains))).filter { $0.overlaps(numbers) }
            .map { $0.clamped(to: numbers) }
        var ranges: [ClosedRange<Int>] = []
        for gap in gaps.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = ranges.last, gap.lowerBound - last.upperBound <= distance {
                ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, gap.upperBound)
            } else {
                ranges.append(gap)
            }
        }
        return ranges
    }

    /// The numbers that segments in order do not have.
    private static func gaps(_ path: [SegmentName]) -> [ClosedRange<Int>] {
        path.map { $0.first...$0.sequence }.gaps(in: RepositoryFormat.sequences)
    }
}

/// Chooses the objects to read for a series of segments.
enum SegmentCover {
    /// The fewest objects that have all of the segments: of several that begin with the same segment the one that goes
    /// furthest. The first one may begin before the others.
    ///
    /// - Parameters:
    ///   - names: segments, in order.
    ///   - joined: joined segments, in any order.
    static func of(_ names: [SegmentName], _ joined: [SegmentName]) -> [SegmentName] {
        guard !joined.isEmpty else { return names }
        let ordered = joined.sorted { ($0.first, $1.sequence) < ($1.first, $0.sequence) }
        var furthest: [Int: SegmentName] = [:]
        for name in joined where name.sequence > furthest[name.first]?.sequence ?? 0 { furthest[name.first] = name }
        var result: [SegmentName] = []
        var number = 0
        if let start = start(names, joined) {
            result.append(start)
            number = start.sequence + 1
        }
        var (index, place) = (0, 0)
        while true {
            while index < names.count, names[index].sequence < number { index += 1 }
            while place < ordered.count, ordered[place].first < number { place += 1 }
            // Behind what is missing it continues with the next one.
            let fine = index < names.count ? names[index].sequence : Int.max
            let coarse = place < ordered.count ? ordered[place].first : Int.max
            number = min(fine, coarse)
            guard number < .max else { return result }
            if let name = furthest[number] {
                result.append(name)
                number = name.sequence + 1
            } else {
                while index < names.count, names[index].sequence == number {
                    result.append(names[index])
                    index += 1
                }
                number += 1
            }
        }
    }

    /// The joined segment to begin with, if one has the first segment.
    private static func start(_ names: [SegmentName], _ joined: [SegmentName]) -> SegmentName? {
        guard let first = joined.min(by: { ($0.sequence, $1.first) < ($1.sequence, $0.first) }) else { return nil }
        let fine = names.first?.sequence ?? .max
        let number = fine <= first.sequence ? fine : first.first
        return joined.filter { $0.has(number) }.max { $0.sequence < $1.sequence }
    }
}
