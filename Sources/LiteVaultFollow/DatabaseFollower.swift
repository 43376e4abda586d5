package import Foundation
internal import LiteVaultCapture
package import LiteVaultRepository

/// Follows the log of one database into a repository, without its key, until it is to end.
///
/// Three tasks share the work, so that none waits for another: one looks at the log at each interval and spools what was
/// committed, one stores what is spooled, and one takes the snapshot that each run needs. Whatever fails is told as a
/// ``FollowingEvent`` and tried again, after longer and longer pauses.
package final class DatabaseFollower: @unchecked Sendable {  // its lock guards `shared`
    /// Takes the snapshot that a run begins with, after the run began.
    package typealias TakeBase = @Sendable (SegmentSpool.Run, SnapshotGap?) async throws -> Snapshot

    struct Shared {
        /// From when on nothing more is to be tried; nil while it is not to end.
        var deadline: Date?
        /// Whether the session is to be begun again: somebody else follows.
        var isBroken = false
        /// Why it is, until that is told.
        var breaking: (any Error)?
        /// Whether the session has stored something.
        var hasStored = false
        /// The run whose snapshot is stored.
        var based: SegmentSpool.Run?
        /// The run that has ended: a snapshot for it is of no use any more.
        var ended: SegmentSpool.Run?
        /// Why a run began that has no snapshot yet.
        var gap: SnapshotGap?
        /// The newest snapshot that is known.
        var newest = 0
        /// Whether no more segments will come.
        var isRead = false
    }

    package let path: String
    let repository: Repository
    let options: FollowingOptions
    let takeBase: TakeBase
    let tell: @Sendable (FollowingEvent) -> Void
    private let lock = NSLock()
    private var shared = Shared()

    /// Nothing is opened yet; that is for ``run()``.
    ///
    /// - Parameters:
    ///   - takeBase: takes a snapshot of the database now, and stores it.
    ///   - tell: is told what happens, in order for each task, by several threads.
    package init(
        _ path: String, into repository: Repository, options: FollowingOptions, takeBase: @escaping TakeBase,
        tell: @escaping @Sendable (FollowingEvent) -> Void
    ) {
        self.path = path
        self.repository = repository
        self.options = options
        self.takeBase = takeBase
        self.tell = tell
    }

    /// Follows until ``end(before:)``. What was seen by then is stored when this returns, or the time for it was up.
    package func run() async {
        var lost = 0
        // One for all sessions: a claim that is lost as soon as it is taken must not be taken without a pause.
        var pause = Backoff(options.backoff)
        while !isEnding {
            with { ($0.isBroken, $0.isRead, $0.based, $0.hasStored) = (false, false, nil, false) }
            guard let session = await open(&pause) else { break }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.look(session) }
                group.addTask { await self.storeAll(session) }
                group.addTask { await self.takeBases(session) }
            }
            lost = session.spool.count
            session.spool.discardAll()
            await session.writer.close()
            let (breaking, hasStored) = with { ($0.breaking, $0.hasStored) }
            with { $0.breaking = nil }
            if hasStored { pause.reset() }
            if let breaking { await failed(.store, breaking, &pause, until: { self.isEnding }) }
        }
        tell(.ended(lost: lost))
    }

    /// Makes ``run()`` look a last time, store what is spooled, and return.
    ///
    /// - Parameter deadline: what can not be stored until then is given up.
    package func end(before deadline: Date) { with { $0.deadline = $0.deadline ?? deadline } }

    /// Tells of a snapshot that somebody else took.
    package func note(snapshot sequence: Int) { with { $0.newest = max($0.newest, sequence) } }

    /// What one claim on the repository's segments of this database works with.
    struct Session: Sendable {
        let spool: SegmentSpool
        let writer: SegmentWriter
        let changes: AsyncStream<Void>
        let changed: AsyncStream<Void>.Continuation
        let newRuns: AsyncStream<Void>
        let newRun: AsyncStream<Void>.Continuation
    }

    /// Claims the segments of this database; nil when it is to end.
    private func open(_ pause: inout Backoff) async -> Session? {
        while !isEnding {
            do {
                let folder = try repository.spoolFolder()
                try PackSpool.sweep(folder)
                let writer = try await SegmentWriter.open(repository, database: options.database)
                do {
                    let database = repository.databaseID(options.database)
                    let newest = try await repository.newestSequence(database)
                    let seen = await writer.seen
                    with {
                        $0.newest = max($0.newest, newest)
                        $0.gap = $0.gap ?? writer.loss ?? seen.map { SnapshotGap(since: $0, reason: "nobody followed") }
                    }
                    if let loss = writer.loss { tell(.gap(loss)) }
                    let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                    let (newRuns, newRun) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                    return Session(
                        spool: try SegmentSpool(
                            folder: folder, limit: options.spoolBytes, allowsPlaintext: options.allowsPlaintext),
                        writer: writer,
                        changes: changes, changed: changed, newRuns: newRuns, newRun: newRun)
                } catch {
                    await writer.close()
                    throw error
                }
            } catch {
                await failed(.store, error, &pause, until: { self.isEnding })
            }
        }
        return nil
    }

    // MARK: What the tasks share

    func with<T>(_ body: (inout Shared) -> T) -> T { lock.withLock { body(&shared) } }

    var isEnding: Bool { with { $0.deadline != nil } }

    /// Whether the tasks of the session are to end.
    var isOver: Bool { with { $0.deadline != nil || $0.isBroken } }

    /// Tells a failure and waits for as long as it says.
    ///
    /// - Parameter isUp: what ends the wait early; nil for the end of the session.
    func failed(
        _ step: FollowingEvent.Step, _ error: any Error, _ pause: inout Backoff, until isUp: (() -> Bool)? = nil
    ) async {
        let seconds = pause.next()
        if !isEnding { tell(.failed(step, error, again: seconds)) }
        await sleep(seconds, until: isUp)
    }

    /// Sleeps, but not when the session is to end; where no session is open, that is told by `isUp`.
    func sleep(_ seconds: Double, until isUp: (() -> Bool)? = nil) async {
        let clock = options.clock
        let end = clock.now() + seconds
        while !(isUp?() ?? isOver) {
            let rest = end - clock.now()
            guard rest > 0 else { return }
            await clock.sleep(min(rest, 0.1))
        }
    }
}

/// Longer and longer pauses between tries.
struct Backoff {
    private let range: ClosedRange<Double>
    private var seconds: Double

    init(_ range: ClosedRange<Double>) { (self.range, seconds) = (range, range.lowerBound) }

    mutating func next() -> Double {
        defer { seconds = min(range.upperBound, seconds * 2) }
        return seconds
    }

    mutating func reset() { seconds = range.lowerBound }
}
