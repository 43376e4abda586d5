internal import LiteVaultCapture
public import LiteVaultSystem

/// Where the image of a snapshot ends among the segments of a followed log, as its manifest tells.
///
/// Dates play no part in it, but for what versions stored that recorded nothing else: they are labels, and a clock may be set at any moment.
struct ImagePosition: Sendable {
    /// The number of the snapshot.
    let snapshot: Int
    /// The numbers of the snapshots with its state: a run that begins with one of them begins with each.
    let snapshots: ClosedRange<Int>
    let label: Date
    /// How much of which log is in the image; nil if the database was not in WAL mode, so that no run has it.
    let position: LogPosition?
    /// The run of the follower that was at work; nil if none was in that process.
    let run: String?
    /// The run of that follower that had ended, and that is in the image as a whole; nil if there was none.
    let ended: String?
    /// How many segments of the run end in the image or where it ends; nil if that was not known.
    let places: UInt64?
    /// Segments up to this number are in the image, or are of another history.
    let known: Int
    /// Whether an older version stored it, which recorded neither.
    let isDated: Bool

    /// - Parameter previous: the newest known manifest before it: what had been stored then is in this image as well.
    init(_ snapshot: Snapshot, previous: Snapshot? = nil) {
        let manifest = snapshot.manifest
        self.snapshot = snapshot.sequence
        snapshots = min(manifest.followed?.unchangedSince ?? .max, snapshot.sequence)...snapshot.sequence
        label = snapshot.time
        position = manifest.log.flatMap { log in
            UInt64(log.salts, radix: 16).map { LogPosition(salts: $0, frame: UInt32(clamping: log.frames)) }
        }
        (run, ended) = (manifest.followed?.run, manifest.followed?.ended)
        places = manifest.followed.flatMap { $0.run == nil ? nil : $0.places }.map { UInt64($0) }
        known = max(manifest.followed?.segment ?? 0, previous?.manifest.newestSegment?.sequence ?? 0)
        isDated = manifest.followed == nil
    }

    /// Whether it has the state of a snapshot with this number.
    func hasState(of other: Int?) -> Bool { other.map(snapshots.contains) ?? false }

    /// Whether all of a segment is known to be in the image, by its name alone.
    func contains(_ name: SegmentName, newest: SegmentMark?) -> Bool {
        if name.sequence <= known { return true }
        // An older version: it was stored before the manifest, and seen before the image.
        return isDated && name.sequence <= newest?.sequence ?? 0 && name.time < label.milliseconds
    }

    /// Whether the run of a missing segment began after the image.
    fileprivate func isLaterRun(_ mark: SegmentMark) -> Bool {
        if hasState(of: mark.base) { return false }
        if let run { return run != mark.run }
        if let newest = mark.newest { return newest >= snapshot }
        // An older version recorded no more than dates.
        return Timestamp.date(mark.began).map { $0 > label } ?? false
    }
}

/// Finds, among segments in the order of their numbers, the first that continues a snapshot. What it says follows from the numbers of frames,
/// the salts of logs and the names of runs.
///
/// Of the run that was at work in the process that took the snapshot, the manifest tells how many segments are in the image, or that all of them are.
///
/// Otherwise: A log with other salts begins at frame 1, and only when all of the log before it is in the database. So, of segments of one run:
///
/// 1. With the image's salts: a segment that ends at or before the image's last frame is contained in it. One that ends
///    behind it, and does not begin after the next frame, continues it.
/// 2. The segment right behind one that ends exactly where the image does continues it, too. Its log has other salts.
/// 3. So does the first segment of a run that began exactly where the image ends.
/// 4. A joined segment that has another log first lists all of its logs: an image that ends in one of them, or right behind one but the last, ends in it.
/// 5. The first half of salts counts resets, unless they are random: what has a lower one precedes the image. That only passes over
///    segments, and finds an image within a joined one that lists no logs.
///
/// Anything else does not continue the snapshot. Whether that is because the segments are of a run that began later is the last question.
struct LogOrder {
    /// What a segment is to the image.
    enum Place: Equatable {
        /// All of it is in the image, or precedes it.
        case contained
        /// The image ends in it, or right before it.
        case continues
        /// Frames between the image and this segment are missing.
        case lacking
        /// It belongs to another run, which the image is not in.
        case foreign
        /// Neither records the order.
        case unknown
    }

    let image: ImagePosition
    /// Whether labels show that a clock was set back, so that dates tell nothing.
    let isStepped: Bool
    /// Segments up to this number are in the image.
    private(set) var contained: Int
    /// The newest label, in milliseconds since 1970, of a segment of the image's own run or log that was stored after its snapshot had begun: the
    /// image has everything that was committed by then. 0 without one.
    private(set) var imageUntil: Int64 = 0
    /// The segment at whose end the image ends.
    private var end: SegmentRecord?

    init(_ image: ImagePosition, isStepped: Bool) {
        (self.image, self.isStepped) = (image, isStepped)
        contained = image.known
    }

    /// The place of the next segment.
    mutating func place(of record: SegmentRecord) -> Place {
        guard let position = image.position else { return .foreign }
        let place = place(of: record, position)
        if place == .contained {
            contained = max(contained, record.sequence)
            let isCertain = record.last.salts == position.salts || (image.places != nil && image.run == record.run)
            if !image.isDated, record.sequence > image.known, isCertain {
                imageUntil = max(imageUntil, record.seen)
            }
            let isAtEnd =
                record.last == position
                || (position.frame == 0 && record.last.salts.resets(to: position.salts) != nil)
            end = isAtEnd ? record : nil
        }
        return place
    }

    private func place(of record: SegmentRecord, _ position: LogPosition) -> Place {
        let (first, last) = (record.firstFramePosition, record.last)
        if record.sequence <= image.known || record.run == image.ended { return .contained }
        if let places = image.places, image.run == record.run {
            if record.place < places { return .contained }
            return record.firstPlace <= places ? .continues : .lacking
        }
        if last.salts == position.salts, last.frame <= position.frame { return .contained }
        if first.salts == position.salts {
            return first.frame <= position.frame &+ 1 ? .continues : beganLater(record, position) ? .foreign : .lacking
        }
        // A joined one, whose first log precedes that of the image.
        if last.salts == position.salts { return .continues }
        if let joined = record.joined {
            if let logs = joined.logs {
                if LogRange.find(position, in: logs) { return .continues }
            } else if let all = first.salts.resets(to: last.salts), let some = first.salts.resets(to: position.salts),
                some < all
            {
                return .continues
            }
        }
        if first.frame == 1, followsReset(record, position) { return .continues }
        if last.salts.resets(to: position.salts) != nil { return .contained }
        if record.start == nil, !isStepped, record.seen < image.label.milliseconds { return .contained }
        return beganLater(record, position) ? .foreign : .unknown
    }

    /// Whether the image ends where the log before a segment's ends.
    private func followsReset(_ record: SegmentRecord, _ position: LogPosition) -> Bool {
        let isNext = position.salts.resets(to: record.firstFramePosition.salts) == 1
        if record.firstPlace > 0 {
            if let end, end.run == record.run, end.place &+ 1 == record.firstPlace { return true }
            // All that precedes it is in the image, and the image does not end in it.
            if isNext, record.first - 1 <= image.known, image.run.map({ $0 == record.run }) ?? true { return true }
        } else if let start = record.start {
            if image.hasState(of: start.snapshot) { return true }
            // The salts of a log that was never written to are 0 in any of them.
            return start.position == position && (position.salts != 0 || image.run == record.run)
        }
        // An older version recorded no more than dates.
        guard record.start == nil, !isStepped, let began = Timestamp.date(record.began) else { return false }
        return began <= image.label && image.label.milliseconds <= record.seen
    }

    /// Whether a segment's run began after the image, so that nothing says what lies between them.
    private func beganLater(_ record: SegmentRecord, _ position: LogPosition) -> Bool {
        // A run that began with this snapshot, taken by the follower in the run before.
        if image.hasState(of: record.start?.snapshot) { return false }
        if let run = image.run { return run != record.run }
        guard let start = record.start else { return Timestamp.date(record.began).map { $0 > image.label } ?? true }
        if start.newest >= image.snapshot { return true }
        if start.position.salts == position.salts { return start.frame > position.frame }
        return position.salts.resets(to: start.position.salts) != nil
    }
}

extension SegmentRecord {
    /// The first frame, of the first segment of a joined one.
    var firstFramePosition: LogPosition {
        LogPosition(salts: UInt64(joined?.salts ?? salts, radix: 16) ?? 0, frame: joined?.firstFrame ?? firstFrame)
    }
    /// The last frame.
    var last: LogPosition {
        LogPosition(salts: UInt64(salts, radix: 16) ?? 0, frame: firstFrame + (frames - 1))
    }
}

extension [SegmentName] {
    /// The first two segments in the order of numbers whose labels are in the other order. The clock was set back between them, and an
    /// older version stored what it said.
    var step: (before: SegmentName, after: SegmentName)? {
        zip(self, dropFirst()).first { $0.sequence < $1.sequence && $1.time < $0.time }.map { ($0, $1) }
    }
}

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
            path: object, advice: .restoreReachable(time: time), cause: self)
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
            let name = log.joined.filter({ $0.has(next) }).min(by: { $0.level < $1.level })
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
