internal import LiteVaultCapture

/// The snapshots of a database that retention removed or a repair set aside, so that a check can detect that somebody
/// else removed others.
struct ForgetRecord: CheckedDocument, Equatable {
    var type = "forgotten"
    var repository: String
    var database: String
    /// First and last sequence of each range, in order.
    var ranges: [[Int]]
    /// As ``ranges``, for segments; nil in records of older versions, which do not record them.
    var segments: [[Int]]?
    /// Segments that a repair found lost. Checks no longer report them; a restore does not continue beyond them.
    var lost: [[Int]]?
    /// As ``ranges``, for snapshots that a copy never had: they could not be read in its original when that was copied. The next copy
    /// adds those that are whole again. Nil if there are none.
    var leftOut: [[Int]]?

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        try require("ranges", ranges)
        try require("segments", segments ?? [])
        try require("lost", lost ?? [])
        try require("left_out", leftOut ?? [])
    }

    private func require(_ member: String, _ rows: [[Int]]) throws(OutOfLimits) {
        var last = 0
        for range in rows {
            guard let first = range.first, let end = range.last, range.count == 2, first > last, end >= first else {
                throw OutOfLimits(member, "are not pairs in ascending order")
            }
            try require(member, end, in: RepositoryFormat.sequences)
            last = end
        }
    }

    /// The highest sequence in it; 0 if it is empty.
    var newest: Int { ranges.last?.last ?? 0 }

    /// Whether retention removed any of these.
    func overlaps(_ sequences: ClosedRange<Int>) -> Bool {
        ranges.contains { $0[0] <= sequences.upperBound && sequences.lowerBound <= $0[1] }
    }

    /// Whether retention removed it.
    func contains(_ sequence: Int) -> Bool { overlaps(sequence...sequence) }

    /// Ranges of sequences below the newest of `present` that neither exist nor were removed by retention. The cost
    /// depends on the number of ranges, not on their length.
    ///
    /// - Parameter exceptLeftOut: whether those that the copy never had are known.
    func missing(_ present: [Int], exceptLeftOut: Bool = false) -> [ClosedRange<Int>] {
        guard let newest = present.max() else { return [] }
        let rows = ranges + (exceptLeftOut ? leftOut ?? [] : [])
        let known = present.map { $0...$0 } + rows.map { $0[0]...$0[1] }
        return known.sorted { $0.lowerBound < $1.lowerBound }.gaps(in: RepositoryFormat.sequences.lowerBound...newest)
    }

    func hasSegment(_ sequence: Int) -> Bool {
        (segments ?? []).contains { $0[0] <= sequence && sequence <= $0[1] }
    }

    /// Whether a repair has reported these segments as lost.
    func isLost(_ range: ClosedRange<Int>) -> Bool {
        (lost ?? []).contains { $0[0] <= range.lowerBound && range.upperBound <= $0[1] }
    }

    mutating func insert(_ sequences: [Int]) { insert(sequences.map { $0...$0 }) }

    mutating func insert(_ rows: [ClosedRange<Int>]) {
        ranges = Self.rows(ranges + rows.map { [$0.lowerBound, $0.upperBound] })
        remove(leftOut: rows)
    }

    /// Adds ranges to one of the other lists.
    mutating func insert(_ rows: [ClosedRange<Int>], into list: WritableKeyPath<ForgetRecord, [[Int]]?>) {
        self[keyPath: list] = Self.rows((self[keyPath: list] ?? []) + rows.map { [$0.lowerBound, $0.upperBound] })
    }

    /// Of snapshots that exist now, or are recorded as gone for good.
    mutating func remove(leftOut rows: [ClosedRange<Int>]) {
        guard var left = leftOut else { return }
        for row in rows {
            left = left.flatMap { pair -> [[Int]] in
                guard pair[0] <= row.upperBound, row.lowerBound <= pair[1] else { return [pair] }
                return [[pair[0], row.lowerBound - 1], [row.upperBound + 1, pair[1]]].filter { $0[0] <= $0[1] }
            }
        }
        leftOut = left.isEmpty ? nil : left
    }

    /// The ranges in order, with adjacent ones merged.
    private static func rows(_ rows: [[Int]]) -> [[Int]] {
        rows.sorted { $0[0] < $1[0] }.reduce(into: []) { rows, next in
            if let last = rows.last, last[1] >= next[0] - 1 {
                rows[rows.count - 1][1] = max(last[1], next[1])
            } else {
                rows.append(next)
            }
        }
    }
}

extension [ClosedRange<Int>] {
    /// The numbers in some bounds that none of these has, which are in order.
    func gaps(in bounds: ClosedRange<Int>) -> [ClosedRange<Int>] {
        var gaps: [ClosedRange<Int>] = []
        var next = bounds.lowerBound
        for row in self where next <= bounds.upperBound {
            if row.lowerBound > next { gaps.append(next...Swift.min(row.lowerBound - 1, bounds.upperBound)) }
            next = Swift.max(next, row.upperBound + 1)
        }
        return next <= bounds.upperBound ? gaps + [next...bounds.upperBound] : gaps
    }
}

extension ForgetRecord {
    /// The notice that a copy was made without some snapshots; nil if it has all.
    func leftOutNotice(_ database: String, besides present: [Int]) -> RepositoryWarning? {
        var record = self
        record.remove(leftOut: present.map { $0...$0 })
        guard let left = record.leftOut, let first = left.first?.first, let last = left.last?.last else { return nil }
        return RepositoryWarning(
            .notice, path: RepositoryFormat.snapshot(database, first),
            message: (first == last ? "is" : "is, as are others up to \(last),")
                + " not in this copy: it could not be read in the original when that was copied",
            advice: .copyAgain)
    }
}

extension Repository {
    func forgetRecord(_ database: String) async throws -> ForgetRecord {
        let found = try await document(RepositoryFormat.forgetRecord(database), ForgetRecord.self) {
            $0.type == "forgotten" && $0.repository == config.id && $0.database == database
        }
        return found ?? ForgetRecord(repository: config.id, database: database, ranges: [])
    }
}

extension WritableRepository {
    /// Records snapshots as removed by retention, before they are removed.
    ///
    /// - Returns: what has changed, for each database.
    func recordForgotten(_ snapshots: [Snapshot], holding lease: Lease) async throws -> [ForgetRecordChange] {
        var changes: [ForgetRecordChange] = []
        for (database, gone) in Dictionary(grouping: snapshots, by: \.manifest.database) {
            changes.append(
                try await changeForgetRecord(database, holding: lease) { all in
                    // Removed segments are recorded from the start.
                    if all.ranges.isEmpty, all.segments == nil { all.segments = [] }
                    all.insert(gone.map(\.sequence))
                })
        }
        return changes
    }

    /// Changes the record of a database, and stores it if that makes a difference.
    ///
    /// - Parameter change: called again if another process has changed the record meanwhile.
    @discardableResult
    func changeForgetRecord(
        _ database: String, holding lease: Lease, _ change: (inout ForgetRecord) throws -> Void
    ) async throws -> ForgetRecordChange {
        try await store.changing(RepositoryFormat.forgetRecord(database), holding: lease) { version in
            let before = try await repository.forgetRecord(database)
            var after = before
            try change(&after)
            if after != before { try await put(after, replacing: version) }
            return ForgetRecordChange(before: before, after: after)
        }
    }

    /// Takes back what was recorded, unless the record was changed since.
    func takeBack(_ change: ForgetRecordChange, holding lease: Lease) async throws {
        try await changeForgetRecord(change.after.database, holding: lease) { record in
            if record == change.after { record = change.before }
        }
    }
}

/// What was recorded in a forget record: the record before and after.
struct ForgetRecordChange {
    let before: ForgetRecord
    let after: ForgetRecord
}
