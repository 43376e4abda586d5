internal import LiteVaultCapture

/// Which snapshots of a database were removed by retention, or set aside by a repair, so that a check can tell one that
/// somebody else removed.
struct Forgotten: CheckedDocument, Equatable {
    var type = "forgotten"
    var repository: String
    var database: String
    /// First and last sequence of each row, in order.
    var ranges: [[Int]]
    /// As ``ranges``, for segments; nil where an older version wrote it, which does not note them.
    var segments: [[Int]]?
    /// Segments that a repair found lost. A check tells of them no more; a restore does not go on beyond them.
    var lost: [[Int]]?

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        try require("ranges", ranges)
        try require("segments", segments ?? [])
        try require("lost", lost ?? [])
    }

    private func require(_ member: String, _ rows: [[Int]]) throws(OutOfLimits) {
        var last = 0
        for range in rows {
            guard let first = range.first, let end = range.last, range.count == 2, first > last, end >= first else {
                throw OutOfLimits(member, "are no pairs in order")
            }
            try require(member, end, in: RepositoryFormat.sequences)
            last = end
        }
    }

    /// The highest sequence in it; 0 without one.
    var newest: Int { ranges.last?.last ?? 0 }

    /// Whether any of these was removed by retention.
    func overlaps(_ sequences: ClosedRange<Int>) -> Bool {
        ranges.contains { $0[0] <= sequences.upperBound && sequences.lowerBound <= $0[1] }
    }

    /// Whether it was removed by retention.
    func contains(_ sequence: Int) -> Bool { overlaps(sequence...sequence) }

    /// Rows of sequences below the newest of `present` that are neither there nor were removed by retention. What it costs
    /// depends on how many rows there are, not on how long they are.
    func missing(_ present: [Int]) -> [ClosedRange<Int>] {
        guard let newest = present.max() else { return [] }
        let known = (present.map { $0...$0 } + ranges.map { $0[0]...$0[1] }).sorted { $0.lowerBound < $1.lowerBound }
        var rows: [ClosedRange<Int>] = []
        var next = RepositoryFormat.sequences.lowerBound
        for row in known where next < newest {
            if row.lowerBound > next { rows.append(next...(min(row.lowerBound, newest) - 1)) }
            next = max(next, row.upperBound + 1)
        }
        return rows
    }

    func hasSegment(_ sequence: Int) -> Bool {
        (segments ?? []).contains { $0[0] <= sequence && sequence <= $0[1] }
    }

    mutating func insert(_ sequences: [Int]) { insert(sequences.map { $0...$0 }) }

    mutating func insert(_ rows: [ClosedRange<Int>]) {
        ranges = Self.rows(ranges + rows.map { [$0.lowerBound, $0.upperBound] })
    }

    mutating func insert(segments gone: [ClosedRange<Int>]) {
        segments = Self.rows((segments ?? []) + gone.map { [$0.lowerBound, $0.upperBound] })
    }

    mutating func insert(lost gone: [ClosedRange<Int>]) {
        lost = Self.rows((lost ?? []) + gone.map { [$0.lowerBound, $0.upperBound] })
    }

    /// In order, those that touch as one.
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

extension Repository {
    func forgotten(_ database: String) async throws -> Forgotten {
        let name = RepositoryFormat.forgotten(database)
        do {
            let (found, _) = try await document(name, Forgotten.self)
            guard found.type == "forgotten", found.repository == config.id, found.database == database else {
                throw BackupError(.damaged, "belongs to another place: objects were swapped", path: name)
            }
            return found
        } catch let error as BackupError where error.code == .missing {
            return Forgotten(repository: config.id, database: database, ranges: [])
        }
    }

    /// Notes snapshots as removed by us, before they are.
    ///
    /// - Returns: what was noted before, by database.
    @discardableResult
    func note(forgotten snapshots: [Snapshot]) async throws -> [String: Forgotten] {
        var before: [String: Forgotten] = [:]
        for (database, gone) in Dictionary(grouping: snapshots, by: \.manifest.database) {
            var all = try await forgotten(database)
            before[database] = all
            // From the first time on, what is removed of segments is noted too.
            if all.ranges.isEmpty, all.segments == nil { all.segments = [] }
            all.insert(gone.map(\.sequence))
            try await put(all, as: RepositoryFormat.forgotten(database), condition: .none)
        }
        return before
    }
}
