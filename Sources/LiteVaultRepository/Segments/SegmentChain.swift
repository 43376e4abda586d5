internal import LiteVaultCapture
public import LiteVaultFoundation

/// A followed log does not lead to the requested time, because a segment is missing or damaged. It is the
/// `VaultError.cause` of the `damaged` error that a restore throws.
public struct BrokenLogError: Error, Sendable, Equatable {
    /// The first missing or damaged segment: an object's name, or the start of one.
    public let object: String
    /// What is wrong with it.
    public let problem: String
    /// The requested time; nil for the newest state.
    public let wanted: Date?
    /// The newest time before it that can be restored: that of the last intact segment, or of the snapshot.
    public let reachable: Date

    /// The error that a restore throws.
    var error: VaultError {
        let what =
            wanted.map { "the state at \(Timestamp.text($0)) cannot be restored" }
            ?? "the newest state cannot be restored"
        let time = Timestamp.text(reachable)
        return VaultError(
            .damaged,
            "\(what): a segment of the followed log \(problem); the newest time that can be reached is \(time)",
            path: object,
            advice: .restoreReachable(time: time),
            cause: self)
    }
}

/// A time within which commits were joined: only the states at its ends can be restored.
public struct RestoreGranularity: Sendable, Equatable {
    /// The length in seconds of the windows whose commits were joined.
    public let seconds: Int
    /// The restored state is that of this time.
    public let from: Date
    /// The next time that can be restored.
    public let until: Date
}

/// The segments that lead from a snapshot towards a time.
struct SegmentChain: Sendable {
    /// A segment, and the offset of its frames.
    struct Element: Sendable {
        let name: SegmentName
        let record: SegmentRecord
        let offset: Int64
        /// The local copy; nil if it is still to be read.
        let path: String?
        /// The hash that the next segment has as its predecessor.
        let link: String
    }

    let snapshot: Date
    let wanted: Date?
    var segments: [Element] = []
    /// The local copies of the segments.
    var fetched: FetchedSegments?
    /// Why the chain ends too early; nil if nothing is missing.
    var obstacle: BrokenLogError?
    /// The joined segment that has the wanted time: only commits before and after it can be restored.
    var granularity: RestoreGranularity?
    /// Joined segments beside the place where the chain ends: what was joined may continue it.
    var suspects: Set<String> = []

    /// The number of its last segment; 0 without one.
    fileprivate var last: Int { segments.last?.record.sequence ?? 0 }

    /// The time that the first `count` segments reach.
    func date(through count: Int) -> Date { count > 0 ? segments[count - 1].name.date : snapshot }

    func broken(at name: SegmentName, _ error: VaultError, reachable: Date) -> BrokenLogError {
        BrokenLogError(object: error.path ?? name.object, problem: error.message, wanted: wanted, reachable: reachable)
    }
}

extension Repository {
    /// The segments that lead from a snapshot to a time, without a gap; none if there are none.
    ///
    /// They are segments of one run that began before the snapshot was taken, starting with the first one read after
    /// that. It may begin before the snapshot: its pages are then rewritten.
    ///
    /// - Parameters:
    ///   - newest: the newest snapshot, which carries the last known newest segment forward.
    ///   - limit: the time to reach; nil for as far as possible.
    ///   - cut: where the snapshot's line of history ends; nil if it is the current one.
    func segments(
        after snapshot: Snapshot, newest: Snapshot?, until limit: Date?, cut: HistoryCut? = nil
    ) async throws -> SegmentChain {
        let time = cut.map { min($0.time, limit ?? $0.time) } ?? limit
        let database = snapshot.manifest.database
        let known = [snapshot, newest].compactMap(\.self)
        // Times are truncated to milliseconds, and clocks are corrected. An additional segment is harmless, as long as
        // the chain continues beyond the snapshot.
        let start = snapshot.time.addingTimeInterval(-0.002).addingTimeInterval(-1)
        // Both are in whole milliseconds, but may round differently.
        let end = time?.addingTimeInterval(0.0005)
        let span = SegmentSpan(snapshot: snapshot.sequence, start: start, end: end)
        var log = try await segmentLog(database, known, in: span)
        let fetched = try FetchedSegments(of: database, in: self)
        var best: SegmentChain?
        // The joined segments that cannot be used.
        var unusable: Set<String> = []
        var isListedAgain = false
        func listAgain() async throws {
            isListedAgain = true
            log = try await segmentLog(database, known)
            log.joined.removeAll { unusable.contains($0.object) }
        }
        while true {
            let path = SegmentCover.of(
                log.names.filter { span.contains($0) && cut?.contains($0) ?? true },
                log.joined.filter { span.contains($0) && cut?.contains($0) ?? true })
            let damaged = try await fetched.fetch(path)
            guard damaged.isEmpty else {
                // What was joined takes its place, as far as it exists; the rest counts as missing.
                unusable.formUnion(damaged)
                if !isListedAgain { try await listAgain() }
                log.joined.removeAll { damaged.contains($0.object) }
                continue
            }
            var row = try await chain(path, log, fetched, after: snapshot, until: time)
            if !isListedAgain, row.obstacle != nil || (row.segments.isEmpty && !log.isWhole) {
                // What was listed may have been joined and removed since.
                try await listAgain()
                continue
            }
            if let best, row.last <= best.last { return best }
            guard row.obstacle != nil, !row.suspects.isEmpty else {
                if let end { row.granularity = granularity(row, log, until: end) }
                return row
            }
            best = row
            log.joined.removeAll { row.suspects.contains($0.object) }
        }
    }

    /// The joined segment that has commits from before and after a time, which a chain ends before.
    private func granularity(_ row: SegmentChain, _ log: SegmentLog, until end: Date) -> RestoreGranularity? {
        guard row.obstacle == nil else { return nil }
        let exact = row.snapshot.addingTimeInterval(-0.002)
        guard
            let next = row.segments.last.map({ $0.record.sequence + 1 })
                ?? log.present.filter({ $0.date >= exact }).map(\.first).min(),
            !log.names.contains(where: { $0.sequence == next }),
            let name = log.joined.filter({ $0.first <= next && next <= $0.sequence }).min(by: { $0.level < $1.level })
        else { return nil }
        // Its commits are in one window.
        let window = Double(name.time / (Int64(name.level) * 1000)) * Double(name.level)
        guard name.date > end, window <= end.timeIntervalSince1970 else { return nil }
        return RestoreGranularity(
            seconds: name.level, from: row.date(through: row.segments.count), until: name.date)
    }

    /// Follows segments, in order, from a snapshot.
    private func chain(
        _ path: [SegmentName], _ all: SegmentLog, _ fetched: FetchedSegments, after snapshot: Snapshot,
        until time: Date?
    ) async throws -> SegmentChain {
        var log = all
        let exact = snapshot.time.addingTimeInterval(-0.002)
        let end = time?.addingTimeInterval(0.0005)
        var row = SegmentChain(snapshot: snapshot.time, wanted: time)
        // The hashes of the previous number; two, if a segment was stored twice.
        var hashes: Set<String> = []
        row.fetched = fetched
        for (index, name) in path.enumerated() {
            row.suspects = Set(path[max(0, index - 1)...index].filter(\.isJoined).map(\.object))
            let isNeeded = name.date >= exact
            let record: SegmentRecord
            let found: FetchedSegments.Segment
            do {
                found = try await fetched.segment(name)
                record = found.record
            } catch let error as VaultError where error.isDamage {
                if isNeeded {
                    row.obstacle = row.broken(at: name, error, reachable: row.date(through: row.segments.count))
                    break
                }
                row.segments = []
                continue
            }
            log.learn(record)
            let hash = record.link(found.hash)
            if let last = row.segments.last {
                if record.sequence == last.record.sequence {
                    if record.run == last.record.run, record.payloadHash == last.record.payloadHash {
                        hashes.insert(hash)
                    }
                    continue
                }
                let isNext = record.run == last.record.run && record.first == last.record.sequence + 1
                if isNext, record.firstPlace == last.record.place &+ 1, hashes.contains(record.predecessor ?? "") {
                    // The expected order.
                } else if last.name.date < exact {
                    // What precedes the snapshot does not matter.
                    row.segments = []
                } else {
                    if isNext {
                        let error = VaultError(.damaged, "does not follow the previous segment", path: name.object)
                        row.obstacle = row.broken(at: name, error, reachable: last.name.date)
                    }
                    // Two concurrent followers used the same numbers.
                    let isTwin = [index - 1, index + 1].contains {
                        path.indices.contains($0) && path[$0].sequence == name.sequence
                    }
                    if isTwin, row.obstacle == nil { continue }
                    break
                }
            }
            if row.segments.isEmpty {
                guard let began = Timestamp.date(record.began), began <= snapshot.time else { break }
                if isNeeded, let missing = log.missing(before: record, snapshot) {
                    // Some segments of a window were removed, and the joined one ends too late: nothing is missing, but the
                    // snapshot is the nearest state.
                    let isJoined = log.joined.contains { name in
                        name.first <= missing.lowerBound && missing.upperBound <= name.sequence
                            && end.map { name.date > $0 } ?? false
                    }
                    if isJoined { break }
                    row.obstacle = BrokenLogError(
                        object: log.path(missing), problem: log.text(missing), wanted: time, reachable: snapshot.time)
                    break
                }
            }
            row.segments.append(.init(name: name, record: record, offset: found.offset, path: found.path, link: hash))
            hashes = [hash]
        }
        let last = row.segments.last
        if let last {
            // A segment that ends before the snapshot would roll it back.
            let lastFrame = Int64(last.record.firstFrame) + Int64(last.record.frames) - 1
            let position = snapshot.manifest.log
            if last.name.date < exact
                || (last.record.salts == position?.salts && lastFrame < Int64(position?.frames ?? 0))
            {
                row.segments = []
            }
        }
        let reached = row.date(through: row.segments.count)
        if row.obstacle == nil, time.map({ reached < $0.addingTimeInterval(-0.0005) }) ?? true,
            // A chain that ends before the snapshot does not continue it: another one may.
            let missing = try await missing(
                behind: last.flatMap { $0.name.date < exact ? nil : $0 }, snapshot, exact, log, until: end)
        {
            row.obstacle = BrokenLogError(
                object: log.path(missing), problem: log.text(missing), wanted: time, reachable: reached)
        }
        return row
    }

    /// Segments that are missing after the last one of a chain, or after a snapshot without a chain, and may contain
    /// the wanted time.
    private func missing(
        behind last: SegmentChain.Element?, _ snapshot: Snapshot, _ exact: Date, _ log: SegmentLog, until end: Date?
    ) async throws -> ClosedRange<Int>? {
        var marks = log.memories.map(\.mark)
        // Segments from before the snapshot are contained in it.
        let before = max(
            (log.names + log.joined).filter { $0.date < exact }.map(\.sequence).max() ?? 0,
            marks.filter { $0.date < exact }.map(\.sequence).max() ?? 0)
        guard let hole = log.hole(after: last?.record.sequence ?? before, isExact: last != nil) else { return nil }
        let first = hole.range.lowerBound
        if let name = log.present.first(where: { $0.first > first }),
            let (record, head) = try? await segment(name, snapshot.manifest.database)
        {
            marks.append(SegmentMark(record, head.document.hash))
        }
        for mark in marks where mark.covers(first) {
            // Another run continues from a snapshot of its own, not from this one.
            if let last, mark.run != last.record.run { return nil }
            guard let began = Timestamp.date(mark.began) else { continue }
            if last == nil, began > snapshot.time { return nil }
            if let end, began > end || (mark.sequence == first && mark.date > end) { return nil }
        }
        return hole.range
    }
}

extension SegmentLog {
    /// The segments missing between a snapshot and the first segment after it.
    func missing(before record: SegmentRecord, _ snapshot: Snapshot) -> ClosedRange<Int>? {
        let hole = holes.first { $0.range.upperBound == record.first - 1 }?.range
        let (salts, firstFrame) =
            record.joined.map { ($0.salts, $0.firstFrame) } ?? (record.salts, record.firstFrame)
        if let position = snapshot.manifest.log, position.salts == salts {
            // Both refer to one log, whose frames are numbered.
            let isNext = Int64(firstFrame) <= Int64(position.frames) + 1
            let before = max(1, record.first - 1)
            return isNext ? nil : hole ?? before...before
        }
        return record.firstPlace == 0 ? nil : hole
    }
}
