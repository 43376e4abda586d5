internal import LiteVaultCapture
internal import LiteVaultRepository
internal import LiteVaultSystem

// What a follower stores: the segments that it has read, and the snapshot that each run begins with.
extension DatabaseFollower {
    /// The storing task: one segment after the other, in order.
    func storeAll(_ session: Session) async {
        var pause = Backoff(options.backoff)
        for await _ in session.changes {
            await store(session, &pause)
            if with({ $0.isBroken }) { break }
        }
        if !with({ $0.isBroken }) { await store(session, &pause) }
    }

    private func store(_ session: Session, _ pause: inout Backoff) async {
        while !with({ $0.isBroken }), let waiting = session.spool.first {
            let deadline = with { $0.deadline }
            if let deadline, repository.clock.now() >= deadline { return }
            do {
                try await session.writer.append(
                    waiting.path, began: waiting.began, snapshot: with { $0.newest }, end: waiting.end,
                    start: waiting.start)
                session.spool.removeFirst()
                pages.didStore(waiting.segment)
                pause.reset()
                with {
                    $0.hasStored = true
                    let (read, stored) = session.spool.totals
                    $0.progress.didStore(read: read, stored: stored)
                }
                let seen = Date(milliseconds: Int64(clamping: waiting.segment.seen))
                report(.stored(frames: waiting.segment.frameCount, bytes: waiting.segment.byteCount, seen: seen))
            } catch let error where isExchanged(error) {
                return leave(error)
            } catch let error where access(waiting.path, F_OK) != 0 && errno == ENOENT {
                // It is not in the store either, unless only the response was lost, which the next session finds out.
                return leave(error, "segments that waited to be stored were removed")
            } catch let error where (error as? VaultError)?.code == .conflict || session.writer.isLost {
                // Another follower has the lease: our segments cannot continue its segments. A store that is busy, such as a
                // directory whose lock is held, says nothing about the lease.
                let gap = SnapshotGap(
                    since: Date(milliseconds: Int64(clamping: waiting.segment.after)),
                    reason: "another follower was running")
                with {
                    ($0.isBroken, $0.breaking) = (true, error)
                    $0.gap = $0.gap ?? gap
                }
                wake()
                report(.gap(gap))
                return
            } catch {
                if let deadline {
                    // There is no time for longer pauses.
                    await repository.clock.sleep(0.2)
                    if repository.clock.now() >= deadline { return }
                } else {
                    await failed(.store, error, &pause)
                }
            }
        }
    }

    /// The task that takes the snapshot of each run.
    func takeSnapshots(_ session: Session) async {
        var pause = Backoff(options.backoff)
        for await _ in session.newRuns {
            while !isOver, let run = session.spool.run, with({ $0.based != run && $0.ended != run }) {
                do {
                    let database = repository.databaseID(options.database)
                    let overwritten = repository.overwritten(database)
                    let snapshot = try await snapshot(of: run)
                    let isBased = with {
                        $0.newest = max($0.newest, snapshot.sequence)
                        $0.label = max($0.label, snapshot.time)
                        guard session.spool.run == run, $0.ended != run else { return false }
                        ($0.based, $0.gap, $0.isOverwritten) = (run, nil, false)
                        return true
                    }
                    // It has read all of the database, and records the gap.
                    if isBased, let overwritten { repository.forget(overwritten, database) }
                    pause.reset()
                    report(.based(snapshot))
                } catch let error as VaultError where error.code == .promoted {
                    endPromoted(error)
                } catch let error where isExchanged(error) {
                    leave(error)
                } catch {
                    if isOver { break }
                    await failed(.snapshot, error, &pause)
                }
            }
        }
    }

    /// Takes the snapshot that a run begins with. It is cancelled when following is to end without it.
    private func snapshot(of run: SegmentSpool.Run) async throws -> Snapshot {
        let gap = with { $0.gap }
        let taking = BlockingWork.task { [takeSnapshot] in try await takeSnapshot(run, gap) }
        let isUnwanted = with {
            $0.snapshot = taking
            return $0.endsSnapshot
        }
        if isUnwanted { taking.cancel() }
        defer { with { $0.snapshot = nil } }
        return try await taking.value
    }
}

// What a follower does when the repository accepts nothing, or has been replaced by another.
extension DatabaseFollower {
    /// Whether another repository, or none, was found in the place of this one.
    func isExchanged(_ error: any Error) -> Bool { (error as? VaultError)?.cause is ExchangedRepositoryError }

    /// Ends the session, as what it has spooled can no longer be stored. The next one begins where the stored segments end, if the log
    /// still does.
    ///
    /// - Parameter reason: why commits may be missing.
    func leave(_ error: any Error, _ reason: String = "another repository or none was in its place") {
        with { shared in
            shared.isBroken = true
            shared.breaking = shared.breaking ?? error
            shared.interruption = shared.interruption ?? reason
        }
        wake()
    }

    /// The longest pause between two looks whether the former repository is back, in seconds.
    private static let returnInterval = 60.0

    /// Waits until the repository is back, or until following is to end. Nothing is written meanwhile.
    func waitForReturn(_ error: any Error) async {
        var found = error
        let longest = max(options.backoff.lowerBound, min(options.backoff.upperBound, Self.returnInterval))
        var pause = Backoff(options.backoff.lowerBound...longest)
        var told: String?
        while !isEnding {
            let seconds = pause.next()
            let message = (found as? VaultError)?.message
            if told != message { report(.failed(.store, found, again: seconds)) }
            told = message
            await sleep(seconds) { self.isEnding }
            if isEnding { return }
            do {
                try await repository.requireIdentity()
                return report(.returned)
            } catch {
                // Another one than before, or none by now. A store that does not respond says nothing.
                if isExchanged(error) { found = error }
            }
        }
    }

    /// Ends following for good: nothing that this file gets is stored under its name any more.
    func endPromoted(_ error: VaultError) {
        let isFirst = with { shared in
            defer { shared.isPromoted = true }
            shared.deadline = shared.deadline ?? repository.clock.now()
            return !shared.isPromoted
        }
        cancelSnapshot()
        wake()
        if isFirst { report(.promoted(error)) }
    }

    /// Segments that may wait to be stored before the log is polled less often.
    private static let manySegments = 64

    /// Leaves commits in the log, which the follower holds, while many segments wait to be stored: each is an open file, and a
    /// store that takes none for hours must not use up the process's descriptors. The next poll makes one segment of them all.
    func spareSpool(_ follower: Follower, _ session: Session) async {
        let waiting = session.spool.count
        guard waiting >= Self.manySegments else { return }
        // Longer the more there are; but their labels are those of polls.
        let end = repository.clock.now() + min(Double(waiting), 300)
        while !isOver, session.spool.count >= waiting, !session.writer.isLost, !follower.isPressing, !pages.isAwaited,
            repository.clock.now() < end
        {
            await sleepUntilPoll(follower.pause)
        }
    }

    /// Seconds between two looks at whose repository it is, where nothing is stored.
    private static let identityInterval = 60.0

    /// The task that notices another repository in the place of this one, or none, although nothing is to be stored.
    func watchRepository(_ session: Session) async {
        while true {
            await sleep(Self.identityInterval)
            if isOver { return }
            do {
                try await session.writer.requireIdentity()
            } catch let error where isExchanged(error) {
                return leave(error)
            } catch {
                // A store that does not respond is reported when something is stored.
            }
        }
    }

    /// The task that joins stored segments.
    func compactAll(_ session: Session, _ policy: CompactionPolicy) async {
        var pause = Backoff(options.backoff)
        while true {
            await sleep(options.compactionInterval)
            if isOver { return }
            do {
                let result = try await session.writer.compact(policy)
                pause.reset()
                if result.joined + result.removed + result.warnings.count > 0 { report(.compacted(result)) }
            } catch let error where isExchanged(error) {
                return leave(error)
            } catch {
                await failed(.compact, error, &pause)
            }
        }
    }
}
