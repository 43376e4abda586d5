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
                    let snapshot = try await snapshot(of: run)
                    with {
                        $0.newest = max($0.newest, snapshot.sequence)
                        $0.label = max($0.label, snapshot.time)
                        if session.spool.run == run, $0.ended != run { ($0.based, $0.gap) = (run, nil) }
                    }
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
