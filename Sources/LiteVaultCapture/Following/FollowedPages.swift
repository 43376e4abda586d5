package import LiteVaultSystem

/// What a follower has read, for snapshots of the same process: the pages that the log has named since earlier ones, and which segments an image has.
///
/// A snapshot reads from the log which pages changed since the previous one. A log that was reset in between no longer shows it; a
/// follower has read all of it. It adds what it reads, and snapshots of the same process take it. From where it stopped reading
/// the log has to show the rest; where that is impossible, the database is read.
package final class FollowedPages: Sendable {
    /// A snapshot that is being taken.
    package struct Token: Sendable {
        fileprivate let run: Int
        fileprivate let epoch: Int
        fileprivate let overwritten: Int
        fileprivate let segments: SegmentCount?
    }

    /// How many segments of a run are in an image.
    package struct SegmentCount: Sendable {
        package let run: [UInt8]
        package let count: UInt64
        /// Whether these are all, as the run has ended.
        package let isWhole: Bool
        fileprivate let generation: Int
    }

    /// The pages named between two snapshots.
    private struct Epoch {
        var pages: Set<UInt32> = []
        /// The smallest number of pages that the database had.
        var least = UInt32.max

        mutating func add(_ other: Epoch) {
            pages.formUnion(other.pages)
            least = min(least, other.least)
        }
    }

    private struct Shared {
        var run = 0
        var epochs: [Epoch] = [Epoch()]
        /// The number of the first epoch.
        var first = 0
        /// What a segment has named that is not complete.
        var unfinished = Epoch()
        var pageSize = 0
        /// Up to where the log was read.
        var mark: LogMark?
        /// The newest snapshot, and the epoch that began before its image was taken.
        var newest: (snapshot: String, epoch: Int)?
        /// The name of the follower's run; nil before the first.
        var name: [UInt8]?
        /// Whether that has ended with a gap: another one follows.
        var isOver = false
        /// The label of the last segment that was read; 0 before the first.
        var label: UInt64 = 0
        /// Where its segments end.
        var trail = LogTrail()
        /// How many segments of the run are stored.
        var stored: UInt64 = 0
        /// How often a run has begun or continued.
        var generation = 0
        /// The run before, some of whose segments may be stored later.
        var former: (name: [UInt8], generation: Int, stored: UInt64)?
        /// The run that is not to continue, as a snapshot records that it has all of it.
        var closed: [UInt8]?
        /// The polls of the log that were begun, the last of these that was completed, and the one that a snapshot waits for. None
        /// is begun while nobody polls.
        var polls = (begun: 0, completed: 0, awaited: 0)
        /// Wakes who polls the log; nil if nobody does.
        var wake: (@Sendable () -> Void)?
        /// How often something other than the log was found to have written to the database, and how many of these times a stored snapshot has read
        /// all of it since.
        var overwritten = (found: 0, read: 0)
        /// Why no snapshot is to be taken now.
        var refusal: VaultError?

        mutating func restart() {
            (run, epochs, first, unfinished) = (run + 1, [Epoch()], 0, Epoch())
            (pageSize, mark, newest) = (0, nil, nil)
        }

        /// How many segments of the run were read; nil before the first run.
        var segments: SegmentCount? {
            name.map { SegmentCount(run: $0, count: trail.count, isWhole: isOver, generation: generation) }
        }

        /// Whether a segment may still be read in the generation of a run.
        func isReading(_ segments: SegmentCount) -> Bool { generation == segments.generation && !isOver }

        /// How many segments of a run are stored; nil if it has been forgotten.
        func stored(of segments: SegmentCount) -> UInt64? {
            if generation == segments.generation { return stored }
            return former.flatMap { $0.generation == segments.generation ? $0.stored : nil }
        }
    }

    private let shared = Locked(Shared())
    private let limit: Int

    /// - Parameter limit: the most pages to remember; with more, the next snapshot reads the log or the database.
    package init(limit: Int = 1 << 20) { self.limit = limit }

    // MARK: The follower

    /// Forgets everything: a run is over, or none has begun.
    package func restart() {
        shared.withLock { shared in
            shared.restart()
            (shared.trail, shared.stored) = (LogTrail(), 0)
        }
    }

    /// Forgets everything, as the run of this name begins or continues.
    ///
    /// - Parameter position: from where the log is read; nil if ``resume(at:after:)`` tells later.
    /// - Throws: `VaultError` `busy` if ``close(_:)`` was called for the run.
    package func begin(run name: [UInt8], at position: LogPosition? = nil) throws {
        try shared.withLock { shared in
            if shared.closed == name {
                throw VaultError(.busy, "a snapshot that has all of the former run of the follower was just taken")
            }
            shared.restart()
            shared.former = shared.name.map { ($0, shared.generation, shared.stored) }
            shared.generation += 1
            (shared.name, shared.isOver, shared.trail, shared.stored) = (name, false, LogTrail(), 0)
            if let position { shared.trail.begin(at: position, after: 0) }
        }
    }

    /// Records from where the log is read by a run that continues, before it is.
    ///
    /// - Parameter count: how many segments of the run end there or before.
    package func resume(at position: LogPosition, after count: UInt64) {
        shared.withLock { shared in
            shared.trail.begin(at: position, after: count)
            shared.stored = count
        }
    }

    /// Records that the run has ended with a gap.
    package func endRun() { shared.withLock { $0.isOver = true } }

    /// Whether the follower is still in a run.
    package func isIn(_ run: [UInt8]) -> Bool { shared.withLock { $0.name == run && !$0.isOver } }

    /// The run that the follower is in, or was in last.
    package var runName: [UInt8]? { shared.withLock { $0.name } }

    /// Adds whole frames of a segment.
    package func add(_ frames: UnsafeRawBufferPointer, pageSize: Int) {
        shared.withLock { shared in
            if shared.pageSize != 0, shared.pageSize != pageSize { shared.restart() }
            shared.pageSize = pageSize
            let length = WALSegment.frameHeaderLength + pageSize
            for start in stride(from: 0, through: frames.count - length, by: length) {
                shared.unfinished.pages.insert(frames.word(start))
                let count = frames.word(start + 4)
                if count != 0 { shared.unfinished.least = min(shared.unfinished.least, count) }
            }
        }
    }

    /// Completes a segment.
    ///
    /// - Parameter end: what shows whether the log continues from its end; nil if nothing does.
    package func finish(_ segment: WALSegment, at end: LogEnd?) {
        shared.withLock { shared in
            shared.epochs[shared.epochs.count - 1].add(shared.unfinished)
            shared.unfinished = Epoch()
            shared.label = max(shared.label, segment.seen)
            shared.trail.add(segment)
            shared.mark = end.map {
                LogMark(position: LogPosition(salts: segment.salts, frame: segment.lastFrame), end: $0)
            }
            if shared.epochs.reduce(0, { $0 + $1.pages.count }) > limit { shared.restart() }
        }
    }

    /// Records that the log is polled from now on, or no longer.
    ///
    /// - Parameter wake: called when a snapshot begins to wait for the next poll; nil if the log is no longer polled.
    package func setPolled(_ wake: (@Sendable () -> Void)?) { shared.withLock { $0.wake = wake } }

    /// Begins a poll of the log, and returns its number.
    package func beginPoll() -> Int {
        shared.withLock { shared in
            shared.polls.begun += 1
            return shared.polls.begun
        }
    }

    /// Records that a poll has read everything that had been committed when it began.
    package func completePoll(_ number: Int) { shared.withLock { $0.polls.completed = number } }

    /// Records that a segment is stored, and all before it.
    package func didStore(_ segment: WALSegment) {
        shared.withLock { shared in
            if shared.name == segment.run {
                shared.stored = max(shared.stored, segment.sequence + 1)
            } else if let former = shared.former, former.name == segment.run {
                shared.former?.stored = max(former.stored, segment.sequence + 1)
            }
        }
    }

    /// Whether a snapshot waits for the next poll.
    package var isAwaited: Bool { shared.withLock { $0.polls.awaited > $0.polls.completed } }

    /// The label of the last segment that was read, in milliseconds since 1970; 0 before the first.
    package var newestLabel: Int64 { shared.withLock { Int64(clamping: $0.label) } }

    /// Records that something other than its log has written to the database, so that neither the log nor what was read of it shows what changed.
    package func noteOverwritten() { shared.withLock { $0.overwritten.found += 1 } }

    /// Records why no snapshot is to be taken, or that one may be.
    package func refuse(_ error: VaultError?) { shared.withLock { $0.refusal = error } }

    // MARK: Snapshots

    /// Why no snapshot is to be taken now: the database has the log of another one beside it. Nil if one may be taken.
    package var refusal: VaultError? { shared.withLock { $0.refusal } }

    /// Whether a snapshot has to read all of the database: something other than its log has written to it, and no snapshot has been stored since.
    package var isOverwritten: Bool { shared.withLock { $0.overwritten.found > $0.overwritten.read } }

    /// Begins a snapshot, before its image is taken: the image has everything that was added before.
    package func beginSnapshot() -> Token {
        shared.withLock { shared in
            shared.epochs.append(Epoch())
            return Token(
                run: shared.run, epoch: shared.first + shared.epochs.count - 1, overwritten: shared.overwritten.found,
                segments: shared.segments)
        }
    }

    /// How many segments of the follower's run are in an image that has just been read, before it is uploaded: those that end where it does, or before.
    ///
    /// The log is polled once more for it, as soon as possible. Of a run that has ended with a gap meanwhile, no more is read. If the log no
    /// longer shows where the image ends, the image has the segments that were read before it, and it has to be known that there are no others.
    ///
    /// - Parameters:
    ///   - token: the snapshot.
    ///   - position: where the image ends.
    ///   - clock: measures how long to wait for the poll: 2 seconds at most.
    /// - Returns: nil if that is not known.
    package func segments(of token: Token, upTo position: LogPosition, _ clock: HostClock) async -> SegmentCount? {
        guard let begun = token.segments else { return nil }
        let (wanted, wake) = shared.withLock { shared in
            shared.polls.awaited = shared.polls.begun + 1
            return (shared.polls.awaited, shared.wake)
        }
        wake?()
        await wait(until: clock.now() + 2, clock) { $0.isReading(begun) && $0.polls.completed < wanted }
        return shared.withLock { shared in
            if shared.polls.awaited == wanted { shared.polls.awaited = 0 }
            // What a later run has read may be in the image, too.
            guard shared.generation == begun.generation, let all = shared.segments else { return nil }
            let isBehind = shared.isOver || shared.polls.completed >= wanted
            let count =
                shared.trail.count(upTo: position, isBehind: isBehind, isWhole: shared.isOver)
                ?? (shared.isOver && all.count == begun.count ? all.count : nil)
            return count.map {
                SegmentCount(
                    run: all.run, count: $0, isWhole: shared.isOver && $0 == all.count, generation: all.generation)
            }
        }
    }

    /// Whether the segments that are in an image are stored, which is waited for.
    ///
    /// A follower that begins where a killed one had stored the last segment gives the places of what was not stored to others.
    ///
    /// - Parameter clock: measures how long to wait: 8 seconds at most.
    package func areStored(_ segments: SegmentCount, _ clock: HostClock) async -> Bool {
        await wait(until: clock.now() + 8, clock) { $0.stored(of: segments).map { $0 < segments.count } ?? false }
        return shared.withLock { $0.stored(of: segments).map { $0 >= segments.count } ?? false }
    }

    /// Closes a run that has ended, and that an image has all of: nothing continues it from now on.
    ///
    /// - Returns: false if it has been continued since.
    package func close(_ segments: SegmentCount) -> Bool {
        shared.withLock { shared in
            guard segments.isWhole, shared.generation == segments.generation || shared.name != segments.run else {
                return false
            }
            shared.closed = segments.run
            return true
        }
    }

    /// Waits as long as something is missing, and the log is polled.
    private func wait(until end: Double, _ clock: HostClock, _ isMissing: (Shared) -> Bool) async {
        while shared.withLock({ $0.wake != nil && isMissing($0) }), clock.now() < end, !Task.isCancelled {
            await clock.sleep(0.01)
        }
    }

    /// Records a snapshot that was stored. What only earlier ones need is forgotten.
    package func finish(_ token: Token, snapshot: String) {
        shared.withLock { shared in
            shared.overwritten.read = max(shared.overwritten.read, token.overwritten)
            guard token.run == shared.run, token.epoch >= shared.first else { return }
            shared.epochs.removeFirst(token.epoch - shared.first)
            (shared.first, shared.newest) = (token.epoch, (snapshot, token.epoch))
        }
    }

    /// The pages named since a snapshot; nil if that is not known.
    package func changes(since snapshot: String) -> FollowedChanges? {
        shared.withLock { shared in
            guard let newest = shared.newest, newest.snapshot == snapshot, let mark = shared.mark else { return nil }
            var all = Epoch()
            for epoch in shared.epochs[(newest.epoch - shared.first)...] { all.add(epoch) }
            return FollowedChanges(pages: all.pages, least: all.least, pageSize: shared.pageSize, mark: mark)
        }
    }
}

/// The pages that a follower has found changed since an earlier image.
package struct FollowedChanges: Sendable {
    /// Their numbers; some may be unchanged.
    package let pages: Set<UInt32>
    /// The smallest number of pages that the database had meanwhile; the largest value if there was no commit.
    package let least: UInt32
    package let pageSize: Int
    /// Up to where the log was read.
    package let mark: LogMark
}

/// Where the segments of a run end in the log, as far back as a snapshot may need it.
///
/// A snapshot by the follower's process records how many segments of the run are in its image. Salts alone do not tell: a connection
/// that has reset no log itself gives random ones to a log that another one has reset.
struct LogTrail {
    private struct Step {
        let salts: UInt64
        /// The first and the last frame; of the position from which the follower reads on, the next one and its own.
        let first: UInt32
        let last: UInt32
        /// How many segments of the run end here or before.
        let count: UInt64
    }

    private var steps: [Step] = []
    /// How many segments of the run were read.
    var count: UInt64 { steps.last?.count ?? 0 }
    /// The most steps that are kept, which are those of seconds to minutes.
    private static let limit = 4096

    /// Begins at a position from which the follower reads on, behind this many segments of its run.
    mutating func begin(at position: LogPosition, after count: UInt64) {
        steps = [Step(salts: position.salts, first: position.frame &+ 1, last: position.frame, count: count)]
    }

    mutating func add(_ segment: WALSegment) {
        if steps.count >= Self.limit { steps.removeFirst(Self.limit / 2) }
        steps.append(
            Step(
                salts: segment.salts, first: segment.firstFrame, last: segment.lastFrame, count: segment.sequence + 1))
    }

    /// How many segments of the run end at or before a position: those that an image which ends there has; nil if that is not known.
    ///
    /// - Parameters:
    ///   - isBehind: whether the log was read after the image, so that everything up to the position was read.
    ///   - isWhole: whether the run is over: what follows in the same log is of another one.
    func count(upTo position: LogPosition, isBehind: Bool, isWhole: Bool = false) -> UInt64? {
        if let step = steps.first(where: { $0.salts == position.salts && $0.last >= position.frame }) {
            if step.last == position.frame { return step.count }
            // It begins before the position, or the position is one that was not read.
            return step.first <= position.frame &+ 1 && step.count > 0 ? step.count - 1 : nil
        }
        if isWhole, let last = steps.last, last.salts == position.salts, last.last < position.frame { return count }
        guard isBehind, position.frame == 0 else { return nil }
        // The log was reset, and the next connection that wrote to it gave it other salts.
        return steps.last { $0.salts.resets(to: position.salts) != nil }?.count
    }
}

extension UInt64 {
    /// How often a log with these salts was reset until it had others: the first half counts. Nil if they do not lead there.
    ///
    /// A connection that writes to a reset log and has reset none itself gives it random salts (`sqlite3WalFrames`), and so does the first
    /// writer of a new log. One in 65,536 of such seems to be a later state of an earlier log.
    package func resets(to later: UInt64) -> UInt32? {
        let count = UInt32(truncatingIfNeeded: later >> 32) &- UInt32(truncatingIfNeeded: self >> 32)
        return (1..<(1 << 16)).contains(count) ? count : nil
    }
}
