internal import LiteVaultFoundation

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
        var listing = SegmentListing()
        if let span {
            listing.add(try await store.list(RepositoryFormat.joined(database)))
            if !listing.joined.isEmpty {
                listing.isWhole = false
                for range in Self.unjoined(listing.joined, span) {
                    listing.add(try await segmentObjects(database, range))
                }
                return listing
            }
        }
        // In the order of names: what is joined and removed meanwhile is among the joined ones, which come last.
        listing.add(try await store.list(RepositoryFormat.segments(database)))
        return listing
    }

    /// The joined segments of a database.
    func joinedSegments(_ database: String) async throws -> [SegmentName] {
        var listing = SegmentListing()
        listing.add(try await store.list(RepositoryFormat.joined(database)))
        return listing.joined
    }

    /// The segments with these numbers, and no joined ones.
    func segments(_ database: String, _ range: ClosedRange<Int>) async throws -> [SegmentName] {
        var listing = SegmentListing()
        listing.add(try await segmentObjects(database, range))
        return listing.names
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
        var first = RepositoryFormat.sequences.lowerBound
        var gaps: [ClosedRange<Int>] = []
        for name in path {
            if first < name.first { gaps.append(first...(name.first - 1)) }
            first = max(first, name.sequence + 1)
        }
        let last = RepositoryFormat.sequences.upperBound
        return first <= last ? gaps + [first...last] : gaps
    }
}
