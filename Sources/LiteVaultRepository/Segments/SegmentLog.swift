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
    let forgotten: Forgotten
    /// Memories, and the list of what retention removed, that can not be read.
    let faults: [BackupError]
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

    /// What is wrong, in words, but for what a repair has told already.
    var warnings: [RepositoryWarning] {
        let known = forgotten.lost ?? []
        return faults.map { RepositoryWarning($0, database) }
            + holes.filter { hole in
                !known.contains { $0[0] <= hole.range.lowerBound && hole.range.upperBound <= $0[1] }
            }
            .map {
                RepositoryWarning(
                    .damage, path: path($0.range), message: text($0.range),
                    remedy: "Bring them back from a copy of the repository. \(RepositoryWarning.repair)")
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
        return "\(which), without having been removed by 'forget'\(teller)"
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
        var faults: [BackupError] = []
        func add(_ place: String, _ mark: () throws -> SegmentMark?) throws {
            do {
                if let mark = try mark() { memories.append(.init(mark: mark, place: place)) }
            } catch let error as BackupError where error.isDamage {
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
        var forgotten = Forgotten(repository: config.id, database: database, ranges: [])
        do {
            if !names.isEmpty || !memories.isEmpty { forgotten = try await self.forgotten(database) }
        } catch let error as BackupError where error.isDamage {
            faults.append(error)
        }
        return SegmentLog(
            database: database, names: names, memories: memories,
            forgotten: forgotten, faults: faults, notedFrom: memories.compactMap(\.mark.notedFrom).min())
    }

    /// Removes the segments that continue snapshots which are gone.
    func removeSegments(_ databases: Set<String>) async throws {
        for database in databases {
            // In this order: the snapshot that a segment continues was there before it.
            let log = try await segmentLog(database, [])
            let survey = try await survey(database)
            let present = survey.snapshots
            let going = log.names.filter { name in
                // Stored after a snapshot that is gone, and not needed by a later one that was taken meanwhile.
                !present.contains {
                    $0.sequence == name.snapshot || ($0.sequence > name.snapshot && $0.time <= name.date)
                    // Nor by one that can not be read now, of which nothing but the sequence is known.
                } && !survey.unreadable.contains { $0.sequence >= name.snapshot }
            }
            // Noted first. What was lost is of no interest any more when all it could continue is gone.
            var all = try await forgotten(database)
            let before = all
            var gone = going.map { $0.sequence...$0.sequence }
            for hole in log.holes
            where survey.unreadable.isEmpty
                && present.allSatisfy({ $0.sequence > hole.next.snapshot && $0.time.milliseconds > hole.next.time })
            {
                gone.append(hole.range)
            }
            if all.segments == nil, !all.ranges.isEmpty { gone += log.gaps }
            if !gone.isEmpty { all.insert(segments: gone) }
            if all != before { try await put(all, as: RepositoryFormat.forgotten(database), condition: .none) }
            for (index, name) in going.enumerated() {
                do {
                    try await store.remove(name.object)
                } catch let error as BackupError where error.code == .unsupported && index == 0 {
                    // A store that removes nothing has lost nothing.
                    if all != before {
                        try await put(before, as: RepositoryFormat.forgotten(database), condition: .none)
                    }
                    throw error
                }
            }
        }
    }
}

extension SegmentLog {
    /// What is not there and not missing: removed by a version that did not note it.
    fileprivate var gaps: [ClosedRange<Int>] {
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
