internal import LiteVaultCapture
internal import LiteVaultSystem

/// Where the image of a snapshot ends among the segments of a followed log, as its manifest tells.
///
/// Dates play no part in it, but for what versions stored that recorded nothing else: they are labels, and a clock may be set at any moment.
struct ImagePosition: Sendable {
    /// The number of the snapshot.
    let snapshot: Int
    /// The numbers of the snapshots with its state: a run that begins with one of them begins with each.
    let snapshots: ClosedRange<Int>
    /// Its label.
    let label: Date
    /// How much of which log is in the image; nil if the database was not in WAL mode, so that no run has it.
    let position: LogPosition?
    /// The run of the follower that was at work; nil if none was in that process.
    let run: String?
    /// How many segments of that run end in the image or where it ends; nil if that was not known.
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
        run = manifest.followed?.run
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
}

/// Finds, among segments in the order of their numbers, the first that continues a snapshot. What it says follows from the numbers of frames,
/// the salts of logs and the names of runs.
///
/// Of the run that was at work in the process that took the snapshot, the manifest tells how many segments are in the image.
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
        if record.sequence <= image.known { return .contained }
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
