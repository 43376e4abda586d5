package import LiteVaultCapture
internal import LiteVaultCipher
package import LiteVaultRepository
internal import LiteVaultSystem

/// Follows the log of one database and stores its commits in a repository, without the database's key.
///
/// Tasks share the work, so that none waits for another: one polls the log at each interval and spools committed
/// frames, one stores the spooled segments, one takes the snapshot that each run needs, one joins stored segments, and one looks whether it is
/// still the same repository. Failures are reported as a
/// ``FollowingEvent`` and retried with increasing pauses.
package final class DatabaseFollower: Sendable {
    /// Takes the snapshot that a run starts from, after the run began.
    package typealias TakeSnapshot = @Sendable (SegmentSpool.Run, SnapshotGap?) async throws -> Snapshot

    struct Shared {
        /// The time after which no further attempt is made; nil until it is asked to end.
        /// By the clock that nobody sets.
        var deadline: Double?
        /// Whether the session has to be restarted: another process is following.
        var isBroken = false
        /// The reason, until it is reported.
        var breaking: (any Error)?
        /// Whether the session has stored a segment.
        var hasStored = false
        /// The run whose snapshot is stored.
        var based: SegmentSpool.Run?
        /// The run that has ended: a snapshot for it is no longer useful.
        var ended: SegmentSpool.Run?
        /// Why a run began that has no snapshot yet.
        var gap: SnapshotGap?
        /// Why the last session ended although this process was to follow, until the log is read again; its commits may be missing.
        var interruption: String?
        /// Whether something other than its log has written to the database, and no run has begun with a snapshot since: the earlier one must not
        /// be continued.
        var isOverwritten = false
        /// The log that was held last: a later session has to recognise it beside another database.
        var former: FormerLog?
        /// The newest known snapshot.
        var newest = 0
        /// Whether the database's name belongs to another file.
        var isPromoted = false
        /// The newest label of a known snapshot.
        var label = Date(milliseconds: 0)
        /// The snapshot that is being taken for a run.
        var snapshot: Task<Snapshot, any Error>?
        /// Whether following is to end without it.
        var endsSnapshot = false
        /// The sleeps of all tasks.
        var naps: Set<Task<Void, Never>> = []
        /// Whether no more segments will follow.
        var isRead = false
        /// How far what is stored reaches.
        var progress = FollowingProgress()
    }

    package let path: String
    /// What the log has named, for snapshots of this process.
    package let pages = FollowedPages()
    private let writable: WritableRepository
    let repository: Repository
    let options: FollowingOptions
    let takeSnapshot: TakeSnapshot
    let report: @Sendable (FollowingEvent) -> Void
    private let shared = Locked(Shared())

    /// Creates a follower. ``run()`` opens the database.
    ///
    /// - Parameters:
    ///   - former: the log that an earlier follower of this path held last.
    ///   - takeSnapshot: takes a snapshot of the database now, and stores it.
    ///   - report: called with each event, in order for each task, on several threads.
    package init(
        _ path: String, into writable: WritableRepository, options: FollowingOptions, former: FormerLog? = nil,
        takeSnapshot: @escaping TakeSnapshot, report: @escaping @Sendable (FollowingEvent) -> Void
    ) {
        self.path = path
        (self.writable, repository) = (writable, writable.repository)
        self.options = options
        self.takeSnapshot = takeSnapshot
        self.report = report
        shared.withLock { $0.former = former }
    }

    /// Follows until ``end(within:)``. Commits read by then are stored when this returns, unless the deadline has
    /// passed.
    package func run() async {
        var lost = 0
        // One for all sessions: a claim lost as soon as it is taken must not be taken again without a pause.
        var pause = Backoff(options.backoff)
        while !isEnding {
            with {
                ($0.isBroken, $0.isRead, $0.based, $0.hasStored) = (false, false, nil, false)
                $0.progress.begin()
            }
            guard let session = await open(&pause) else { break }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.keepPolling(session) }
                group.addTask { await self.storeAll(session) }
                group.addTask { await self.takeSnapshots(session) }
                group.addTask { await self.watchRepository(session) }
                if let policy = self.options.compaction { group.addTask { await self.compactAll(session, policy) } }
            }
            lost = session.spool.count
            session.spool.discardAll()
            await session.writer.close()
            let (breaking, hasStored) = with { ($0.breaking, $0.hasStored) }
            with { $0.breaking = nil }
            if hasStored { pause.reset() }
            if let breaking {
                if isExchanged(breaking) {
                    await waitForReturn(breaking)
                } else {
                    await failed(.store, breaking, &pause, until: { self.isEnding })
                }
            }
        }
        report(.ended(lost: lost))
    }

    /// Makes ``run()`` poll a last time, store what is spooled, and return. Of several calls, the shortest time counts.
    ///
    /// - Parameters:
    ///   - seconds: segments that cannot be stored within this time are abandoned.
    ///   - finishingSnapshot: whether a snapshot that is being taken is cancelled only after this time, and not at once. The
    ///     segments of its run cannot be restored without it.
    package func end(within seconds: Double, finishingSnapshot: Bool = false) {
        let clock = repository.clock
        let end = clock.now() + seconds
        with { $0.deadline = min($0.deadline ?? end, end) }
        if finishingSnapshot {
            Task { [weak self] in
                await clock.sleep(seconds)
                self?.cancelSnapshot()
            }
        } else {
            cancelSnapshot()
        }
        wake()
    }

    /// Cancels the snapshot that is being taken, or about to be.
    func cancelSnapshot() {
        let snapshot = with {
            $0.endsSnapshot = true
            return $0.snapshot
        }
        snapshot?.cancel()
    }

    /// Informs the follower of a snapshot taken by another task or process.
    package func note(snapshot sequence: Int) { with { $0.newest = max($0.newest, sequence) } }

    /// The state of one claim on the repository's segments of this database.
    struct Session: Sendable {
        let spool: SegmentSpool
        let writer: SegmentWriter
        let changes: AsyncStream<Void>
        let changed: AsyncStream<Void>.Continuation
        let newRuns: AsyncStream<Void>
        let newRun: AsyncStream<Void>.Continuation
        /// Where an earlier follower had been, and the snapshot that restores begin with.
        let resumption: SegmentResumption

        var start: FollowerStart? {
            if case .from(let start, _) = resumption { start } else { nil }
        }
    }

    /// Claims the segments of this database; nil when the follower is to end.
    private func open(_ pause: inout Backoff) async -> Session? {
        while !isEnding {
            do {
                let directory = try repository.spoolDirectory()
                try PackSpool.sweep(directory)
                let writer = try await SegmentWriter.open(
                    writable, database: options.database, at: (try? FileMetadata.resolvedPath(path)) ?? path)
                do {
                    let database = repository.databaseID(options.database)
                    let newest = try await repository.newestSequence(database)
                    let resumption = try await resumption(writer)
                    with { $0.newest = max($0.newest, newest) }
                    if case .none(let reason) = resumption {
                        let gap = await gap(writer, reason)
                        with { $0.gap = $0.gap ?? gap }
                    }
                    if let loss = writer.loss { report(.gap(loss)) }
                    let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                    let (newRuns, newRun) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                    return Session(
                        spool: try SegmentSpool(
                            directory: directory, limit: options.spoolBytes,
                            allowsPlaintext: options.allowsPlaintext || repository.isSealed,
                            prepare: { [repository] in _ = try repository.spoolDirectory() },
                            pages: pages, newestSnapshot: { self.with { $0.newest } }),
                        writer: writer, changes: changes, changed: changed, newRuns: newRuns, newRun: newRun,
                        resumption: resumption)
                } catch {
                    await writer.close()
                    throw error
                }
            } catch let error as VaultError where error.code == .promoted {
                endPromoted(error)
            } catch let error where isExchanged(error) {
                await waitForReturn(error)
            } catch {
                await failed(.store, error, &pause, until: { self.isEnding })
            }
        }
        return nil
    }

    /// Where to continue. Nowhere, if something other than its log has written to the database: what the log has from then on does not fit what is
    /// stored, though the log itself continues.
    private func resumption(_ writer: SegmentWriter) async throws -> SegmentResumption {
        let found = try await writer.resumption()
        guard case .from = found else { return found }
        let isOverwritten =
            with { $0.isOverwritten } || repository.overwritten(repository.databaseID(options.database)) != nil
        return isOverwritten ? .none(Follower.overwritten) : found
    }

    /// The gap before this session, if it has to begin with a snapshot.
    ///
    /// - Parameter reason: why what was stored before cannot be continued.
    private func gap(_ writer: SegmentWriter, _ reason: String?) async -> SnapshotGap? {
        if let loss = writer.loss { return loss }
        let interruption = with { $0.interruption } ?? "no follower was running"
        return await writer.seen.map {
            SnapshotGap(since: $0, reason: interruption + (reason.map { ", and " + $0 } ?? ""))
        }
    }

    /// The reason of a gap, which is read long after and elsewhere: with the path that the error is about.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? VaultError else { return "\(error)" }
        guard let path = error.path, !error.message.contains(path) else { return error.message }
        return "\(path): \(error.message)"
    }

    /// The log that was held last, once ``run()`` has returned; nil if it had no frames, which could do no harm beside another file.
    package var former: FormerLog? { with { $0.former } }

    /// How far what is stored reaches, and the time of the clock that it is counted on.
    package var progress: (progress: FollowingProgress, now: Double) { (with { $0.progress }, repository.clock.now()) }

    // MARK: Shared state

    func with<T>(_ body: (inout Shared) -> T) -> T { shared.withLock(body) }

    var isEnding: Bool { with { $0.deadline != nil } }

    /// Whether the tasks of the session are to end.
    var isOver: Bool { with { $0.deadline != nil || $0.isBroken } }

    /// Reports a failure and waits for the pause that it specifies.
    ///
    /// - Parameter isUp: ends the wait early; nil for the end of the session.
    func failed(
        _ step: FollowingEvent.Step, _ error: any Error, _ pause: inout Backoff, until isUp: (() -> Bool)? = nil
    ) async {
        let seconds = pause.next()
        if !isEnding { report(.failed(step, error, again: seconds)) }
        await sleep(seconds, until: isUp)
    }

    /// Sleeps until the session is to end; without a session, until `isUp` returns true. What changes the answer calls ``wake()``.
    func sleep(_ seconds: Double, until isUp: (() -> Bool)? = nil) async {
        let clock = repository.clock
        let end = clock.now() + seconds
        while case let rest = end - clock.now(), rest > 0 {
            let nap = Task { await clock.sleep(rest) }
            // Before the question is asked: a change after it ends the nap.
            with { _ = $0.naps.insert(nap) }
            defer { with { _ = $0.naps.remove(nap) } }
            if isUp?() ?? isOver { return nap.cancel() }
            await nap.value
        }
    }

    /// Makes all tasks that sleep ask whether they are to continue.
    func wake() { for nap in with({ $0.naps }) { nap.cancel() } }
}

extension DatabaseFollower {
    /// The polling task: committed frames go into the spool.
    private func keepPolling(_ session: Session) async {
        let follower = Follower(
            path, limits: options.limits, from: session.start, after: await session.writer.newestLabel, former: former,
            clock: repository.clock)
        var isBehind = false
        var pause = Backoff(options.backoff)
        var reported: String?
        pages.setPolled { [self] in wake() }
        defer { pages.setPolled(nil) }
        while !isOver {
            let polled = follower.polled
            if session.writer.isLost {
                // Without new commits, nothing else would tell.
                with { $0.isBroken = true }
                wake()
                break
            }
            do {
                follower.advance(to: with { $0.label })
                // Those by other processes of this machine, too.
                repository.newestLabel(repository.databaseID(options.database)).map(follower.advance(to:))
                let number = pages.beginPoll()
                let began = repository.clock.now()
                let outcome = try await poll(follower, session)
                pause.reset()
                // Before a run begins, or is known to have ended: its snapshot has to know.
                if follower.isOverwritten { noteOverwritten(session) }
                let leftLog = follower.leftLog
                pages.refuse(leftLog)
                let behind = follower.behind
                if behind >= Self.notable, !isBehind { report(.clockBehind(seconds: behind)) }
                isBehind = behind >= Self.notable
                switch outcome {
                case .waiting(let reason):
                    if reported != reason { await reportWaiting(reason, session) }
                    reported = reason
                case .resumed:
                    reported = nil
                    // Whatever was recorded as a gap before: nothing is missing.
                    with { ($0.based, $0.gap, $0.interruption) = (session.spool.run, nil, nil) }
                    if let start = session.start { pages.resume(at: start.mark.position, after: start.sequence) }
                    if case .from(_, let base) = session.resumption { report(.resumed(base)) }
                case .attached:
                    reported = nil
                    if let reason = follower.discontinuity {
                        let gap = await gap(session.writer, reason)
                        with { $0.gap = $0.gap ?? gap }
                    }
                    if let gap = with({ $0.interruption == nil ? nil : $0.gap }) { report(.gap(gap)) }
                    with { $0.interruption = nil }
                    report(.attached)
                    session.newRun.yield()
                case .read(let frames):
                    pages.completePoll(number)
                    with { shared in
                        let (read, stored) = session.spool.totals
                        let isBased = shared.based != nil && shared.based == session.spool.run
                        shared.progress.didPoll(began: began, read: read, stored: stored, isBased: isBased)
                    }
                    if follower.polled != nil { report(.polled(repository.clock.time())) }
                    if frames > 0 { session.changed.yield() }
                case .gap(let reason):
                    gap(session, since: polled, reason)
                    // What was read before it is complete.
                    session.changed.yield()
                    if let leftLog { report(.failed(.log, leftLog, again: options.limits.interval)) }
                    reported = leftLog?.message
                }
                await sleepUntilPoll(follower.pause)
                await spareSpool(follower, session)
            } catch let error where isExchanged(error) {
                leave(error)
            } catch let full as SpoolFullError {
                gap(session, since: polled, "more than \(full.limit) bytes wait to be stored")
                // Not again before there is room: the result would be the same.
                while !isOver, session.spool.byteCount > full.limit / 2 { await sleep(options.limits.interval) }
                await sleep(options.limits.interval)
            } catch let error as VaultError where error.code == .noInput {
                if polled != nil { gap(session, since: polled, "the database was removed") }
                if reported != error.message { await reportWaiting(error.message, session) }
                reported = error.message
                await sleep(options.limits.interval)
            } catch let error as VaultError where error.cause is LeftLogError {
                pages.refuse(error)
                if reported != error.message { report(.failed(.log, error, again: options.limits.interval)) }
                reported = error.message
                await sleep(options.limits.interval)
            } catch {
                if polled != nil { gap(session, since: polled, Self.reason(error)) }
                reported = nil
                await failed(.log, error, &pause)
            }
        }
        // Frames committed before the follower was asked to end.
        if follower.isAttached, isEnding {
            _ = try? await poll(follower, session)
            if follower.isOverwritten { noteOverwritten(session) }
        }
        follower.stop()
        with { ($0.isRead, $0.former) = (true, follower.former) }
        session.changed.finish()
        session.newRun.finish()
    }

    /// Records that something other than its log has written to the database: for snapshots, and for sessions and processes that begin before one of
    /// those has read all of it.
    private func noteOverwritten(_ session: Session) {
        pages.noteOverwritten()
        with { ($0.isOverwritten, $0.ended) = (true, session.spool.run) }
        // If it cannot be written, this process knows of it.
        try? repository.rememberOverwritten(repository.databaseID(options.database))
    }

    private func reportWaiting(_ reason: String, _ session: Session) async {
        let seen = await session.writer.seen
        report(.waiting(reason, wasFollowed: seen != nil))
    }

    /// Sleeps until the log is to be polled again.
    func sleepUntilPoll(_ seconds: Double) async {
        await sleep(seconds) { self.isOver || self.pages.isAwaited }
    }

    /// Seconds that a clock may be behind the labels without a report: labels of commits in quick succession are ahead of it.
    private static let notable = 0.5

    private func poll(_ follower: Follower, _ session: Session) async throws -> FollowerOutcome {
        let (path, allowsPlaintext) = (path, options.allowsPlaintext || repository.isSealed)
        let work = Look(follower: follower, spool: session.spool)
        return try await withDedicatedThread {
            if !work.follower.isAttached {
                // Before any of it is read: plaintext must not get into the repository.
                try withErrorContext(path: path) {
                    let kind = try DatabaseFile(path).kind()
                    // Nothing has been written to it yet.
                    if kind != .empty { try kind.requireStorable(allowsPlaintext: allowsPlaintext) }
                }
            }
            var spool = work.spool
            return try work.follower.poll(into: &spool)
        }
    }

    /// Used by one thread at a time: the task waits for it.
    private struct Look: @unchecked Sendable {
        let follower: Follower
        let spool: SegmentSpool
    }

    private func gap(_ session: Session, since: Date?, _ reason: String) {
        let gap = SnapshotGap(since: since, reason: reason)
        // The first of several consecutive gaps has the time since which nothing was read.
        with {
            $0.gap = $0.gap ?? gap
            $0.ended = session.spool.run
        }
        pages.endRun()
        report(.gap(gap))
    }
}
