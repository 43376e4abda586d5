internal import Foundation
internal import LiteVaultCapture
internal import LiteVaultRepository

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
        while let waiting = session.spool.first {
            let deadline = with { $0.deadline }
            if let deadline, Date() >= deadline { return }
            do {
                try await session.writer.append(waiting.path, began: waiting.began, snapshot: with { $0.newest })
                session.spool.removeFirst()
                pause.reset()
                with { $0.hasStored = true }
                let seen = Date(timeIntervalSince1970: Double(waiting.segment.seen) / 1000)
                tell(.stored(frames: waiting.segment.frameCount, bytes: waiting.segment.byteCount, seen: seen))
            } catch let error as BackupError where error.code == .busy || error.code == .conflict {
                // Somebody else has the claim: what they store can not be continued by ours.
                let gap = SnapshotGap(
                    since: Date(timeIntervalSince1970: Double(waiting.segment.after) / 1000),
                    reason: "somebody else followed")
                with {
                    ($0.isBroken, $0.breaking) = (true, error)
                    $0.gap = $0.gap ?? gap
                }
                tell(.gap(gap))
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
    func takeBases(_ session: Session) async {
        var pause = Backoff(options.backoff)
        for await _ in session.newRuns {
            while !isOver, let run = session.spool.run, with({ $0.based != run && $0.ended != run }) {
                do {
                    let snapshot = try await takeBase(run, with { $0.gap })
                    // The clock was put back in between: the follower's next look begins another run.
                    guard snapshot.time.timeIntervalSince(run.began) > -0.002 else {
                        throw BackupError(.busy, "the clock was put back", path: path)
                    }
                    with {
                        $0.newest = max($0.newest, snapshot.sequence)
                        if session.spool.run == run, $0.ended != run { ($0.based, $0.gap) = (run, nil) }
                    }
                    pause.reset()
                    tell(.based(snapshot))
                } catch {
                    if isOver { break }
                    await failed(.snapshot, error, &pause)
                }
            }
        }
    }
}
