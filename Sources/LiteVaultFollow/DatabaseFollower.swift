package import Foundation
internal import LiteVaultCapture
internal import LiteVaultCipher
package import LiteVaultRepository
internal import LiteVaultSupport

/// Follows the log of one database and stores its commits in a repository, without the database's key.
///
/// Three tasks share the work, so that none waits for another: one looks at the log at each interval and spools what was
/// committed, one stores what is spooled, and one takes the snapshot that each run needs. Failures are reported as a
/// ``FollowingEvent`` and tried again, after longer and longer pauses.
package final class DatabaseFollower: Sendable {
    /// Takes the snapshot that a run begins with, after the run began.
    package typealias TakeSnapshot = @Sendable (SegmentSpool.Run, SnapshotGap?) async throws -> Snapshot

    private struct Shared {
        /// From when on nothing more is to be tried; nil while it is not to end.
        var deadline: Date?
        /// Whether the session is to be begun again: somebody else follows.
        var isBroken = false
        /// Why, until that is reported.
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
    private let repository: Repository
    private let options: FollowingOptions
    private let takeSnapshot: TakeSnapshot
    private let report: @Sendable (FollowingEvent) -> Void
    private let shared = Locked(Shared())

    /// Creates a follower. ``run()`` opens the database.
    ///
    /// - Parameters:
    ///   - takeSnapshot: takes a snapshot of the database now, and stores it.
    ///   - report: called with each event, in order for each task, on several threads.
    package init(
        _ path: String, into repository: Repository, options: FollowingOptions, takeSnapshot: @escaping TakeSnapshot,
        report: @escaping @Sendable (FollowingEvent) -> Void
    ) {
        self.path = path
        self.repository = repository
        self.options = options
        self.takeSnapshot = takeSnapshot
        self.report = report
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
                group.addTask { await self.takeSnapshots(session) }
            }
            lost = session.spool.count
            session.spool.discardAll()
            await session.writer.close()
            let (breaking, hasStored) = with { ($0.breaking, $0.hasStored) }
            with { $0.breaking = nil }
            if hasStored { pause.reset() }
            if let breaking { await failed(.store, breaking, &pause, until: { self.isEnding }) }
        }
        report(.ended(lost: lost))
    }

    /// Makes ``run()`` look a last time, store what is spooled, and return.
    ///
    /// - Parameter deadline: segments that cannot be stored by then are abandoned.
    package func end(before deadline: Date) { with { $0.deadline = $0.deadline ?? deadline } }

    /// Tells of a snapshot that somebody else took.
    package func note(snapshot sequence: Int) { with { $0.newest = max($0.newest, sequence) } }

    /// What one claim on the repository's segments of this database works with.
    private struct Session: Sendable {
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
                let directory = try repository.spoolDirectory()
                try PackSpool.sweep(directory)
                let writer = try await SegmentWriter.open(repository, database: options.database)
                do {
                    let database = repository.databaseID(options.database)
                    let newest = try await repository.newestSequence(database)
                    let seen = await writer.seen
                    with {
                        $0.newest = max($0.newest, newest)
                        $0.gap =
                            $0.gap ?? writer.loss
                            ?? seen.map { SnapshotGap(since: $0, reason: "no follower was running") }
                    }
                    if let loss = writer.loss { report(.gap(loss)) }
                    let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                    let (newRuns, newRun) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                    return Session(
                        spool: try SegmentSpool(
                            directory: directory, limit: options.spoolBytes, allowsPlaintext: options.allowsPlaintext),
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

    private func with<T>(_ body: (inout Shared) -> T) -> T { shared.withLock(body) }

    private var isEnding: Bool { with { $0.deadline != nil } }

    /// Whether the tasks of the session are to end.
    private var isOver: Bool { with { $0.deadline != nil || $0.isBroken } }

    /// Tells a failure and waits for as long as it says.
    ///
    /// - Parameter isUp: what ends the wait early; nil for the end of the session.
    private func failed(
        _ step: FollowingEvent.Step, _ error: any Error, _ pause: inout Backoff, until isUp: (() -> Bool)? = nil
    ) async {
        let seconds = pause.next()
        if !isEnding { report(.failed(step, error, again: seconds)) }
        await sleep(seconds, until: isUp)
    }

    /// Sleeps unless the session is to end; without a session, `isUp` says so.
    private func sleep(_ seconds: Double, until isUp: (() -> Bool)? = nil) async {
        let clock = options.clock
        let end = clock.now() + seconds
        while !(isUp?() ?? isOver) {
            let rest = end - clock.now()
            guard rest > 0 else { return }
            await clock.sleep(min(rest, 0.1))
        }
    }
}

extension DatabaseFollower {
    /// The looking task: what is committed goes into the spool.
    private func look(_ session: Session) async {
        let follower = Follower(path, limits: options.limits)
        var pause = Backoff(options.backoff)
        var told: String?
        while !isOver {
            let looked = follower.looked
            do {
                let outcome = try await poll(follower, session)
                pause.reset()
                switch outcome {
                case .waiting(let reason):
                    if told != reason { report(.waiting(reason)) }
                    told = reason
                case .attached:
                    told = nil
                    report(.attached)
                    session.newRun.yield()
                case .read(let frames):
                    if let looked = follower.looked { report(.looked(looked)) }
                    if frames > 0 { session.changed.yield() }
                case .gap(let reason): gap(session, since: looked, reason)
                }
                await sleep(follower.pause)
            } catch let full as SpoolFullError {
                gap(session, since: looked, "more than \(full.limit) bytes wait to be stored")
                // Not again before there is room, as it would only be the same again.
                while !isOver, session.spool.byteCount > full.limit / 2 { await sleep(options.limits.interval) }
                await sleep(options.limits.interval)
            } catch let error as VaultError where error.code == .noInput {
                if looked != nil { gap(session, since: looked, "the database was removed") }
                if told != error.message { report(.waiting(error.message)) }
                told = error.message
                await sleep(options.limits.interval)
            } catch {
                if looked != nil { gap(session, since: looked, (error as? VaultError)?.message ?? "\(error)") }
                told = nil
                await failed(.log, error, &pause)
            }
        }
        // What was committed before it was to end.
        if follower.isAttached, isEnding { _ = try? await poll(follower, session) }
        follower.stop()
        with { $0.isRead = true }
        session.changed.finish()
        session.newRun.finish()
    }

    private func poll(_ follower: Follower, _ session: Session) async throws -> FollowerOutcome {
        let (path, allowsPlaintext) = (path, options.allowsPlaintext)
        let work = Look(follower: follower, spool: session.spool)
        return try await withDedicatedThread {
            if !work.follower.isAttached {
                // Before anything of it is read: what everybody could read must not get into the repository.
                try withErrorContext(path: path) {
                    let kind = try DatabaseFile(path).kind()
                    // Nothing was written to it yet.
                    if kind != .empty { try kind.requireStorable(allowsPlaintext: allowsPlaintext) }
                }
            }
            var spool = work.spool
            return try work.follower.poll(into: &spool)
        }
    }

    /// One thread at a time has them: the task waits for it.
    private struct Look: @unchecked Sendable {
        let follower: Follower
        let spool: SegmentSpool
    }

    private func gap(_ session: Session, since: Date?, _ reason: String) {
        let gap = SnapshotGap(since: since, reason: reason)
        // The first of several gaps in a row says since when nothing was seen.
        with {
            $0.gap = $0.gap ?? gap
            $0.ended = session.spool.run
        }
        report(.gap(gap))
    }
}

extension DatabaseFollower {
    /// The storing task: one segment after the other, in order.
    private func storeAll(_ session: Session) async {
        var pause = Backoff(options.backoff)
        for await _ in session.changes {
            await store(session, &pause)
            if with({ $0.isBroken }) { break }
        }
        if !with({ $0.isBroken }) { await store(session, &pause) }
    }

    private func store(_ session: Session, _ pause: inout Backoff) async {
        while let waiting = session.spool.first {
            let deadline = with { $0.deadline }
            if let deadline, Date() >= deadline { return }
            do {
                try await session.writer.append(waiting.path, began: waiting.began, snapshot: with { $0.newest })
                session.spool.removeFirst()
                pause.reset()
                with { $0.hasStored = true }
                let seen = Date(timeIntervalSince1970: Double(waiting.segment.seen) / 1000)
                report(.stored(frames: waiting.segment.frameCount, bytes: waiting.segment.byteCount, seen: seen))
            } catch let error as VaultError where error.code == .busy || error.code == .conflict {
                // Another follower has the lease: our segments cannot continue theirs.
                let gap = SnapshotGap(
                    since: Date(timeIntervalSince1970: Double(waiting.segment.after) / 1000),
                    reason: "another follower was running")
                with {
                    ($0.isBroken, $0.breaking) = (true, error)
                    $0.gap = $0.gap ?? gap
                }
                report(.gap(gap))
                return
            } catch {
                if let deadline {
                    // There is no time for longer pauses.
                    try? await Task.sleep(nanoseconds: 200_000_000)
                    if Date() >= deadline { return }
                } else {
                    await failed(.store, error, &pause)
                }
            }
        }
    }

    /// The task that takes the snapshot of each run.
    private func takeSnapshots(_ session: Session) async {
        var pause = Backoff(options.backoff)
        for await _ in session.newRuns {
            while !isOver, let run = session.spool.run, with({ $0.based != run && $0.ended != run }) {
                do {
                    let snapshot = try await takeSnapshot(run, with { $0.gap })
                    // The clock was put back in between: the follower's next look begins another run.
                    guard snapshot.time.timeIntervalSince(run.began) > -0.002 else {
                        throw VaultError(.busy, "the system clock moved backwards", path: path)
                    }
                    with {
                        $0.newest = max($0.newest, snapshot.sequence)
                        if session.spool.run == run, $0.ended != run { ($0.based, $0.gap) = (run, nil) }
                    }
                    pause.reset()
                    report(.based(snapshot))
                } catch {
                    if isOver { break }
                    await failed(.snapshot, error, &pause)
                }
            }
        }
    }
}
