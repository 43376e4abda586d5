internal import LiteVaultCapture
public import LiteVaultSystem

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
    let snapshot: Date
    let wanted: Date?
    var segments: [FetchedSegment] = []
    /// The local copies of the segments.
    var fetched: FetchedSegments?
    /// Why the chain ends too early; nil if nothing is missing.
    var obstacle: BrokenLogError?
    /// The joined segment that has the wanted time: only commits before and after it can be restored.
    var granularity: RestoreGranularity?
    /// Everything up to this number is in the snapshot.
    var contained = 0
    /// Up to when the image has all commits: the snapshot's label, or that of a segment that it has.
    var imageUntil: Date
    /// Joined segments beside the place where the chain ends: what was joined may continue it.
    var suspects: Set<String> = []

    /// The number of its last segment; 0 without one.
    fileprivate var last: Int { segments.last?.record.sequence ?? 0 }

    /// The label of the state that the first `count` segments reach.
    func date(through count: Int) -> Date {
        count > 0 ? max(imageUntil, segments[count - 1].name.date) : imageUntil
    }

    init(snapshot: Date, wanted: Date?) { (self.snapshot, self.wanted, imageUntil) = (snapshot, wanted, snapshot) }

    func broken(at name: SegmentName, _ error: VaultError, reachable: Date) -> BrokenLogError {
        BrokenLogError(object: name.object, problem: error.message, wanted: wanted, reachable: reachable)
    }
}

extension Repository {
    /// The segments that lead from a snapshot to a time, without a gap; none if there are none.
    ///
    /// They are segments of one run, each the predecessor of the next one. ``LogOrder`` says which is the first; it may begin before
    /// the snapshot: its pages are then rewritten. Labels only say where to stop.
    ///
    /// - Parameters:
    ///   - others: other snapshots, of which the newest carries the last known newest segment forward.
    ///   - limit: the time to reach; nil for as far as possible.
    ///   - cut: the snapshot's line of history; nil if the database was never promoted.
    func segments(
        after snapshot: Snapshot, among others: [Snapshot], until limit: Date?, cut: HistoryCut? = nil
    ) async throws -> SegmentChain {
        let time = [cut?.time, limit].compactMap(\.self).min()
        let database = snapshot.manifest.database
        let known = [snapshot, others.last].compactMap(\.self)
        let image = ImagePosition(snapshot, previous: others.last { $0.sequence < snapshot.sequence })
        // From the last one that it has: the image may end where that does.
        let span = SegmentSpan(
            snapshot: snapshot.sequence, after: max(0, image.known - 1), end: time?.milliseconds)
        let isStepped = zip(others, others.dropFirst()).contains { $1.time < $0.time }
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
            var order = LogOrder(image, isStepped: isStepped || log.present.step != nil)
            var row = try await chain(path, log, fetched, after: snapshot, &order, until: time)
            if !isListedAgain, row.obstacle != nil || (row.segments.isEmpty && !log.isWhole) {
                // What was listed may have been joined and removed since.
                try await listAgain()
                continue
            }
            if let best, row.last <= best.last { return best }
            guard row.obstacle != nil, !row.suspects.isEmpty else {
                if let end = time?.milliseconds { row.granularity = granularity(row, log, until: end) }
                return row
            }
            best = row
            log.joined.removeAll { row.suspects.contains($0.object) }
        }
    }

    /// The joined segment that has commits from before and after a time, which a chain ends before.
    private func granularity(_ row: SegmentChain, _ log: SegmentLog, until end: Int64) -> RestoreGranularity? {
        guard row.obstacle == nil else { return nil }
        guard
            let next = row.segments.last.map({ $0.record.sequence + 1 })
                ?? log.present.filter({ $0.sequence > row.contained }).map({ max($0.first, row.contained + 1) }).min(),
            !log.names.contains(where: { $0.sequence == next }),
            let name = log.joined.filter({ $0.first <= next && next <= $0.sequence }).min(by: { $0.level < $1.level })
        else { return nil }
        // Its commits are in one window.
        let length = Int64(name.level) * 1000
        guard name.time > end, name.time / length * length <= end else { return nil }
        return RestoreGranularity(
            seconds: name.level, from: row.date(through: row.segments.count), until: name.date)
    }

    /// Follows segments, in order, from a snapshot.
    private func chain(
        _ path: [SegmentName], _ all: SegmentLog, _ fetched: FetchedSegments, after snapshot: Snapshot,
        _ order: inout LogOrder, until time: Date?
    ) async throws -> SegmentChain {
        var log = all
        let image = order.image
        var row = SegmentChain(snapshot: snapshot.time, wanted: time)
        // The hashes of the previous number; two, if a segment was stored twice.
        var hashes: Set<String> = []
        // The first segment whose place is not known.
        var doubt: BrokenLogError?
        row.fetched = fetched
        search: for (index, name) in path.enumerated() {
            row.suspects = Set(path[max(0, index - 1)...index].filter(\.isJoined).map(\.object))
            let found: FetchedSegment
            do {
                found = try await fetched.segment(name)
            } catch let error as VaultError where error.isDamage {
                let broken = row.broken(at: name, error, reachable: row.date(through: row.segments.count))
                if !row.segments.isEmpty {
                    row.obstacle = broken
                    break
                }
                if !image.contains(name, newest: snapshot.manifest.newestSegment) { doubt = doubt ?? broken }
                continue
            }
            let record = found.record
            log.learn(record)
            let hash = found.link
            if let last = row.segments.last {
                switch Self.step(from: last.record, hashes, to: record) {
                case .next: hashes = [hash]
                case .twin:
                    hashes.insert(hash)
                    continue
                case .otherTwin: continue
                case .broken:
                    let error = VaultError(.damaged, "does not follow the previous segment", path: name.object)
                    row.obstacle = row.broken(at: name, error, reachable: row.date(through: row.segments.count))
                    break search
                case .end:
                    // Two concurrent followers used the same numbers.
                    let isTwin = [index - 1, index + 1].contains {
                        path.indices.contains($0) && path[$0].sequence == name.sequence
                    }
                    if isTwin { continue }
                    break search
                }
            } else {
                switch order.place(of: record) {
                case .contained:
                    doubt = nil
                    row.imageUntil = max(row.imageUntil, Date(milliseconds: order.imageUntil))
                    continue
                case .foreign: continue
                case .continues:
                    doubt = nil
                    hashes = [hash]
                case .lacking:
                    row.obstacle = doubt ?? lacking(before: record, image, log, time)
                    break search
                case .unknown:
                    let error = VaultError(
                        .damaged, "cannot be placed before or after snapshot \(snapshot.id): neither tells the order",
                        path: name.object)
                    doubt = doubt ?? row.broken(at: name, error, reachable: snapshot.time)
                    continue
                }
            }
            row.segments.append(found)
        }
        row.contained = order.contained
        if row.segments.isEmpty, row.obstacle == nil { row.obstacle = doubt }
        let reached = row.date(through: row.segments.count)
        if row.obstacle == nil, time.map({ reached.milliseconds < $0.milliseconds }) ?? true,
            let missing = try await missing(behind: row, image, snapshot, log, until: time)
        {
            row.obstacle = BrokenLogError(
                object: log.path(missing), problem: log.text(missing), wanted: time, reachable: reached)
        }
        return row
    }

    /// What a segment is to the last one of a chain.
    private enum ChainStep { case next, twin, otherTwin, broken, end }

    private static func step(from last: SegmentRecord, _ hashes: Set<String>, to record: SegmentRecord) -> ChainStep {
        if record.sequence == last.sequence {
            return record.run == last.run && record.payloadHash == last.payloadHash ? .twin : .otherTwin
        }
        guard record.run == last.run, record.first == last.sequence + 1 else { return .end }
        return record.firstPlace == last.place &+ 1 && hashes.contains(record.predecessor ?? "") ? .next : .broken
    }

    /// What is missing between a snapshot and a segment of its run; nil if only the state of the snapshot is wanted.
    private func lacking(
        before record: SegmentRecord, _ image: ImagePosition, _ log: SegmentLog, _ time: Date?
    ) -> BrokenLogError? {
        let before = max(1, record.first - 1)
        let missing = log.holes.first { $0.range.upperBound == record.first - 1 }?.range ?? before...before
        // Some segments of a window were removed, and the joined one ends too late: nothing is missing, but the snapshot is the
        // nearest state.
        let isJoined = log.joined.contains { name in
            name.first <= missing.lowerBound && missing.upperBound <= name.sequence
                && time.map { name.time > $0.milliseconds } ?? false
        }
        if isJoined { return nil }
        return BrokenLogError(
            object: log.path(missing), problem: log.text(missing), wanted: time, reachable: image.label)
    }

    /// Segments that are missing after the last one of a chain, or after a snapshot without a chain, and may contain
    /// the wanted time.
    private func missing(
        behind row: SegmentChain, _ image: ImagePosition, _ snapshot: Snapshot, _ log: SegmentLog, until time: Date?
    ) async throws -> ClosedRange<Int>? {
        var marks = log.memories.map(\.mark)
        let last = row.segments.last
        // Segments from before the snapshot are contained in it.
        let newest = snapshot.manifest.newestSegment
        let known = (log.names + log.joined).filter { image.contains($0, newest: newest) }.map(\.sequence).max() ?? 0
        let before = max(row.contained, known)
        guard let hole = log.hole(after: last?.record.sequence ?? before, isExact: last != nil) else { return nil }
        let first = hole.range.lowerBound
        if let name = log.present.first(where: { $0.first > first }),
            let found = try? await segment(name, snapshot.manifest.database)
        {
            marks.append(found.mark)
        }
        for mark in marks where mark.covers(first) {
            // Another run continues from a snapshot of its own, not from this one.
            if let last, mark.run != last.record.run { return nil }
            if last == nil, image.isLaterRun(mark) { return nil }
            guard let end = time?.milliseconds, let began = Timestamp.date(mark.began) else { continue }
            if began.milliseconds > end || (mark.sequence == first && mark.seen > end) { return nil }
        }
        return hole.range
    }
}

extension ImagePosition {
    /// Whether the run of a missing segment began after the image.
    fileprivate func isLaterRun(_ mark: SegmentMark) -> Bool {
        if hasState(of: mark.base) { return false }
        if let run { return run != mark.run }
        if let newest = mark.newest { return newest >= snapshot }
        // An older version recorded no more than dates.
        return Timestamp.date(mark.began).map { $0 > label } ?? false
    }
}
